//! The same life as rows of text: for readers of screens, narrow screens and the export; bounded, weightiest first.

use super::index::reason::Class;
use super::index::rows::MarkKind;
use super::parts::{Thing, What};
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
    let begun_ms = |what: &What| what.span(life).0;
    let mut things = life.things(span);
    let left_out = things.len().saturating_sub(MOST_ROWS);
    // The newest of those that weigh the same.
    things.sort_by_key(|what| std::cmp::Reverse((weight(*what), begun_ms(what))));
    things.truncate(MOST_ROWS);
    things.sort_by_key(begun_ms);
    let row = |what: What| {
        let Thing { from_ms, class, href, words, .. } = what.thing(life);
        let what = house::printable::spelled(&words).replace('\n', " ");
        Row { at_ms: from_ms, when: picture::told(place, from_ms), what, href, class }
    };
    Table { rows: things.into_iter().map(row).collect(), left_out }
}

/// Weight of a thing.
fn weight(what: What) -> u8 {
    match what {
        What::Life(lived) if lived.death_ms.is_some() => 90,
        What::Life(_) => 70,
        What::Fall(_) => 100,
        What::Wake(wake) if wake.class == Class::Owner => 40,
        What::Wake(_) => 20,
        What::Ask(ask) if ask.closed_ms.is_none() => 95,
        What::Ask(_) => 75,
        What::Mark(mark) => match mark.kind {
            MarkKind::Edit => 55,
            MarkKind::EditFailed => 60,
            MarkKind::Commit => 80,
            MarkKind::Rescued | MarkKind::Reminder => 50,
            MarkKind::Dream => 45,
            MarkKind::Word => 35,
            MarkKind::Said => 15,
        },
    }
}
