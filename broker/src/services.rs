//! `POST /service`, `GET /service`: calls to places the owner named, each judged by the owner's rules before it leaves.
//!
//! Invariant: nothing leaves that no rule allows, that the ledger does not hold, or that is spelt in any way but the one
//! that was judged. What a client says of itself decides nothing.

pub mod canonical;
pub mod drafts;
pub mod hours;
pub mod implicit;
pub mod janee;
pub mod mcp;
pub mod oauth;
pub mod oauth1;
pub mod recipients;
pub mod rules;
pub mod seal;
pub mod sending;
pub mod upstream;

use crate::approvals::act::{Act, Call, cut};
use crate::approvals::asks::{self, Asking, Asks};
use crate::broker::{Broker, Shared};
use crate::door::Life;
use crate::ground::clock::Clock;
use crate::ground::house::House;
use crate::ground::refusal::Refusal;
use crate::ledger::{Closed, Entry};
use crate::policy::{self, Policy, Rule, Taint, Verdict};
use crate::secrets::keys::Keys;
use crate::services::canonical::Unfit;
use crate::services::hours::{Full, Hours};
use crate::services::janee::Janee;
use crate::services::oauth::SignIns;
use crate::services::sending::{entry, know_recipients, refuse, send};
use crate::services::upstream::Upstream;
use axum::extract::{Extension, State};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Characters of a reason or a summary that are kept.
const MOST_WORDS: usize = 600;
/// About how long the tests of a newborn take, in seconds.
const PROBATION_S: u64 = 60;
/// Characters told of somebody who is new.
const MOST_NEW: usize = 200;

/// What this part of the broker keeps at hand.
pub struct Services {
    pub all: BTreeMap<String, policy::Service>,
    pub hours: Hours,
    pub sign_ins: SignIns,
    pub asks: Asks,
    pub janee: Janee,
    pub upstream: Upstream,
}

impl Services {
    pub fn open(house: &House, clock: &Clock, policy: &Policy, keys: &Keys) -> anyhow::Result<Self> {
        Ok(Self {
            all: implicit::services(policy, keys),
            hours: Hours::open(house, clock.clone()),
            sign_ins: SignIns::default(),
            asks: Asks::open(house, clock.clone())?,
            janee: Janee::default(),
            upstream: Upstream::new()?,
        })
    }
}

pub fn routes() -> Router<Shared> {
    Router::new().route("/service", post(execute).get(list))
}

/// A call as a client asks for it.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Asked {
    #[serde(alias = "capability")]
    pub service: String,
    pub method: String,
    pub path: String,
    pub query: Value,
    pub headers: Value,
    pub body: Value,
    pub reason: String,
}

impl Asked {
    pub fn read(bytes: &[u8]) -> Result<Self, Refusal> {
        serde_json::from_slice(bytes).map_err(|error| {
            let hint = "send {\"service\",\"method\",\"path\",\"query\",\"headers\",\"body\",\"reason\"}";
            Refusal::new(400, "malformed", format!("the request cannot be understood: {error}"), hint)
        })
    }
}

async fn list(State(broker): State<Shared>) -> Json<Value> {
    Json(json!({"services": listed(&broker), "asks_waiting": broker.services.asks.waiting()}))
}

/// Every service with its rules, and what is left of each this hour.
pub fn listed(broker: &Broker) -> Value {
    let service = |(name, service): (&String, &policy::Service)| {
        let keys = broker.keys.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        // A client secret may be empty; whatever else is named must be there.
        let named = service.auth.variables().into_iter().filter(|variable| !variable.is_empty());
        let missing: Vec<String> = named.filter(|variable| keys.get(variable).is_none()).collect();
        let rules = service.rules.iter().map(|rule| shown_rule(broker, name, rule));
        json!({
            "name": name, "about": service.about, "untrusted": service.untrusted, "ready": missing.is_empty(),
            "missing": missing, "rules": rules.collect::<Vec<_>>(),
        })
    };
    Value::Array(broker.services.all.iter().map(service).collect())
}

pub fn shown_rule(broker: &Broker, name: &str, rule: &Rule) -> Value {
    let shown = json!({"method": rule.method, "path": rule.path, "do": rules::verdict(rule.verdict)});
    let Some(most) = rule.per_hour else { return shown };
    let left = broker.services.hours.left(&hour_key("service", name, rule), most);
    with(with(shown, "per_hour", most), "left_this_hour", left)
}

/// The object with one more field.
fn with(mut object: Value, name: &str, value: impl Into<Value>) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(name.to_owned(), value.into());
    }
    object
}

