//! Call to a service or through Janee, from the client's request to its envelope.

use super::{Services, canonical, carry, janee, upstream};
use crate::approvals::act::{Act, Call};
use crate::approvals::outcome::with;
use crate::ground::refusal::{Refusal, Unfit};
use crate::ledger::Closed;
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
        Refusal::reading(bytes, "{\"service\",\"method\",\"path\",\"query\",\"headers\",\"body\",\"reason\"}")
    }
}

/// A call to a service, or to a capability of Janee's.
pub async fn run(services: Arc<Services>, life: u64, asked: Asked, by_janee: bool) -> Result<Value, Closed> {
    let kind = if by_janee { Act::Janee } else { Act::Service };
    match canonical(&services, &asked, by_janee) {
        Ok((call, dropped)) => {
            let envelope = carry::carry(&services, life, kind(call), &asked.reason).await?;
            Ok(if dropped.is_empty() { envelope } else { with(envelope, "dropped_headers", dropped) })
        }
        Err(unfit) => {
            let call = Call { service: asked.service, method: asked.method, ..Call::default() };
            services.approvals.refuse(life, &kind(call), unfit).await
        }
    }
}

/// The canonical call, and the headers that were dropped.
fn canonical(services: &Services, asked: &Asked, by_janee: bool) -> Result<(Call, Vec<String>), Unfit> {
    let service = services.all.get(&asked.service).filter(|_| !by_janee);
    let name = match service {
        None if by_janee => capability(services, &asked.service)?,
        None => return Err(services.unknown(&asked.service)),
        Some(_) => &asked.service,
    };
    let method = canonical::method(if asked.method.is_empty() { "GET" } else { &asked.method })?;
    let (path, query) = canonical::path(&asked.path)?;
    let query = canonical::query(&asked.query, query)?;
    let (mut headers, dropped) = canonical::headers(&asked.headers)?;
    let body = canonical::body(&asked.body, &method, &mut headers)?;
    let (url, reason) = match (service, canonical::joined(&query)) {
        (Some(service), _) => (upstream::address(&service.base_url, &path, &query)?.into(), String::new()),
        (None, query) if query.is_empty() => (path.clone(), brief(asked.reason.trim(), 400)),
        (None, query) => (format!("{path}?{query}"), brief(asked.reason.trim(), 400)),
    };
    Ok((Call { service: name.to_owned(), method, path, url, headers, body, reason }, dropped))
}

/// The name of a capability of Janee's.
fn capability<'a>(services: &Services, name: &'a str) -> Result<&'a str, Unfit> {
    if services.janee.settings.is_none() {
        return Err(Unfit::new(janee::session::NOT_CONFIGURED, janee::session::HINT));
    }
    let name = name.trim();
    let is_plain = name.chars().all(|letter| letter.is_ascii_graphic());
    if name.is_empty() || name.len() > MOST_CAPABILITY || !is_plain {
        return Err(Unfit::new("the capability has no fit name", "GET /janee/services lists them"));
    }
    Ok(name)
}
