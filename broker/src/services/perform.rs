//! Carries out an act of any kind.

use super::{Services, janee, sending};
use crate::approvals::act::{Act, Pin};
use crate::approvals::outcome::{Answer, Outcome, not_sent};
use crate::approvals::{packages, purpose};
use crate::ledger::Closed;
use crate::mcp;

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
        Act::Mcp(call) => mcp::call::send(services, life, call, decision, id).await,
        Act::Pin(pin) => Ok(accept(services, pin)),
        Act::Package(package) => packages::allow(&services.approvals, life, package, decision, id).await,
    }
}

/// Takes the form of a tool that the owner agreed to.
fn accept(services: &Services, pin: &Pin) -> Outcome {
    match services.mcp.pins.accept(&pin.server, &pin.tool, &pin.fingerprint) {
        Ok(true) => {
            let body = format!("{} of {} may be called as it is now", pin.tool, pin.server);
            Outcome::Answered(Answer { status: 200, body, ..Answer::default() })
        }
        Ok(false) => not_sent(
            "the tool is described in yet another way by now",
            "call it again, and you are asked anew",
        ),
        Err(why) => not_sent(why, "is the disk full?"),
    }
}
