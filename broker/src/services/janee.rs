//! Janee: an MCP server that holds credentials of its own, reached over streamable HTTP or a child's standard streams.
//!
//! Invariant: judged, tainted, asked about and written down like every service; a call that changes something is sent
//! once, whatever becomes of the connection.

use crate::approvals::act::{Act, Call, cut};
use crate::broker::{Broker, Shared};
use crate::door::Life;
use crate::ledger::{Closed, Entry};
use crate::policy::{self, Rule, Verdict};
use crate::services::canonical::{self, Unfit};
use crate::services::sending;
use crate::services::upstream::{self, Answer, Outcome, not_sent};
use crate::services::{self, Asked};
use crate::web::address;
use axum::Router;
use axum::extract::{Extension, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use bytes::Bytes;
use reqwest::Url;
use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult};
use rmcp::service::{Peer, RoleClient, RunningService, ServiceError};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use serde_json::{Map, Value, json};
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;
use tokio::sync::Mutex;

/// Longest a call may take, and a connection to be made.
const DEADLINE: Duration = Duration::from_secs(45);
const CONNECT: Duration = Duration::from_secs(15);
/// Longest an old session may take to leave.
const LEAVE: Duration = Duration::from_secs(3);
/// Largest message taken from a stream, in bytes.
const MOST_MESSAGE: usize = 8 << 20;
const MOST_CAPABILITY: usize = 120;
const HINT: &str = "the owner configures it in owner.toml under [janee]";

type Session = RunningService<RoleClient, ()>;

/// The one session, made when it is first needed and anew when it is lost.
#[derive(Default)]
pub struct Janee {
    session: Mutex<Option<Session>>,
}

/// Why a tool gave no result.
enum Lost {
    /// Nothing was sent.
    Unreached(String),
    /// It said no in the protocol's own words.
    Said(String),
    /// It was sent, and no answer came.
    Silent(String),
}

pub fn routes() -> Router<Shared> {
    Router::new().route("/janee/services", get(services)).route("/janee/execute", post(execute))
}

/// The rules of a capability: its own, in whatever letter case, since Janee may take it in any; those for all; or the
/// careful default.
pub fn rules(broker: &Broker, capability: &str) -> Option<Vec<Rule>> {
    let janee = broker.policy.janee.as_ref()?;
    let any_case = || janee.rules.iter().find(|(name, _)| name.eq_ignore_ascii_case(capability));
    let own = janee.rules.get(capability).or_else(|| any_case().map(|(_, rules)| rules));
    let own = own.or_else(|| janee.rules.get("*"));
    let rule = |method: &str, verdict: Verdict| Rule {
        method: method.to_owned(),
        path: "/**".to_owned(),
        verdict,
        per_hour: None,
    };
    Some(own.cloned().unwrap_or_else(|| vec![rule("GET", Verdict::Allow), rule("*", Verdict::Ask)]))
}

async fn services(State(broker): State<Shared>, Extension(life): Extension<Life>) -> Response {
    services::finished(list(broker, life.0)).await
}

async fn execute(State(broker): State<Shared>, Extension(life): Extension<Life>, body: Bytes) -> Response {
    match Asked::read(&body) {
        Ok(asked) => services::finished(run(broker, life.0, asked)).await,
        Err(refusal) => refusal.into_response(),
    }
}

/// What Janee says it can do, with our rules beside it.
async fn list(broker: Shared, life: u64) -> Result<Value, Closed> {
    if broker.policy.janee.is_none() {
        return Ok(json!({"ok": false, "error": "janee is not configured", "hint": HINT}));
    }
    let entry = Entry {
        life,
        event: "call".to_owned(),
        service: "janee".to_owned(),
        path: "list_services".to_owned(),
        decision: "allow".to_owned(),
        ..Entry::default()
    };
    broker.ledger.append(entry).await?;
    let told = match tool(&broker, "list_services", Map::new(), true).await {
        Ok(told) => told,
        Err(Lost::Unreached(error) | Lost::Said(error) | Lost::Silent(error)) => {
            return Ok(json!({"ok": false, "error": error, "hint": "try again later"}));
        }
    };
    let (text, truncated) = upstream::shown(&broker, text_of(&told).into_bytes(), false);
    let listed = serde_json::from_str::<Value>(&text).unwrap_or(Value::String(text));
    let named = broker.policy.janee.iter().flat_map(|janee| janee.rules.iter());
    let rules: Map<String, Value> =
        named.map(|(name, rules)| (name.clone(), crate::services::rules::in_words(rules).into())).collect();
    Ok(json!({"ok": true, "services": listed, "rules": rules, "truncated": truncated}))
}

