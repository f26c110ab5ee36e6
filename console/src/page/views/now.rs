//! How it stands now: status, the thought as it streams, what it means to do, what is due, what happened last.

use crate::mind;
use crate::page::form::button;
use crate::page::frame::{self, Weight, time};
use crate::page::{Server, out::Out};
use crate::window::sources::Sources;
use crate::window::state::{Known, Piece};
use crate::window::typed::STOP;
use crate::window::view::Verbosity;
use crate::{feed, why::found};
use anyhow::Result;
use axum::extract::State;
use axum::response::Response;
use house::moments::{self, Place};
use house::records::text;
use house::terminal::Row;
use jiff::Timestamp;
use maud::{Markup, html};
use serde_json::Value;
use std::sync::Arc;

/// Items of a list.
const MOST_ITEMS: usize = 12;

pub async fn page(State(server): State<Arc<Server>>) -> Response {
    let shared = server.clone();
    frame::page(&server, "Now", "/", Weight::Light, move |out| write(&shared, out)).await
}

fn write(server: &Server, out: &mut Out) -> Result<()> {
    let (mut sources, _) = Sources::open(&server.house, None, Verbosity::Normal);
    sources.look(true);
    let known = &sources.known;
    out.html(&html! {
        section aria-labelledby="how" {
            h2 #how { "How it stands" }
            div #status { (status(known, moments::now(), &server.place)) }
            div.acts {
                (button(server, "/say", "Stop what it is at", &[("words", STOP)]))
                (button(server, "/pause", "Pause", &[]))
                (button(server, "/resume", "Resume", &[]))
            }
        }
        section aria-labelledby="thought" {
            h2 #thought { "The thought under way" }
            pre #thinking tabindex="0" role="group" aria-label="The thought under way" { (known.streams()) }
        }
    })?;
    out.flush()?;
    let facts = mind::facts(&server.house);
    out.html(&meant(&facts))?;
    let seen = sources.records();
    out.html(&html! {
        section aria-labelledby="last" {
            h2 #last { "What happened last" }
            ol.rows #rows {
                @for record in &seen.shown { @if let Some(row) = feed::row(record) { (self::row(record, &row)) } }
            }
        }
        details {
            summary { "The link to this page" }
            p { "Whoever has it can do what you can do here. A new one shuts out every browser but this." }
            (button(server, "/link/new", "Make a new link", &[]))
        }
    })
}

fn meant(facts: &Value) -> Markup {
    let list = |name: &str| facts.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let told =
        |name: &str| list(name).iter().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>();
    html! {
        section aria-labelledby="means" {
            h2 #means { "What it means to do" }
            @if list("orders").is_empty() && list("stack").is_empty() { p.none { "Nothing." } }
            @else { ul.items {
                @for item in list("orders").iter().chain(list("stack")).take(MOST_ITEMS) { li { (self::item(item)) } }
            } }
        }
        section aria-labelledby="due" {
            h2 #due { "What is due" }
            @if list("due").is_empty() { p.none { "Nothing by the clock." } }
            @else { ul.items { @for item in list("due").iter().take(MOST_ITEMS) { li { (self::item(item)) } } } }
        }
        @if !told("budget_told").is_empty() {
            section aria-labelledby="money" {
                h2 #money { "Money" }
                @for line in told("budget_told") { p { (line) } }
                p { a href="/spend" { "What it was spent on" } }
            }
        }
        @if !told("missing").is_empty() {
            section aria-labelledby="missing" {
                h2 #missing { "What is missing" }
                ul { @for line in told("missing") { li { (line) } } }
            }
        }
    }
}

fn item(item: &Value) -> Markup {
    let [id, title, next, due, why] = ["id", "title", "next", "due", "why"].map(|name| text(item, name));
    html! {
        span.id { (id) } " " (title)
        @if !due.is_empty() { span.when { " " (moments::off(due)) } }
        @if !next.is_empty() { span.next { "next: " (next) } }
        @if !why.is_empty() { span.why { "because " (why) } }
    }
}

/// What goes on, and what stands beside it.
pub fn status(known: &Known, now: Timestamp, place: &Place) -> Markup {
    let headline = known.headline(now, place);
    let beside = [known.money(), known.due(now, place), known.life()];
    html! {
        p.headline.(paint(headline.paint)) { (headline.text) }
        ul.pieces {
            @match known.asks.as_slice() {
                [] => {}
                [one] => li.waits { a href={ "/asks/" (one) } { "ask " (one) " waits for your word" } }
                more => li.waits { a href="/asks" { (more.len()) " asks wait for your word" } }
            }
            @for Piece { text, paint } in beside.into_iter().flatten() {
                li.(self::paint(paint)) { (text.strip_suffix(": /status").unwrap_or(&text)) }
            }
        }
    }
}

/// A row of the feed; a thought leads to all that is known of it.
pub fn row(record: &Value, row: &Row) -> Markup {
    let thought = found::number(record).filter(|_| ["thought", "action"].contains(&text(record, "kind")));
    html! {
        li.row {
            (time(text(record, "at"))) " "
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
