//! Web search by the service `search`, which the owner configures as one of two providers.

use crate::{Broker, Error, readable};
use serde::Serialize;
use serde_json::{Value, json};

const MOST_SNIPPET_CHARS: usize = 400;
/// Engines that are named where none of a SearXNG's answered.
const MOST_ENGINES: usize = 5;
/// Brave refuses to give more at once.
const MOST_HITS: usize = 20;

/// Result of a search; `snippet` is plain text.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hit {
    pub title: String,
    pub url: String,
    pub snippet: String,
}

/// Question to a provider.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asked<'a> {
    pub query: &'a str,
    /// Most results, 20 at most.
    pub most: usize,
    /// Only what is not older: `day`, `week`, `month` or `year`; empty: of any age.
    pub within: &'a str,
    /// Page of results, the first where it is 0 or 1.
    pub page: usize,
    /// Language of the results, like `de` or `de-CH`; empty: the provider's usual one.
    pub language: &'a str,
    /// Level of what is left out, one of `SAFE`; empty: the provider's usual.
    pub safe: &'a str,
}

/// How much is left out of results that are not for everybody, in Brave's words; SearXNG counts them from 0.
pub const SAFE: [&str; 3] = ["off", "moderate", "strict"];

/// Asks for results. `service` is how the broker's status shows the service: its rules tell which provider is behind it.
///
/// `freshness`, `offset` and `search_lang` are Brave's (Web Search API, query parameters), `time_range`, `pageno` and `language`
/// SearXNG's (Search API); `safesearch` is of both.
pub async fn search(broker: &Broker, service: &Value, asked: Asked<'_>) -> Result<Vec<Hit>, Error> {
    let Asked { query, most, within, page, language, safe } = Asked { query: asked.query.trim(), ..asked };
    if query.is_empty() {
        return Err(Error::new("search the web: the query is empty", "give a few words to look for"));
    }
    let most = most.clamp(1, MOST_HITS);
    let brave =
        service.to_string().contains("res/v1") || service.to_string().to_lowercase().contains("brave");
    let (path, snippet, mut parameters) = match brave {
        true => ("/res/v1/web/search", "description", json!({"q": query, "count": most.to_string()})),
        false => ("/search", "content", json!({"q": query, "format": "json"})),
    };
    let (span, later) = match brave {
        true => {
            let first = within.get(..1).unwrap_or_default();
            (("freshness", format!("p{first}")), ("offset", page.saturating_sub(1)))
        }
        false => (("time_range", within.to_owned()), ("pageno", page)),
    };
    let level = SAFE.iter().position(|word| *word == safe).unwrap_or_default();
    let of = match brave {
        true => {
            ("search_lang", language.split('-').next().unwrap_or_default().to_lowercase(), safe.to_owned())
        }
        false => ("language", language.to_owned(), level.to_string()),
    };
    let more = [
        (span.0, span.1, !within.is_empty()),
        (later.0, later.1.to_string(), page > 1),
        (of.0, of.1, !language.is_empty()),
        ("safesearch", of.2, !safe.is_empty()),
    ];
    if let Value::Object(fields) = &mut parameters {
        let said = more.into_iter().filter(|(_, _, is_said)| *is_said);
        fields.extend(said.map(|(name, value, _)| (name.to_owned(), json!(value))));
    }
    let request = json!({"service": "search", "method": "GET", "path": path, "query": parameters});
    let reply = broker.service(&request).await?;
    if !(200..300).contains(&reply.status) {
        let hint = match reply.status {
            403 if !brave => JSON_OFF,
            429 if !brave => {
                "the limiter of this searxng refuses: tell the owner, `server: limiter: false` in its settings.yml \
                 turns it off, and pass_ip in its limiter.toml lets the broker's address through"
            }
            401 | 403 | 422 => "the provider refuses the key; tell the owner",
            429 => "the search quota is used up for now; wait before the next search",
            _ => "try again later, or fetch a page you know",
        };
        let message = format!("search the web: the provider answered {}", reply.status);
        return Err(Error { status: Some(reply.status), ..Error::new(message, hint) });
    }
    let answer: Value = serde_json::from_str(&reply.body)
        .map_err(|cause| Error::new(format!("search the web: the answer is not json: {cause}"), JSON_OFF))?;
    let found = answer.pointer("/web/results").or(answer.get("results"));
    let found = found.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let hits: Vec<Hit> = found.iter().filter_map(|result| hit(result, snippet)).take(most).collect();
    match silent(&answer) {
        silent if hits.is_empty() && !silent.is_empty() => {
            let hint =
                "try again later; if it stays so tell the owner, whose searxng asks engines that refuse it";
            Err(Error::new(format!("search the web: no engine answered: {silent}"), hint))
        }
        _ => Ok(hits),
    }
}

const JSON_OFF: &str = "searxng must allow json: `search: formats: [html, json]` in its settings.yml";

/// The engines that gave a SearXNG no answer, each with its reason: else nothing found would be no news.
fn silent(answer: &Value) -> String {
    let engines = answer.get("unresponsive_engines").and_then(Value::as_array).into_iter().flatten();
    let said = |engine: &Value| {
        let words = engine.as_array()?.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(": ");
        Some(readable::line(&words, 80))
    };
    engines.filter_map(said).take(MOST_ENGINES).collect::<Vec<_>>().join(", ")
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