/// One call from its spelling to its envelope.
pub async fn run(broker: Shared, life: u64, asked: Asked) -> Result<Value, Closed> {
    let spelt = match &broker.policy.janee {
        Some(_) => spelt(&asked),
        None => Err(Unfit { error: "janee is not configured".to_owned(), hint: HINT.to_owned() }),
    };
    match spelt {
        Ok(call) => services::carry(&broker, life, Act::Janee(call), &asked.reason).await,
        Err(unfit) => {
            let call = Call { service: asked.service, method: asked.method, ..Call::default() };
            sending::refuse(&broker, life, &Act::Janee(call), unfit).await
        }
    }
}

fn spelt(asked: &Asked) -> Result<Call, Unfit> {
    let name = asked.service.trim();
    if name.is_empty()
        || name.len() > MOST_CAPABILITY
        || !name.chars().all(|letter| letter.is_ascii_graphic())
    {
        let hint = "GET /janee/services lists them".to_owned();
        return Err(Unfit { error: "the capability has no fit name".to_owned(), hint });
    }
    let method = canonical::method(if asked.method.is_empty() { "GET" } else { &asked.method })?;
    let (path, query) = canonical::path(&asked.path)?;
    let query = canonical::joined(&canonical::query(&asked.query, query)?);
    let (mut headers, _) = canonical::headers(&asked.headers)?;
    let body = canonical::body(&asked.body, &method, &mut headers)?;
    let url = if query.is_empty() { path.clone() } else { format!("{path}?{query}") };
    let reason = cut(asked.reason.trim(), 400);
    Ok(Call { service: name.to_owned(), method, path, url, headers, body, reason })
}

