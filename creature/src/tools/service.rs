//! `service.*`: the owner's services by name; the broker holds the keys and judges each call.

use super::arguments::Arguments;
use super::tool_context::{ToolContext, fault, waits, with};
use crate::fault::Fault;
use serde_json::{Value, json};

pub async fn list(tools: &mut ToolContext<'_>, _: &Arguments) -> Result<Value, Fault> {
    let status = tools.way_out()?.status().await.map_err(fault)?;
    let part = |key: &str| status.get(key).cloned().unwrap_or(Value::Null);
    Ok(json!({"services": part("services"), "tainted": part("tainted")}))
}

pub async fn execute(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let of = |name: &str| args.text(name).trim().to_owned();
    let call = json!({
        "service": of("service"), "method": of("method").to_ascii_uppercase(), "path": of("path"),
        "query": args.value("query"), "body": args.value("body"),
    });
    let request = with(call, json!({"reason": args.maybe_text("reason")}));
    tools.way_out()?.service(&request).await.map_or_else(waits, |reply| Ok(json!(reply)))
}
