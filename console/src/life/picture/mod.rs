//! A life drawn as SVG for the chosen span: lanes over time; things that do not fit singly are merged.
//!
//! Invariant: no script, no style, no text of others but escaped; and a size that the width bounds, however long the span.

pub mod cells;
pub mod days;
mod draw;
mod gaps;
mod money;
mod rare;
pub mod scale;
mod thoughts;

use super::index::seen::Seen;
use super::parts::{Thing, span_link};
use super::{Life, Span};
use cells::Cell;
use draw::Drawing;
pub use draw::escaped;
use house::moments::Place;
use jiff::{Timestamp, Zoned};
use scale::{CUT, Scale};

/// Narrowest and widest picture, in columns.
const NARROWEST: u32 = 240;
const WIDEST: u32 = 3_000;
/// Height of the axis.
const AXIS: u32 = 22;
/// Widest letter of a label, in columns.
const LETTER: f64 = 7.0;
/// Columns left of the picture for the names of lanes, and from which width on there is room for them.
const GUTTER: u32 = 84;
const WIDE: u32 = 560;

/// Draws a span of a life, as one `<svg>`.
pub fn svg(life: &Life, span: &Span, columns_px: u32, place: &Place) -> String {
    drawn(life, span, columns_px, place, false)
}

/// As `svg`, for a file of its own: nothing leads out of it.
pub fn alone(life: &Life, span: &Span, columns_px: u32, place: &Place) -> String {
    drawn(life, span, columns_px, place, true)
}

fn drawn(life: &Life, span: &Span, columns_px: u32, place: &Place, is_alone: bool) -> String {
    let columns = columns_px.clamp(NARROWEST, WIDEST);
    let gutter = if columns >= WIDE { GUTTER } else { 0 };
    let (from_ms, to_ms, width) = (span.from_ms(), span.to_ms(), f64::from(columns - gutter));
    let life = &life.seen(from_ms, to_ms);
    let scale = Scale::new(from_ms, to_ms, width, gaps::of(life, from_ms, to_ms, width));
    let drawing = Drawing { out: String::new(), scale: &scale, top: AXIS, gutter, is_alone };
    let mut picture = Picture { life, place, drawing };
    picture.lives();
    picture.edits();
    picture.wakes();
    picture.single();
    picture.money();
    picture.asks();
    picture.dreams();
    picture.words();
    let height = picture.drawing.top;
    let (from, to) = (told(place, scale.from_ms), told(place, scale.to_ms));
    let stops = scale.stops();
    let head = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {columns} {height}\" width=\"{columns}\" height=\"{height}\" \
         role=\"group\" aria-label=\"a life from {from} to {to}\" data-from=\"{from_ms}\" data-to=\"{to_ms}\" \
         data-left=\"{gutter}\" data-stops=\"{stops}\"><g transform=\"translate({gutter} 0)\">"
    );
    let (cuts, axis) = (cuts(&scale, height), axis(&scale, place, height));
    [head.as_str(), &axis, &picture.drawing.out, &cuts, "</g></svg>"].concat()
}

/// Idle times that are cut, each as a band with how long it was.
fn cuts(scale: &Scale, height: u32) -> String {
    let mut out = String::new();
    for cut in &scale.cuts {
        let x = scale.x(cut.from_ms);
        let idle = house::moments::span(std::time::Duration::from_millis(cut.to_ms - cut.from_ms));
        let high = height - AXIS;
        out.push_str(&format!(
            "<g class=\"cut\" role=\"img\" aria-label=\"{idle} with nothing in them\"><title>{idle} with nothing in them</title>\
             <rect class=\"cut\" x=\"{x:.1}\" y=\"{AXIS}\" width=\"{CUT:.0}\" height=\"{high}\"/>\
             <path class=\"cut\" d=\"M{:.1} {AXIS}V{height}M{:.1} {AXIS}V{height}\"/></g>",
            x + CUT / 2.0 - 1.5,
            x + CUT / 2.0 + 1.5
        ));
    }
    out
}

/// A moment by the owner's clock, to the minute.
pub fn told(place: &Place, at_ms: u64) -> String {
    moment(place, at_ms).strftime("%-d %b %Y %H:%M").to_string()
}

fn moment(place: &Place, at_ms: u64) -> Zoned {
    let at = Timestamp::from_millisecond(i64::try_from(at_ms).unwrap_or(0)).unwrap_or_default();
    place.zoned(at)
}

fn axis(scale: &Scale, place: &Place, height: u32) -> String {
    let (mut lines, mut labels) = (String::new(), String::new());
    let mut free = 0.0;
    for tick in scale::ticks(scale, place) {
        let x = scale.x(tick.at_ms);
        lines.push_str(&format!("M{x:.1} {AXIS}V{height}"));
        // A label that would be cut, or stand on another beside a cut, is left out: its line says enough.
        let end = x + tick.label.chars().count() as f64 * LETTER;
        if end < scale.width && x >= free {
            free = end;
            labels.push_str(&format!("<text class=\"axis\" x=\"{x:.1}\" y=\"12\">{}</text>", tick.label));
        }
    }
    format!("<g class=\"axis\" aria-hidden=\"true\"><path class=\"axis\" d=\"{lines}\"/>{labels}</g>")
}

struct Picture<'a> {
    life: &'a Seen<'a>,
    place: &'a Place,
    drawing: Drawing<'a>,
}

impl Picture<'_> {
    /// Puts a thing's time before its words.
    fn dated(&self, mut thing: Thing) -> Thing {
        thing.words = format!("{}: {}", told(self.place, thing.from_ms), thing.words);
        thing
    }

    /// A moment without its year.
    fn shortly(&self, at_ms: u64) -> String {
        moment(self.place, at_ms).strftime("%-d %b %H:%M").to_string()
    }

    /// The only thing of a cell, else all of them merged.
    fn merged<T>(&self, cell: &Cell<T>, first: impl Fn() -> Thing, class: &str, words: &str) -> Thing {
        match cell.count {
            1 => self.dated(first()),
            _ => self.many(cell, class, words, || first().href),
        }
    }

    /// Merges several things into one that links to just their span; where they stand too close for that, to the first.
    fn many<T>(&self, cell: &Cell<T>, class: &str, words: &str, first: impl FnOnce() -> String) -> Thing {
        let (from, to) = (self.shortly(cell.from_ms), self.shortly(cell.to_ms));
        let until = if from == to { String::new() } else { format!(" to {to}") };
        let is_close = cell.to_ms.saturating_sub(cell.from_ms) < 1_000;
        let href = if is_close { first() } else { span_link(cell.from_ms, cell.to_ms) };
        Thing {
            from_ms: cell.from_ms,
            to_ms: cell.to_ms,
            class: format!("{class} many"),
            href,
            words: format!("{from}{until}: {words}"),
        }
    }
}
