//! A provider of models: where it is, how it is called, and what is known of it by its address.

use super::choice::OLLAMA;
use super::wire::Wire;
use crate::net::outward::is_loopback;
use reqwest::Url;

const ANTHROPIC_HOST: &str = "api.anthropic.com";
pub const OPENAI_HOST: &str = "api.openai.com";

/// A model server and how it knows us.
#[derive(Clone, Debug, PartialEq)]
pub struct Provider {
    /// The wire it is offered in.
    pub wire: Wire,
    /// Its maker's, of `house::makers`.
    pub name: &'static str,
    /// The same, with its place where there are two of a name.
    pub label: String,
    /// Paths are added to it; without a slash at its end.
    pub base: Url,
    /// None: whatever it offers.
    pub model: Option<String>,
    /// The variable that holds its key.
    pub key_env: Option<String>,
    /// Tokens its window holds, by the owner's word.
    pub window: Option<u64>,
}

impl Provider {
    /// An Ollama on this machine costs nothing.
    pub fn is_free(&self) -> bool {
        self.name == OLLAMA && is_loopback(&self.base)
    }

    /// Whether it is known to take `max_completion_tokens` for every model; elsewhere `max_tokens` is understood.
    pub fn wants_new_limit(&self) -> bool {
        let host = self.base.host_str().unwrap_or_default();
        host == OPENAI_HOST || host.ends_with(".openai.azure.com")
    }

    /// Whether it is at an address whose models' windows are in a table of ours; a maker that is not is asked.
    pub fn is_makers(&self) -> bool {
        matches!(self.base.host_str(), Some(ANTHROPIC_HOST | OPENAI_HOST))
    }

    /// Host and port, as errors name it.
    pub fn upstream(&self) -> String {
        let host = self.base.host_str().unwrap_or_default();
        self.base.port().map_or(host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// Which model at which place, in words.
    pub fn told(&self) -> String {
        let model = self.model.as_deref().unwrap_or("whatever model it offers");
        let key = match &self.key_env {
            Some(name) => format!("with the key in {name}"),
            None if self.is_free() => "if it runs; no key is set, so nothing else is asked".to_owned(),
            None => "without a key".to_owned(),
        };
        format!("{}: {model} at {}, {key}", self.name, self.upstream())
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base.as_str().trim_end_matches('/'))
    }
}
