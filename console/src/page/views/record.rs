//! A record as it was written, found by the name of its file and its place; only records that the owner may see.

use super::thought::{pre, pretty};
use crate::page::Server;
use crate::page::frame::{self, Weight};
use crate::page::out::{Out, missing};
use anyhow::{Result, bail};
use axum::Extension;
use axum::extract::Path;
use axum::response::Response;
use house::House;
use house::lines::{Lines, Next};
use house::records::memory::Record;
use house::records::{self, LONGEST_LINE};
use maud::html;
use serde_json::Value;
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// Files whose lines are shown, each by its name and with its parts that were moved aside.
const FILES: [&str; 5] = ["memory", "ledger", "history", "deaths", "asks"];

pub async fn page(
    Extension(server): Extension<Arc<Server>>,
    Path((file, at)): Path<(String, u64)>,
) -> Response {
    let write = move |server: &Server, out: &mut Out| write(server, &file, at, out);
    frame::page(server, "A record", "/search", Weight::Light, write).await
}

fn write(server: &Server, file: &str, at: u64, out: &mut Out) -> Result<()> {
    let record = read(&server.house, file, at).map_err(missing)?;
    let seen = Record(&record);
    out.html(&html! {
        dl {
            dt { "Where" } dd { code { ".self/" (file) } ", byte " (at) }
            dt { "When" } dd { (frame::exact(seen.at())) }
        }
        ul.links {
            @if let Some(thought) = seen.number() { li { a href={ "/thought/" (thought) } { "Thought " (thought) } } }
            @if let Some(life) = seen.life().filter(|life| *life > 0) { li { a href={ "/lives/" (life) } { "Life " (life) } } }
        }
        (pre("The record", &pretty(&record)))
    })
}

/// The record that begins at this place.
pub fn read(house: &House, file: &str, at: u64) -> Result<Value> {
    if !is_shown(file) {
        bail!("no records are called so");
    }
    let path = house.state_folder().join(file);
    let Some(mut open) = house::files::open(&path)? else { bail!("there are no such records") };
    let mut before = [b'\n'];
    if at > 0 && open.read_exact_at(&mut before, at - 1).is_err() || before != *b"\n" {
        bail!("no record begins there");
    }
    open.seek(SeekFrom::Start(at))?;
    let mut lines = Lines::new(open, LONGEST_LINE);
    lines.allow(LONGEST_LINE as u64 + 1);
    let record = match lines.next_line() {
        Next::Line(line) => records::parse(line),
        Next::Long => None,
        Next::End => records::parse(lines.torn()),
    };
    record.ok_or_else(|| anyhow::anyhow!("what stands there is no record"))
}

/// `memory.jsonl`, `memory-20260102T030030.000Z.jsonl`.
fn is_shown(file: &str) -> bool {
    let Some(name) = file.strip_suffix(".jsonl").filter(|_| file.len() <= 80) else { return false };
    let plain = |letter: u8| letter.is_ascii_alphanumeric() || b"-.".contains(&letter);
    FILES.iter().any(|known| {
        name.strip_prefix(known)
            .is_some_and(|rest| rest.is_empty() || (rest.starts_with('-') && rest.bytes().all(plain)))
    })
}
