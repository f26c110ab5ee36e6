//! A provider of models: its address, API and key, and what its address tells about it.

use super::wire::Wire;
use crate::net::outward::is_loopback;
use reqwest::Url;

const ANTHROPIC_HOST: &str = "api.anthropic.com";
pub const OPENAI_HOST: &str = "api.openai.com";

/// A model server and the key for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Provider {
    /// The API it is called by.
    pub wire: Wire,
    /// `anthropic`, `openai` or `ollama`.
    pub name: &'static str,
    /// The name, with its address if there are two of this name.
    pub label: String,
    /// Base of all paths; without a slash at its end.
    pub base: Url,
    /// `None`: whatever model it offers.
    pub model: Option<String>,
    /// The variable that holds its key.
    pub key_env: Option<String>,
    /// Size of its context window in tokens, if the owner set it.
    pub window: Option<u64>,
}

impl Provider {
    /// Whether calls cost nothing: true of an Ollama on this machine.
    pub fn is_free(&self) -> bool {
        self.name == "ollama" && is_loopback(&self.base)
    }

    /// Whether every model there takes `max_completion_tokens`; other servers understand `max_tokens`.
    pub fn wants_new_limit(&self) -> bool {
        let host = self.base.host_str().unwrap_or_default();
        host == OPENAI_HOST || host.ends_with(".openai.azure.com")
    }

    /// Whether this is the maker's own address, where the models offered are known.
    pub fn is_makers(&self) -> bool {
        matches!(self.base.host_str(), Some(ANTHROPIC_HOST | OPENAI_HOST))
    }

    /// Host and port, for error messages.
    pub fn upstream(&self) -> String {
        let host = self.base.host_str().unwrap_or_default();
        self.base.port().map_or(host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// Model and address in words.
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