async fn execute(State(broker): State<Shared>, Extension(life): Extension<Life>, body: Bytes) -> Response {
    match Asked::read(&body) {
        Ok(asked) => finished(run(broker, life.0, asked)).await,
        Err(refusal) => refusal.into_response(),
    }
}

/// Carries a call to its end even where the client hangs up in the middle of it.
pub async fn finished(work: impl Future<Output = Result<Value, Closed>> + Send + 'static) -> Response {
    match tokio::spawn(work).await {
        Ok(Ok(envelope)) => Json(envelope).into_response(),
        Ok(Err(closed)) => {
            tracing::error!("the ledger is closed: {}", closed.0);
            let hint = "the owner has to look at .self/ledger.jsonl";
            Refusal::new(503, "ledger_closed", "the ledger cannot be written, so nothing leaves", hint)
                .into_response()
        }
        Err(_) => Refusal::new(500, "broken", "the broker failed inside", "try again later").into_response(),
    }
}

/// One call from its spelling to its envelope.
pub async fn run(broker: Shared, life: u64, asked: Asked) -> Result<Value, Closed> {
    let spelt = match broker.services.all.get(&asked.service) {
        Some(service) => spelt(service, &asked),
        None => Err(unknown(&broker, &asked.service)),
    };
    match spelt {
        Ok((call, dropped)) => {
            let envelope = carry(&broker, life, Act::Service(call), &asked.reason).await?;
            Ok(if dropped.is_empty() { envelope } else { with(envelope, "dropped_headers", dropped) })
        }
        Err(unfit) => {
            let call = Call { service: asked.service, method: asked.method, ..Call::default() };
            refuse(&broker, life, &Act::Service(call), unfit).await
        }
    }
}

pub fn unknown(broker: &Broker, name: &str) -> Unfit {
    let names: Vec<&str> = broker.services.all.keys().map(String::as_str).collect();
    let hint = match names.as_slice() {
        [] => "no service is configured; the owner names them in owner.toml under [services]".to_owned(),
        names => format!("there are: {}; only the owner can add one, in owner.toml", names.join(", ")),
    };
    Unfit { error: format!("no service is called {:?}", cut(name, 60)), hint }
}

fn spelt(service: &policy::Service, asked: &Asked) -> Result<(Call, Vec<String>), Unfit> {
    let method = canonical::method(if asked.method.is_empty() { "GET" } else { &asked.method })?;
    let (path, query) = canonical::path(&asked.path)?;
    let query = canonical::query(&asked.query, query)?;
    let (mut headers, dropped) = canonical::headers(&asked.headers)?;
    let body = canonical::body(&asked.body, &method, &mut headers)?;
    let url = upstream::address(&service.base_url, &path, &query)?.to_string();
    let call =
        Call { service: asked.service.clone(), method, path, url, headers, body, reason: String::new() };
    Ok((call, dropped))
}

/// The rules an act is judged by.
pub fn rules_of(broker: &Broker, act: &Act) -> Vec<Rule> {
    match act {
        Act::Service(call) => broker.services.all.get(&call.service).map(|service| service.rules.clone()),
        Act::Janee(call) => crate::services::janee::rules(broker, &call.service),
        Act::Purpose { .. } => None,
    }
    .unwrap_or_default()
}

/// One for all letter cases of a name: Janee may take them all for the same.
fn hour_key(kind: &str, name: &str, rule: &Rule) -> String {
    format!("{kind}:{} {} {}", name.to_ascii_lowercase(), rule.method, rule.path)
}

/// Judges a call that has its one spelling, and does what its rule says.
pub async fn carry(broker: &Shared, life: u64, act: Act, reason: &str) -> Result<Value, Closed> {
    let Some(call) = act.call().cloned() else { return Ok(Value::Null) };
    let rules = rules_of(broker, &act);
    let here = format!("{} {} at {}", call.method, call.path, call.service);
    let Some(rule) =
        rules::judge(&rules, &call.method, &call.path).filter(|rule| rule.verdict != Verdict::Deny)
    else {
        let unfit = Unfit { error: format!("{here} is not allowed"), hint: rules::in_words(&rules) };
        return refuse(broker, life, &act, unfit).await;
    };
    if rule.verdict == Verdict::Allow
        && !canonical::is_safe(&call.method)
        && let Some(refused) = unproven(broker, life, &act).await?
    {
        return Ok(refused);
    }
    if let Some(most) = rule.per_hour {
        let used_up = broker.services.hours.take(&hour_key(act.kind(), &call.service, rule), most);
        match used_up {
            Ok(_) => {}
            Err(Full::Wait(seconds)) => {
                let error = format!("{here} may be used {most} times an hour, and was");
                let unfit = Unfit { error, hint: format!("there is one again in {seconds} s") };
                return Ok(with(refuse(broker, life, &act, unfit).await?, "retry_after_s", seconds));
            }
            Err(Full::Closed(why)) => return Err(Closed(why)),
        }
    }
    match rule.verdict {
        Verdict::Draft => draft(broker, life, &act, &call).await,
        Verdict::Ask => ask(broker, life, act, format!("the owner's rules ask about {here}"), reason).await,
        Verdict::Deny => refuse(broker, life, &act, unknown(broker, &call.service)).await,
        Verdict::Allow => match new_while_tainted(broker, life, &act) {
            Some(new) => {
                let why = format!(
                    "text of others was read a short while ago, and this is new: {}",
                    cut(&broker.scrub(&new), MOST_NEW)
                );
                ask(broker, life, act, why, reason).await
            }
            None => allowed(broker, life, &act).await,
        },
    }
}

