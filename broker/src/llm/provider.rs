//! A provider of models: its address, API and key, and what its address tells about it.

use super::wire::Wire;
use crate::ground::hosts;
use crate::makers::Made;
use reqwest::Url;
use std::sync::Arc;

/// A model server and the key for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Provider {
    /// The API it is called by.
    pub wire: Wire,
    /// Name of its maker.
    pub name: String,
    pub made: Arc<Made>,
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
    /// Effort of its model's thinking, in its maker's words, if the owner set it.
    pub effort: Option<String>,
}

impl Provider {
    /// Its maker's row, if this is its maker's own address, or its maker has none of its own.
    fn made(&self) -> Option<&Made> {
        let made = &self.made;
        let own = made.address.as_ref().map(|address| Url::parse(address).ok());
        let is_own = own.is_none_or(|own| own.is_some_and(|own| own.host_str() == self.base.host_str()));
        is_own.then_some(&**made)
    }

    /// Whether calls cost nothing: true of what the owner names as a server on this machine, not of what may be a
    /// gateway to elsewhere.
    pub fn is_free(&self) -> bool {
        self.made.local && hosts::is_loopback(&hosts::host(&self.base))
    }

    /// Whether every model there takes `max_completion_tokens`; other servers understand `max_tokens`.
    pub fn wants_new_limit(&self) -> bool {
        let is_azures = self.base.host_str().is_some_and(|host| host.ends_with(".openai.azure.com"));
        is_azures || self.made().is_some_and(|made| made.limit.is_some())
    }

    /// Whether this is a maker's own address, of which the models' windows are known; other servers are asked.
    pub fn is_makers(&self) -> bool {
        self.made().is_some_and(|made| !made.router && !made.local)
    }

    /// Whether documents are taken there and cost no more than their tokens: of the chat wire OpenAI's own address alone says
    /// so (developers.openai.com, guide to file inputs), and OpenRouter bills pages besides (openrouter.ai/docs, PDF inputs).
    pub fn takes_documents(&self) -> bool {
        let is_openais = self.name == "openai" && self.is_makers();
        !self.made.router && (self.wire != Wire::OpenAi || is_openais)
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
