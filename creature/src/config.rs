//! The owner's settings for the creature, from `owner.toml` and the environment; every default is safe.

use serde::Deserialize;

/// What of `owner.toml` concerns the creature. Sections it does not know are the guardian's.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Settings {
    pub model: ModelSettings,
    pub rest: RestSettings,
    pub web: WebSettings,
    pub search: SearchSettings,
    pub x: XSettings,
}

/// `[model]`: which mind. Empty means: found by environment and loopback, else instinct.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelSettings {
    /// `instinct`, `anthropic`, `openai` (any OpenAI-compatible server) or empty.
    pub provider: String,
    pub model: String,
    pub base_url: String,
    /// Name of the environment variable that holds the key.
    pub key_env: String,
    pub deadline_s: Option<u64>,
    pub max_tokens: Option<u64>,
}

/// `[rest]`: bounds on the rest between wakes, in seconds.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RestSettings {
    pub shortest_s: u64,
    pub longest_s: u64,
}

impl Default for RestSettings {
    fn default() -> Self {
        Self { shortest_s: 2, longest_s: 300 }
    }
}

/// `[web]`: what pages may be fetched.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WebSettings {
    /// Allow loopback, private and link-local addresses.
    pub allow_private: bool,
}

/// `[search]`: a provider for `web.search`; empty means not configured.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SearchSettings {
    /// `brave`, `searxng` or empty.
    pub provider: String,
    pub base_url: String,
    pub key_env: String,
}

/// `[x]`: where X is; credentials come by environment.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct XSettings {
    /// Defaults to the public API; a local server in tests.
    pub base_url: String,
}
