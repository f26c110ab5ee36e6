//! Web search through a provider the owner chose.

use crate::address::{self, printable};
use crate::{Error, Web, readable};
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

const BRAVE: &str = "https://api.search.brave.com";
const MOST_SNIPPET_CHARS: usize = 400;
/// Brave refuses to give more at once.
const MOST_HITS: usize = 20;

/// Who answers searches: `brave`, `searxng`, or empty for nobody.
#[derive(Clone, Debug, Default)]
pub struct Provider {
    pub kind: String,
    /// Empty for the provider's own address; needed for `searxng`.
    pub base_url: String,
    pub key: Option<SecretString>,
}

/// One search result; `snippet` is plain text.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    pub title: String,
    pub url: String,
    pub snippet: String,
}

/// Asks the provider for at most `most` (20) results.
pub async fn search(web: &Web, provider: &Provider, query: &str, most: usize) -> Result<Vec<Hit>, Error> {
    let query = query.trim();
    if query.is_empty() {
        return Err(Error::new("search the web: the query is empty", "give a few words to look for"));
    }
    let most = most.clamp(1, MOST_HITS);
    let (path, snippet) = match provider.kind.as_str() {
        "brave" => ("res/v1/web/search", "description"),
        "searxng" => ("search", "content"),
        "" => {
            let hint = "the owner can set provider, base_url and key_env under [search] in owner.toml";
            return Err(Error::new("web search is not configured", hint));
        }
        other => {
            let message = format!("search the web: no provider is called `{other}`");
            return Err(Error::new(message, "provider under [search] in owner.toml is `brave` or `searxng`"));
        }
    };
    let mut url = endpoint(provider, path)?;
    url.query_pairs_mut().append_pair("q", query);
    let mut headers = HeaderMap::new();
    if provider.kind == "brave" {
        url.query_pairs_mut().append_pair("count", &most.to_string());
        headers.insert("x-subscription-token", key(provider)?);
    } else {
        url.query_pairs_mut().append_pair("format", "json");
    }
    let answer = web.ask(&url, headers).await.map_err(|error| explained(provider, error))?;
    let name = printable(&url);
    let answer: Value = serde_json::from_slice(&answer).map_err(|cause| {
        let message = format!("read {name}: the answer is not json: {cause}");
        explained(provider, Error::new(message, "check base_url under [search] in owner.toml"))
    })?;
    let found = answer.pointer("/web/results").or(answer.get("results"));
    let found = found.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let hits = found.iter().filter_map(|result| hit(result, snippet));
    Ok(hits.take(most).collect())
}

fn endpoint(provider: &Provider, path: &str) -> Result<Url, Error> {
    let base = match (provider.kind.as_str(), provider.base_url.trim_end_matches('/')) {
        ("brave", "") => BRAVE,
        (_, "") => {
            let message = "search the web: searxng has no address";
            return Err(Error::new(message, "set base_url under [search] in owner.toml"));
        }
        (_, base) => base,
    };
    // The owner wrote this address, so it may be private.
    address::check(&format!("{base}/{path}"), true)
}

fn key(provider: &Provider) -> Result<HeaderValue, Error> {
    let key = provider.key.as_ref().map(ExposeSecret::expose_secret).unwrap_or_default().trim();
    let value = HeaderValue::from_str(key).ok().filter(|_| !key.is_empty());
    let mut value = value.ok_or_else(|| {
        let hint = "name the variable with the key as key_env under [search] in owner.toml, and set it";
        Error::new("search the web: brave needs a key and has none", hint)
    })?;
    value.set_sensitive(true);
    Ok(value)
}

fn explained(provider: &Provider, error: Error) -> Error {
    let hint = match (provider.kind.as_str(), error.status) {
        ("searxng", None | Some(403)) if error.status.is_some() || error.message.contains("not json") => {
            "searxng must allow json: `search: formats: [html, json]` in its settings.yml"
        }
        (_, Some(401 | 403 | 422)) => "the provider refuses the key; check it with the owner",
        (_, Some(429)) => "the search quota is used up for now; wait before the next search",
        _ => return error,
    };
    Error { hint: hint.to_owned(), ..error }
}

fn hit(result: &Value, snippet: &str) -> Option<Hit> {
    let text = |key: &str| result.get(key).and_then(Value::as_str).unwrap_or_default();
    let url = Some(text("url")).filter(|url| !url.is_empty())?;
    Some(Hit {
        title: readable::line(text("title"), MOST_SNIPPET_CHARS),
        url: url.to_owned(),
        snippet: readable::line(text(snippet), MOST_SNIPPET_CHARS),
    })
}
