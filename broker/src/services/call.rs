//! Call to a service, from the client's request to its envelope.

use super::{Services, canonical, carry, janee, upstream};
use crate::approvals::act::{Act, Call};
use crate::approvals::outcome::with;
use crate::ground::refusal::{Refusal, Unfit};
use crate::ledger::Closed;
use crate::policy;
use house::bounds::brief;
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;

const MOST_CAPABILITY: usize = 120;

/// A call as the client requests it.
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

/// A call to a service.
pub async fn run(services: Arc<Services>, life: u64, asked: Asked) -> Result<Value, Closed> {
    let call = match services.all.get(&asked.service) {
        Some(service) => canonical_call(service, &asked),
        None => Err(services.unknown(&asked.service)),
    };
    match call {
        Ok((call, dropped)) => {
            let envelope = carry::carry(&services, life, Act::Service(call), &asked.reason).await?;
            Ok(if dropped.is_empty() { envelope } else { with(envelope, "dropped_headers", dropped) })
        }
        Err(unfit) => {
            let call = Call { service: asked.service, method: asked.method, ..Call::default() };
            services.approvals.refuse(life, &Act::Service(call), unfit).await
        }
    }
}

/// The parts every kind of call has, the query as pairs, and the headers that were dropped.
fn canonical_parts(asked: &Asked) -> Result<(Call, canonical::Pairs, Vec<String>), Unfit> {
    let method = canonical::method(if asked.method.is_empty() { "GET" } else { &asked.method })?;
    let (path, query) = canonical::path(&asked.path)?;
    let query = canonical::query(&asked.query, query)?;
    let (mut headers, dropped) = canonical::headers(&asked.headers)?;
    let body = canonical::body(&asked.body, &method, &mut headers)?;
    Ok((Call { method, path, headers, body, ..Call::default() }, query, dropped))
}

fn canonical_call(service: &policy::Service, asked: &Asked) -> Result<(Call, Vec<String>), Unfit> {
    let (call, query, dropped) = canonical_parts(asked)?;
    let url = upstream::address(&service.base_url, &call.path, &query)?.to_string();
    Ok((Call { service: asked.service.clone(), url, ..call }, dropped))
}

/// A call through Janee.
pub async fn run_by_janee(services: Arc<Services>, life: u64, asked: Asked) -> Result<Value, Closed> {
    let call = match services.janee.settings {
        Some(_) => canonical_for_janee(&asked),
        None => Err(Unfit {
            error: janee::session::NOT_CONFIGURED.to_owned(),
            hint: janee::session::HINT.to_owned(),
        }),
    };
    match call {
        Ok(call) => carry::carry(&services, life, Act::Janee(call), &asked.reason).await,
        Err(unfit) => {
            let call = Call { service: asked.service, method: asked.method, ..Call::default() };
            services.approvals.refuse(life, &Act::Janee(call), unfit).await
        }
    }
}

fn canonical_for_janee(asked: &Asked) -> Result<Call, Unfit> {
    let name = asked.service.trim();
    if name.is_empty()
        || name.len() > MOST_CAPABILITY
        || !name.chars().all(|letter| letter.is_ascii_graphic())
    {
        let hint = "GET /janee/services lists them".to_owned();
        return Err(Unfit { error: "the capability has no fit name".to_owned(), hint });
    }
    let (call, query, _) = canonical_parts(asked)?;
    let query = canonical::joined(&query);
    let url = if query.is_empty() { call.path.clone() } else { format!("{}?{query}", call.path) };
    let reason = brief(asked.reason.trim(), 400);
    Ok(Call { service: name.to_owned(), url, reason, ..call })
}
