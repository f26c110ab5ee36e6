//! Carries out an act of any kind.

use super::{Services, janee, sending};
use crate::approvals::act::Act;
use crate::approvals::outcome::Outcome;
use crate::approvals::{packages, purpose};
use crate::ledger::Closed;

/// Carries out a permitted act: recorded first, done once, then its end recorded.
pub async fn perform(
    services: &Services,
    life: u64,
    act: &Act,
    decision: &str,
    id: &str,
) -> Result<Outcome, Closed> {
    match act {
        Act::Service(call) => sending::send(services, life, call, decision, id).await,
        Act::Janee(call) => janee::send(services, life, call, decision, id).await,
        Act::Purpose { text } => purpose::write(&services.approvals, life, text, decision, id).await,
        Act::Package(package) => packages::allow(&services.approvals, life, package, decision, id).await,
    }
}
