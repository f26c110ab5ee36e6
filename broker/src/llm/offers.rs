//! Offers of the providers: which one a request goes to, and what `/status` says of each model.

use super::choice::{Chosen, OLLAMA};
use super::provider::Provider;
use super::wire::Wire;
use crate::ground::clock::Clock;
use crate::makers::{Row, is_named};
use crate::net;
use crate::net::outward::Outward;
use house::mutex::lock;
use jiff::{SignedDuration, Timestamp};
use reqwest::Url;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

/// Longest wait for a server on loopback: a running server answers within milliseconds.
const LOOK: Duration = Duration::from_millis(500);
/// Most bytes of a list of models.
const LARGEST_LIST: usize = 4 << 20;
/// Time an answer about a model's context window is used before the server is asked again.
const ASK_AGAIN: SignedDuration = SignedDuration::from_secs(600);
/// Most models whose answers are kept, and most characters of a build's name.
const MOST_WINDOWS: usize = 64;
const MOST_BUILD: usize = 100;

pub struct Providers {
    chosen: Chosen,
    outward: Outward,
    clock: Clock,
    found: Mutex<Found>,
}

/// Answers of servers about themselves.
#[derive(Default)]
struct Found {
    /// Models by server: the one it offers, if the owner names none.
    models: BTreeMap<String, String>,
    /// Answers by server and model.
    said: BTreeMap<(String, String), (Said, Timestamp)>,
}

/// Answer of a server about one model.
#[derive(Clone, Default)]
struct Said {
    /// Size of its context window, in tokens.
    window: Option<u64>,
    build: Option<String>,
    /// Kinds of content it sees besides text.
    sees: Option<Vec<String>>,
    /// Whether it is not loaded yet, so that its window may become smaller than the one it was made for.
    is_unloaded: bool,
}

impl Providers {
    pub fn new(chosen: Chosen, outward: Outward, clock: Clock) -> Self {
        chosen.said.iter().chain(&chosen.left_out).for_each(|said| tracing::warn!("{said}"));
        Self { chosen, outward, clock, found: Mutex::default() }
    }

    /// The provider for a model: the first whose settings name it, else the first of this API.
    pub fn of(&self, wire: Wire, model: &str) -> Option<&Provider> {
        let mut all = self.chosen.all().filter(|provider| provider.wire.is_beside(wire));
        let first = all.next()?;
        let is_named = |provider: &&Provider| provider.model.as_deref() == Some(model);
        if is_named(&first) { Some(first) } else { all.find(is_named).or(Some(first)) }
    }

    /// Lists the models to ask instead in this API: those the owner named. Empty where this model may be asked of the
    /// provider: the owner named it there, or named none there.
    pub fn allowed_instead(&self, provider: &Provider, model: &str) -> Vec<&str> {
        if provider.model.as_deref().is_none_or(|known| known == model) {
            return Vec::new();
        }
        let all = self.chosen.all().filter(|other| other.wire.is_beside(provider.wire));
        all.filter_map(|other| other.model.as_deref()).collect()
    }

    /// The first and the quick model, as far as they are known by name.
    pub fn usual(&self) -> impl Iterator<Item = (&Provider, &str)> {
        let usual = self.chosen.first.iter().chain(&self.chosen.quick);
        usual.filter_map(|provider| Some((provider, provider.model.as_deref()?)))
    }

    /// Returns why the settings of the first provider could not be followed.
    pub fn said(&self) -> Option<&str> {
        self.chosen.said.as_deref()
    }

    /// The models' part of `/status`: null without a provider. `key` looks up a provider's key, `more` adds fields to
    /// each model.
    pub async fn status(
        &self,
        key: impl Fn(&str) -> Option<String>,
        more: impl Fn(&Provider, &str) -> Value,
    ) -> Value {
        let Some(first) = &self.chosen.first else { return Value::Null };
        let all = async |providers: &[Provider]| {
            let mut pages = Vec::new();
            for provider in providers {
                pages.push(self.shown(provider, &key, &more).await);
            }
            pages.retain(|page| !page.is_null());
            pages
        };
        let mut page = self.shown(first, &key, &more).await;
        let fallback = all(&self.chosen.fallback).await;
        let others = all(&self.chosen.others).await;
        let quick = all(self.chosen.quick.as_slice()).await.pop();
        if let Some(page) = page.as_object_mut() {
            page.insert("quick".into(), quick.into());
            page.insert("fallback".into(), fallback.into());
            if !others.is_empty() {
                page.insert("others".into(), others.into());
            }
        }
        page
    }

