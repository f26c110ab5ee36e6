//! Providers of models: each maker's address, wire and usual model, and which one the owner's settings and keys choose.

use super::besides;
use super::provider::Provider;
use super::wire::Wire;
use crate::makers::{Makers, Offer, Spoken};
use crate::policy::{Besides, Model, Policy};
use crate::secrets::keys::Keys;
use house::makers;
use reqwest::Url;
use std::sync::Arc;

/// The provider if the owner gives an address or a key without naming a provider.
const OPENAI: &str = "openai";
pub const OLLAMA: &str = makers::OLLAMA.name;
/// The variable that may hold its address.
const OLLAMA_HOST: &str = "OLLAMA_HOST";
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
    /// Providers that may be asked by name beside these.
    pub others: Vec<Provider>,
    pub other: Option<Provider>,
    /// Reason why the settings of the first could not be followed.
    pub said: Option<String>,
    /// Reasons why settings of the others could not be followed, a sentence each.
    pub left_out: Vec<String>,
    /// All makers, the owner's among them.
    pub makers: Arc<Makers>,
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
        let others = self.others.iter().map(|other| format!("by name {}", other.told()));
        let all = [first.told()].into_iter().chain(quick).chain(fallback).chain(others);
        let all = all.chain(self.left_out.iter().cloned());
        all.collect::<Vec<_>>().join("; ")
    }

    /// All providers, in the order they are tried for a model.
    pub fn all(&self) -> impl Iterator<Item = &Provider> {
        self.first.iter().chain(&self.quick).chain(&self.fallback).chain(&self.others).chain(&self.other)
    }
}

/// Chooses for a house; values that are not secret may be in the environment or in `.env`.
pub fn of_house(policy: &Policy, keys: &Keys) -> Chosen {
    let known = |name: &str| keys.get(name).map(str::to_owned);
    let mut model = policy.model.clone();
    // What the owner named for dreams may be asked too.
    model.others.extend(policy.dream.model.clone());
    pick(&model, Makers::with_owners(&policy.makers), &known, &|name| {
        std::env::var(name).ok().or_else(|| known(name))
    })
}

type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Chooses by the owner's settings, else by what is available. `keys` looks up secrets, `env` everything else.
pub fn pick(settings: &Model, mut makers: Makers, keys: Lookup, env: Lookup) -> Chosen {
    makers.aliases.extend(settings.aliases.clone());
    let mut chosen = choose_first(settings, &makers, keys, env);
    chosen.makers = Arc::new(makers);
    let Some(first) = chosen.first.clone() else { return chosen };
    let makers = Arc::clone(&chosen.makers);
    let mut named = |place: &str, besides: &Besides| {
        let own = besides::as_first(settings, &first, besides, &makers);
        let picked = choose_first(&own, &makers, keys, env);
        if let Some(said) = picked.said {
            let said = said.replace("owner.toml [model]", "it").replace(": no model", "");
            chosen.left_out.push(format!("owner.toml [model.{place}] is left out: {said}"));
        }
        picked.first
    };
    chosen.quick = settings.quick.as_ref().and_then(|besides| named("quick", besides));
    chosen.fallback = settings.fallback.iter().filter_map(|besides| named("fallback", besides)).collect();
    let others = settings.others.iter().map(|name| Besides { model: name.clone(), ..Besides::default() });
    chosen.others = others.filter_map(|besides| named("others", &besides)).collect();
    let all = chosen.first.iter_mut().chain(&mut chosen.quick);
    let all = all.chain(&mut chosen.fallback).chain(&mut chosen.others);
    for provider in all.chain(&mut chosen.other) {
        provider.model = provider.model.take().map(|model| makers.meant(&model).to_owned());
        if first.name == provider.name && first.base != provider.base {
            provider.label = format!("{} at {}", provider.name, provider.upstream());
        }
    }
    chosen
}

/// The API to parse a maker's addresses for.
fn wire(offer: &Offer) -> Wire {
    if offer.made.wire == Spoken::Anthropic { Wire::Anthropic } else { Wire::OpenAi }
}

