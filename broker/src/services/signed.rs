//! Sends a permitted call to a service: authenticated, recorded, sent once, and its end recorded.

use super::{Services, oauth, upstream};
use crate::approvals::act::Call;
use crate::approvals::outcome::Outcome;
use crate::ledger::{Closed, Entry};
use bytes::Bytes;

/// Sends a permitted call to a service, authenticated.
pub async fn send(services: &Services, call: &Call, body: Bytes, line: Entry) -> Result<Outcome, Closed> {
    let Some(service) = services.all.get(&call.service) else {
        return Ok(Outcome::NotSent(services.unknown(&call.service)));
    };
    let proof = match services.sign_ins.proof(&call.service, service, call, None).await {
        Ok(proof) => proof,
        Err(unfit) => return Ok(Outcome::NotSent(unfit)),
    };
    let bytes_out = body.len() as u64;
    services.handles.ledger.append(Entry { bytes_out, ..line.clone() }).await?;
    let stale = oauth::token_of(service, &proof);
    let mut outcome = upstream::send(&services.handles, service, call, body.clone(), proof).await;
    if oauth::rejects_token(&outcome) && stale.is_some() {
        // A call rejected for its token did not happen: it is sent once more with a new token.
        if let Ok(proof) = services.sign_ins.proof(&call.service, service, call, stale.as_deref()).await {
            services.handles.ledger.append(Entry { bytes_out, ..line.clone() }).await?;
            outcome = upstream::send(&services.handles, service, call, body, proof).await;
        }
    }
    if service.untrusted && outcome.status().is_some() {
        services.handles.taint.read_untrusted(line.life);
    }
    services.handles.ledger.ended(outcome.entry(line)).await;
    Ok(outcome)
}
