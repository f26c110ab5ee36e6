//! One thought whole: what woke it, what it saw, said and did, what it cost, and where each of that stands.

use super::now::row as told;
use super::{list, number, texts};
use crate::feed;
use crate::page::frame::{self, Weight, time};
use crate::page::{Server, out::Out};
use crate::why::{self, found};
use anyhow::Result;
use axum::extract::{Path, State};
use axum::response::Response;
use house::bounds::brief;
use house::records::text;
use maud::{Markup, html};
use serde_json::Value;
use std::sync::Arc;

/// Letters shown of one result, and of what was put to the model.
const RESULT_CHARS: usize = 20_000;
const PUT_CHARS: usize = 1 << 20;

pub async fn page(State(server): State<Arc<Server>>, Path(number): Path<u64>) -> Response {
    let shared = server.clone();
    let title = format!("Thought {number}");
    frame::page(&server, &title, "/life", Weight::Heavy, move |out| write(&shared, number, out)).await
}

fn write(server: &Server, wanted: u64, out: &mut Out) -> Result<()> {
    let Some(found) = found::thought(&server.house, wanted) else {
        out.missing()?;
        let last = found::last(&server.house).map_or("none is".into(), |last| format!("the last is {last}"));
        return out.html(&html! { p { "It is not in memory; " (last) "." } });
    };
    let facts = why::facts(&server.house, wanted, &found);
    let whose = match facts.get("for_the_owner").and_then(Value::as_bool) {
        Some(true) => ", for your words",
        Some(false) => ", on its own",
        None => "",
    };
    let (life, why) = (number(&facts, "life"), texts(&facts, "why"));
    out.html(&html! {
        nav aria-label="Other thoughts" { ul {
            @if wanted > 1 { li { a href={ "/thought/" (wanted - 1) } { "The one before" } } }
            li { a href={ "/thought/" (wanted + 1) } { "The next" } }
            li { a href={ "/lives/" (life) } { "Its life, " (life) } }
        } }
        dl {
            dt { "When" } dd { (time(text(&facts, "at"))) ", by " (text(&facts, "mind")) (whose) ", wake " (number(&facts, "wake")) ", round " (number(&facts, "round") + 1) }
            dt { "Woke for" } dd { @if why.is_empty() { "not on record any more" } @else { (why.join("; ")) } }
        }
        h2 { "What it thought" }
        @for garbled in &found.garbled { p.wrong { "A reply that could not be read: " (garbled.get("data").map(|data| text(data, "error")).unwrap_or_default()) } }
        div.words { (text(&facts, "monologue")) }
        @if !text(&facts, "intent").is_empty() { p { strong { "Meant to: " } (text(&facts, "intent")) } }
    })?;
    did(&facts, &found.after, out)?;
    out.html(&html! {
        h2 { "What it saw" }
        @if found.before.is_empty() { p.none { "Nothing new on record." } }
        ol.rows { @for record in &found.before { @if let Some(row) = feed::row(record) { (told(record, &row)) } } }
        @if let Some(put) = facts.get("put_to_the_model").filter(|put| put.is_object()) {
            h3 { "What was put to the model, in " (text(put, "path")) }
            (pre("What was put to the model", &brief(&texts(put, "texts").join("\n\n"), PUT_CHARS)))
        }
    })?;
    out.html(&cost(facts.get("cost").unwrap_or(&Value::Null)))?;
    out.html(&html! {
        h2 { "Where it stands" }
        ul { @for place in texts(&facts, "evidence") { li { code { (place) } } } }
    })
}

/// Each call with what came of it, and what it said.
fn did(facts: &Value, after: &[Value], out: &mut Out) -> Result<()> {
    let calls = list(facts, "calls");
    out.html(&html! {
        h2 { "What it did" }
        @if calls.is_empty() && after.is_empty() { p.none { "Nothing." } }
    })?;
    for record in after {
        let Some(row) = feed::row(record) else { continue };
        let data = record.get("data").unwrap_or(&Value::Null);
        out.html(&html! {
            ol.rows { (told(record, &row)) }
            @for (name, shown) in [("args", "With"), ("result", "What came of it")] {
                @if let Some(value) = data.get(name).filter(|value| !value.is_null()) {
                    details { summary { (shown) } (pre(shown, &brief(&pretty(value), RESULT_CHARS))) }
                }
            }
        })?;
    }
    let ran = after.iter().filter(|record| text(record, "kind") == "action").count();
    for call in calls.iter().skip(ran) {
        out.html(&html! { p.none { (text(call, "tool")) ": no result on record" } })?;
    }
    Ok(())
}

fn cost(cost: &Value) -> Markup {
    let usd = cost.get("usd").and_then(Value::as_f64).unwrap_or(0.0);
    let usage = cost.get("usage").filter(|usage| usage.is_object());
    html! {
        h2 { "What it cost" }
        @match number(cost, "calls") {
            0 => p.none { "No call was settled for it." },
            calls => p { "$" (format!("{usd:.4}")) " for " (calls) " calls to " (texts(cost, "models").join(", ")) ", with what ran beside it." },
        }
        @if let Some(usage) = usage { (pre("Tokens", &pretty(usage))) }
    }
}

/// A value as JSON of several lines; text as it is.
pub fn pretty(value: &Value) -> String {
    value.as_str().map_or_else(|| format!("{value:#}"), str::to_owned)
}

pub fn pre(name: &str, text: &str) -> Markup {
    html! { pre tabindex="0" role="group" aria-label=(name) { (text) } }
}
