//! Chooses the model providers: by the owner's settings, else by the keys there are, else an Ollama on loopback.

use super::aliases::Aliases;
use super::besides;
use super::provider::{OPENAI_HOST, Provider};
use super::wire::Wire;
use crate::policy::{Besides, Model};
use crate::secrets::keys::Keys;
use reqwest::Url;

/// The model used if neither the owner nor the environment names one.
pub const ANTHROPIC_MODEL: &str = "claude-sonnet-5-5";
pub const OPENAI_MODEL: &str = "gpt-6.1-terra";

const ANTHROPIC: &str = "https://api.anthropic.com";
const OPENAI: &str = "https://api.openai.com/v1";
const OLLAMA: &str = "127.0.0.1:11434";

/// The setting that holds an address.
const PLACE: &str = "owner.toml [model] base_url";

/// The chosen providers: the first, those the owner named besides, and one of another API if there is a key for it.
#[derive(Clone, Debug, Default)]
pub struct Chosen {
    pub first: Option<Provider>,
    pub quick: Option<Provider>,
    pub fallback: Vec<Provider>,
    pub other: Option<Provider>,
    /// What could not be followed in the settings of the first.
    pub said: Option<String>,
    /// What could not be followed in the settings of the others.
    pub left_out: Vec<String>,
    pub aliases: Aliases,
}

impl Chosen {
    /// The models that are used and why, in a sentence without secrets.
    pub fn told(&self) -> String {
        let Some(first) = &self.first else {
            let why = self.said.as_deref().unwrap_or("owner.toml [model] says provider = \"instinct\"");
            return format!("instinct: {why}");
        };
        let quick = self.quick.iter().map(|quick| format!("quick {}", quick.told()));
        let fallback = self.fallback.iter().map(|fallback| format!("else {}", fallback.told()));
        let all =
            [first.told()].into_iter().chain(quick).chain(fallback).chain(self.left_out.iter().cloned());
        all.collect::<Vec<_>>().join("; ")
    }

    /// All providers, in the order they are tried for a model.
    pub fn all(&self) -> impl Iterator<Item = &Provider> {
        self.first.iter().chain(&self.quick).chain(&self.fallback).chain(&self.other)
    }
}

/// Chooses for a house; values that are not secret may be in the environment or in `.env`.
pub fn of_house(settings: &Model, keys: &Keys) -> Chosen {
    let known = |name: &str| keys.get(name).map(str::to_owned);
    pick(settings, &known, &|name| std::env::var(name).ok().or_else(|| known(name)))
}

type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Chooses by the owner's settings, else by what is available. `keys` looks up secrets, `env` everything else.
pub fn pick(settings: &Model, keys: Lookup, env: Lookup) -> Chosen {
    let mut chosen = Chosen { aliases: Aliases::new(&settings.aliases), ..choose_first(settings, keys, env) };
    let Some(first) = chosen.first.clone() else { return chosen };
    let mut named = |place: &str, besides: &Besides| {
        let picked = choose_first(&besides::as_first(settings, &first, besides, &chosen.aliases), keys, env);
        if let Some(said) = picked.said {
            let said = said.replace("owner.toml [model]", "it").replace(": no model", "");
            chosen.left_out.push(format!("owner.toml [model.{place}] is left out: {said}"));
        }
        picked.first
    };
    chosen.quick = settings.quick.as_ref().and_then(|besides| named("quick", besides));
    chosen.fallback = settings.fallback.iter().filter_map(|besides| named("fallback", besides)).collect();
    let (aliases, all) = (&chosen.aliases, chosen.first.iter_mut().chain(&mut chosen.quick));
    for provider in all.chain(&mut chosen.fallback).chain(&mut chosen.other) {
        provider.model = provider.model.take().map(|model| aliases.meant(&model).to_owned());
        if first.name == provider.name && first.base != provider.base {
            provider.label = format!("{} at {}", provider.name, provider.upstream());
        }
    }
    chosen
}

/// Chooses the first provider, and one of another API if there is a key for it.
fn choose_first(settings: &Model, keys: Lookup, env: Lookup) -> Chosen {
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
        Ok(first) => Chosen { first: Some(first), other, ..Chosen::default() },
        Err(said) => Chosen { said: Some(said), ..Chosen::default() },
    }
}

fn key_name(wire: Wire) -> &'static str {
    match wire {
        Wire::Anthropic => "ANTHROPIC_API_KEY",
        Wire::OpenAi | Wire::Responses => "OPENAI_API_KEY",
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
        Wire::OpenAi | Wire::Responses => ("OPENAI_BASE_URL", "OPENAI_MODEL", OPENAI, OPENAI_MODEL),
    };
    let place = if set(&settings.base_url).is_some() { PLACE } else { base };
    let base = set(&settings.base_url).or_else(|| env(base));
    let model = set(&settings.model).or_else(|| env(model));
    // What another server of the OpenAI API offers is unknown.
    let model = match (wire, &base) {
        (Wire::OpenAi, Some(_)) => model,
        _ => model.or_else(|| Some(usual_model.to_owned())),
    };
    let base = address(wire, &base.unwrap_or(usual_base.to_owned()), place)?;
    Ok(made(wire.name(), settings, wire, base, model, key_env))
}

/// OpenAI's own address gets its own API, others chat completions, unless the owner says otherwise.
fn made(
    name: &'static str,
    settings: &Model,
    wire: Wire,
    base: Url,
    model: Option<String>,
    key_env: Option<String>,
) -> Provider {
    let wire = match (wire, settings.wire.as_str()) {
        (Wire::Anthropic, _) => Wire::Anthropic,
        (_, "responses") => Wire::Responses,
        (_, "") if base.host_str() == Some(OPENAI_HOST) => Wire::Responses,
        (_, _) => Wire::OpenAi,
    };
    Provider { wire, name, label: name.to_owned(), base, model, key_env, window: settings.context_tokens }
}

fn ollama(settings: &Model, env: &impl Fn(&str) -> Option<String>) -> Result<Provider, String> {
    let set = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    let place = if set(&settings.base_url).is_some() { PLACE } else { "OLLAMA_HOST" };
    let base = set(&settings.base_url).unwrap_or_else(|| ollama_base(env("OLLAMA_HOST")));
    let base = address(Wire::OpenAi, &base, place)?;
    Ok(made("ollama", settings, Wire::OpenAi, base, set(&settings.model), None))
}

/// Parses `OLLAMA_HOST` as people write it: a host, a port, an address, or all with a scheme.
fn ollama_base(host: Option<String>) -> String {
    let host = host.unwrap_or(OLLAMA.to_owned());
    let (scheme, host) = host.split_once("://").unwrap_or(("http", &host));
    let (name, port) = host.trim_end_matches('/').rsplit_once(':').unwrap_or((host, "11434"));
    // An address that a server binds to is not one to call.
    let name = if name.is_empty() || name == "0.0.0.0" { "127.0.0.1" } else { name };
    format!("{scheme}://{}:{port}", name.trim_end_matches('/'))
}

/// Parses an address from the setting `place`, which errors name. Addresses are written with and without `/v1`; paths
/// are added to the form without it.
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
        Wire::OpenAi | Wire::Responses if url.path().trim_matches('/').is_empty() => format!("{text}/v1"),
        Wire::OpenAi | Wire::Responses => text.to_owned(),
    };
    Url::parse(&text).map_err(|_| bad("not an address"))
}
