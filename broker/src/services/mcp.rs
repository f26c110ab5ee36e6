//! `POST /mcp`: the services over MCP (streamable HTTP, stateless), with Janee's tool schemas, so that any MCP client can call.
//!
//! Invariant: nothing is decided here; every call is handled as by `POST /service`.

use super::Services;
use super::call::{self, Asked};
use crate::door::callers::Life;
use axum::Json;
use axum::extract::{Extension, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::StatusCode;
use serde_json::{Value, json};
use std::sync::Arc;

const VERSIONS: [&str; 3] = ["2025-06-18", "2025-03-26", "2024-11-05"];

pub async fn message(
    State(services): State<Arc<Services>>,
    Extension(life): Extension<Life>,
    body: Bytes,
) -> Response {
    let Ok(message) = serde_json::from_slice::<Value>(&body) else {
        return answer(&Value::Null, Err((-32_700, "this is not JSON".to_owned())));
    };
    let at = |name: &str| message.get(name).cloned().unwrap_or_default();
    let (id, method, parameters) = (at("id"), at("method"), at("params"));
    if id.is_null() {
        // A notification, or an answer that nothing here asked for.
        return StatusCode::ACCEPTED.into_response();
    }
    let result = match method.as_str().unwrap_or_default() {
        "initialize" => Ok(initialized(&parameters)),
        "ping" => Ok(json!({})),
        "tools/list" => Ok(json!({"tools": tools()})),
        "tools/call" => return call_tool(services, life.0, &id, &parameters).await,
        other => Err((-32_601, format!("there is no method {other:?}"))),
    };
    answer(&id, result)
}

fn answer(id: &Value, result: Result<Value, (i32, String)>) -> Response {
    match result {
        Ok(result) => Json(json!({"jsonrpc": "2.0", "id": id, "result": result})).into_response(),
        Err((code, message)) => {
            Json(json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}))
                .into_response()
        }
    }
}

fn initialized(parameters: &Value) -> Value {
    let wanted = parameters.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
    let version = VERSIONS.iter().find(|version| **version == wanted).unwrap_or(&"2025-06-18");
    json!({
        "protocolVersion": version,
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "feral-broker", "version": env!("CARGO_PKG_VERSION")},
    })
}

/// Lists the tools in the one form that every maker's server takes: clients pass these schemas on to their models, and
/// an object without properties has the whole list refused.
fn tools() -> Value {
    let text = json!({"type": "string"});
    let headers = json!({
        "type": "object",
        "description": "more of them by their names",
        "properties": {"accept": text},
    });
    json!([
        {
            "name": "list_services",
            "description": "The services the owner named, with their rules.",
            "inputSchema": {"type": "object", "properties": {"note": {"type": "string", "description": "not used"}}},
        },
        {
            "name": "execute",
            "description": "Calls a service. The key is added on the way; rules decide, and the owner may be asked.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "capability": text, "method": text, "path": text, "body": text,
                    "headers": headers, "reason": text,
                },
                "required": ["capability", "method", "path"],
            },
        },
    ])
}

async fn call_tool(services: Arc<Services>, life: u64, id: &Value, parameters: &Value) -> Response {
    let arguments = parameters.get("arguments").cloned().unwrap_or_default();
    let shaped = match parameters.get("name").and_then(Value::as_str).unwrap_or_default() {
        "list_services" => Ok(services.listed()),
        "execute" => match serde_json::from_value::<Asked>(arguments) {
            // Completed even if the client disconnects.
            Ok(asked) => match tokio::spawn(call::run(services, life, asked, false)).await {
                Ok(done) => done.map(|envelope| in_janees_shape(&envelope)),
                Err(_) => return answer(id, Err((-32_603, "the broker failed inside".to_owned()))),
            },
            Err(error) => return answer(id, Err((-32_602, format!("the arguments do not fit: {error}")))),
        },
        other => return answer(id, Err((-32_602, format!("there is no tool {other:?}")))),
    };
    match shaped {
        Ok(shaped) => {
            let text = json!([{"type": "text", "text": shaped.to_string()}]);
            answer(id, Ok(json!({"content": text, "isError": shaped.get("denial").is_some()})))
        }
        Err(_) => answer(id, Err((-32_000, "the ledger cannot be written, so nothing leaves".to_owned()))),
    }
}

fn in_janees_shape(envelope: &Value) -> Value {
    let of = |name: &str| envelope.get(name).cloned().unwrap_or_default();
    if of("ok") == json!(true) {
        return json!({"status": of("status"), "body": of("body")});
    }
    let code = match (of("asked").is_null(), of("draft").is_null()) {
        (false, _) => "ASKED",
        (_, false) => "DRAFTED",
        _ => "REFUSED",
    };
    json!({"error": of("error"), "denial": {"reasonCode": code, "nextStep": of("hint")}, "asked": of("asked")})
}
