//! Which provider is behind each wire: by the owner's settings, else by the keys there are, else an Ollama on loopback.

use super::Wire;
use crate::keys::Keys;
use crate::outward::{Outward, is_loopback};
use crate::policy::Model;
use reqwest::Url;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Used where neither owner nor environment names one.
pub const ANTHROPIC_MODEL: &str = "claude-sonnet-5-5";
pub const OPENAI_MODEL: &str = "gpt-6.1-terra";

const ANTHROPIC: &str = "https://api.anthropic.com";
const OPENAI: &str = "https://api.openai.com/v1";
const OLLAMA: &str = "127.0.0.1:11434";

/// Where the owner names an address.
const PLACE: &str = "owner.toml [model] base_url";

/// A server on loopback answers in a few milliseconds; nobody waits for one that is not there.
const LOOK: Duration = Duration::from_millis(500);
/// Bytes of a list of models.
const LARGEST_LIST: usize = 4 << 20;

/// A model server and how it knows us.
#[derive(Clone, Debug, PartialEq)]
pub struct Provider {
    pub wire: Wire,
    /// `anthropic`, `openai` or `ollama`.
    pub name: &'static str,
    /// Paths are added to it; without a slash at its end.
    pub base: Url,
    /// None: whatever it offers.
    pub model: Option<String>,
    /// The variable that holds its key.
    pub key_env: Option<String>,
}

impl Provider {
    /// An Ollama on this machine costs nothing.
    pub fn is_free(&self) -> bool {
        self.name == "ollama" && is_loopback(&self.base)
    }

    /// Whether it is known to take `max_completion_tokens` for every model; elsewhere `max_tokens` is understood.
    pub fn wants_new_limit(&self) -> bool {
        let host = self.base.host_str().unwrap_or_default();
        host == "api.openai.com" || host.ends_with(".openai.azure.com")
    }

    /// Host and port, as errors name it.
    pub fn upstream(&self) -> String {
        let host = self.base.host_str().unwrap_or_default();
        self.base.port().map_or(host.to_owned(), |port| format!("{host}:{port}"))
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base.as_str().trim_end_matches('/'))
    }
}

/// What was chosen: the provider `/status` names, and one more wire where its key is there too.
#[derive(Clone, Debug, Default)]
pub struct Chosen {
    pub first: Option<Provider>,
    pub other: Option<Provider>,
    /// What could not be followed.
    pub said: Option<String>,
}

impl Chosen {
    /// Which mind that makes and why, in a sentence; no secret is in it.
    pub fn told(&self) -> String {
        let Some(first) = &self.first else {
            let why = self.said.as_deref().unwrap_or("owner.toml [model] says provider = \"instinct\"");
            return format!("instinct: {why}");
        };
        let model = first.model.as_deref().unwrap_or("whatever model it offers");
        let host = first.base.host_str().unwrap_or_default();
        let port = first.base.port().map(|port| format!(":{port}")).unwrap_or_default();
        let key = match &first.key_env {
            Some(name) => format!("with the key in {name}"),
            None if first.is_free() => "if it runs; no key is set, so nothing else is asked".to_owned(),
            None => "without a key".to_owned(),
        };
        format!("{}: {model} at {host}{port}, {key}", first.name)
    }
}

/// Chooses for a house; what is no secret may stand in the environment or in `.env`.
pub fn of_house(settings: &Model, keys: &Keys) -> Chosen {
    let known = |name: &str| keys.get(name).map(str::to_owned);
    pick(settings, &known, &|name| std::env::var(name).ok().or_else(|| known(name)))
}

