//! A calendar of a life: a square a day, coloured by what it mostly woke for, the stronger the more it thought; falls notched.
//!
//! Invariant: no text of others; an exported calendar contains all it needs.

use super::moment;
use crate::life::index::reason::Class;
use crate::life::index::rows::{HOUR_MS, MarkKind};
use crate::life::parts::{count, usd};
use crate::life::{Life, Span};
use house::moments::Place;
use jiff::ToSpan;
use jiff::civil::Date;
use std::collections::BTreeMap;
use std::fmt::{Display, Write};

/// Side of a square and the gap between two, in columns; the first row and column.
const SIDE: u32 = 12;
const STEP: u32 = 15;
const LEFT: u32 = 34;
const TOP: u32 = 46;
/// Most weeks that are drawn: the newest.
const MOST_WEEKS: i32 = 53;
/// Least width: that of the words.
const LEAST: u32 = 540;
const OPACITIES: [&str; 4] = ["0.4", "0.6", "0.8", "1"];

/// Colour of a class in an exported calendar; the page has its own.
fn colour(class: Class) -> &'static str {
    match class {
        Class::Owner => "#3f73b5",
        Class::Own => "#4f8a5b",
        Class::Clock => "#a8823a",
        Class::Event => "#3c8a92",
        Class::Itself => "#8d5a9b",
        Class::Other => "#8b8f98",
    }
}

/// Sums of a day.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Day {
    pub thoughts: u64,
    pub acts: u64,
    pub micro: u64,
    pub edits: u64,
    pub falls: u64,
    /// Thoughts by the class of their wakes.
    classes: BTreeMap<Class, u64>,
}

impl Day {
    fn class(&self) -> Option<Class> {
        self.classes
            .iter()
            .max_by_key(|(class, thoughts)| (**thoughts, std::cmp::Reverse(**class)))
            .map(|(class, _)| *class)
    }
}

/// The days of a life by the owner's clock, from its first to its last.
pub fn days(life: &Life, place: &Place) -> BTreeMap<Date, Day> {
    let mut days: BTreeMap<Date, Day> = BTreeMap::new();
    let known = life.seen(0, u64::MAX);
    let date = |at_ms: u64| moment(place, at_ms).date();
    for (hour, sum) in known.hours() {
        let day = days.entry(date(u64::from(*hour) * HOUR_MS)).or_default();
        day.thoughts += u64::from(sum.thoughts);
        day.acts += u64::from(sum.acts) + u64::from(sum.failed);
        day.micro = day.micro.saturating_add(sum.all_micro);
    }
    for wake in &known.wakes {
        let day = days.entry(date(wake.from_ms)).or_default();
        *day.classes.entry(wake.class).or_default() += u64::from(wake.thoughts);
    }
    for mark in known.marks.iter().filter(|mark| mark.kind == MarkKind::Commit) {
        days.entry(date(mark.at_ms)).or_default().edits += 1;
    }
    for fall in &known.falls {
        days.entry(date(fall.at_ms)).or_default().falls += 1;
    }
    days
}

/// `43 days, 212 self-edits, 9 falls, $31.20`.
pub fn told(days: &BTreeMap<Date, Day>) -> String {
    let whole = days.keys().next().zip(days.keys().next_back());
    let length = whole.and_then(|(first, last)| Some(first.until(*last).ok()?.get_days())).unwrap_or(0);
    let sum = |of: fn(&Day) -> u64| days.values().map(of).fold(0, u64::saturating_add);
    let length = if days.is_empty() { 0 } else { u64::try_from(length).unwrap_or(0) + 1 };
    [
        count(length, "day"),
        count(sum(|day| day.thoughts), "thought"),
        count(sum(|day| day.edits), "self-edit"),
        count(sum(|day| day.falls), "fall"),
        usd(sum(|day| day.micro)),
    ]
    .join(", ")
}

/// The calendar as one `<svg>`; `is_alone`: for a file of its own, with its words and colours, and nothing that leads out.
pub fn svg(days: &BTreeMap<Date, Day>, place: &Place, is_alone: bool) -> String {
    let (Some(first), Some(last)) = (days.keys().next(), days.keys().next_back()) else {
        return String::new();
    };
    let monday = |date: Date| {
        date.checked_sub(i32::from(date.weekday().to_monday_zero_offset()).days()).unwrap_or(date)
    };
    let end = monday(*last);
    let oldest = end.checked_sub(((MOST_WEEKS - 1) * 7).days()).unwrap_or(end);
    let begin = monday(*first).max(oldest);
    let weeks = begin.until(end).map_or(0, |span| span.get_days() / 7) + 1;
    let width = (LEFT + u32::try_from(weeks).unwrap_or(1) * STEP + 4).max(LEAST);
    let height = TOP + 7 * STEP + 26;
    let words = told(days);
    let span = format!("{} to {}", first.strftime("%-d %b %Y"), last.strftime("%-d %b %Y"));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"days\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         role=\"group\" aria-label=\"{span}: {words}\" font-family=\"system-ui, sans-serif\" font-size=\"11\">"
    );
    if is_alone {
        let _ = write!(out, "<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>");
    }
    let _ = write!(
        out,
        "<text class=\"title\" x=\"2\" y=\"14\" font-size=\"13\" font-weight=\"600\" fill=\"#1c2024\">Feral: {words}</text>"
    );
    label(&mut out, 2, height - 8, &span);
    for (row, name) in [(0, "Mon"), (2, "Wed"), (4, "Fri")] {
        label(&mut out, 2, TOP + row * STEP + 10, name);
    }
    let most = days.values().map(|day| day.thoughts).max().unwrap_or(1).max(1);
    let (mut month, mut free) = (0, 0);
    for week in 0..weeks {
        let Ok(monday) = begin.checked_add((week * 7).days()) else { break };
        let x = LEFT + u32::try_from(week).unwrap_or(0) * STEP;
        if monday.month() != month && x >= free {
            month = monday.month();
            free = x + 2 * STEP;
            label(&mut out, x, TOP - 6, monday.strftime("%b"));
        }
        for row in 0..7 {
            let Ok(date) = monday.checked_add(row.days()) else { break };
            if date < *first || date > *last {
                continue;
            }
            let y = TOP + u32::try_from(row).unwrap_or(0) * STEP;
            square(&mut out, date, days.get(&date), most, (x, y), place, is_alone);
        }
    }
    legend(&mut out, width, height);
    out.push_str("</svg>");
    out
}