/// Sends a call that may leave, once.
pub async fn send(
    broker: &Shared,
    life: u64,
    call: &Call,
    decision: &str,
    id: &str,
) -> Result<Outcome, Closed> {
    let act = Act::Janee(call.clone());
    let line =
        Entry { decision: decision.to_owned(), call: id.to_owned(), ..sending::entry(life, "call", &act) };
    let line = Entry { service: cut(&format!("janee:{}", call.service), 300), ..line };
    broker.ledger.append(Entry { bytes_out: call.body.len() as u64, ..line.clone() }).await?;
    let safe = canonical::is_safe(&call.method);
    let outcome = match tool(broker, "execute", arguments(call), safe).await {
        Ok(told) => outcome(broker, call, &told),
        Err(Lost::Unreached(error)) => not_sent(error, "try again later"),
        Err(Lost::Said(error)) | Err(Lost::Silent(error)) => upstream::unsure(call, error),
    };
    broker.taint.read_untrusted(life);
    sending::written_down(broker, line, &outcome).await;
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

/// Janee's one text item: an answer from above, or a refusal of its own.
fn outcome(broker: &Broker, call: &Call, told: &CallToolResult) -> Outcome {
    let text = text_of(told);
    let json = serde_json::from_str::<Value>(&text).unwrap_or_default();
    let clean = |value: &Value| cut(&upstream::shown(broker, in_text(value).into_bytes(), false).0, 600);
    if let Some(denial) = json.get("denial") {
        let of = |name: &str| denial.get(name).map(clean).unwrap_or_default();
        let error = json.get("error").map(clean).unwrap_or_else(|| "janee refuses it".to_owned());
        return Outcome::Denied(Unfit { error, hint: of("nextStep") }, of("reasonCode"));
    }
    let status = json.get("status").and_then(Value::as_u64).and_then(|status| u16::try_from(status).ok());
    let Some(status) = status else {
        let said = clean(json.get("error").unwrap_or(&Value::String(text)));
        return upstream::unsure(call, format!("janee did not carry it out: {said}"));
    };
    let body = json.get("body").map(in_text).unwrap_or_default();
    let (body, truncated) = upstream::shown(broker, body.into_bytes(), false);
    Outcome::Answered(Answer { status, body, truncated, ..Answer::default() })
}

fn in_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn text_of(told: &CallToolResult) -> String {
    told.content.iter().find_map(|item| item.as_text()).map(|item| item.text.to_string()).unwrap_or_default()
}

/// Calls a tool. A lost session is made anew once, where the call is `safe` to send twice.
async fn tool(
    broker: &Broker,
    name: &'static str,
    arguments: Map<String, Value>,
    safe: bool,
) -> Result<CallToolResult, Lost> {
    let mut again = safe;
    loop {
        let peer = peer(broker).await?;
        let parameters = CallToolRequestParams::new(name).with_arguments(arguments.clone());
        let lost = match tokio::time::timeout(DEADLINE, peer.call_tool_once(parameters)).await {
            Ok(Ok(CallToolResponse::Complete(told))) => return Ok(told),
            Ok(Ok(_)) => {
                return Err(Lost::Said("janee asks for something in between, which is not given".to_owned()));
            }
            Ok(Err(ServiceError::McpError(said))) => {
                let said = cut(&broker.scrub(&said.message), 300);
                return Err(Lost::Said(format!("janee says: {said}")));
            }
            Ok(Err(error)) => cut(&broker.scrub(&error.to_string()), 300),
            Err(_) => {
                again = false;
                format!("no answer within {DEADLINE:?}")
            }
        };
        leave(broker).await;
        if !again {
            return Err(Lost::Silent(format!("janee was lost in the middle of the call: {lost}")));
        }
        again = false;
    }
}

/// The other end of the session, which is made where there is none.
async fn peer(broker: &Broker) -> Result<Peer<RoleClient>, Lost> {
    let mut session = broker.services.janee.session.lock().await;
    if let Some(running) =
        session.as_ref().filter(|running| !running.is_closed() && !running.is_transport_closed())
    {
        return Ok(running.peer().clone());
    }
    part(session.take());
    let Some(settings) = &broker.policy.janee else {
        return Err(Lost::Unreached("janee is not configured".to_owned()));
    };
    let made = tokio::time::timeout(CONNECT, connect(broker, settings)).await;
    let running = made.unwrap_or_else(|_| Err(format!("no answer within {CONNECT:?}"))).map_err(|error| {
        Lost::Unreached(format!("janee cannot be reached: {}", cut(&broker.scrub(&error), 300)))
    })?;
    let peer = running.peer().clone();
    *session = Some(running);
    Ok(peer)
}

async fn leave(broker: &Broker) {
    part(broker.services.janee.session.lock().await.take());
}

fn part(session: Option<Session>) {
    if let Some(session) = session {
        tokio::spawn(async move {
            let _ = tokio::time::timeout(LEAVE, session.cancel()).await;
        });
    }
}

async fn connect(broker: &Broker, settings: &policy::Janee) -> Result<Session, String> {
    if let Some((program, arguments)) = settings.command.split_first() {
        let mut command = Command::new(program);
        command.args(arguments).env_clear().kill_on_drop(true);
        for name in ["PATH", "HOME"] {
            command.envs(std::env::var(name).ok().map(|value| (name, value)));
        }
        let keys = broker.keys.read().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        for name in &settings.pass_env {
            command.envs(keys.get(name).map(|value| (name, value)));
        }
        // What it complains of may hold what it keeps.
        let spawned = TokioChildProcess::builder(command).stderr(Stdio::null()).spawn();
        let (child, _) = spawned.map_err(|error| format!("{program} cannot be started: {error}"))?;
        return ().serve(child).await.map_err(|error| error.to_string());
    }
    let url = Url::parse(&settings.url).map_err(|_| "its url is no address".to_owned())?;
    let local = address::is_loopback(&address::host(&url));
    let client = if local || url.scheme() == "https" {
        broker.outward.client(&url).clone()
    } else {
        return Err("its url is neither https nor on this machine".to_owned());
    };
    let config =
        StreamableHttpClientTransportConfig::with_uri(settings.url.as_str()).max_sse_event_size(MOST_MESSAGE);
    let transport = StreamableHttpClientTransport::with_client(client, config);
    ().serve(transport).await.map_err(|error| error.to_string())
}

/// Ends the session in good order; called before the broker leaves.
pub async fn farewell(broker: &Broker) {
    if let Some(session) = broker.services.janee.session.lock().await.take() {
        let _ = tokio::time::timeout(LEAVE, session.cancel()).await;
    }
}
