//! The same life as rows of text: for readers of screens, narrow screens and the export; bounded, weightiest first.

use super::index::rows::{Asked, Fall, Lived, Mark, MarkKind, Wake};
use super::index::seen::Seen;
use super::parts::Thing;
use super::picture;
use super::{Life, Span};
use house::moments::Place;

/// Most rows.
const MOST_ROWS: usize = 200;

/// An event: its time by the owner's clock, its text, and where it is shown whole. `what` holds text of the creature's
/// unescaped: escape it before showing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub at_ms: u64,
    pub when: String,
    pub what: String,
    pub href: String,
    /// As in the picture.
    pub class: String,
}

/// The weightiest things of a span, in order of time; and how many more there are.
pub struct Table {
    pub rows: Vec<Row>,
    pub left_out: usize,
}

pub fn table(life: &Life, span: &Span, place: &Place) -> Table {
    let life = &life.seen(span.from_ms(), span.to_ms());
    let mut things = things(life, span);
    let left_out = things.len().saturating_sub(MOST_ROWS);
    // The newest of those that weigh the same.
    things.sort_by_key(|(weight, at_ms, _)| std::cmp::Reverse((*weight, *at_ms)));
    things.truncate(MOST_ROWS);
    things.sort_by_key(|(_, at_ms, _)| *at_ms);
    let row = |(_, _, what): (u8, u64, What)| {
        let Thing { from_ms, class, href, words, .. } = what.thing(life);
        let what = house::printable::spelled(&words).replace('\n', " ");
        Row { at_ms: from_ms, when: picture::told(place, from_ms), what, href, class }
    };
    Table { rows: things.into_iter().map(row).collect(), left_out }
}

/// A thing by its place in the index: its words are made only when it is shown.
#[derive(Clone, Copy)]
enum What<'a> {
    Life(&'a Lived),
    Fall(&'a Fall),
    Wake(&'a Wake),
    Ask(&'a Asked),
    Mark(&'a Mark),
}

impl What<'_> {
    fn thing(self, life: &Seen) -> Thing {
        match self {
            What::Life(lived) => life.life_thing(lived),
            What::Fall(fall) => life.fall_thing(fall),
            What::Wake(wake) => life.wake_thing(wake),
            What::Ask(ask) => life.ask_thing(ask),
            What::Mark(mark) => life.mark_thing(mark),
        }
    }
}

fn things<'a>(life: &'a Seen, span: &Span) -> Vec<(u8, u64, What<'a>)> {
    use super::index::reason::Class;
    let (from_ms, to_ms) = (span.from_ms(), span.to_ms());
    let is_in = |begun_ms: u64, over_ms: u64| over_ms >= from_ms && begun_ms <= to_ms;
    let mut found = Vec::new();
    for lived in life.lives.values().filter(|lived| is_in(lived.from_ms, life.end_ms(lived))) {
        let weight = if lived.death_ms.is_some() { 90 } else { 70 };
        found.push((weight, lived.from_ms, What::Life(lived)));
    }
    let falls = life.falls.iter().filter(|fall| is_in(fall.at_ms, fall.at_ms));
    found.extend(falls.map(|fall| (100, fall.at_ms, What::Fall(fall))));
    let wakes = life.wakes.iter().filter(|wake| is_in(wake.from_ms, wake.to_ms));
    found.extend(wakes.map(|wake| {
        let weight = if wake.class == Class::Owner { 40 } else { 20 };
        (weight, wake.from_ms, What::Wake(wake))
    }));
    let asks = life.asks.iter().filter(|ask| is_in(ask.asked_ms, ask.closed_ms.unwrap_or(u64::MAX)));
    found.extend(asks.map(|ask| {
        let weight = if ask.closed_ms.is_none() { 95 } else { 75 };
        (weight, ask.asked_ms, What::Ask(ask))
    }));
    let marks = life.marks.iter().filter(|mark| is_in(life.mark_from(mark), mark.at_ms));
    found.extend(marks.map(|mark| {
        let weight = match mark.kind {
            MarkKind::Edit => 55,
            MarkKind::EditFailed => 60,
            MarkKind::Commit => 80,
            MarkKind::Rescued | MarkKind::Reminder => 50,
            MarkKind::Dream => 45,
            MarkKind::Word => 35,
            MarkKind::Said => 15,
        };
        (weight, life.mark_from(mark), What::Mark(mark))
    }));
    found
}
