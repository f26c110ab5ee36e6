//! Carries out an approved act: once, and exactly as approved.
//!
//! Invariant: the stored act must match the approved digest byte for byte, and the owner's rules must still allow it.

use super::{Services, sending};
use crate::approvals::answers::report;
use crate::approvals::ask::{Ask, State};
use crate::approvals::outcome::{Outcome, not_sent};
use crate::ground::refusal::Unfit;
use house::bounds::brief;
use std::sync::Arc;

/// Characters of an outcome that the creature is told.
const MOST_RESULT: usize = 4_000;

/// Carries out an approved act, once.
pub async fn carry_out(services: Arc<Services>, id: u64) {
    let asks = &services.approvals.asks;
    let Some(ask) = asks.get(id).filter(|ask| ask.state == State::Approved) else { return };
    let outcome = match still_allowed(&services, &ask) {
        Err(unfit) => Outcome::NotSent(unfit),
        Ok(()) => {
            // From here on it is never started again by itself.
            match asks.change(id, &[State::Approved], |ask| ask.state = State::Executing) {
                Ok(Some(ask)) => done(&services, &ask).await,
                Ok(None) => return,
                Err(error) => {
                    tracing::error!("ask {id} is not carried out: {error:#}");
                    not_sent("its state could not be written, so nothing was done", "is the disk full?")
                }
            }
        }
    };
    let result = result(&outcome);
    let result = brief(&services.handles.secrets.scrub_all(&result), MOST_RESULT);
    report(asks.change(id, &[State::Approved, State::Executing], |ask| {
        ask.status = outcome.status();
        // After a failure only answers given later count: an earlier second yes does not mean "try again".
        ask.answers_from = asks.answers_bytes();
        ask.state = if outcome.status().is_some() { State::Executed } else { State::Failed };
        ask.may_have_happened = matches!(outcome, Outcome::Unsure(_));
        ask.result = result;
    }));
}

fn still_allowed(services: &Services, ask: &Ask) -> Result<(), Unfit> {
    if ask.act.digest() != ask.digest {
        return Err(Unfit::new("what is kept is not what was asked, so nothing was done", "ask anew"));
    }
    sending::still_allowed(services, &ask.act)
}

async fn done(services: &Services, ask: &Ask) -> Outcome {
    let id = format!("ask-{}", ask.id);
    let outcome = sending::perform(services, ask.life, &ask.act, "approved", &id).await;
    let outcome = outcome.unwrap_or_else(|closed| {
        tracing::error!("the ledger is closed: {}", closed.0);
        not_sent("the ledger cannot be written, so nothing was done", "the owner has to look at it")
    });
    if outcome.is_success() {
        sending::know_recipients(services, &ask.act);
    }
    outcome
}

/// An outcome in words, for the creature.
fn result(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Answered(answer) => answer.body.clone(),
        Outcome::NotSent(unfit) | Outcome::Redirected(_, unfit) => format!("{}; {}", unfit.error, unfit.hint),
        Outcome::Unsure(unfit) => format!("it may have happened: {}; {}", unfit.error, unfit.hint),
    }
}
