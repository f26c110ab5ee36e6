//! Searches all of memory for words, from the newest record back to the first; hits are shown as they are found.

use super::talk::query;
use crate::back::{self, Line, Place};
use crate::feed;
use crate::owners::Owners;
use crate::page::Server;
use crate::page::frame::time;
use crate::page::out::{Ended, Out};
use crate::why::found;
use anyhow::Result;
use house::records;
use house::records::memory::Record;
use maud::{Markup, html};
use memchr::memmem::Finder;
use serde::Deserialize;
use std::cell::RefCell;
use std::ops::ControlFlow;

/// Hits of a page, bytes read for it, and characters that are looked for.
const MOST_HITS: usize = 50;
const MOST_BYTES: u64 = 256 << 20;
const MOST_CHARS: usize = 200;
/// Characters shown around a hit.
const AROUND: usize = 160;

#[derive(Deserialize)]
pub struct Asked {
    #[serde(default)]
    q: String,
    #[serde(default)]
    before: String,
}

pub fn write(server: &Server, asked: &Asked, out: &mut Out) -> Result<()> {
    let wanted: String = asked.q.trim().chars().take(MOST_CHARS).collect();
    out.html(&html! {
        form.find method="get" action="/search" role="search" {
            label for="q" { "Words in what it remembers, capitals or not" }
            input #q type="search" name="q" value=(wanted) maxlength=(MOST_CHARS);
            button type="submit" { "Search" }
        }
    })?;
    if wanted.is_empty() {
        return Ok(());
    }
    out.raw("<ol class=\"rows\" aria-label=\"What was found\">")?;
    out.flush()?;
    let (hits, more) = look(server, &wanted, &asked.before, out)?;
    out.raw("</ol>")?;
    out.html(&html! {
        @if hits == 0 { p.none { "Nothing found" @if more.is_some() { " in what was read so far." } @else { "." } } }
        @match more {
            Some(more) => p { a.button href={ "/search?" (query(&[("q", &wanted), ("before", &more.told())])) } { "Further back" } },
            None => p.none { "That was all, back to the first record." },
        }
    })
}

/// Writes hits as they are found: how many, and where to go on.
fn look(server: &Server, wanted: &str, before: &str, out: &mut Out) -> Result<(usize, Option<Place>)> {
    // As a record has it: marks of quotation and new lines are written in two letters there.
    let inside = serde_json::to_string(&wanted.to_lowercase()).unwrap_or_default();
    let finder = Finder::new(inside.get(1..inside.len().saturating_sub(1)).unwrap_or_default());
    let holds =
        |bytes: &[u8]| finder.find(String::from_utf8_lossy(bytes).to_lowercase().as_bytes()).is_some();
    let (out, mut hits, mut told) = (RefCell::new(out), 0, Ok(()));
    let mut owners = Owners::beside(&server.house.memory());
    // Nobody reads any more: every block is taken for one to be looked at, where it ends.
    let is_wanted = |block: &[u8]| holds(block) || out.borrow().is_gone();
    let more = back::lines(
        found::files(&server.house),
        Place::parse(before).as_ref(),
        MOST_BYTES,
        is_wanted,
        |line| {
            if out.borrow().is_gone() {
                told = Err(Ended::Gone.into());
            } else if holds(line.bytes)
                && let Some(hit) = hit(line, wanted, &mut owners)
            {
                hits += 1;
                let mut out = out.borrow_mut();
                told = out.html(&hit).and_then(|()| out.flush());
            }
            if told.is_ok() && hits < MOST_HITS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        },
    );
    told.map(|()| (hits, more))
}

/// A record in which the words stand: its kind, and the text around them.
fn hit(line: &Line, wanted: &str, owners: &mut Owners) -> Option<Markup> {
    let record = owners.judged(records::parse(line.bytes)?);
    let (row, seen) = (feed::row(&record), Record(&record));
    let whole = match &row {
        Some(row) if contains(&row.text, wanted) => row.text.clone(),
        _ => seen.raw_data().unwrap_or(&record).to_string(),
    };
    let told = around(&whole, wanted);
    let tag = row.map_or_else(|| seen.kind().to_owned(), |row| row.tag);
    let thought = seen.number();
    Some(html! {
        li.row {
            (time(seen.at())) " "
            a.tag href={ "/record/" (line.file) "/" (line.at) } { (house::bounds::brief(&tag, 20)) } " "
            span.told {
                (told)
                @if let Some(thought) = thought { " " a href={ "/thought/" (thought) } { "thought " (thought) } }
            }
        }
    })
}

fn contains(text: &str, wanted: &str) -> bool {
    text.to_lowercase().contains(&wanted.to_lowercase())
}

/// The text around the first place of the words, which are marked.
fn around(text: &str, wanted: &str) -> Markup {
    let (lower, wanted) = (text.to_lowercase(), wanted.to_lowercase());
    // Where capitals are of another length than small letters, places differ: then the beginning is shown.
    let at = lower.find(&wanted).filter(|_| lower.len() == text.len()).unwrap_or(0);
    let end = text.ceil_char_boundary(at + wanted.len());
    let at = text.floor_char_boundary(at);
    let from = text.floor_char_boundary(at.saturating_sub(AROUND));
    let until = text.ceil_char_boundary((end + AROUND).min(text.len()));
    let part = |from: usize, until: usize| text.get(from..until).unwrap_or_default();
    html! {
        @if from > 0 { "…" }
        (part(from, at)) mark { (part(at, end)) } (part(end, until))
        @if until < text.len() { "…" }
    }
}