fn set(text: &str) -> Option<String> {
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Chooses the first provider, and one of another API if there is a key for it.
fn choose_first(settings: &Model, makers: &Makers, keys: Lookup, env: Lookup) -> Chosen {
    let env = |name: &str| env(name).and_then(|value| set(&value));
    let is_set = |name: &str| keys(name).is_some_and(|key| !key.trim().is_empty());
    // An Ollama is looked for by its own rules.
    let rows = || makers.offers().filter(|row| row.name != OLLAMA);
    let own_key = |row: &Offer| row.keys().into_iter().find(|name| is_set(name)).map(str::to_owned);
    let has = |row: &Offer| match set(&settings.key_env) {
        Some(name) => Some(name).filter(|name| is_set(name)),
        None => own_key(row),
    };
    let own = |row: &Offer| provider(row, settings, &env, has(row));
    let keyed = |row: &Offer| {
        let given = || env(row.address_env()?).filter(|_| row.made.wire != Spoken::Anthropic);
        if row.made.local || has(row).is_some() || set(&settings.base_url).or_else(given).is_some() {
            return own(row);
        }
        let usual = row.keys().join(", ");
        Err(format!("owner.toml [model] names a provider, but no key is in {usual} or key_env: no model"))
    };
    let plain = Model::default();
    let besides = |row: &Offer| provider(row, &plain, &env, Some(own_key(row)?)).ok();
    // A key or an address that the owner gives without a provider is for a server of the OpenAI API.
    let by_what_there_is = |row: &Offer| match row.name {
        OPENAI => has(row).is_some() || set(&settings.base_url).is_some(),
        _ => row.is_by_key() && has(row).is_some() && set(&settings.key_env).is_none(),
    };
    let (first, other) = match settings.provider.trim() {
        "instinct" => return Chosen::default(),
        OLLAMA => (ollama(settings, makers, &env), None),
        "" => match rows().find(by_what_there_is) {
            Some(row) => {
                let mut others =
                    rows().filter(|other| other.is_by_key() && !wire(other).is_beside(wire(&row)));
                (own(&row), others.find_map(|other| besides(&other)))
            }
            None => (ollama(settings, makers, &env), None),
        },
        name => match rows().find(|row| row.name == name) {
            Some(row) => (keyed(&row), None),
            None => (Err(unknown(makers, name)), None),
        },
    };
    match first {
        Ok(first) => Chosen { first: Some(first), other, ..Chosen::default() },
        Err(said) => Chosen { said: Some(said), ..Chosen::default() },
    }
}

fn unknown(makers: &Makers, name: &str) -> String {
    let known: Vec<_> = ["instinct"].into_iter().chain(makers.offers().map(|offer| offer.name)).collect();
    format!("owner.toml [model] provider = {name:?} is not one of {}: no model", known.join(", "))
}

fn provider(
    row: &Offer,
    settings: &Model,
    env: &impl Fn(&str) -> Option<String>,
    key_env: Option<String>,
) -> Result<Provider, String> {
    let known = row.made;
    let given = || env(row.address_env()?);
    let place = if set(&settings.base_url).is_some() { PLACE } else { row.address_env().unwrap_or(PLACE) };
    let base = set(&settings.base_url).or_else(given);
    let model = set(&settings.model).or_else(|| env(row.model_env()?));
    // What another server of the OpenAI API offers is unknown.
    let model = match (known.wire, &base) {
        (Spoken::Chat | Spoken::Responses, Some(_)) => model,
        _ => model.or_else(|| known.model.clone()),
    };
    let Some(base) = base.or_else(|| known.address.clone()) else {
        return Err(format!("{PLACE} is missing: {} has an address of your own: no model", row.name));
    };
    let base = address(wire(row), &base, place)?;
    Ok(made(row, settings, base, model, key_env))
}

/// A maker's own address gets its own API, others chat completions, unless the owner says otherwise.
fn made(
    row: &Offer,
    settings: &Model,
    base: Url,
    model: Option<String>,
    key_env: Option<String>,
) -> Provider {
    let own = row.made.address.as_deref().and_then(|address| Url::parse(address).ok());
    let is_own = own.is_some_and(|own| own.host_str() == base.host_str());
    let is_responses = is_own && row.made.wire == Spoken::Responses;
    let wire = match (wire(row), settings.wire.as_str()) {
        (Wire::Anthropic, _) => Wire::Anthropic,
        (Wire::Responses, "") | (_, "responses") => Wire::Responses,
        (_, "") if is_responses => Wire::Responses,
        (_, _) => Wire::OpenAi,
    };
    let name = row.name.to_owned();
    let made = Arc::new(row.made.clone());
    let (window, effort) = (settings.context_tokens, set(&settings.effort));
    Provider { wire, label: name.clone(), name, made, base, model, key_env, window, effort }
}

fn ollama(
    settings: &Model,
    makers: &Makers,
    env: &impl Fn(&str) -> Option<String>,
) -> Result<Provider, String> {
    let row = makers
        .offers()
        .find(|row| row.name == OLLAMA)
        .ok_or("the table of makers is unreadable: no model")?;
    let place = if set(&settings.base_url).is_some() { PLACE } else { OLLAMA_HOST };
    let base = set(&settings.base_url).unwrap_or_else(|| ollama_base(env(OLLAMA_HOST)));
    let base = address(Wire::OpenAi, &base, place)?;
    Ok(made(&row, settings, base, set(&settings.model), None))
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
