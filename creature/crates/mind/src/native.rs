//! Reads a reply with calls in its wire's own form as a thought. Pure.
//!
//! Invariant: a call that was cut short or cannot be read is neither repaired nor run; the thought says why.

use super::thought::{MOST_CALLS, REST, Thought, ToolCall};
use crate::ToolList;
use ground::text;
use model::{Call, Reply};
use serde_json::{Map, Value};

/// Calls beyond `MOST_CALLS` are only named, in `over`.
pub(super) fn thought(reply: &Reply, tools: &ToolList) -> Thought {
    let said = if reply.text.trim().is_empty() { &reply.thinking } else { &reply.text };
    let tool_calls: Vec<ToolCall> =
        reply.calls.iter().take(MOST_CALLS).map(|call| called(call, reply, tools)).collect();
    let rest = tool_calls.iter().find(|call| call.tool == REST && call.refused.is_none());
    let rest_s = rest.and_then(|rest| rest.args.get("sleep_s")?.as_u64());
    let intent = rest.and_then(|rest| rest.args.get("intent")?.as_str()).map(str::to_owned);
    let first = |text: &str| text.trim().lines().next().unwrap_or_default().to_owned();
    let over = reply.calls.iter().skip(MOST_CALLS).map(|call| Value::String(call.name.clone()));
    Thought {
        monologue: said.trim().to_owned(),
        intent: text::shorten(&intent.unwrap_or_else(|| first(said)), 300),
        sleep_s: if tool_calls.is_empty() { 60 } else { rest_s.unwrap_or(0) },
        said: rest_s.is_some(),
        over: over.collect(),
        tool_calls,
        ..Thought::default()
    }
}

fn called(call: &Call, reply: &Reply, tools: &ToolList) -> ToolCall {
    let tool = tools.by_wire_name(&call.name).map_or(call.name.as_str(), |tool| tool.name).to_owned();
    let (args, refused) = match &call.args {
        _ if call.cut => {
            let why = format!(
                "not run: the reply was cut at its limit of {} tokens before this call was whole; send it in smaller pieces",
                reply.usage.output_tokens
            );
            (Map::new(), Some(why))
        }
        Ok(args) => (args.clone(), None),
        Err(why) => (Map::new(), Some(format!("not run: its arguments are no JSON object: {why}"))),
    };
    ToolCall { tool, args, id: call.id.clone(), refused }
}
