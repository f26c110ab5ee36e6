//! `complete_run` and `rest`: how a thought ends its wake; the loop reads what they say.

use super::arguments::Arguments;
use super::tool_context::ToolContext;
use crate::fault::Fault;
use serde_json::Value;

pub fn complete(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    tools.belt.completed = true;
    rest(tools, args)
}

pub fn rest(_: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    Ok(Value::Object(args.given().clone()))
}
