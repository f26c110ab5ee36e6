//! Janee, an MCP server that holds credentials of its own: its capabilities, and calls through it.
//!
//! Invariant: calls are judged, tainted, asked about and recorded as for every service; one that changes something is
//! sent once, whatever happens to the connection.

pub mod session;

use super::{Services, canonical, rules, upstream};
use crate::approvals::act::{Act, Call};
use crate::approvals::outcome::{Answer, Outcome, not_sent};
use crate::ground::refusal::Unfit;
use crate::ledger::{Closed, Entry};
use crate::secrets::Secrets;
use house::bounds::brief;
use rmcp::model::CallToolResult;
use serde_json::{Map, Value, json};
use session::{HINT, Lost, NOT_CONFIGURED};
use std::sync::Arc;

/// Janee's capabilities, with the rules for each.
pub async fn list(services: Arc<Services>, life: u64) -> Result<Value, Closed> {
    if services.janee.settings.is_none() {
        return Ok(Unfit::new(NOT_CONFIGURED, HINT).envelope());
    }
    let path = "list_services".to_owned();
    let act = Act::Janee(Call { service: "janee".to_owned(), path, ..Call::default() });
    services.handles.ledger.append(act.entry(life, act.event(), "allow", "")).await?;
    let told = match services.janee.tool("list_services", Map::new(), true).await {
        Ok(told) => told,
        Err(Lost::Unreached(error) | Lost::Said(error) | Lost::Silent(error)) => {
            return Ok(Unfit::new(error, "try again later").envelope());
        }
    };
    let (text, truncated) = upstream::shown(&services.handles.secrets, text_of(&told).into_bytes(), false);
    let listed = serde_json::from_str::<Value>(&text).unwrap_or(Value::String(text));
    let named = services.janee.settings.iter().flat_map(|janee| janee.rules.iter());
    let rules: Map<String, Value> =
        named.map(|(name, rules)| (name.clone(), rules::in_words(rules).into())).collect();
    Ok(json!({"ok": true, "services": listed, "rules": rules, "truncated": truncated}))
}

/// Sends a permitted call, once.
pub async fn send(services: &Services, call: &Call, line: Entry) -> Result<Outcome, Closed> {
    let line = Entry { service: brief(&format!("janee:{}", call.service), 300), ..line };
    services.handles.ledger.append(Entry { bytes_out: call.body.len() as u64, ..line.clone() }).await?;
    let safe = canonical::is_safe(&call.method);
    let outcome = match services.janee.tool("execute", arguments(call), safe).await {
        Ok(told) => outcome(&services.handles.secrets, call, &told),
        Err(Lost::Unreached(error)) => not_sent(error, "try again later"),
        Err(Lost::Said(error)) | Err(Lost::Silent(error)) => upstream::unsure(call, error),
    };
    services.handles.taint.read_untrusted(line.life);
    services.handles.ledger.ended(outcome.entry(line)).await;
    Ok(outcome)
}

fn arguments(call: &Call) -> Map<String, Value> {
    let mut arguments = Map::new();
    let mut put = |name: &str, value: Value| arguments.insert(name.to_owned(), value);
    put("capability", call.service.clone().into());
    put("method", call.method.clone().into());
    put("path", call.url.clone().into());
    if !call.body.is_empty() {
        put("body", call.body.clone().into());
    }
    if !call.headers.is_empty() {
        let headers = call.headers.iter().map(|(name, value)| (name.clone(), value.clone().into()));
        put("headers", Value::Object(headers.collect()));
    }
    put("reason", call.reason.clone().into());
    arguments
}

/// The outcome in Janee's one text item: a service's answer, or Janee's own refusal.
fn outcome(secrets: &Secrets, call: &Call, told: &CallToolResult) -> Outcome {
    let text = text_of(told);
    let json = serde_json::from_str::<Value>(&text).unwrap_or_default();
    let clean = |value: &Value| brief(&upstream::shown(secrets, in_text(value).into_bytes(), false).0, 600);
    if let Some(denial) = json.get("denial") {
        let of = |name: &str| denial.get(name).map(clean).unwrap_or_default();
        let error = json.get("error").map(clean).unwrap_or_else(|| "janee refuses it".to_owned());
        return Outcome::Denied(Unfit::new(error, of("nextStep")), of("reasonCode"));
    }
    let status = json.get("status").and_then(Value::as_u64).and_then(|status| u16::try_from(status).ok());
    let Some(status) = status else {
        let said = clean(json.get("error").unwrap_or(&Value::String(text)));
        return upstream::unsure(call, format!("janee did not carry it out: {said}"));
    };
    let body = json.get("body").map(in_text).unwrap_or_default();
    let (body, truncated) = upstream::shown(secrets, body.into_bytes(), false);
    Outcome::Answered(Answer { status, body, truncated, ..Answer::default() })
}

fn in_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn text_of(told: &CallToolResult) -> String {
    told.content.iter().find_map(|item| item.as_text()).map(|item| item.text.to_string()).unwrap_or_default()
}
