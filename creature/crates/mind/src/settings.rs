//! How a model is asked, as the owner sets it in `[model]`.

use serde::Deserialize;

/// `[model]`: how a model is asked; which one is the broker's to know, and its keys of this section are too.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ModelSettings {
    pub deadline_s: Option<u64>,
    pub max_tokens: Option<u64>,
    /// Tokens of its window, where its server does not say.
    pub context_tokens: Option<u64>,
    pub tools: ToolForm,
    /// How much it thinks, in its maker's words.
    pub effort: String,
}

/// How a model's calls travel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolForm {
    /// As its wire has them, where the server is found to take them.
    #[default]
    #[serde(alias = "")]
    Auto,
    Native,
    /// As one JSON object, the thought.
    Json,
}