type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Chooses by the owner's settings, else by what there is. `keys` answers for secrets, `env` for the rest.
pub fn pick(settings: &Model, keys: Lookup, env: Lookup) -> Chosen {
    let set = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    let env = |name: &str| env(name).and_then(|value| set(&value));
    let has = |usual: &str| {
        let name = set(&settings.key_env).unwrap_or(usual.to_owned());
        keys(&name).is_some_and(|key| !key.trim().is_empty()).then_some(name)
    };
    let own = |wire| provider(wire, settings, &env, has(key_name(wire)));
    let keyed = |wire: Wire| {
        let given =
            set(&settings.base_url).or_else(|| env("OPENAI_BASE_URL").filter(|_| wire == Wire::OpenAi));
        if has(key_name(wire)).is_some() || given.is_some() {
            return own(wire);
        }
        let usual = key_name(wire);
        Err(format!("owner.toml [model] names a provider, but no key is in {usual} or key_env: no model"))
    };
    let plain = Model::default();
    let besides = |wire: Wire| {
        let key = Some(key_name(wire).to_owned()).filter(|name| keys(name).is_some());
        key.and_then(|key| provider(wire, &plain, &env, Some(key)).ok())
    };
    let (first, other) = match settings.provider.trim() {
        "instinct" => return Chosen::default(),
        "anthropic" => (keyed(Wire::Anthropic), None),
        "openai" => (keyed(Wire::OpenAi), None),
        "ollama" => (ollama(settings, &env), None),
        "" if has("ANTHROPIC_API_KEY").is_some() && set(&settings.key_env).is_none() => {
            (own(Wire::Anthropic), besides(Wire::OpenAi))
        }
        "" if has("OPENAI_API_KEY").is_some() || set(&settings.base_url).is_some() => {
            (own(Wire::OpenAi), besides(Wire::Anthropic))
        }
        "" => (ollama(settings, &env), None),
        other => {
            let known = "instinct, anthropic, openai, ollama";
            (Err(format!("owner.toml [model] provider = {other:?} is not one of {known}: no model")), None)
        }
    };
    match first {
        Ok(first) => Chosen { first: Some(first), other, said: None },
        Err(said) => Chosen { first: None, other: None, said: Some(said) },
    }
}

fn key_name(wire: Wire) -> &'static str {
    match wire {
        Wire::Anthropic => "ANTHROPIC_API_KEY",
        Wire::OpenAi => "OPENAI_API_KEY",
    }
}

fn provider(
    wire: Wire,
    settings: &Model,
    env: &impl Fn(&str) -> Option<String>,
    key_env: Option<String>,
) -> Result<Provider, String> {
    let set = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    let (base, model, usual_base, usual_model) = match wire {
        Wire::Anthropic => ("ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL", ANTHROPIC, ANTHROPIC_MODEL),
        Wire::OpenAi => ("OPENAI_BASE_URL", "OPENAI_MODEL", OPENAI, OPENAI_MODEL),
    };
    let place = if set(&settings.base_url).is_some() { PLACE } else { base };
    let base = set(&settings.base_url).or_else(|| env(base));
    let model = set(&settings.model).or_else(|| env(model));
    // Of somebody else's server of the OpenAI wire nobody knows what it offers.
    let model = match (wire, &base) {
        (Wire::OpenAi, Some(_)) => model,
        _ => model.or_else(|| Some(usual_model.to_owned())),
    };
    let base = address(wire, &base.unwrap_or(usual_base.to_owned()), place)?;
    Ok(Provider { wire, name: wire.name(), base, model, key_env })
}

fn ollama(settings: &Model, env: &impl Fn(&str) -> Option<String>) -> Result<Provider, String> {
    let set = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    let place = if set(&settings.base_url).is_some() { PLACE } else { "OLLAMA_HOST" };
    let base = set(&settings.base_url).unwrap_or_else(|| ollama_base(env("OLLAMA_HOST")));
    let base = address(Wire::OpenAi, &base, place)?;
    Ok(Provider { wire: Wire::OpenAi, name: "ollama", base, model: set(&settings.model), key_env: None })
}

/// `OLLAMA_HOST` as people write it: a host, a port, an address, or all with a scheme.
fn ollama_base(host: Option<String>) -> String {
    let host = host.unwrap_or(OLLAMA.to_owned());
    let (scheme, host) = host.split_once("://").unwrap_or(("http", &host));
    let (name, port) = host.trim_end_matches('/').rsplit_once(':').unwrap_or((host, "11434"));
    // What a server binds to is not an address to call.
    let name = if name.is_empty() || name == "0.0.0.0" { "127.0.0.1" } else { name };
    format!("{scheme}://{}:{port}", name.trim_end_matches('/'))
}

