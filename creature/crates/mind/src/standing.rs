//! The autonomous state of a moment: gathered from its records and its stack. Pure.
//!
//! Invariant: whatever the records hold, there is a state; where none can be composed, one sentence stands in its place.

use super::moment::Moment;
use agenda::directive::understand;
use agenda::standing::{Dated, Input, Standing, actionable, compose, sentences};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use memory::Record;
use memory::kinds::failed;
use serde_json::Value;
use std::collections::BTreeSet;

/// Sentences of one message that are read for promises and names: what matters is said early.
const MOST_SENTENCES: usize = 12;

/// Bytes; a longer message is not taken for a directive.
const LONGEST_DIRECTIVE: usize = 400;

/// Lines of the stack that are told; there may be a thousand.
const MOST_OPEN: usize = 12;

/// The state as the moment's records, stack and directives have it; never in a thought that answers the owner.
pub fn standing(moment: &Moment) -> Option<Standing> {
    if moment.answers() {
        return None;
    }
    let Ok(now) = moment.now.parse() else { return Some(Standing::fallback()) };
    Some(compose(&gather(moment, now)).unwrap_or_else(|refusal| {
        tracing::warn!("failed to {} ({})", refusal.error, refusal.hint);
        Standing::fallback()
    }))
}

/// Gathers from a moment what the state is composed of.
pub fn gather(moment: &Moment, now: Timestamp) -> Input {
    let mut input = Input::at(now);
    for record in &moment.records {
        // A record whose time cannot be read is left out: nobody knows whether it is fresh.
        let Ok(at) = record.at.parse::<Timestamp>() else { continue };
        match record.kind.as_str() {
            "message" => message(&mut input, record, at),
            "action" => {
                input.interrupted &= record.data.get("owner") == Some(&Value::Bool(true));
                input.outcomes.push(outcome(record, at));
            }
            // The record of an outage, or that its own money is spent, says how long the model is left alone.
            "observation" if record.data.get("rest_s").is_some() => {
                let rest_s = record.data.get("rest_s").and_then(Value::as_i64).unwrap_or(0);
                input.cooling_until = at.checked_add(SignedDuration::from_secs(rest_s)).ok();
            }
            _ => {}
        }
        if failed(record) {
            input.failure = Some(Dated { resolved: false, ..outcome(record, at) });
        }
    }
    settle(&mut input);
    input.paused = moment.paused || moment.directives.iter().any(|word| padded(word).contains(" pause "));
    input.directives.clone_from(&moment.directives);
    let open = moment.stack.iter().take(MOST_OPEN);
    input.open = open.map(|line| format!("{} {}: {}", line.id, line.title, line.next)).collect();
    // While everything on the stack waits, so does the loop.
    let ready = moment.stack.iter().map(|line| line.ready_at).min();
    input.cooling_until = input.cooling_until.max(ready.filter(|at| *at > now));
    input.awaiting = moment.asks_waiting;
    input.draft.clone_from(&moment.draft);
    input
}

/// Takes in a message: the owner's words and the names given in them, or the creature's promises.
fn message(input: &mut Input, record: &Record, at: Timestamp) {
    let said = text(record, "text");
    let dated = |text: &str| Dated { at, text: text.to_owned(), resolved: false, until: None };
    if text(record, "from") == "owner" {
        input.interrupted = !input.outcomes.is_empty();
        // A directive is told by `input.directives` while it holds; its words would be told after its end.
        if said.len() > LONGEST_DIRECTIVE || understand(said, at, &TimeZone::UTC).is_none() {
            input.said.push(dated(said));
        }
        let known = sentences(said).take(MOST_SENTENCES).filter(|said| names_someone(said));
        input.identities.extend(known.map(dated));
        return;
    }
    // An answer that does not say that work goes on answers the owner's words; its promises are still to be kept.
    let kind = text(record, "kind");
    if (kind.is_empty() || kind == "answer") && record.data.get("done") != Some(&Value::Bool(false)) {
        input.said.iter_mut().for_each(|said| said.resolved = true);
    }
    let promised = sentences(said).take(MOST_SENTENCES).filter(|said| promises(said));
    input.commitments.extend(promised.map(dated));
}

/// Lower case with spaces around, so that whole words are found.
fn padded(sentence: &str) -> String {
    format!(" {} ", sentence.to_lowercase().replace('’', "'").replace([',', '.', '!', ':', '"'], " "))
}

fn promises(sentence: &str) -> bool {
    let said = padded(sentence);
    [" i will ", " i'll ", " i am going to ", " i'm going to "].iter().any(|promise| said.contains(promise))
        && !said.contains(" not ")
}

fn names_someone(sentence: &str) -> bool {
    const NAMES: &str = "my name|call me|i am|i'm|your name|my email|your account|my account|your handle";
    let said = padded(sentence);
    NAMES.split('|').any(|name| said.contains(&format!(" {name} ")))
        && !sentence.ends_with('?')
        && !actionable(sentence)
}

fn outcome(record: &Record, at: Timestamp) -> Dated {
    let result = record.data.get("result").unwrap_or(&Value::Null);
    let resolved = result.get("ok") == Some(&Value::Bool(true));
    let told = ["error", "note", "path"].iter().find_map(|key| result.get(key)?.as_str());
    let said =
        || ["error", "told", "text"].map(|key| text(record, key)).into_iter().find(|said| !said.is_empty());
    let detail = told.or_else(said).unwrap_or_default();
    let detail = if detail.is_empty() && resolved { "done" } else { detail };
    let what = if record.kind == "action" { text(record, "tool") } else { &record.kind };
    Dated { at, text: format!("{what}: {detail}"), resolved, until: None }
}

/// A failed act is settled by a later one of the same tool that went well.
fn settle(input: &mut Input) {
    let name = |outcome: &Dated| outcome.text.split(':').next().unwrap_or_default().to_owned();
    let mut well = BTreeSet::new();
    for outcome in input.outcomes.iter_mut().rev() {
        if outcome.resolved {
            well.insert(name(outcome));
        } else {
            outcome.resolved = well.contains(&name(outcome));
        }
    }
}

fn text<'a>(record: &'a Record, key: &str) -> &'a str {
    record.data.get(key).and_then(Value::as_str).unwrap_or_default()
}
