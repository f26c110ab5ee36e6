//! The last steps of every act: whether it is allowed still, and who carries out which kind.
//!
//! Invariant: nothing is sent that is not in the ledger.

use super::{Services, posts, recipients, signed, upstream};
use crate::approvals::act::Act;
use crate::approvals::outcome::Outcome;
use crate::approvals::{packages, purpose};
use crate::ground::refusal::Unfit;
use crate::ledger::Closed;
use crate::policy::Verdict;
use crate::services::mcp;
use bytes::Bytes;

/// Remembers the recipients of an act as known.
pub fn know_recipients(services: &Services, act: &Act) {
    for recipient in recipients::of(act).into_iter().filter(|_| act.is_outward()) {
        if let Err(error) = services.handles.taint.know(&recipient) {
            tracing::warn!("{error:#}");
        }
    }
}

/// Fails if an approved act is no longer allowed.
pub fn still_allowed(services: &Services, act: &Act) -> Result<(), Unfit> {
    let Some(call) = act.call() else { return Ok(()) };
    let gone = |error: String| Unfit::new(error, "nothing was done; the owner has to allow it first");
    match services.judged(act).map(|rule| rule.verdict) {
        Ok(Verdict::Allow | Verdict::Ask) => {}
        Ok(Verdict::Deny | Verdict::Draft) | Err(_) => {
            return Err(gone(format!("the owner's rules no longer allow {} {}", call.method, call.path)));
        }
    }
    let (Act::Service(call) | Act::Post(call)) = act else { return Ok(()) };
    let service = services.all.get(&call.service);
    let service = service.ok_or_else(|| gone(format!("there is no service {} any more", call.service)))?;
    let now = upstream::address(&service.base_url, &call.path, &[])?;
    if call.url.split('?').next() != Some(now.as_str()) {
        return Err(gone(format!("{} is at another address now", call.service)));
    }
    Ok(())
}

/// Carries out a permitted act of any kind: recorded first, done once, then its end recorded.
pub async fn perform(
    services: &Services,
    life: u64,
    act: &Act,
    decision: &str,
    id: &str,
) -> Result<Outcome, Closed> {
    let line = act.entry(life, act.event(), decision, id);
    match act {
        Act::Service(call) => signed::send(services, call, Bytes::from(call.body.clone()), line).await,
        Act::Post(call) => posts::sending::send(services, call, line, decision == "approved").await,
        Act::Purpose { text } => purpose::write(&services.approvals, text, line).await,
        Act::Package(package) => packages::allow(&services.approvals, package, line).await,
        Act::Mcp(call) => mcp::call::send(services, call, line).await,
        Act::Pin(pin) => Ok(services.mcp.pins.agree(pin)),
    }
}
