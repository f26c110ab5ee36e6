//! The conversation of owner and creature, whole, the newest last: words, asks, the reply as it comes.

use super::asks::cards;
use crate::back::{self, Line, Place};
use crate::life::usd;
use crate::markdown;
use crate::owners::Owners;
use crate::page::form::hidden;
use crate::page::frame::{self, time};
use crate::page::under_way::{self, Does, UnderWay};
use crate::page::{Server, out::Out, waiting};
use crate::why::found;
use crate::words::STOP;
use anyhow::Result;
use house::clock;
use house::records::{
    self,
    memory::{Message, Record},
};
use house::standing::Known;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// Messages of a page, and bytes read back for them.
const MOST_MESSAGES: usize = 60;
const MOST_BYTES: u64 = 128 << 20;
/// Bytes read of the inbox for words that are not heard yet.
const INBOX_BYTES: u64 = 64 << 10;
/// Asks that stand in the conversation; more are on their own page.
const MOST_CARDS: usize = 3;

#[derive(Deserialize)]
pub struct Asked {
    #[serde(default)]
    thread: String,
    #[serde(default)]
    before: String,
    #[serde(default)]
    words: String,
}

pub fn write(server: &Server, asked: &Asked, out: &mut Out) -> Result<()> {
    let (mut said, mut threads) = (Vec::new(), BTreeSet::new());
    let before = Place::parse(&asked.before);
    let files = found::files(&server.house);
    let mut owners = Owners::beside(&server.house.memory());
    let is_wanted = |block: &[u8]| memchr::memmem::find(block, b"\"message\"").is_some();
    let more = back::lines(files, before.as_ref(), MOST_BYTES, is_wanted, |line: &Line| {
        let record = Some(line.bytes).filter(|bytes| is_wanted(bytes)).and_then(records::parse);
        let record = record.map(|record| owners.judged(record));
        let message = record.as_ref().and_then(|record| Record(record).message());
        let Some(thread) = message.map(|message| message.thread().to_owned()) else {
            return ControlFlow::Continue(());
        };
        let is_shown = asked.thread.is_empty() || thread == asked.thread;
        threads.insert(thread);
        said.extend(record.filter(|_| is_shown));
        if said.len() < MOST_MESSAGES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    said.reverse();
    let is_now = asked.before.is_empty();
    let way = is_now.then(|| under_way::read(&server.house, &Known::read(&server.house))).flatten();
    out.html(&html! {
        @if threads.len() > 1 || !asked.thread.is_empty() {
            nav aria-label="Threads" { ul.threads {
                li { a href="/talk" aria-current=[asked.thread.is_empty().then_some("true")] { "all" } }
                @for thread in &threads {
                    li { a href={ "/talk?" (query(&[("thread", thread)])) } aria-current=[(*thread == asked.thread).then_some("true")] { (named(thread)) } }
                }
            } }
        }
        @if let Some(more) = &more {
            p { a href={ "/talk?" (query(&[("thread", &asked.thread), ("before", &more.told())])) } { "What was said before" } }
        }
        ol.said #said aria-label="What was said" aria-live="polite" data-past=[(!is_now).then_some("yes")] {
            @for record in &said { (message(Record(record).message().unwrap_or_default(), Record(record).at())) }
            @if is_now { @for word in unheard(server, &said) { (waiting_word(&word)) } }
        }
        @if said.is_empty() { p.none { "Nothing was said so far. Say hello, or ask what it can do." } }
        @if is_now {
            div #asked { (asked_of_you(server)) }
            div #reply { (reply(way.as_ref())) }
        }
        span #last {}
        (composer(server, &asked.words, way.is_some()))
    })
}

/// The first asks that wait, to be answered in the conversation.
pub fn asked_of_you(server: &Server) -> Markup {
    let waiting = waiting::unanswered(&server.house);
    html! {
        (cards(server, waiting.iter().take(MOST_CARDS), "/talk"))
        @if waiting.len() > MOST_CARDS { p { a href="/asks" { (waiting.len() - MOST_CARDS) " more wait for your answer" } } }
    }
}

/// Renders the work under way: its purpose, time and cost, and its words as they come.
pub fn reply(way: Option<&UnderWay>) -> Markup {
    let Some(way) = way else { return html! {} };
    let does = match (way.is_owners, way.does) {
        (true, Does::Thinks) => "answering you",
        (true, Does::Acts) => "at work for you",
        (false, _) => "at work on its own",
    };
    let seconds = clock::wall_ms().saturating_sub(way.since_ms) / 1_000;
    html! {
        div.creature.coming {
            p.who {
                "Feral, " (does)
                @if way.since_ms > 0 { " " span data-since=(way.since_ms) { (seconds) " s" } }
                @if way.micro > 0 { " · " (usd(way.micro)) " so far" }
            }
            @if way.is_owners && !way.words.is_empty() { div.words.md { (frame::made(markdown::html(&way.words))) } }
        }
    }
}

/// Words that are kept and not remembered yet: nobody has heard them.
fn unheard(server: &Server, said: &[Value]) -> Vec<Value> {
    let heard = said.iter().filter_map(|record| Record(record).message());
    let heard: BTreeSet<&str> = heard.filter(|said| said.is_owners()).map(Message::at).collect();
    let first = said.first().map(|record| Record(record).at()).unwrap_or_default();
    let words = records::newest(&server.house.inbox(), INBOX_BYTES);
    let is_unheard = |at: &str| !at.is_empty() && at >= first && !heard.contains(at);
    words.filter(|word| is_unheard(Message(word).at())).collect()
}

fn waiting_word(word: &Value) -> Markup {
    html! {
        li.owner.waiting {
            p.who { "you " (time(Message(word).at())) " · kept; not heard yet" }
            div.words { (Message(word).text()) }
        }
    }
}

/// Name of a thread: a thread that a command began is named by its time.
fn named(thread: &str) -> String {
    let stamp = thread.strip_prefix("say-").and_then(|rest| rest.split('-').next());
    // `20260102T030405.678Z`: jiff reads a stamp without marks too.
    let at = stamp.filter(|stamp| stamp.parse::<jiff::Timestamp>().is_ok());
    at.map_or_else(|| thread.to_owned(), |at| format!("terminal, {}", house::moments::near(at)))
}

/// Renders a message whole: the owner's as it was written, the creature's with its markdown rendered.
pub fn message(message: Message, at: &str) -> Markup {
    let (is_owner, thread, said) = (message.is_owners(), message.thread(), message.text());
    let from = if message.is_creatures() { "Feral" } else { message.from() };
    html! {
        li.owner[is_owner].creature[!is_owner] {
            p.who {
                @if is_owner { "you " } @else { (from) " " }
                (time(at))
                @if let Some(kind) = message.odd_kind() { " · " span.kind { (kind.replace('_', " ")) } }
                @if thread != "main" { " · " span.thread { (named(thread)) } }
            }
            @if is_owner { div.words { (said) } }
            @else { div.words.md { (frame::made(markdown::html(said))) } }
        }
    }
}

/// The field for a word, and the button that ends the work under way.
fn composer(server: &Server, words: &str, is_busy: bool) -> Markup {
    html! {
        div.composer {
            (form(server, words))
            form.act #stop method="post" action="/say" hidden[!is_busy] {
                (hidden(server, "/say", &[("words", STOP), ("from", "/talk")]))
                button type="submit" { "Stop" }
            }
        }
    }
}

/// A word to it.
pub fn form(server: &Server, words: &str) -> Markup {
    html! {
        form.say method="post" action="/say" {
            (hidden(server, "/say", &[]))
            label for="words" { "Your message" }
            textarea #words name="words" rows="2" maxlength="8000" required aria-describedby="words-about" { "\n" (words) }
            button type="submit" { "Send" }
            p.about #words-about { "Enter sends, Shift-Enter begins another line. A plain yes answers what it asked you here last; an ask is answered by its buttons." }
        }
    }
}

/// A query of these fields, without those that are empty.
pub fn query(fields: &[(&str, &str)]) -> String {
    let given = fields.iter().filter(|(_, value)| !value.is_empty());
    form_urlencoded::Serializer::new(String::new()).extend_pairs(given).finish()
}
