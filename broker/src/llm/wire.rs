//! The model APIs ("wires"); pure.

/// An API that models are called by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Wire {
    Anthropic,
    /// Chat completions: OpenAI's and compatible ones, of most servers.
    #[default]
    OpenAi,
    /// OpenAI's Responses API.
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

    /// The broker's path for it.
    pub fn path(self) -> &'static str {
        match self {
            Self::Anthropic => "/llm/anthropic",
            Self::OpenAi | Self::Responses => "/llm/openai/v1",
        }
    }

    /// Whether a server of this API can be called by the other as well: true of OpenAI's two.
    pub fn is_beside(self, other: Self) -> bool {
        (self == Self::Anthropic) == (other == Self::Anthropic)
    }
}
