//! How it stands now: its state in one sentence, the switch, money, the next items, and the last wakes.

use super::list;
use crate::page::form::{button, hidden};
use crate::page::frame::time;
use crate::page::wakes::{self, Wake};
use crate::page::{Server, bars, out::Out};
use crate::words::STOP;
use crate::{feed, mind, plain};
use anyhow::Result;
use house::moments::{self, Place};
use house::records::memory::Record;
use house::records::text;
use house::standing::{Known, Piece};
use house::terminal::Row;
use jiff::Timestamp;
use maud::{Markup, html};
use serde_json::Value;

/// Items of a list.
const MOST_ITEMS: usize = 8;

pub fn write(server: &Server, out: &mut Out) -> Result<()> {
    let known = &Known::read(&server.house);
    out.raw("<div class=\"columns\"><div class=\"left\">")?;
    out.html(&html! {
        section aria-label="How it stands" {
            div #status { (status(known, moments::now(), &server.place)) }
            div.acts {
                @if known.runs { (button(server, "/say", "Stop what it is at", &[("words", STOP), ("from", "/")])) }
                span #switch { (switch(server, known)) }
            }
        }
        section.thought aria-labelledby="thought" {
            h2 #thought { "The thought under way" }
            pre #thinking tabindex="0" role="group" aria-label="The thought under way" { (known.streams()) }
        }
    })?;
    out.flush()?;
    let facts = mind::facts(&server.house);
    out.html(&html! { (money(&facts)) (meant(&facts)) (say(server)) })?;
    out.raw("</div><div class=\"right\">")?;
    out.html(&last(&wakes::read(&server.house)))?;
    out.raw("</div></div>")?;
    out.html(&server.entrance.told(server))
}

/// Effect of the switch: pauses or resumes, or none where nothing can be paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    Pause,
    /// The guardian paused it, or a word of the owner's did.
    Resume,
    ResumeByWord,
    Nothing,
}

/// Returns the switch that applies.
pub fn applies(known: &Known) -> Switch {
    match () {
        () if !known.runs => Switch::Nothing,
        () if text(&known.told, "phase") == "paused" => Switch::Resume,
        () if !known.paused.is_empty() => Switch::ResumeByWord,
        () => Switch::Pause,
    }
}

pub fn switch(server: &Server, known: &Known) -> Markup {
    match applies(known) {
        Switch::Pause => button(server, "/pause", "Pause", &[]),
        Switch::Resume => button(server, "/resume", "Resume", &[]),
        Switch::ResumeByWord => button(server, "/say", "Resume", &[("words", "resume"), ("from", "/")]),
        Switch::Nothing => html! {},
    }
}

/// Today's money: all of it, and its own.
fn money(facts: &Value) -> Markup {
    let budget = facts.get("budget").unwrap_or(&Value::Null);
    let day = list(budget, "caps").iter().find(|cap| text(cap, "span") == "day");
    let Some(day) = day else { return html! {} };
    let matter = ["warning", "price", "closed"].map(|name| text(budget, name));
    html! {
        section aria-labelledby="money" {
            h2 #money { a href="/spend" { "Money today" } }
            (bars::cap(day))
            @for told in matter.into_iter().filter(|told| !told.is_empty()) { p.yellow { (told) } }
        }
    }
}

/// Renders the owner's orders, its plans and the due items; leaves out empty lists.
fn meant(facts: &Value) -> Markup {
    let parts = [
        ("due", "Next by the clock", list(facts, "due")),
        ("orders", "Your orders", list(facts, "orders")),
        ("means", "What it means to do", list(facts, "stack")),
    ];
    html! {
        @for (name, title, items) in parts { @if !items.is_empty() {
            section aria-labelledby=(name) {
                h2 id=(name) { (title) }
                ul.items { @for item in items.iter().take(MOST_ITEMS) { li { (self::item(item)) } } }
                @if items.len() > MOST_ITEMS { p.about { "and " (items.len() - MOST_ITEMS) " more" } }
            }
        } }
    }
}