    pub fn chosen(&self) -> &Chosen {
        &self.chosen
    }

    /// The model of a server that wants no key, and the window it is loaded with; `None` where it is not loaded yet.
    pub async fn loaded(&self, provider: &Provider) -> Option<(String, u64)> {
        let name = match &provider.model {
            Some(name) => name.clone(),
            None => self.look(provider, None).await?,
        };
        let said = self.said_of(provider, &name, None).await;
        Some((name, said.window.filter(|_| !said.is_unloaded)?))
    }

    async fn shown(
        &self,
        provider: &Provider,
        key: &impl Fn(&str) -> Option<String>,
        more: &impl Fn(&Provider, &str) -> Value,
    ) -> Value {
        let key = provider.key_env.as_deref().and_then(key);
        let key = key.as_deref();
        let found = match (&provider.model, provider.name.as_str()) {
            // An Ollama that does not answer offers nothing, whatever model is named.
            (named, OLLAMA) => self.look(provider, None).await.map(|found| named.clone().unwrap_or(found)),
            (Some(model), _) => Some(model.clone()),
            (None, _) => {
                let usual = || provider.made.model.clone();
                self.look(provider, key).await.or_else(usual)
            }
        };
        let Some(name) = found else { return Value::Null };
        let said = self.said_of(provider, &name, key).await;
        let mut page = json!({
            "wire": provider.wire.name(), "name": name, "path": provider.wire.path(),
            "address": place(provider), "window": provider.window.or(said.window).or_else(|| self.chosen.makers.window(&name)),
        });
        let sees = self.sees(provider, &name, said.sees).map(Value::from);
        let effort = provider.effort.clone().map(Value::from);
        let known = [("build", said.build.map(Value::from)), ("sees", sees), ("effort", effort)];
        let known = known.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
        if let Some(page) = page.as_object_mut() {
            page.extend(known);
            page.extend(more(provider, &name).as_object().cloned().unwrap_or_default());
        }
        page
    }

    /// Lists what a model sees and can be sent besides text: by its maker's row, its server's word or another maker's.
    fn sees(&self, provider: &Provider, name: &str, said: Option<Vec<String>>) -> Option<Vec<String>> {
        let last = name.rsplit('/').next().unwrap_or(name);
        let told = |row: &Row| (!row.is_unpriced || !row.sees.is_empty()).then(|| row.sees.clone());
        let own = provider.made.models.iter().find(|(known, _)| is_named(name, known));
        let others = || self.chosen.makers.models().find(|(known, _)| is_named(last, known));
        let mut sees = own
            .and_then(|(_, row)| told(row))
            .or(said)
            .or_else(|| others().and_then(|(_, row)| told(row)))?;
        sees.retain(|kind| kind != "pdf" || provider.takes_documents());
        Some(sees)
    }

    /// The first model for text among those a server lists; if it does not answer now, the one found before.
    async fn look(&self, provider: &Provider, key: Option<&str>) -> Option<String> {
        let tags = (format!("{}/api/tags", root(provider)), "models", "name");
        let models = (provider.url("/models"), "data", "id");
        // Each kind of server is asked first for the list it has.
        let lists = if provider.name == OLLAMA { [tags, models] } else { [models, tags] };
        let mut found = None;
        for (url, list, name) in lists {
            let all = self.asked(&url, key, None).await.unwrap_or_default();
            found = listed(&all, list, name);
            if found.is_some() {
                break;
            }
        }
        let mut known = lock(&self.found);
        let server = provider.base.to_string();
        if let Some(found) = found {
            known.models.insert(server.clone(), found);
        }
        known.models.get(&server).cloned()
    }

