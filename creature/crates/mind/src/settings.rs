//! Settings of how a model is asked, as the owner sets them in `[model]`.

use serde::Deserialize;

/// `[model]` of `owner.toml`, without the keys that choose a model: those are the broker's.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ModelSettings {
    /// Seconds for connecting and for a silence within a reply, 5 to 1,800.
    pub deadline_s: Option<u64>,
    /// The longest reply, in tokens.
    pub max_tokens: Option<u64>,
    /// Tokens of the model's window; goes before what the broker says.
    pub context_tokens: Option<u64>,
    pub tools: ToolForm,
    /// How much the model thinks, in its maker's words; empty: as the broker says.
    pub effort: String,
}

/// Form in which tool calls are put to a model and come back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolForm {
    /// `Native` where the server is found to take tools, else `Json`.
    #[default]
    #[serde(alias = "")]
    Auto,
    /// In the wire's own form.
    Native,
    /// In one JSON object, the thought.
    Json,
}