/// The refusal of an act of a life whose tests still run: until then it may think, read, and ask.
pub async fn unproven(broker: &Broker, life: u64, act: &Act) -> Result<Option<Value>, Closed> {
    if !broker.tokens.is_unproven(life) {
        return Ok(None);
    }
    let error =
        "this self is on probation: it was just born of a self-edit, and its tests still run".to_owned();
    let unfit =
        Unfit { error, hint: "go on with something else; once it is blessed, do this again".to_owned() };
    Ok(Some(with(refuse(broker, life, act, unfit).await?, "retry_after_s", PROBATION_S)))
}

/// A recipient that is new, where text of others was read and the act changes something.
fn new_while_tainted(broker: &Broker, life: u64, act: &Act) -> Option<String> {
    let outward = act.call().is_some_and(|call| !canonical::is_safe(&call.method));
    if !outward || broker.policy.taint == Taint::Allow || !broker.taint.is_tainted(life) {
        return None;
    }
    recipients::of(act).into_iter().find(|recipient| broker.taint.is_new(recipient))
}

async fn allowed(broker: &Shared, life: u64, act: &Act) -> Result<Value, Closed> {
    let tainted = broker.taint.is_tainted(life);
    let id = oauth::nonce().unwrap_or_default();
    let outcome = match act {
        Act::Service(call) => send(broker, life, call, "allow", &id).await?,
        Act::Janee(call) => crate::services::janee::send(broker, life, call, "allow", &id).await?,
        Act::Purpose { .. } => return Ok(Value::Null),
    };
    if outcome.is_success() && !tainted {
        know_recipients(broker, act);
    }
    Ok(outcome.envelope())
}

async fn draft(broker: &Shared, life: u64, act: &Act, call: &Call) -> Result<Value, Closed> {
    broker.ledger.append(Entry { decision: "draft".to_owned(), ..entry(life, "call", act) }).await?;
    let note = "the owner's rules keep this as a draft; nothing was sent";
    Ok(match drafts::keep(&broker.house, &broker.clock, call) {
        Ok(path) => {
            json!({"ok": false, "draft": true, "path": path, "error": note, "hint": "the owner reads drafts"})
        }
        Err(error) => {
            json!({"ok": false, "error": format!("{error:#}"), "hint": "nothing was sent and nothing kept"})
        }
    })
}

/// Keeps an act for the owner and says so.
pub async fn ask(broker: &Shared, life: u64, act: Act, why: String, reason: &str) -> Result<Value, Closed> {
    if let Err(unfit) = asks::fits(&act) {
        return refuse(broker, life, &act, unfit).await;
    }
    let clean = |text: &str| cut(&broker.scrub(text), MOST_WORDS);
    let (summary, reason) = (clean(&act.summary(2 * MOST_WORDS)), clean(reason));
    let entry = Entry { decision: "ask".to_owned(), ..entry(life, "ask", &act) };
    let what = act.call().map_or("PURPOSE.md".to_owned(), |call| format!("{} {}", call.method, call.path));
    let kept = broker.services.asks.ask(life, act.clone(), why.clone(), reason, summary);
    let id = match kept {
        Ok(Asking::New(id)) => {
            broker.ledger.append(Entry { call: format!("ask-{id}"), ..entry }).await?;
            id
        }
        Ok(Asking::Same(id)) => id,
        Err(unfit) => return refuse(broker, life, &act, unfit).await,
    };
    Ok(json!({
        "ok": false, "asked": id.to_string(), "error": format!("{what} waits for the owner: {why}"),
        "hint": "go on with something else; the outcome comes as an event, so do not send it again",
    }))
}
