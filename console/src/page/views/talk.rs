//! What owner and creature said to one another, whole, the newest last; and a word to it.

use crate::owners::Owners;
use crate::page::back::{self, Line, Place};
use crate::page::frame::{self, Weight, time};
use crate::page::{Server, out::Out};
use crate::why::found;
use anyhow::Result;
use axum::extract::{Query, State};
use axum::response::Response;
use house::files;
use house::records::{self, text};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Messages of a page, and bytes read back for them.
const MOST_MESSAGES: usize = 60;
const MOST_BYTES: u64 = 128 << 20;
/// Bytes of the inbox in which words are that are not heard yet.
const INBOX_BYTES: u64 = 64 << 10;

#[derive(Deserialize)]
pub struct Asked {
    #[serde(default)]
    thread: String,
    #[serde(default)]
    before: String,
    #[serde(default)]
    words: String,
}

pub async fn page(State(server): State<Arc<Server>>, Query(asked): Query<Asked>) -> Response {
    let shared = server.clone();
    frame::page(&server, "Talk", "/talk", Weight::Light, move |out| write(&shared, &asked, out)).await
}

fn write(server: &Server, asked: &Asked, out: &mut Out) -> Result<()> {
    let (mut said, mut threads) = (Vec::new(), BTreeSet::new());
    let before = Place::parse(&asked.before);
    let files = found::files(&server.house);
    let mut owners = Owners::beside(&server.house.memory());
    let is_wanted = |block: &[u8]| memchr::memmem::find(block, b"\"message\"").is_some();
    let more = back::lines(files, before.as_ref(), MOST_BYTES, is_wanted, |line: &Line| {
        let record = Some(line.bytes).filter(|bytes| is_wanted(bytes)).and_then(records::parse);
        let record = record.filter(|record| text(record, "kind") == "message");
        let Some(record) = record.map(|record| owners.judged(record)) else {
            return ControlFlow::Continue(());
        };
        let thread = thread(record.get("data").unwrap_or(&Value::Null)).to_owned();
        let is_shown = asked.thread.is_empty() || thread == asked.thread;
        threads.insert(thread);
        if is_shown {
            said.push(record);
        }
        if said.len() < MOST_MESSAGES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    said.reverse();
    out.html(&html! {
        @if threads.len() > 1 || !asked.thread.is_empty() {
            nav aria-label="Threads" { ul.threads {
                li { a href="/talk" aria-current=[asked.thread.is_empty().then_some("true")] { "all" } }
                @for thread in &threads {
                    li { a href={ "/talk?" (query(&[("thread", thread)])) } aria-current=[(*thread == asked.thread).then_some("true")] { (thread) } }
                }
            } }
        }
        @if let Some(more) = &more {
            p { a href={ "/talk?" (query(&[("thread", &asked.thread), ("before", &more.told())])) } { "What was said before" } }
        }
        ol.said #said aria-label="What was said" {
            @for record in &said { (message(record.get("data").unwrap_or(&Value::Null), text(record, "at"))) }
            @if asked.before.is_empty() { @for word in unheard(server, &said) { (waiting(&word)) } }
        }
        @if said.is_empty() { p.none { "Nothing was said so far." } }
        span #last {}
        (form(server, &asked.words))
    })
}

/// Words that are kept and not remembered yet: nobody has heard them.
fn unheard(server: &Server, said: &[Value]) -> Vec<Value> {
    let heard = said.iter().filter_map(|record| record.get("data"));
    let heard = heard.filter(|data| text(data, "from") == "owner");
    let heard: BTreeSet<&str> = heard.map(|data| text(data, "at")).collect();
    let first = said.first().map(|record| text(record, "at")).unwrap_or_default();
    let tail = files::tail(&server.house.inbox(), INBOX_BYTES);
    let words = tail.lines().filter_map(|line| records::parse(line.as_bytes()));
    words
        .filter(|word| {
            !text(word, "at").is_empty() && text(word, "at") >= first && !heard.contains(text(word, "at"))
        })
        .collect()
}

fn waiting(word: &Value) -> Markup {
    html! {
        li.owner.waiting {
            p.who { "you " (time(text(word, "at"))) " kept; not heard yet" }
            div.words { (text(word, "text")) }
        }
    }
}

fn thread(data: &Value) -> &str {
    match text(data, "thread") {
        "" => "main",
        thread => thread,
    }
}

/// One message, whole.
pub fn message(data: &Value, at: &str) -> Markup {
    let is_owner = text(data, "from") == "owner";
    let (kind, thread) = (text(data, "kind"), thread(data));
    html! {
        li.owner[is_owner].creature[!is_owner] {
            p.who {
                @if is_owner { "you " } @else { (text(data, "from")) " " }
                (time(at))
                @if !kind.is_empty() && kind != "answer" { " " span.kind { (kind) } }
                @if thread != "main" { " " span.thread { "on " (thread) } }
            }
            div.words { (text(data, "text")) }
        }
    }
}

/// A word to it.
pub fn form(server: &Server, words: &str) -> Markup {
    html! {
        form.say method="post" action="/say" {
            input type="hidden" name="act" value=(server.act("/say"));
            label for="words" { "A word to it" }
            textarea #words name="words" rows="4" maxlength="8000" required aria-describedby="words-about" { "\n" (words) }
            p.about #words-about { "It is kept and heard as soon as something lives. A plain yes answers what was asked last." }
            button type="submit" { "Say it" }
        }
    }
}

/// A query of these fields, without those that are empty.
pub fn query(fields: &[(&str, &str)]) -> String {
    let given = fields.iter().filter(|(_, value)| !value.is_empty());
    form_urlencoded::Serializer::new(String::new()).extend_pairs(given).finish()
}
