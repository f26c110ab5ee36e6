//! Ledger entries about an act and its outcome; pure.

use super::act::Act;
use super::outcome::Outcome;
use crate::ledger::Entry;
use house::bounds::brief;

/// The entry of an act, what was decided about it, and the id shared by all entries about it.
pub fn entry(life: u64, event: &str, act: &Act, decision: &str, id: &str) -> Entry {
    let [service, method, path] = act.place();
    let short = |text: &str| brief(text, 300);
    Entry {
        life,
        event: event.to_owned(),
        service: if service.is_empty() { act.kind().to_owned() } else { short(&service) },
        method: short(&method),
        path: short(&path),
        decision: decision.to_owned(),
        call: id.to_owned(),
        ..Entry::default()
    }
}

/// The entry of a call's end, made from that of its beginning.
pub fn end(line: Entry, outcome: &Outcome) -> Entry {
    let (bytes_in, decision) = match outcome {
        Outcome::Answered(answer) => (answer.body.len() as u64, "answered"),
        Outcome::Redirected(..) => (0, "redirect not followed"),
        Outcome::NotSent(_) => (0, "not sent"),
        Outcome::Unsure(_) => (0, "unsure"),
        Outcome::Denied(..) => (0, "denied there"),
    };
    let note = match outcome {
        Outcome::NotSent(unfit) | Outcome::Unsure(unfit) => brief(&unfit.error, 200),
        Outcome::Answered(_) | Outcome::Redirected(..) | Outcome::Denied(..) => String::new(),
    };
    Entry { bytes_in, status: outcome.status(), decision: decision.to_owned(), note, ..line }
}
