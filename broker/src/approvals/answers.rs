//! The owner's answers: read while something waits for one, taken once, carried out once and only as approved.
//!
//! Invariant: an answer counts only with the digest of the very bytes that wait, and none is taken twice.

use crate::approvals::act::{Act, cut};
use crate::approvals::asks::{Ask, State};
use crate::approvals::purpose;
use crate::broker::Shared;
use crate::ledger::Entry;
use crate::secrets::patterns;
use crate::services::canonical::Unfit;
use crate::services::janee;
use crate::services::sending;
use crate::services::upstream::{Outcome, not_sent};
use anyhow::{Context, Result};
use serde::Deserialize;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

/// How often answers are looked for while something waits.
const LOOK: Duration = Duration::from_millis(250);
/// Bytes of answers read at once; the rest comes with the next look.
const MOST_AT_ONCE: u64 = 1 << 20;
/// Characters of an outcome that the creature hears.
const MOST_RESULT: usize = 4_000;

#[derive(Deserialize)]
struct Answer {
    /// A number, or one as text.
    id: serde_json::Value,
    answer: String,
    digest: String,
}

/// Picks up what a former broker left, then takes answers as they come; never ends.
pub async fn watch(broker: Shared) {
    let asks = &broker.services.asks;
    let _alone = match asks.alone().await {
        Ok(lock) => lock,
        Err(error) => {
            tracing::error!("no answer is taken: {error:#}");
            return;
        }
    };
    for id in asks.in_state(State::Executing) {
        let unknown = |ask: &mut Ask| {
            ask.state = State::Failed;
            ask.may_have_happened = true;
            ask.answers_from = asks.answers_bytes();
            ask.result =
                "it may have happened: the broker ended in the middle of it; look there, then approve \
                          it anew or deny it"
                    .to_owned();
        };
        report(asks.change(id, &[State::Executing], unknown));
    }
    asks.tell_the_rest();
    for id in asks.in_state(State::Approved) {
        tokio::spawn(carry_out(broker.clone(), id));
    }
    let mut seen = None;
    loop {
        if asks.answers_from().is_none() {
            asks.stirred.notified().await;
        }
        let mark = (crate::ground::files::mark(&broker.house.answers()), asks.answers_from());
        if mark.0.is_some() && seen != Some(mark) {
            seen = Some(mark);
            if let Err(error) = take(&broker).await {
                tracing::error!("an answer waits: {error:#}");
                seen = None;
            }
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Takes every answer that is there and counts.
async fn take(broker: &Shared) -> Result<()> {
    let asks = &broker.services.asks;
    asks.answers_shrank()?;
    let Some(from) = asks.answers_from() else { return Ok(()) };
    let bytes = read_from(&broker.house.answers(), from)?;
    let mut at = from;
    for line in bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")) {
        let (begin, end) = (at, at + line.len() as u64);
        at = end;
        let Ok(answer) = serde_json::from_slice::<Answer>(line) else { continue };
        let id = answer.id.as_str().map_or(answer.id.as_u64(), |text| text.parse().ok());
        let Some(ask) = id.and_then(|id| asks.get(id)) else { continue };
        if ask.state.waits() && begin >= ask.answers_from {
            answered(broker, &ask, &answer, end).await?;
        }
    }
    Ok(())
}

fn read_from(path: &std::path::Path, from: u64) -> Result<Vec<u8>> {
    let flags = nix::libc::O_NOFOLLOW | nix::libc::O_NONBLOCK;
    let mut file = std::fs::OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(MOST_AT_ONCE).read_to_end(&mut bytes).context("failed to read answers.jsonl")?;
    Ok(bytes)
}

async fn answered(broker: &Shared, ask: &Ask, answer: &Answer, end: u64) -> Result<()> {
    let asks = &broker.services.asks;
    let fits = answer.digest == ask.digest && ask.act.digest() == ask.digest;
    let state = match answer.answer.as_str() {
        "approve" if fits => Some(State::Approved),
        "deny" if fits => Some(State::Denied),
        _ => None,
    };
    let now = broker.clock.now().as_millisecond();
    let changed = asks.change(ask.id, &[State::Asked, State::Failed], |ask| {
        ask.answers_from = end;
        if let Some(state) = state {
            ask.state = state;
            ask.answered_ms = now;
            ask.may_have_happened = false;
        }
    })?;
    let decision = match state {
        Some(State::Approved) => "approved",
        Some(_) => "denied",
        None => "not taken: other bytes, or no answer",
    };
    let entry = Entry { event: "answer".to_owned(), decision: decision.to_owned(), ..entry(ask) };
    if let Err(closed) = broker.ledger.append(entry).await {
        // What is carried out next needs the ledger as well, and says so.
        tracing::error!("an answer is not in the ledger: {}", closed.0);
    }
    if changed.is_some() && state == Some(State::Approved) {
        tokio::spawn(carry_out(broker.clone(), ask.id));
    }
    Ok(())
}

/// What the ledger says of an ask.
pub fn entry(ask: &Ask) -> Entry {
    let call = ask.act.call().cloned().unwrap_or_default();
    Entry {
        life: ask.life,
        service: if call.service.is_empty() { ask.act.kind().to_owned() } else { call.service },
        method: call.method,
        path: call.path,
        call: format!("ask-{}", ask.id),
        ..Entry::default()
    }
}

/// Carries out one approved act, once.
async fn carry_out(broker: Shared, id: u64) {
    let asks = &broker.services.asks;
    let Some(ask) = asks.get(id).filter(|ask| ask.state == State::Approved) else { return };
    let outcome = match still_allowed(&broker, &ask) {
        Err(unfit) => Outcome::NotSent(unfit),
        Ok(()) => {
            // From here on it is never begun again by itself.
            match asks.change(id, &[State::Approved], |ask| ask.state = State::Executing) {
                Ok(Some(ask)) => perform(&broker, &ask).await,
                Ok(None) => return,
                Err(error) => {
                    tracing::error!("ask {id} is not carried out: {error:#}");
                    not_sent("its state could not be written, so nothing was done", "is the disk full?")
                }
            }
        }
    };
    let result = result(&outcome);
    let result = cut(&patterns::scrub(broker.scrub(&result)), MOST_RESULT);
    report(asks.change(id, &[State::Approved, State::Executing], |ask| {
        ask.status = outcome.status();
        // A yes that was given twice beforehand is no yes to trying again.
        ask.answers_from = asks.answers_bytes();
        ask.state = if outcome.status().is_some() { State::Executed } else { State::Failed };
        ask.may_have_happened = matches!(outcome, Outcome::Unsure(_));
        ask.result = result;
    }));
}

fn still_allowed(broker: &Shared, ask: &Ask) -> Result<(), Unfit> {
    if ask.act.digest() != ask.digest {
        let error = "what is kept is not what was asked, so nothing was done".to_owned();
        return Err(Unfit { error, hint: "ask anew".to_owned() });
    }
    sending::still_allowed(broker, &ask.act)
}

async fn perform(broker: &Shared, ask: &Ask) -> Outcome {
    let id = format!("ask-{}", ask.id);
    let done = match &ask.act {
        Act::Service(call) => sending::send(broker, ask.life, call, "approved", &id).await,
        Act::Janee(call) => janee::send(broker, ask.life, call, "approved", &id).await,
        Act::Purpose { text } => purpose::write(broker, ask.life, text, "approved", &id).await,
    };
    let outcome = done.unwrap_or_else(|closed| {
        tracing::error!("the ledger is closed: {}", closed.0);
        not_sent("the ledger cannot be written, so nothing was done", "the owner has to look at it")
    });
    if outcome.is_success() {
        sending::know_recipients(broker, &ask.act);
    }
    outcome
}

/// An outcome in words for the creature.
fn result(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Answered(answer) => answer.body.clone(),
        Outcome::NotSent(unfit) | Outcome::Redirected(_, unfit) | Outcome::Denied(unfit, _) => {
            format!("{}; {}", unfit.error, unfit.hint)
        }
        Outcome::Unsure(unfit) => format!("it may have happened: {}; {}", unfit.error, unfit.hint),
    }
}

fn report(changed: Result<Option<Ask>>) {
    if let Err(error) = changed {
        tracing::error!("an ask's outcome is not on the disk: {error:#}");
    }
}
