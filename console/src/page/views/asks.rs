//! Its asks of the owner: those waiting, those answered, and each whole with its exact bytes, to approve or deny.

use super::now::paint;
use crate::asks::{self as answers, Field};
use crate::page::Server;
use crate::page::form::hidden;
use crate::page::frame::{self, Weight, exact, time};
use crate::page::out::{Out, missing};
use anyhow::Result;
use axum::Extension;
use axum::extract::Path;
use axum::response::Response;
use house::asks::{self, Ask};
use house::bounds::brief;
use house::records::text;
use house::{instance, printable};
use maud::{Markup, html};
use serde_json::Value;
use std::sync::Arc;

/// Asks that are over and are listed, and bytes shown of one field.
const MOST_OVER: usize = 100;
const MOST_CHARS: usize = 2 << 20;
/// Fields of an act in words, and characters of one.
const MOST_FIELDS: usize = 16;
const FIELD_CHARS: usize = 1_200;

pub fn write(server: &Server, out: &mut Out) -> Result<()> {
    let (waiting, over): (Vec<Ask>, Vec<Ask>) =
        asks::all(&server.house).into_iter().partition(|ask| ask.waits(&server.house));
    out.html(&html! {
        h2 { @if waiting.is_empty() { "Nothing waits for your answer" } @else { (waiting.len()) " wait for your answer" } }
        (cards(server, waiting.iter(), "/asks"))
    })?;
    out.html(&html! {
        @if !over.is_empty() {
            h2 { "Answered" }
            div.scroll tabindex="0" role="region" aria-label="Answered asks" { table.dense {
                thead { tr { th scope="col" { "Ask" } th scope="col" { "What" } th scope="col" { "Asked" } th scope="col" { "What came of it" } } }
                tbody { @for ask in over.iter().rev().take(MOST_OVER) { tr {
                    th scope="row" { a href={ "/asks/" (ask.id) } { (ask.id) } }
                    td { (ask.what()) } td { (time(ask.asked().at())) } td.(outcome(ask)) { (ask.outcome()) }
                } } }
            } }
        }
        @if over.len() > MOST_OVER { p.none { (over.len() - MOST_OVER) " older ones are not listed; /asks/ID shows each." } }
    })
}

/// Asks that wait, each with what it would do, readable, its exact bytes in a fold, and both answers; `from`: the page
/// that the answer leads back to.
pub fn cards<'a>(server: &Server, waiting: impl Iterator<Item = &'a Ask>, from: &str) -> Markup {
    html! { @for ask in waiting { (card(server, ask, from)) } }
}

fn card(server: &Server, ask: &Ask, from: &str) -> Markup {
    let id = &ask.id;
    let (why, reason) = (ask.asked().why(), ask.asked().reason());
    let answerable = answers::answerable(&server.house, id);
    let taken = answers::noted(&server.house, ask);
    let label = format!("ask-{id}");
    html! {
        article.card aria-labelledby=(label) {
            @match &answerable {
                Ok(answerable) => {
                    @let act = answerable.stored.get("act").unwrap_or(&answerable.stored);
                    h2 id=(label) { (answers::title(act)) "?" }
                    (in_words(act))
                    p.about { "Ask " a href={ "/asks/" (id) } { (id) } ", " (time(ask.asked().at())) @if !why.is_empty() { "; it asks because " (why) } @if !reason.is_empty() { "; it says: " (reason) } }
                    details { summary { "Exactly these bytes" } (exact_fields(act)) }
                    @if let Some(answer) = &taken { p role="status" { (noted(server, answer)) } }
                    (both(server, id, &answerable.digest, from))
                },
                Err(error) => {
                    h2 id=(label) { a href={ "/asks/" (id) } { "Ask " (id) } }
                    p { (ask.line()) } p { (ask.summary()) }
                    (frame::wrong(&format!("{error:#}")))
                },
            }
        }
    }
}

