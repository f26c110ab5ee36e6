//! `service.*` and `janee.*`: the owner's services by name; the broker holds the keys and judges each call.

use super::arguments::Arguments;
use super::tool_context::{ToolContext, fault, waits, with};
use crate::fault::Fault;
use hands::{Error, Reply};
use serde_json::{Value, json};

pub async fn list(tools: &mut ToolContext<'_>, _: &Arguments) -> Result<Value, Fault> {
    let status = tools.way_out()?.status().await.map_err(fault)?;
    let part = |key: &str| status.get(key).cloned().unwrap_or(Value::Null);
    Ok(json!({"services": part("services"), "janee": part("janee"), "tainted": part("tainted")}))
}

pub async fn execute(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let more = json!({"query": args.value("query"), "body": args.value("body")});
    answered(tools.way_out()?.service(&with(request(args, "service"), more)).await)
}

pub async fn janee_list(tools: &mut ToolContext<'_>, _: &Arguments) -> Result<Value, Fault> {
    tools.way_out()?.janee_services().await.map_err(fault)
}

pub async fn janee_execute(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    // Janee takes text.
    let text = |body: &Value| body.as_str().map_or_else(|| body.to_string(), str::to_owned);
    let more = json!({"body": args.value("body").map(text), "headers": args.value("headers")});
    answered(tools.way_out()?.janee(&with(request(args, "capability"), more)).await)
}

/// Returns the fields of every call: whose, which method and path, and why.
fn request(args: &Arguments, whose: &str) -> Value {
    let method = args.text("method").trim().to_ascii_uppercase();
    let call = json!({whose: args.text(whose).trim(), "method": method, "path": args.text("path").trim()});
    with(call, json!({"reason": args.maybe_text("reason")}))
}

fn answered(answer: Result<Reply, Error>) -> Result<Value, Fault> {
    answer.map_or_else(waits, |reply| Ok(json!(reply)))
}
