//! Looks whether an Ollama is there, quickly, so that a creature without a key may find a mind.

use std::time::Duration;

use serde_json::Value;

use crate::http;

/// A server on loopback answers in a few milliseconds; start-up must not wait for one that is not there.
const LIMIT: Duration = Duration::from_millis(500);

/// The first model that can talk, of the Ollama at `base`, as in `http://127.0.0.1:11434`; none when it is not there.
pub async fn find_ollama(base: &str) -> Option<String> {
    let base = http::base(base).ok()?;
    let root = base.url.strip_suffix("/v1").unwrap_or(&base.url);
    let client = http::client(&base).ok()?;
    let look = async {
        let answer = client.get(format!("{root}/api/tags")).send().await.ok()?;
        if !answer.status().is_success() {
            return None;
        }
        let body = http::body(answer).await.ok()?;
        serde_json::from_slice::<Value>(&body).ok()
    };
    let tags = tokio::time::timeout(LIMIT, look).await.ok()??;
    let models = tags.get("models")?.as_array()?.iter();
    let mut names = models.filter_map(|model| model.get("name")?.as_str());
    // An embedding model is listed like any other and cannot answer.
    let name = names.find(|name| !name.contains("embed"))?;
    Some(name.to_string())
}