fn item(item: &Value) -> Markup {
    let [id, title, next, due, why] = ["id", "title", "next", "due", "why"].map(|name| text(item, name));
    let kind = plain::kind(id);
    // What it is says already that it is yours.
    let is_told = ["your order", "yours"].contains(&why) && kind.is_some_and(|kind| kind.starts_with("your"));
    html! {
        (title) " " span.id title=(id) { (kind.unwrap_or(id)) }
        @if !due.is_empty() { span.when { " · " (moments::off(due)) } }
        @if !next.is_empty() { span.next { "next: " (plain::words(next)) } }
        @if !why.is_empty() && !is_told { span.why { (plain::words(why)) } }
    }
}

/// A short field for a word; the conversation stands on its own page.
fn say(server: &Server) -> Markup {
    html! {
        section aria-labelledby="say" {
            h2 #say { a href="/talk#last" { "Talk" } }
            form.say method="post" action="/say" {
                (hidden(server, "/say", &[]))
                label.hidden for="words" { "Your message" }
                textarea #words name="words" rows="2" maxlength="8000" required placeholder="Your message" {}
                button type="submit" { "Send" }
            }
        }
    }
}

/// Renders the last wakes, a line each, the newest first, with their rows in a fold; those of the newest are open.
fn last(wakes: &[Wake]) -> Markup {
    let (newest, before) = match wakes.split_last() {
        Some((newest, before)) => (newest.records.as_slice(), before),
        None => (&[][..], wakes),
    };
    html! {
        section #happened aria-labelledby="last" {
            h2 #last { "What happened last" }
            @if let Some(newest) = wakes.last() { p.wake { (time(newest.at())) " " strong { (newest.told()) } } }
            ol.rows #rows { @for record in newest.iter().rev() { @if let Some(row) = feed::row(record) { (self::row(record, &row)) } } }
            @for wake in before.iter().rev() {
                details.wake {
                    summary { (time(wake.at())) " " (wake.told()) }
                    ol.rows { @for record in wake.records.iter().rev() { @if let Some(row) = feed::row(record) { (self::row(record, &row)) } } }
                }
            }
        }
    }
}

/// Renders the headline and the pieces beside it.
pub fn status(known: &Known, now: Timestamp, place: &Place) -> Markup {
    let headline = known.headline(now, place);
    let version = plain::version(&known.told).filter(|_| known.runs);
    let version = version.map(|text| Piece { text, paint: "90" });
    let beside = [known.due(now, place), known.money(), version];
    html! {
        p.headline.(paint(headline.paint)) { (plain::words(&headline.text)) }
        ul.pieces {
            @match known.asks.as_slice() {
                [] => {}
                [one] => li.waits { a href={ "/asks/" (one) } { "ask " (one) " waits for your answer" } }
                more => li.waits { a href="/asks" { (more.len()) " asks wait for your answer" } }
            }
            @for Piece { text, paint } in beside.into_iter().flatten() {
                li.(self::paint(paint)) { (plain::words(text.strip_suffix(": /status").unwrap_or(&text))) }
            }
        }
    }
}

/// A row of the feed; a thought leads to all that is known of it.
pub fn row(record: &Value, row: &Row) -> Markup {
    let record = Record(record);
    let leads = record.thought().is_some() || record.action().is_some();
    let thought = record.number().filter(|_| leads);
    html! {
        li.row {
            (time(record.at())) " "
            @match thought {
                Some(number) => a.tag.(paint(row.paint)) href={ "/thought/" (number) } { (row.tag) },
                None => span.tag.(paint(row.paint)) { (row.tag) },
            }
            " " span.told { (row.text) }
        }
    }
}

/// The class of a colour of the terminal's.
pub fn paint(code: &str) -> &'static str {
    match code {
        "31" => "red",
        "32" | "1;32" => "green",
        "33" | "1;33" => "yellow",
        "34" | "1;34" => "blue",
        "35" => "magenta",
        "36" => "cyan",
        "90" => "faint",
        _ => "plain",
    }
}
