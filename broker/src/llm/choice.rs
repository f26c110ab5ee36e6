//! Providers of models: each maker's address, wire and usual model, and which one the owner's settings and keys choose.

use super::aliases::Aliases;
use super::besides;
use super::provider::{OPENAI_HOST, Provider};
use super::wire::Wire;
use crate::policy::{Besides, Model};
use crate::secrets::keys::Keys;
use house::makers::{self, Maker};
use reqwest::Url;

/// API, address and usual model of a maker in `house::makers`. Ollama has no row: it takes no key and has no usual model.
struct Usual {
    maker: &'static str,
    /// The API, unless the owner names one; `Wire::OpenAi` is chat completions.
    wire: Wire,
    address: &'static str,
    /// The model used if neither the owner nor the environment names one.
    model: &'static str,
}

const USUAL: &[Usual] = &[
    Usual {
        maker: "anthropic",
        wire: Wire::Anthropic,
        address: "https://api.anthropic.com",
        model: "claude-sonnet-5-5",
    },
    Usual { maker: OPENAI, wire: Wire::OpenAi, address: "https://api.openai.com/v1", model: "gpt-6.1-terra" },
];

/// The provider if the owner gives an address or a key without naming one.
const OPENAI: &str = "openai";
pub const OLLAMA: &str = makers::OLLAMA.name;
/// Address of an Ollama, unless another is given.
const OLLAMA_PLACE: &str = "127.0.0.1:11434";

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

/// A maker that takes a key, and how it is called.
struct Row {
    maker: &'static Maker,
    usual: &'static Usual,
}

/// In the order in which keys decide.
fn rows() -> impl Iterator<Item = Row> {
    makers::MAKERS.iter().filter_map(|maker| Some(Row { maker, usual: usual(maker.name)? }))
}

fn usual(maker: &str) -> Option<&'static Usual> {
    USUAL.iter().find(|usual| usual.maker == maker)
}

/// The model of a maker that is used if nobody names one.
pub fn usual_model(maker: &str) -> Option<&'static str> {
    usual(maker).map(|usual| usual.model)
}

fn set(text: &str) -> Option<String> {
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Chooses the first provider, and one of another API if there is a key for it.
fn choose_first(settings: &Model, keys: Lookup, env: Lookup) -> Chosen {
    let env = |name: &str| env(name).and_then(|value| set(&value));
    let has = |row: &Row| {
        let name = set(&settings.key_env).or_else(|| row.maker.key.map(str::to_owned))?;
        keys(&name).is_some_and(|key| !key.trim().is_empty()).then_some(name)
    };
    let own = |row: &Row| provider(row, settings, &env, has(row));
    let keyed = |row: &Row| {
        let given = || env(row.maker.address).filter(|_| row.usual.wire != Wire::Anthropic);
        if has(row).is_some() || set(&settings.base_url).or_else(given).is_some() {
            return own(row);
        }
        let usual = row.maker.key.unwrap_or_default();
        Err(format!("owner.toml [model] names a provider, but no key is in {usual} or key_env: no model"))
    };
    let plain = Model::default();
    let besides = |row: &Row| {
        let key = row.maker.key.filter(|name| keys(name).is_some())?;
        provider(row, &plain, &env, Some(key.to_owned())).ok()
    };
    // A key or an address that the owner gives without a provider is for a server of the OpenAI API.
    let by_what_there_is = |row: &Row| match row.maker.name {
        OPENAI => has(row).is_some() || set(&settings.base_url).is_some(),
        _ => has(row).is_some() && set(&settings.key_env).is_none(),
    };
    let (first, other) = match settings.provider.trim() {
        "instinct" => return Chosen::default(),
        OLLAMA => (ollama(settings, &env), None),
        "" => match rows().find(by_what_there_is) {
            Some(row) => {
                let mut others = rows().filter(|other| !other.usual.wire.is_beside(row.usual.wire));
                (own(&row), others.find_map(|other| besides(&other)))
            }
            None => (ollama(settings, &env), None),
        },
        name => match rows().find(|row| row.maker.name == name) {
            Some(row) => (keyed(&row), None),
            None => (Err(unknown(name)), None),
        },
    };
    match first {
        Ok(first) => Chosen { first: Some(first), other, ..Chosen::default() },
        Err(said) => Chosen { said: Some(said), ..Chosen::default() },
    }
}

fn unknown(name: &str) -> String {
    let known: Vec<_> = makers::PROVIDERS.iter().copied().filter(|name| !name.is_empty()).collect();
    format!("owner.toml [model] provider = {name:?} is not one of {}: no model", known.join(", "))
}

fn provider(
    row: &Row,
    settings: &Model,
    env: &impl Fn(&str) -> Option<String>,
    key_env: Option<String>,
) -> Result<Provider, String> {
    let Row { maker, usual } = row;
    let place = if set(&settings.base_url).is_some() { PLACE } else { maker.address };
    let base = set(&settings.base_url).or_else(|| env(maker.address));
    let model = set(&settings.model).or_else(|| env(maker.model?));
    // What another server of the OpenAI API offers is unknown.
    let model = match (usual.wire, &base) {
        (Wire::OpenAi | Wire::Responses, Some(_)) => model,
        _ => model.or_else(|| Some(usual.model.to_owned())),
    };
    let base = address(usual.wire, &base.unwrap_or(usual.address.to_owned()), place)?;
    Ok(made(maker.name, settings, usual.wire, base, model, key_env))
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
        (Wire::Responses, "") | (_, "responses") => Wire::Responses,
        (_, "") if base.host_str() == Some(OPENAI_HOST) => Wire::Responses,
        (_, _) => Wire::OpenAi,
    };
    Provider { wire, name, label: name.to_owned(), base, model, key_env, window: settings.context_tokens }
}

fn ollama(settings: &Model, env: &impl Fn(&str) -> Option<String>) -> Result<Provider, String> {
    let place = if set(&settings.base_url).is_some() { PLACE } else { makers::OLLAMA.address };
    let base = set(&settings.base_url).unwrap_or_else(|| ollama_base(env(makers::OLLAMA.address)));
    let base = address(Wire::OpenAi, &base, place)?;
    Ok(made(OLLAMA, settings, Wire::OpenAi, base, set(&settings.model), None))
}

/// Parses `OLLAMA_HOST` as people write it: a host, a port, an address, or all with a scheme.
fn ollama_base(host: Option<String>) -> String {
    let host = host.unwrap_or(OLLAMA_PLACE.to_owned());
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