    /// Asks a server about a model, from time to time; returns its former answer if it does not answer now.
    async fn said_of(&self, provider: &Provider, model: &str, key: Option<&str>) -> Said {
        if provider.is_makers() || provider.wire == Wire::Anthropic {
            return Said::default();
        }
        let now = self.clock.now();
        let of = (provider.base.to_string(), model.to_owned());
        let known = lock(&self.found).said.get(&of).cloned();
        let before = match known {
            Some((said, at)) if !said.is_unloaded && now.duration_since(at).abs() < ASK_AGAIN => return said,
            Some((said, _)) => said,
            None => Said::default(),
        };
        let mut said = self.ask(provider, model, key).await.unwrap_or_else(|| before.clone());
        if said.is_unloaded && before.window.is_some() && !before.is_unloaded {
            // It was put away, and is loaded as it was.
            said = before;
        }
        let mut found = lock(&self.found);
        if found.said.len() >= MOST_WINDOWS {
            found.said.clear();
        }
        found.said.insert(of, (said.clone(), self.clock.now()));
        said
    }

    /// Asks each kind of server where it answers this: Ollama, llama.cpp, LM Studio, vLLM and gateways.
    async fn ask(&self, provider: &Provider, model: &str, key: Option<&str>) -> Option<Said> {
        let root = root(provider);
        if provider.name == OLLAMA {
            return self.ask_ollama(root, model, None).await;
        }
        let listed = self.asked(&provider.url("/models"), key, None).await;
        let names = ["max_model_len", "context_length"];
        let window = listed.as_ref().and_then(|listed| of_list(listed, model, &names));
        if window.is_some() {
            return Some(Said { window, ..Said::default() });
        }
        let props = self.asked(&format!("{root}/props"), key, None).await;
        if let Some(said) = props.as_ref().map(of_props).filter(|said| said.window.is_some()) {
            return Some(said);
        }
        let studio = self.asked(&format!("{root}/api/v0/models"), key, None).await;
        if let Some(said) = studio.as_ref().and_then(|listed| of_studio(listed, model)) {
            return Some(said);
        }
        self.ask_ollama(root, model, key).await
    }

    /// Asks Ollama which window a model was made for, and how much of that is loaded.
    async fn ask_ollama(&self, root: &str, model: &str, key: Option<&str>) -> Option<Said> {
        let shown = self.asked(&format!("{root}/api/show"), key, Some(json!({"model": model}))).await?;
        let running = self.asked(&format!("{root}/api/ps"), key, None).await;
        let (said, running) = (of_ollama(&shown), running.map(|running| of_running(&running, model)));
        let loaded = running.flatten();
        let window = said.window.into_iter().chain(loaded).min();
        Some(Said { window, is_unloaded: running == Some(None), ..said })
    }

    async fn asked(&self, url: &str, key: Option<&str>, body: Option<Value>) -> Option<Value> {
        asked(&self.outward, url, key, body).await
    }
}

async fn asked(outward: &Outward, url: &str, key: Option<&str>, body: Option<Value>) -> Option<Value> {
    let look = async {
        let url = Url::parse(url).ok()?;
        let client = outward.client(&url);
        let request =
            body.map_or_else(|| client.get(url.clone()), |body| client.post(url.clone()).json(&body));
        let request = key.into_iter().fold(request, reqwest::RequestBuilder::bearer_auth);
        let (mut answer, mut body) = (request.send().await.ok()?, Vec::new());
        net::read_most(&mut answer, LARGEST_LIST, &mut body).await.ok()?;
        serde_json::from_slice::<Value>(&body).ok().filter(|_| answer.status().is_success())
    };
    tokio::time::timeout(LOOK, look).await.ok()?
}

/// The first model for text that a server lists, of those of the chat API.
pub async fn first_listed(outward: &Outward, base: &Url) -> Option<String> {
    let url = format!("{}/models", base.as_str().trim_end_matches('/'));
    listed(&asked(outward, &url, None, None).await?, "data", "id")
}

