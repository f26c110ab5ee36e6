//! Examines what the creature did, what failed and what that cost in a span of time, by plain code over its records.
//!
//! Invariant: nothing is told that no record shows; what was not read is said. Memory use is bounded for any span.

mod offers;
mod paid;
mod sums;
mod told;

pub use offers::worth_looking_at;
pub use sums::Sums;
pub use told::{date, sentences};

use crate::fault::Fault;
use crate::paths::House;
use crate::store::books;
use agenda::Agenda;
use agenda::goals::GoalStatus;
use agenda::span::Span;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use memory::since::since;
use serde_json::{Map, Value, json};

/// Bytes of records looked through: far more than a busy week writes.
const MOST_BYTES: u64 = 256 << 20;

/// A span, what its records come to, and what of it could not be looked at.
#[derive(Clone, Debug)]
pub struct Examined {
    pub span: Span,
    pub sums: Sums,
    /// Goals, tasks and opportunities that ended, with how.
    pub ended: Vec<String>,
    /// Lines on how often a model was asked of the creature's own accord and for what, and how often that was used;
    /// they do not depend on the span.
    pub unasked: Vec<String>,
    pub note: String,
}

/// Reads what the records of a span come to.
pub fn examine(house: &House, agenda: &Agenda, span: Span, zone: &TimeZone) -> Result<Examined, Fault> {
    let mut sums = Sums::default();
    let mut see = |at: Timestamp, record: memory::Record| {
        if at <= span.until {
            sums.add(at, &record);
        }
    };
    let fault =
        |cause: memory::Error| Fault::caused("look back on memory", &cause, "knowledge.search still works");
    let read = since(&house.memory(), span.since, MOST_BYTES, &mut see).map_err(fault)?;
    let [before, now] = books::files(house);
    // Wakes before the older file of the bookkeeping are lost, if it ever began anew.
    let books_begin = since(&before, span.since, MOST_BYTES, &mut see).map_err(fault)?.begins;
    since(&now, span.since, MOST_BYTES, &mut see).map_err(fault)?;
    let mut notes = Vec::new();
    if read.capped {
        notes.push("there is more than was looked at: ask for a shorter span".to_owned());
    }
    if let Some(begins) = read.begins.filter(|begins| *begins < span.until) {
        notes.push(format!("nothing before {} is remembered", date(begins, zone)));
    }
    if let Some(begins) = books_begin.filter(|begins| *begins < span.until) {
        notes.push(format!("wakes are counted from {} on", date(begins, zone)));
    }
    if read.garbage_lines > 0 {
        notes.push(format!("{} lines of memory cannot be read", read.garbage_lines));
    }
    let paid = paid::paid(house, span.since, span.until);
    sums.paid(paid.calls, paid.usd);
    let ended = ended(agenda, span.since, span.until);
    let unasked = [vec![agenda.reasons.summary()], agenda.reasons.lines()].concat();
    let unasked = if agenda.reasons.since.is_some() { unasked } else { Vec::new() };
    Ok(Examined { span, sums, ended, unasked, note: notes.join("; ") })
}

impl Examined {
    /// Returns it as the result of a tool.
    pub fn fields(&self, zone: &TimeZone) -> Map<String, Value> {
        let span = told::stretch(self.span.since, self.span.until, zone);
        let mut all = Map::from_iter([("span".to_owned(), json!(span))]);
        all.extend(told::fields(&self.sums, &self.ended, zone));
        if !self.unasked.is_empty() {
            all.insert("asked_of_your_own_accord".to_owned(), json!(self.unasked));
        }
        if !self.note.is_empty() {
            all.insert("note".to_owned(), json!(self.note));
        }
        all.insert("for_the_owner".to_owned(), json!(self.sentences(zone)));
        all
    }

    /// A few sentences for the owner.
    pub fn sentences(&self, zone: &TimeZone) -> String {
        let span = told::stretch(self.span.since, self.span.until, zone);
        let note = if self.note.is_empty() { String::new() } else { format!(" ({}.)", self.note) };
        format!("{span}: {}{note}", sentences(&self.sums, &self.ended))
    }
}

/// Items of the agenda that ended in a span, each with id, title and outcome; the latest first.
fn ended(agenda: &Agenda, since: Timestamp, until: Timestamp) -> Vec<String> {
    let within = |at: &Timestamp| (since..=until).contains(at);
    let goals = agenda.goals.list.iter().filter_map(|goal| {
        let how = match goal.status {
            GoalStatus::Done => "done",
            GoalStatus::Failed => "failed",
            GoalStatus::Dropped => "dropped",
            GoalStatus::Open | GoalStatus::Awaiting => return None,
        };
        Some((goal.changed_at, format!("{} {}: {how}", goal.id, goal.about)))
    });
    let tasks = agenda.tasks.list.iter();
    let tasks = tasks
        .filter_map(|task| Some((task.ended_at?, format!("{} {}: {}", task.id, task.about, task.outcome))));
    let leads = agenda.opportunities.items.list.iter();
    let leads = leads
        .filter_map(|lead| Some((lead.ended_at?, format!("{} {}: {}", lead.id, lead.about, lead.outcome))));
    let mut all: Vec<(Timestamp, String)> =
        goals.chain(tasks).chain(leads).filter(|(at, _)| within(at)).collect();
    all.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    let short = |told: &str| ground::text::shorten(told.trim_end_matches([':', ' ']), 120);
    all.iter().map(|(_, told)| short(told)).collect()
}
