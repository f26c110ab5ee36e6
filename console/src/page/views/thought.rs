//! A thought whole: its reason to wake, its input, words and acts, its cost, and where each is recorded.

use super::now::row as told;
use super::{list, number, texts};
use crate::feed;
use crate::life::usd;
use crate::page::bars::{self, Part};
use crate::page::frame::{self, Weight, exact};
use crate::page::out::{Out, missing};
use crate::page::{Server, trace};
use crate::plain;
use crate::report::gather;
use crate::why::{self, found, found::Found};
use anyhow::Result;
use axum::Extension;
use axum::extract::Path;
use axum::response::Response;
use house::bounds::brief;
use house::moments;
use house::records::ledger::Entry;
use house::records::memory::{Record, Usage};
use house::records::{text, view::field};
use maud::{Markup, html};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// Entries of the ledger that are read for one.
const MOST_ENTRIES: usize = 1_000;
/// Letters shown of one result, and of the texts given to the model.
const RESULT_CHARS: usize = 20_000;
const PUT_CHARS: usize = 1 << 20;

pub async fn page(Extension(server): Extension<Arc<Server>>, Path(number): Path<u64>) -> Response {
    let title = format!("Thought {number}");
    frame::page(server, &title, "/life", Weight::Heavy, move |server, out| write(server, number, out)).await
}

fn write(server: &Server, wanted: u64, out: &mut Out) -> Result<()> {
    let Some(found) = found::thought(&server.house, wanted) else {
        let last = found::last(&server.house).map_or("none is".into(), |last| format!("the last is {last}"));
        return Err(missing(format!("It is not in memory; {last}.")));
    };
    let facts = why::facts(&server.house, wanted, &found);
    let whose = match field(&facts, "for_the_owner") {
        Some(true) => ", for your message",
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
            dt { "When" } dd { (exact(text(&facts, "at"))) ", by " (text(&facts, "mind")) (whose) ", wake " (number(&facts, "wake")) ", round " (number(&facts, "round") + 1) }
            dt { "Woke for" } dd { @if why.is_empty() { "not on record any more" } @else { (plain::reasons(&why)) } }
        }
        h2 { "What it thought" }
        @for garbled in &found.garbled { p.wrong { "A reply that could not be read: " (Record(garbled).thought().unwrap_or_default().error()) } }
        div.words { (text(&facts, "monologue")) }
        @if let Some(intent) = meant(&facts) { p { strong { "Meant to: " } (intent) } }
    })?;
    traced(server, &found, &facts, out)?;
    did(&facts, &found.after, out)?;
    out.html(&html! {
        h2 { "What it saw" }
        @if found.before.is_empty() { p.none { "Nothing new on record." } }
        ol.rows { @for record in &found.before { @if let Some(row) = feed::row(record) { (told(record, &row)) } } }
        @if let Some(put) = facts.get("put_to_the_model").filter(|put| put.is_object()) {
            details { summary { "What was put to the model, in " (text(put, "path")) }
                (pre("What was put to the model", &brief(&texts(put, "texts").join("\n\n"), PUT_CHARS)))
            }
        }
    })?;
    out.html(&html! {
        h2 { "Where it stands" }
        ul { @for place in texts(&facts, "evidence") { li { code { (place) } } } }
    })
}

/// Returns its intent, unless the thought itself begins with it.
fn meant(facts: &Value) -> Option<&str> {
    let (intent, monologue) = (text(facts, "intent"), text(facts, "monologue"));
    (!intent.is_empty() && !monologue.starts_with(intent.trim_end_matches('…'))).then_some(intent)
}