/// Both spellings of an address are in use, with and without `/v1`; paths are added to the one without.
/// The address in a text that stands in `place`, which errors name.
fn address(wire: Wire, text: &str, place: &str) -> Result<Url, String> {
    let bad = |what: &str| format!("{place} is no address of a model: {what}: no model");
    let url = Url::parse(text.trim()).map_err(|_| bad("not an address"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(bad("neither http nor https"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(bad("a query or fragment has no place in it"));
    }
    let text = url.as_str().trim_end_matches('/');
    let text = match wire {
        Wire::Anthropic => text.strip_suffix("/v1").unwrap_or(text).to_owned(),
        Wire::OpenAi if url.path().trim_matches('/').is_empty() => format!("{text}/v1"),
        Wire::OpenAi => text.to_owned(),
    };
    Url::parse(&text).map_err(|_| bad("not an address"))
}

/// The providers of a house, and what was found out about them.
pub struct Providers {
    chosen: Chosen,
    outward: Outward,
    /// The model a server without a named one offers.
    found: Arc<Mutex<Option<String>>>,
}

impl Providers {
    pub fn new(chosen: Chosen, outward: Outward) -> Self {
        if let Some(said) = &chosen.said {
            tracing::warn!("{said}");
        }
        Self { chosen, outward, found: Arc::default() }
    }

    pub fn of(&self, wire: Wire) -> Option<&Provider> {
        [&self.chosen.first, &self.chosen.other].into_iter().flatten().find(|provider| provider.wire == wire)
    }

    /// What could not be followed.
    pub fn said(&self) -> Option<&str> {
        self.chosen.said.as_deref()
    }

    /// What `/status` says of the model: null where there is none to ask. `key` is what the provider knows us by.
    pub async fn status(&self, key: impl Fn(&str) -> Option<String>) -> Value {
        let Some(provider) = &self.chosen.first else { return Value::Null };
        let key = provider.key_env.as_deref().and_then(key);
        let found = match (&provider.model, provider.name) {
            (Some(model), "openai" | "anthropic") => Some(model.clone()),
            (named, "ollama") => self.look(provider, None).await.map(|found| named.clone().unwrap_or(found)),
            (_, _) => Some(self.look(provider, key).await.unwrap_or_else(|| OPENAI_MODEL.to_owned())),
        };
        let wire = provider.wire;
        found.map_or(Value::Null, |name| json!({"wire": wire.name(), "name": name, "path": wire.path()}))
    }

    /// The first model that can talk, of those a server lists; the last one found where it does not answer just now.
    async fn look(&self, provider: &Provider, key: Option<String>) -> Option<String> {
        let text = provider.base.as_str().trim_end_matches('/');
        let root = text.strip_suffix("/v1").unwrap_or(text);
        let tags = (format!("{root}/api/tags"), "models", "name");
        let models = (provider.url("/models"), "data", "id");
        // Each kind of server is asked for its own list first.
        let lists = if provider.name == "ollama" { [tags, models] } else { [models, tags] };
        let mut found = None;
        for (url, list, name) in lists {
            let all = listed(&self.outward, &url, key.as_deref()).await.unwrap_or_default();
            let models = all.get(list).and_then(Value::as_array).into_iter().flatten();
            let mut names = models.filter_map(|model| model.get(name)?.as_str());
            found = names.find(|name| can_talk(name)).map(str::to_owned);
            if found.is_some() {
                break;
            }
        }
        let mut known = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if found.is_some() {
            known.clone_from(&found);
        }
        known.clone()
    }
}

/// Models that do something else are listed like any other.
fn can_talk(name: &str) -> bool {
    !["embed", "whisper", "tts", "rerank", "moderation"].iter().any(|kind| name.contains(kind))
}

async fn listed(outward: &Outward, url: &str, key: Option<&str>) -> Option<Value> {
    let look = async {
        let url = Url::parse(url).ok()?;
        let request = outward.client(&url).get(url);
        let request = key.into_iter().fold(request, reqwest::RequestBuilder::bearer_auth);
        let mut answer = request.send().await.ok()?;
        let mut body = Vec::new();
        while let Some(piece) = answer.chunk().await.ok()?.filter(|_| body.len() < LARGEST_LIST) {
            body.extend_from_slice(&piece);
        }
        serde_json::from_slice::<Value>(&body).ok().filter(|_| answer.status().is_success())
    };
    tokio::time::timeout(LOOK, look).await.ok()?
}
