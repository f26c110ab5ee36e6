//! `service.*` and `janee.*`: the owner's services by name; the broker holds the keys and judges each call.

use super::arguments::Arguments;
use super::tool_context::{ToolContext, fault, waits};
use crate::fault::Fault;
use hands::{Error, Reply};
use serde_json::{Map, Value, json};

pub async fn list(tools: &mut ToolContext<'_>, _: &Arguments) -> Result<Value, Fault> {
    let status = tools.way_out()?.status().await.map_err(fault)?;
    let part = |key: &str| status.get(key).cloned().unwrap_or(Value::Null);
    Ok(json!({"services": part("services"), "janee": part("janee"), "tainted": part("tainted")}))
}

pub async fn execute(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let mut request = request(args, "service")?;
    for name in ["query", "body"] {
        request.extend(args.value(name).map(|value| (name.to_owned(), value.clone())));
    }
    answered(tools.way_out()?.service(&Value::Object(request)).await)
}

pub async fn janee_list(tools: &mut ToolContext<'_>, _: &Arguments) -> Result<Value, Fault> {
    tools.way_out()?.janee_services().await.map_err(fault)
}

pub async fn janee_execute(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let mut request = request(args, "capability")?;
    let body = args.value("body").map(|body| match body {
        Value::String(text) => json!(text),
        // Janee takes text.
        other => json!(other.to_string()),
    });
    request.extend(body.map(|body| ("body".to_owned(), body)));
    request.extend(args.value("headers").map(|headers| ("headers".to_owned(), headers.clone())));
    answered(tools.way_out()?.janee(&Value::Object(request)).await)
}

/// Returns the fields of every call: whose, which method and path, and why.
fn request(args: &Arguments, whose: &str) -> Result<Map<String, Value>, Fault> {
    let mut request = Map::new();
    for name in [whose, "method", "path"] {
        request.insert(name.to_owned(), json!(args.text(name).trim()));
    }
    let method = args.text("method").trim().to_ascii_uppercase();
    request.insert("method".to_owned(), json!(method));
    if let Some(reason) = args.maybe_text("reason") {
        request.insert("reason".to_owned(), json!(reason));
    }
    Ok(request)
}

fn answered(answer: Result<Reply, Error>) -> Result<Value, Fault> {
    match answer {
        Ok(reply) => Ok(json!({
            "status": reply.status,
            "content_type": reply.content_type,
            "body": reply.body,
            "truncated": reply.truncated,
        })),
        Err(error) => waits(error),
    }
}