/// The calls of its model and its acts as a waterfall: when each began, how long it took, and its cost.
fn traced(server: &Server, found: &Found, facts: &Value, out: &mut Out) -> Result<()> {
    let mut entries = Vec::new();
    if let Some(until) = gather::settled_by(text(facts, "at")).filter(|_| !found.since.is_empty()) {
        gather::between(&server.house.ledger(), &found.since, &until, |entry| {
            // What was settled when the thought before was remembered is that one's.
            if Entry(entry).at() > found.since.as_str() && entries.len() < MOST_ENTRIES {
                entries.push(entry.clone());
            }
        });
    }
    let spans = trace::spans(found, trace::calls(&entries));
    let (Some(from_ms), Some(to_ms)) =
        (spans.iter().map(|span| span.from_ms).min(), spans.iter().map(|span| span.to_ms).max())
    else {
        return out.html(&html! { p.none { "How long it took is not on record." } });
    };
    let whole_ms = to_ms.saturating_sub(from_ms).max(1) as f64;
    let share = |at_ms: u64| at_ms.saturating_sub(from_ms) as f64 / whole_ms;
    let usage = facts.pointer("/cost/usage").filter(|usage| usage.is_object()).map(Usage);
    let micro: u64 = spans.iter().map(|span| span.micro).fold(0, u64::saturating_add);
    let of = usage.unwrap_or_default();
    let (given, cached) = (of.input_tokens().saturating_add(of.cache_write_tokens()), of.cache_read_tokens());
    out.html(&html! {
        h2 { "How it went" }
        p {
            (seconds(to_ms.saturating_sub(from_ms)))
            @if micro > 0 { " · " (usd(micro)) }
            @if usage.is_some() { " · " (given.saturating_add(cached)) " tokens in" @if cached > 0 { ", " (cached) " of them from the cache" } ", " (of.output_tokens()) " out" }
        }
        div.scroll tabindex="0" role="region" aria-label="How it went" { table.dense.trace {
            thead { tr { th scope="col" { "What" } th.wide scope="col" { "When" } th.number scope="col" { "Took" } th.number scope="col" { "Cost" } } }
            tbody { @for span in &spans { tr {
                th scope="row" { (span.name) @if span.class == "act-failed" { span.red { " failed" } } }
                td.wide { (bars::bar(&format!("from {} to {} after its beginning", seconds(span.from_ms - from_ms), seconds(span.to_ms - from_ms)),
                    &[Part { from: share(span.from_ms), to: share(span.to_ms).max(share(span.from_ms) + 0.006), class: span.class }], None)) }
                td.number { (seconds(span.to_ms.saturating_sub(span.from_ms))) }
                td.number { @if span.micro > 0 { (usd(span.micro)) } }
            } } }
        } }
        p.about { "An act counts from the end of what came before it. What else the model was called for meanwhile is in this too." }
    })
}

/// `0.4 s`, `12 s`, `3 min`.
fn seconds(ms: u64) -> String {
    match ms {
        0..10_000 => format!("{:.1} s", ms as f64 / 1e3),
        _ => moments::span(Duration::from_millis(ms)),
    }
}

/// Renders each call with its result, and its messages.
fn did(facts: &Value, after: &[Value], out: &mut Out) -> Result<()> {
    let calls = list(facts, "calls");
    out.html(&html! {
        h2 { "What it did" }
        @if calls.is_empty() && after.is_empty() { p.none { "Nothing." } }
    })?;
    for record in after {
        let Some(row) = feed::row(record) else { continue };
        let act = Record(record).action().unwrap_or_default();
        let result = act.result().map(|result| result.0);
        out.html(&html! {
            ol.rows { (told(record, &row)) }
            @for (value, shown) in [(act.args(), "Input"), (result, "Output")] {
                @if let Some(value) = value {
                    details { summary { (shown) } (pre(shown, &brief(&pretty(value), RESULT_CHARS))) }
                }
            }
        })?;
    }
    let ran = after.iter().filter(|record| Record(record).action().is_some()).count();
    for call in calls.iter().skip(ran) {
        out.html(&html! { p.none { (text(call, "tool")) ": no result on record" } })?;
    }
    Ok(())
}

/// A value as JSON of several lines; text as it is.
pub fn pretty(value: &Value) -> String {
    value.as_str().map_or_else(|| format!("{value:#}"), str::to_owned)
}

pub fn pre(name: &str, text: &str) -> Markup {
    html! { pre tabindex="0" role="group" aria-label=(name) { (text) } }
}
