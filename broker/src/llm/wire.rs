//! The wires that models speak; pure.

/// What a model speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wire {
    Anthropic,
    /// Chat completions, of OpenAI's and of all who imitate it.
    OpenAi,
    /// OpenAI's own.
    Responses,
}

impl Wire {
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Responses => "responses",
        }
    }

    /// Where clients of it find it here.
    pub fn path(self) -> &'static str {
        match self {
            Self::Anthropic => "/llm/anthropic",
            Self::OpenAi | Self::Responses => "/llm/openai/v1",
        }
    }

    /// Whether a server of this wire may be asked in the other: those of OpenAI's two are the same.
    pub fn is_beside(self, other: Self) -> bool {
        (self == Self::Anthropic) == (other == Self::Anthropic)
    }
}