/// The first model for text in a list.
fn listed(all: &Value, list: &str, name: &str) -> Option<String> {
    let models = all.get(list).and_then(Value::as_array).into_iter().flatten();
    models.filter_map(|model| model.get(name)?.as_str()).find(|name| can_talk(name)).map(str::to_owned)
}

/// The base of a server's own pages.
fn root(provider: &Provider) -> &str {
    let text = provider.base.as_str().trim_end_matches('/');
    text.strip_suffix("/v1").unwrap_or(text)
}

/// Host and port.
fn place(provider: &Provider) -> String {
    let host = provider.base.host_str().unwrap_or_default();
    let port = provider.base.port_or_known_default();
    port.map_or(host.to_owned(), |port| format!("{host}:{port}"))
}

/// Whether a model generates text: servers list embedding models and the like as well.
fn can_talk(name: &str) -> bool {
    !["embed", "whisper", "tts", "rerank", "moderation"].iter().any(|kind| name.contains(kind))
}

/// The window the model's file sets, else the one the model was made for.
fn of_ollama(shown: &Value) -> Said {
    let set = shown.get("parameters").and_then(Value::as_str).unwrap_or_default();
    let set = set.lines().find_map(|line| line.trim().strip_prefix("num_ctx")?.trim().parse().ok());
    let made_for = || {
        let info = shown.get("model_info")?.as_object()?;
        info.iter().find(|(name, _)| name.ends_with(".context_length"))?.1.as_u64()
    };
    // docs.ollama.com, api/show: `capabilities`.
    let abilities = shown.get("capabilities").and_then(Value::as_array);
    let sees = abilities.map(|all| seen(all.iter().any(|one| one == "vision")));
    Said { window: set.or_else(made_for), build: word(shown, "modified_at"), sees, ..Said::default() }
}

/// The window that Ollama has loaded a model with; it leaves out the tag of the latest.
fn of_running(running: &Value, model: &str) -> Option<u64> {
    let plain = |name: &str| name.strip_suffix(":latest").unwrap_or(name).to_owned();
    let is_it = |one: &&Value| {
        let names = ["name", "model"].iter().filter_map(|key| one.get(*key)?.as_str());
        names.map(plain).any(|name| name == plain(model))
    };
    let mut models = running.get("models")?.as_array()?.iter();
    models.find(is_it)?.get("context_length")?.as_u64().filter(|window| *window > 0)
}

/// Reads a model's window from LM Studio's list: the one it is loaded with, else the one it was made for.
fn of_studio(listed: &Value, model: &str) -> Option<Said> {
    let mut models = listed.get("data")?.as_array()?.iter();
    let found = models.find(|found| found.get("id").and_then(Value::as_str) == Some(model))?;
    let window = |key: &str| found.get(key).and_then(Value::as_u64).filter(|window| *window > 0);
    let loaded = window("loaded_context_length");
    let window = loaded.or(window("max_context_length"));
    // lmstudio.ai/docs, REST API: `vlm` sees.
    let sees = found.get("type").and_then(Value::as_str).map(|kind| seen(kind == "vlm"));
    window.map(|_| Said { window, build: None, sees, is_unloaded: loaded.is_none() })
}

fn of_props(props: &Value) -> Said {
    let window = props.pointer("/default_generation_settings/n_ctx").or(props.get("n_ctx"));
    // github.com/ggml-org/llama.cpp, tools/server/README.md: GET /props.
    let sees = props.pointer("/modalities/vision").and_then(Value::as_bool).map(seen);
    Said { window: window.and_then(Value::as_u64), build: word(props, "build_info"), sees, ..Said::default() }
}

fn seen(pictures: bool) -> Vec<String> {
    if pictures { vec!["image".to_owned()] } else { Vec::new() }
}

fn word(page: &Value, name: &str) -> Option<String> {
    Some(page.get(name)?.as_str()?.chars().take(MOST_BUILD).collect())
}

fn of_list(listed: &Value, model: &str, names: &[&str]) -> Option<u64> {
    let models = listed.get("data")?.as_array()?;
    let found = models.iter().find(|found| found.get("id").and_then(Value::as_str) == Some(model))?;
    names.iter().find_map(|name| found.get(name)?.as_u64())
}
