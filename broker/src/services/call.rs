//! Call to a service, from the client's request to its envelope.

use super::{Services, canonical, carry, upstream};
use crate::approvals::act::{Act, Call};
use crate::approvals::outcome::with;
use crate::ground::refusal::{Refusal, Unfit};
use crate::ledger::Closed;
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;

/// A call as the client requests it.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Asked {
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
        Refusal::reading(bytes, "{\"service\",\"method\",\"path\",\"query\",\"headers\",\"body\",\"reason\"}")
    }
}

/// A call to a service.
pub async fn run(services: Arc<Services>, life: u64, asked: Asked) -> Result<Value, Closed> {
    match canonical(&services, &asked) {
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

/// The canonical call, and the headers that were dropped.
fn canonical(services: &Services, asked: &Asked) -> Result<(Call, Vec<String>), Unfit> {
    let service = services.all.get(&asked.service).ok_or_else(|| services.unknown(&asked.service))?;
    let method = canonical::method(if asked.method.is_empty() { "GET" } else { &asked.method })?;
    let (path, query) = canonical::path(&asked.path)?;
    let query = canonical::query(&asked.query, query)?;
    let (mut headers, dropped) = canonical::headers(&asked.headers)?;
    let body = canonical::body(&asked.body, &method, &mut headers)?;
    let url = upstream::address(&service.base_url, &path, &query)?.into();
    Ok((Call { service: asked.service.clone(), method, path, url, headers, body }, dropped))
}
