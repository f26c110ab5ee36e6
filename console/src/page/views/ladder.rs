//! The blessed commits there are to go back to, what going back to one would change, and the order to do it.

use super::{change, list, number, short, texts};
use crate::diff;
use crate::page::form::button;
use crate::page::frame::{self, Weight, time};
use crate::page::{Server, out::Out};
use crate::rollback;
use anyhow::Result;
use axum::extract::{Path, State};
use axum::response::Response;
use house::records::text;
use maud::html;
use serde_json::Value;
use std::sync::Arc;

pub async fn page(State(server): State<Arc<Server>>) -> Response {
    let shared = server.clone();
    frame::page(&server, "Ladder", "/ladder", Weight::Light, move |out| write(&shared, out)).await
}

fn write(server: &Server, out: &mut Out) -> Result<()> {
    let ladder = rollback::ladder(&server.house)?;
    let rungs = list(&ladder, "rungs");
    let is = |rung: &Value, name: &str| rung.get(name) == Some(&true.into());
    out.html(&html! {
        p { "Each rung is a commit that lived and was blessed. Going back makes a new commit; nothing is lost on the way." }
        @if rungs.is_empty() { p.none { "No commit is blessed so far: there is no rung to go back to." } }
        ol.links reversed[true] {
            @for rung in rungs {
                @let (number, commit) = (number(rung, "rung"), text(rung, "commit"));
                li value=(number) {
                    a href={ "/ladder/" (number) } { "Rung " (number) }
                    " " (text(rung, "told")) " " (time(text(rung, "at")))
                    @if is(rung, "is_head") { " " strong { "creature/ is this now" } }
                    @else if is(rung, "is_next") { " " strong { "a plain rollback goes here" } }
                    " " a href={ "/commit/" (commit) } { "what it changed (" (short(commit)) ")" }
                }
            }
        }
        p { a href="/life" { "All lives as a picture" } }
    })
}

pub async fn one(State(server): State<Arc<Server>>, Path(rung): Path<String>) -> Response {
    let is_name = (1..=64).contains(&rung.len()) && rung.bytes().all(|byte| byte.is_ascii_hexdigit());
    let title = if is_name { format!("Rung {}", short(&rung)) } else { "No rung".to_owned() };
    let shared = server.clone();
    frame::page(&server, &title, "/ladder", Weight::Light, move |out| {
        match rollback::facts(&shared.house, Some(&rung))
            .and_then(|facts| Ok((facts, diff::back_to(&shared.house, &rung)?)))
        {
            Ok((facts, change)) => changes(&shared, &rung, &facts, &change, out),
            Err(error) => {
                out.missing()?;
                out.html(&frame::wrong(&format!("{error:#}")))
            }
        }
    })
    .await
}

fn changes(server: &Server, rung: &str, facts: &Value, lines: &diff::Change, out: &mut Out) -> Result<()> {
    let is = |name: &str| facts.get(name) == Some(&true.into());
    out.html(&html! {
        p.headline { "Would put creature/ back to " (text(facts, "to_told")) }
        @if is("nothing_to_do") { p { "creature/ is already what that has; nothing would be done." } }
        @else {
            p { (number(facts, "files")) " files, +" (number(facts, "added")) " −" (number(facts, "removed")) " lines, as one new commit." }
            @if is("fell_before") { p.wrong { "It fell before; it would be tried once more, as you ask for it." } }
            @for (name, told) in [("undone", "Commits undone"), ("brought_back", "Commits brought back"), ("uncommitted", "Edits that are not committed: kept under refs/guardian/rescued/ first")] {
                @if !texts(facts, name).is_empty() { h2 { (told) } ul { @for one in texts(facts, name) { li { (one) } } } }
            }
            div.acts { (button(server, &format!("/ladder/{rung}/back"), &format!("Go back to {rung}"), &[("head", text(facts, "head"))])) }
        }
        h2 { "Line by line" }
    })?;
    change::lines(lines, out)
}
