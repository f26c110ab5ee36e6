//! The owner's answers: read while an ask waits, each used once.
//!
//! Invariant: an answer counts only with the digest of the exact bytes that wait, and only once.

use super::Approvals;
use super::ask::{Ask, State};
use crate::ground::files;
use anyhow::{Context, Result};
use serde::Deserialize;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;
use std::time::Duration;

/// Time between two looks for answers while an ask waits.
const LOOK: Duration = Duration::from_millis(250);
/// Bytes of answers read at one look; the rest is read at the next.
const MOST_AT_ONCE: u64 = 1 << 20;

#[derive(Deserialize)]
struct Answer {
    /// An ask's number, as a number or as text.
    id: serde_json::Value,
    answer: String,
    digest: String,
}

/// Resumes what a former broker left, then takes answers as they come; never returns. `approved` starts carrying out
/// an ask.
pub async fn watch(approvals: Arc<Approvals>, approved: impl Fn(u64)) {
    let asks = &approvals.asks;
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
        approved(id);
    }
    let mut seen = None;
    loop {
        if asks.answers_from().is_none() {
            asks.stirred.notified().await;
        }
        let mark = (files::mark(&approvals.handles.house.answers()), asks.answers_from());
        if mark.0.is_some() && seen != Some(mark) {
            seen = Some(mark);
            if let Err(error) = take(&approvals, &approved).await {
                tracing::error!("an answer waits: {error:#}");
                seen = None;
            }
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Takes all new answers that count.
async fn take(approvals: &Approvals, approved: &impl Fn(u64)) -> Result<()> {
    let asks = &approvals.asks;
    asks.answers_shrank()?;
    let Some(from) = asks.answers_from() else { return Ok(()) };
    let bytes = read_from(&approvals.handles.house.answers(), from)?;
    let mut at = from;
    for line in bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")) {
        let (begin, end) = (at, at + line.len() as u64);
        at = end;
        let Ok(answer) = serde_json::from_slice::<Answer>(line) else { continue };
        let id = answer.id.as_str().map_or(answer.id.as_u64(), |text| text.parse().ok());
        let Some(ask) = id.and_then(|id| asks.get(id)) else { continue };
        let counts = ask.state.waits() && begin >= ask.answers_from;
        if counts && answered(approvals, &ask, &answer, end).await? {
            approved(ask.id);
        }
    }
    Ok(())
}

fn read_from(path: &std::path::Path, from: u64) -> Result<Vec<u8>> {
    let mut file = house::files::open_by(std::fs::OpenOptions::new().read(true), path)?;
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(MOST_AT_ONCE).read_to_end(&mut bytes).context("failed to read answers.jsonl")?;
    Ok(bytes)
}

/// Records an answer; returns whether it is a yes that counts.
async fn answered(approvals: &Approvals, ask: &Ask, answer: &Answer, end: u64) -> Result<bool> {
    let asks = &approvals.asks;
    let fits = answer.digest == ask.digest && ask.act.digest() == ask.digest;
    let state = match answer.answer.as_str() {
        "approve" if fits => Some(State::Approved),
        "deny" if fits => Some(State::Denied),
        _ => None,
    };
    let now = approvals.handles.clock.now().as_millisecond();
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
    let entry = ask.act.entry(ask.life, "answer", decision, &format!("ask-{}", ask.id));
    if let Err(closed) = approvals.handles.ledger.append(entry).await {
        // Carrying out the ask writes to the ledger as well, and reports this failure there.
        tracing::error!("an answer is not in the ledger: {}", closed.0);
    }
    Ok(changed.is_some() && state == Some(State::Approved))
}

/// Logs that the new state of an ask could not be written.
pub fn report(changed: Result<Option<Ask>>) {
    if let Err(error) = changed {
        tracing::error!("an ask's outcome is not on the disk: {error:#}");
    }
}
