//! Model servers on this machine: unused ones are found by one GET each and offered, and a window that is too small is told.
//!
//! Invariant: none is used unasked.

use super::choice::{Chosen, OLLAMA};
use super::offers::{self, Providers};
use crate::makers::Makers;
use crate::net::outward::Outward;
use reqwest::Url;

/// The servers of the table and their usual addresses.
pub fn usual(makers: &Makers) -> Vec<(&str, Url)> {
    let local = makers.rows.iter().filter(|(_, made)| made.local);
    local.filter_map(|(name, made)| Some((name.as_str(), Url::parse(made.address.as_ref()?).ok()?))).collect()
}

/// A sentence for each server that answers and is not among the chosen.
pub async fn offered(outward: &Outward, chosen: &Chosen, servers: Vec<(&str, Url)>) -> Vec<String> {
    let is_used =
        |at: &Url| chosen.all().any(|used| used.base.port() == at.port() && used.base.host() == at.host());
    let unused = servers.into_iter().filter(|(_, at)| !is_used(at));
    let asked = unused.map(async |(name, at): (&str, Url)| {
        let model = offers::first_listed(outward, &at).await?;
        let place = format!("{}:{}", at.host_str()?, at.port_or_known_default()?);
        Some(format!(
            "{name} runs at {place} with {model}, and is not used: owner.toml [model] provider = {name:?} uses it"
        ))
    });
    futures_util::future::join_all(asked).await.into_iter().flatten().collect()
}

/// Tokens that a thought with its tools and a conversation needs; the creature assumes as many where nobody says.
pub const NEED_TOKENS: u64 = 32_000;

/// Begins the sentences of [`narrow`].
pub const WINDOW: &str = "window: ";

/// A sentence for each server on this machine that has loaded its model with less than a thought needs, and what to do.
pub async fn narrow(providers: &Providers, chosen: &Chosen) -> Vec<String> {
    let mut told = Vec::new();
    for provider in chosen.all().filter(|provider| provider.is_free() && provider.window.is_none()) {
        let Some((model, window)) = providers.loaded(provider).await else { continue };
        if window < NEED_TOKENS {
            let (name, place) = (&provider.name, provider.upstream());
            let mend = wider(name, &model);
            told.push(format!(
                "{WINDOW}{name} at {place} has loaded {model} with a window of {window} tokens, and a thought with its \
                 tools needs {NEED_TOKENS}: {mend}"
            ));
        }
    }
    told
}

/// Tells how each server is given a larger window.
fn wider(name: &str, model: &str) -> String {
    match name {
        OLLAMA => format!(
            "start it as OLLAMA_CONTEXT_LENGTH={NEED_TOKENS} ollama serve, or give {model} a Modelfile with PARAMETER \
             num_ctx {NEED_TOKENS}"
        ),
        "lmstudio" => format!("load {model} there with a context length of {NEED_TOKENS}"),
        "llamacpp" => format!("start it with -c {NEED_TOKENS}"),
        "vllm" => format!("start it with --max-model-len {NEED_TOKENS}"),
        _ => "load it with more".to_owned(),
    }
}
