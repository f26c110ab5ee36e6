//! Carries an act out, whatever kind it is of.

use super::{Services, janee, sending};
use crate::approvals::act::Act;
use crate::approvals::outcome::Outcome;
use crate::approvals::purpose;
use crate::ledger::Closed;

/// Carries out an act that may be: written down first, done once, written down again.
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
    }
}
