//! Reaches a model: by which address and token, how it is asked, and which tools a request lists.

use crate::{ModelSettings, ToolList};
use ground::paths::House;

/// Address of every model of the broker's, and how it is asked.
#[derive(Clone)]
pub struct Reach<'a> {
    /// Address of the broker, and the token of this life.
    pub base: &'a str,
    pub token: &'a str,
    pub settings: &'a ModelSettings,
    pub house: &'a House,
    pub tools: &'static ToolList,
    /// The commit this life runs; empty where nobody said.
    pub commit: &'a str,
    /// Parts of the owner's settings that tools need: names of services, `services`, `mcp`, `sight`.
    pub configured: &'a [String],
    /// Tools of MCP servers, a line each, for the system prompt; empty where there are none.
    pub outside: &'a str,
}
