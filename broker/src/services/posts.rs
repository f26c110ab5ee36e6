//! Posts: a text or a thread of them, with pictures, where people read; judged, asked about and told of as one act.
//!
//! Invariant: the owner approves every text and the digest of every picture. A part that is out is never sent again; one
//! whose fate nobody knows only where a second sending is the same post, or by the owner's yes.

pub mod bluesky;
pub mod facets;
pub mod kept;
pub mod length;
pub mod network;
pub mod post;
pub mod progress;
pub mod sending;
pub mod wire;
pub mod x;

use super::{Services, carry, upstream};
use crate::approvals::act::{Act, Call};
use crate::ground::refusal::Unfit;
use crate::ledger::Closed;
use network::Network;
use post::Asked;
use serde_json::Value;
use std::sync::Arc;

/// A post as a client asks for it, from its request to its envelope.
pub async fn run(services: Arc<Services>, life: u64, asked: Asked) -> Result<Value, Closed> {
    match fit(&services, &asked) {
        Ok(call) => carry::carry(&services, life, Act::Post(call), &asked.reason).await,
        Err(unfit) => {
            let call = Call { service: asked.service, method: "POST".to_owned(), ..Call::default() };
            services.approvals.refuse(life, &Act::Post(call), unfit).await
        }
    }
}

/// The call that is judged and approved, once its pictures are kept.
fn fit(services: &Services, asked: &Asked) -> Result<Call, Unfit> {
    let service = services.all.get(&asked.service).ok_or_else(|| services.unknown(&asked.service))?;
    let network = Network::of(&asked.service, service).ok_or_else(|| {
        let error = format!("{} is no place for posts", asked.service);
        Unfit::new(error, "service.execute calls it; posts go to x, and to services of the kind atproto")
    })?;
    let takes = network.takes();
    let (post, pictures) = post::judged(asked, takes)?;
    for (picture, bytes) in &pictures {
        kept::keep(&services.handles.house, &services.approvals.asks, picture, bytes)?;
    }
    Ok(Call {
        service: asked.service.clone(),
        method: "POST".to_owned(),
        path: takes.path.to_owned(),
        url: upstream::address(&service.base_url, takes.path, &[])?.into(),
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        body: serde_json::to_string(&post).unwrap_or_default(),
    })
}