fn square(
    out: &mut String,
    date: Date,
    day: Option<&Day>,
    most: u64,
    (x, y): (u32, u32),
    place: &Place,
    is_alone: bool,
) {
    let none = Day::default();
    let day = day.unwrap_or(&none);
    let class = day.class().filter(|_| day.thoughts > 0);
    let colour = class.map_or("#e7e8ea", colour);
    let level = day.thoughts.saturating_mul(4).div_ceil(most).clamp(1, 4);
    let opacity = OPACITIES.get(usize::try_from(level - 1).unwrap_or(0)).copied().unwrap_or("1");
    let opacity = if class.is_some() { opacity } else { "1" };
    let name = class.map_or("why-none", Class::name);
    let told = format!(
        "{}: {}, {}, {}, {}, {}",
        date.strftime("%-d %b %Y"),
        count(day.thoughts, "thought"),
        count(day.acts, "act"),
        count(day.edits, "self-edit"),
        count(day.falls, "fall"),
        usd(day.micro)
    );
    let mut inside = format!(
        "<title>{told}</title><rect class=\"{name}\" x=\"{x}\" y=\"{y}\" width=\"{SIDE}\" height=\"{SIDE}\" rx=\"2\" fill=\"{colour}\" fill-opacity=\"{opacity}\"/>"
    );
    if day.edits > 0 {
        let (cx, cy) = (x + SIDE / 2, y + SIDE / 2);
        inside.push_str(&format!(
            "<circle class=\"edited\" cx=\"{cx}\" cy=\"{cy}\" r=\"2\" fill=\"#ffffff\"/>"
        ));
    }
    if day.falls > 0 {
        let end = x + SIDE;
        inside.push_str(&format!(
            "<path class=\"fell\" d=\"M{} {y}H{end}V{}Z\" fill=\"#c8242b\"/>",
            end - 8,
            y + 8
        ));
    }
    match (is_alone, span(date, place)) {
        (false, Some(span)) => {
            let _ = write!(
                out,
                "<a tabindex=\"-1\" href=\"/life?from={}&amp;to={}\" aria-label=\"{told}\">{inside}</a>",
                span.from_ms(),
                span.to_ms()
            );
        }
        _ => {
            let _ = write!(out, "<g role=\"img\" aria-label=\"{told}\">{inside}</g>");
        }
    }
}

/// A day of the owner's as a span.
fn span(date: Date, place: &Place) -> Option<Span> {
    let zone = place.zoned(jiff::Timestamp::UNIX_EPOCH).time_zone().clone();
    let at = |date: Date| date.to_zoned(zone.clone()).ok().map(|begun| begun.timestamp());
    Some(Span { from: at(date)?, to: at(date.tomorrow().ok()?)? })
}

/// Explains the colours, at the right of the last line.
fn legend(out: &mut String, width: u32, height: u32) {
    let names = [
        (Class::Owner, "for you"),
        (Class::Own, "its own"),
        (Class::Clock, "clock"),
        (Class::Event, "events"),
        (Class::Itself, "edits"),
    ];
    let y = height - 17;
    let mut x = width.saturating_sub(318);
    for (class, name) in names {
        let (of, colour) = (class.name(), colour(class));
        let _ = write!(
            out,
            "<rect class=\"{of}\" x=\"{x}\" y=\"{y}\" width=\"10\" height=\"10\" rx=\"2\" fill=\"{colour}\"/>"
        );
        label(out, x + 13, y + 9, name);
        x += 18 + 6 * u32::try_from(name.len()).unwrap_or(6);
    }
    let _ = write!(out, "<path class=\"fell\" d=\"M{x} {y}h9v9Z\" fill=\"#c8242b\"/>");
    label(out, x + 12, y + 9, "fell");
}

/// A word beside the squares.
fn label(out: &mut String, x: u32, y: u32, text: impl Display) {
    let _ = write!(out, "<text class=\"axis\" x=\"{x}\" y=\"{y}\" fill=\"#5b616b\">{text}</text>");
}
