//! Refusals, by life and event: the first are lines of their own, those after them one line a minute with their number; pure.

use super::entry::Entry;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Refusals of a kind that are lines of their own, until there was none for a `SPAN`.
pub const WHOLE: u64 = 30;
/// Time that a line with a number stands for.
pub const SPAN: Duration = Duration::from_secs(60);

/// A life and an event. Nothing a client chooses is in it, so no client makes kinds of its own.
pub type Kind = (u64, String);

#[derive(Default)]
pub struct Refusals(BTreeMap<Kind, Span>);

struct Span {
    began: Instant,
    whole: u64,
    /// Fields shared by all refusals that are in no line yet; `count` is their number.
    sum: Option<Entry>,
}

/// Form in which a refusal comes into the ledger.
#[derive(Debug, PartialEq)]
pub enum Noted {
    /// As a line of its own.
    Whole,
    /// In the line of its kind, which is due after a `SPAN`.
    First(Kind),
    Summed,
}

impl Refusals {
    pub fn note(&mut self, entry: &Entry, now: Instant) -> Noted {
        let kind = (entry.life, entry.event.clone());
        let is_past = |span: &Span| span.sum.is_none() && now.duration_since(span.began) >= SPAN;
        self.0.retain(|_, span| !is_past(span));
        let span = self.0.entry(kind.clone()).or_insert(Span { began: now, whole: 0, sum: None });
        match &mut span.sum {
            None if span.whole < WHOLE => {
                span.whole += 1;
                Noted::Whole
            }
            None => {
                span.sum = Some(Entry { count: Some(1), ..entry.clone() });
                Noted::First(kind)
            }
            Some(sum) => {
                add(sum, entry);
                Noted::Summed
            }
        }
    }

    /// The line that is due; those that follow within a `SPAN` are summed up again.
    pub fn sum(&mut self, kind: &Kind, now: Instant) -> Option<Entry> {
        let span = self.0.get_mut(kind)?;
        span.began = now;
        span.sum.take()
    }

    /// All lines that are not written yet.
    pub fn rest(&mut self) -> Vec<Entry> {
        std::mem::take(&mut self.0).into_values().filter_map(|span| span.sum).collect()
    }
}

/// Adds a refusal to the line; fields that are not the same in all are left out.
fn add(sum: &mut Entry, entry: &Entry) {
    sum.count = sum.count.map(|count| count.saturating_add(1));
    let fields = [
        (&mut sum.service, &entry.service),
        (&mut sum.method, &entry.method),
        (&mut sum.path, &entry.path),
        (&mut sum.note, &entry.note),
    ];
    fields.into_iter().filter(|(all, one)| all != one).for_each(|(all, _)| all.clear());
    if sum.decision != entry.decision {
        sum.decision = "refused".to_owned();
    }
}