/// The act by its fields, as everywhere; its headers stand among the exact bytes.
fn in_words(act: &Value) -> Markup {
    let told: Vec<_> = answers::told(act).into_iter().filter(|(name, _)| name != "header").collect();
    let shown: Vec<_> =
        told.iter().take(MOST_FIELDS).map(|(name, value)| (name, brief(value, FIELD_CHARS))).collect();
    let is_cut =
        told.len() > MOST_FIELDS || told.iter().zip(&shown).any(|((_, whole), (_, shown))| shown != whole);
    html! {
        dl.fields { @for (name, value) in &shown { dt { (name) } dd { (value) } } }
        @if is_cut { p.about { "There is more of it in its exact bytes." } }
    }
}

/// Yes and no to the act with this digest.
fn both(server: &Server, id: &str, digest: &str, from: &str) -> Markup {
    html! {
        div.acts {
            @for (word, class, label) in [("yes", "yes", "Approve"), ("no", "no", "Deny")] {
                @let path = format!("/asks/{id}/{word}");
                form.act method="post" action=(path) {
                    (hidden(server, &path, &[("digest", digest), ("from", from)]))
                    button.(class) type="submit" { (label) span.hidden { " ask " (id) } }
                }
            }
        }
    }
}

fn exact_fields(act: &Value) -> Markup {
    html! {
        p.about { "Letter by letter; what cannot be seen is spelled out." }
        dl.exactly { @for (name, field) in answers::fields(act) { (shown(&name, &field)) } }
    }
}

fn outcome(ask: &Ask) -> &'static str {
    match ask.event.as_str() {
        _ if ask.has_failed() => paint("31"),
        "executed" | "approved" => paint("32"),
        _ => paint("90"),
    }
}

pub async fn one(Extension(server): Extension<Arc<Server>>, Path(id): Path<String>) -> Response {
    let title = format!("Ask {}", brief(&id, 64));
    frame::page(server, &title, "/asks", Weight::Light, move |server, out| whole(server, &id, out)).await
}

fn whole(server: &Server, id: &str, out: &mut Out) -> Result<()> {
    let ask = asks::find(&server.house, id).map_err(missing)?;
    let taken = answers::noted(&server.house, &ask);
    let (why, reason) = (ask.asked().why(), ask.asked().reason());
    out.html(&html! {
        p.headline { (ask.what()) }
        dl.fields {
            dt { "Asked" } dd { (exact(ask.asked().at())) }
            @if !why.is_empty() { dt { "Why it asks" } dd { (why) } }
            @if !reason.is_empty() { dt { "Its reason" } dd { (reason) } }
            dt { "How it stands" } dd.(outcome(&ask)) { @if ask.event == "asked" { @if taken.is_some() { "waits to be taken up" } @else { "waits for your answer" } } @else { (ask.outcome()) } }
        }
        @let result = ask.newest().result();
        @if !result.is_empty() { h2 { "What the service answered" } (exactly(result)) }
    })?;
    let stored = asks::stored(&server.house, id)?;
    let act = stored.get("act").unwrap_or(&stored);
    out.html(&html! {
        h2 { "In words" }
        p { (answers::title(act)) }
        (in_words(act))
        h2 { "Exactly this" }
        (exact_fields(act))
    })?;
    if !ask.open() {
        return out.html(&html! { p { "It has been answered: " (ask.outcome()) "." } });
    }
    let digest = answers::answerable(&server.house, id)?.digest;
    out.html(&html! {
        h2 { "Your answer" }
        p { "A yes lets exactly these bytes go, once. Their digest is " code { (digest) } "." }
        @if let Some(answer) = &taken { p role="status" { strong { (noted(server, answer)) } " You may still say another word:" } }
        (both(server, id, &digest, ""))
    })
}

/// Says that an answer is kept, and what it waits for.
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
    let part = brief(text, MOST_CHARS);
    let is_cut = part.len() < text.len();
    html! {
        pre.exact tabindex="0" role="group" aria-label="exact text" { (printable::exactly(&part)) }
        @if is_cut { p.wrong { "Only the first " (MOST_CHARS) " letters are shown: the whole stands in .self/broker/asks/." } }
    }
}

/// Says how an ask stands whose answer was not taken.
pub fn not_taken(ask: Option<&Ask>, id: &str) -> Markup {
    html! {
        @if let Some(ask) = ask {
            p { "Ask " (id) ": " (ask.outcome()) ", " (exact(ask.newest().at())) "." }
        }
        p { a href={ "/asks/" (id) } { "The ask as it stands" } }
    }
}
