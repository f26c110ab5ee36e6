//! What it asks of the owner: what waits, what was answered, and one whole with its exact bytes, to say yes or no to.

use super::now::paint;
use crate::asks::{self as answers, Field};
use crate::page::form::button;
use crate::page::frame::{self, Weight, time};
use crate::page::{Server, out::Out};
use anyhow::Result;
use axum::extract::{Path, State};
use axum::response::Response;
use house::asks::{self, Ask};
use house::records::text;
use house::{instance, printable};
use maud::{Markup, html};
use serde_json::Value;
use std::sync::Arc;

/// Asks that are over and are listed, and bytes shown of one field.
const MOST_OVER: usize = 100;
const MOST_CHARS: usize = 2 << 20;

pub async fn page(State(server): State<Arc<Server>>) -> Response {
    let shared = server.clone();
    frame::page(&server, "Asks", "/asks", Weight::Light, move |out| write(&shared, out)).await
}

fn write(server: &Server, out: &mut Out) -> Result<()> {
    let (waiting, over): (Vec<Ask>, Vec<Ask>) =
        asks::all(&server.house).into_iter().partition(|ask| ask.waits(&server.house));
    out.html(&html! {
        h2 { "What waits for your word" }
        @if waiting.is_empty() { p.none { "Nothing waits for your word." } }
        ul.links { @for ask in &waiting { li {
            a href={ "/asks/" (ask.id) } { (ask.line()) }
            p { (ask.summary()) " " span.when { (ask.age()) " ago" } }
            @if let Some(answer) = answers::noted(&server.house, ask) { p { (noted(server, &answer)) } }
        } } }
        h2 { "What is over" }
        @if over.is_empty() { p.none { "Nothing so far." } }
        ul.links { @for ask in over.iter().rev().take(MOST_OVER) { li {
            a href={ "/asks/" (ask.id) } { (ask.line()) } " " span.(outcome(ask)) { (ask.outcome()) }
        } } }
        @if over.len() > MOST_OVER { p.none { (over.len() - MOST_OVER) " older ones are not listed; /asks/ID shows each." } }
    })
}

fn outcome(ask: &Ask) -> &'static str {
    match ask.event.as_str() {
        _ if ask.has_failed() => paint("31"),
        "executed" | "approved" => paint("32"),
        _ => paint("90"),
    }
}

pub async fn one(State(server): State<Arc<Server>>, Path(id): Path<String>) -> Response {
    let shared = server.clone();
    let title = format!("Ask {}", house::bounds::brief(&id, 64));
    frame::page(&server, &title, "/asks", Weight::Light, move |out| whole(&shared, &id, out)).await
}

fn whole(server: &Server, id: &str, out: &mut Out) -> Result<()> {
    let ask = match asks::find(&server.house, id) {
        Ok(ask) => ask,
        Err(error) => {
            out.missing()?;
            return out.html(&frame::wrong(&format!("{error:#}")));
        }
    };
    let taken = answers::noted(&server.house, &ask);
    let why = ["why", "reason"].map(|name| text(&ask.asked, name)).map(str::to_owned);
    let [why, reason] = why;
    out.html(&html! {
        p.headline { (ask.what()) }
        p { (ask.summary()) }
        dl {
            dt { "Asked" } dd { (time(text(&ask.asked, "at"))) ", " (ask.age()) " ago" }
            @if !why.is_empty() { dt { "Why it asks" } dd { (why) } }
            @if !reason.is_empty() { dt { "Its reason" } dd { (reason) } }
            dt { "How it stands" } dd.(outcome(&ask)) { @if ask.event == "asked" { @if taken.is_some() { "waits to be taken up" } @else { "waits for your word" } } @else { (ask.outcome()) } }
        }
        @let result = text(&ask.newest, "result");
        @if !result.is_empty() { h2 { "What the service answered" } (exactly(result)) }
    })?;
    let stored = match asks::stored(&server.house, id) {
        Ok(stored) => stored,
        Err(error) => return out.html(&frame::wrong(&format!("{error:#}"))),
    };
    out.html(&html! {
        h2 { "Exactly this" }
        p.about { "Letter by letter; what cannot be seen is spelled out." }
        dl.exactly { @for (name, field) in answers::fields(stored.get("act").unwrap_or(&stored)) { (shown(&name, &field)) } }
    })?;
    if !ask.open() {
        return out.html(&html! { p { "It has been answered: " (ask.outcome()) "." } });
    }
    match answers::answerable(&server.house, id) {
        Ok(answerable) => out.html(&html! {
            h2 { "Your word" }
            p { "A yes lets exactly these bytes go, once. Their digest is " code { (answerable.digest) } "." }
            @if let Some(answer) = &taken { p role="status" { strong { (noted(server, answer)) } " You may still say another word:" } }
            div.acts {
                (button(server, &format!("/asks/{id}/yes"), &format!("Yes, do {id}"), &[("digest", &answerable.digest)]))
                (button(server, &format!("/asks/{id}/no"), &format!("No, not {id}"), &[("digest", &answerable.digest)]))
            }
        }),
        Err(error) => out.html(&frame::wrong(&format!("{error:#}"))),
    }
}

/// That an answer is kept, and what it waits for.
fn noted(server: &Server, answer: &Value) -> Markup {
    let word = if text(answer, "answer") == "approve" { "yes" } else { "no" };
    html! {
        "You said " (word) ", " (time(text(answer, "at"))) "; it is noted. "
        @if instance::broker_runs(&server.house) { "The broker takes it up." } @else { "The broker does not run now, and takes it up when it does." }
    }
}

fn shown(name: &str, field: &Field) -> Markup {
    html! {
        @match field {
            Field::Text(text) => { dt { (name) ", " (text.len()) " bytes" } dd { (exactly(text)) } }
            Field::Value(value) => { dt { (name) } dd { code { (value) } } }
            Field::List(list) => { dt { (name) } dd { (exactly(list)) } }
        }
    }
}

/// A text letter by letter; of a very long one the beginning, and how much more there is.
pub fn exactly(text: &str) -> Markup {
    let part = house::bounds::brief(text, MOST_CHARS);
    let is_cut = part.len() < text.len();
    html! {
        pre.exact tabindex="0" role="group" aria-label="exact text" { (printable::exactly(&part)) }
        @if is_cut { p.wrong { "Only the first " (MOST_CHARS) " letters are shown: the whole stands in .self/broker/asks/." } }
    }
}

/// What came of an answer that was not taken.
pub fn not_taken(ask: Option<&Ask>, id: &str, told: &str) -> Markup {
    let stands: Option<&Value> = ask.map(|ask| &ask.newest);
    html! {
        p.wrong role="alert" { (told) }
        @if let (Some(ask), Some(newest)) = (ask, stands) {
            p { "Ask " (id) ": " (ask.outcome()) ", " (time(text(newest, "at"))) "." }
        }
        p { a href={ "/asks/" (id) } { "The ask as it stands" } }
    }
}
