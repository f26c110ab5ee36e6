//! The report since a day, weightiest first, each row with where more of it stands.

use crate::page::{Server, frame, out::Out};
use crate::report;
use anyhow::Result;
use house::moments;
use maud::{Markup, html};
use serde::Deserialize;

/// Spans to choose from.
const SINCE: [(&str, &str); 5] = [
    ("today", "today"),
    ("yesterday", "since yesterday"),
    ("7d", "a week"),
    ("30d", "thirty days"),
    ("365d", "a year"),
];

#[derive(Deserialize)]
pub struct Asked {
    #[serde(default)]
    since: String,
}

pub fn write(server: &Server, asked: &Asked, out: &mut Out) -> Result<()> {
    let asked = if asked.since.is_empty() { "yesterday" } else { &asked.since };
    let is_day = asked.parse::<jiff::civil::Date>().is_ok();
    out.html(&html! {
        nav aria-label="Since when" { ul {
            @for (since, told) in SINCE { li { a href={ "/report?since=" (since) } aria-current=[(since == asked).then_some("true")] { (told) } } }
        } }
        form.find method="get" action="/report" {
            label for="since" { "Since a day" }
            input #since type="date" name="since" value=[is_day.then_some(asked)];
            button type="submit" { "Report" }
        }
    })?;
    let since = match moments::since(asked) {
        Ok(since) => since,
        Err(wrong) => return out.html(&frame::wrong(&wrong.replace("--since wants", "Since when:"))),
    };
    out.flush()?;
    let (facts, sections) = report::read(&server.house, &since);
    out.html(&html! {
        p.headline { @if facts.is_nothing() { "Nothing happened since " } @else { "Since " } (moments::told(&since)) }
        p { "Now: " (facts.note) }
        @if facts.waits.is_empty() { p { "Nothing waits for your yes." } }
        @for section in &sections {
            h2 { (section.name.to_lowercase()) @if section.count > section.rows.len() as u64 { " (" (section.count) ")" } }
            ul.items { @for row in &section.rows { li { (row.text) @if !row.see.is_empty() { " " (see(&row.see)) } } } }
        }
        @for name in &facts.cut { p.none { "Of " (name) " only the newest was read: there is more than a report reads." } }
    })
}

/// Shows where more of it stands: a page, or a command for a terminal.
fn see(place: &str) -> Markup {
    let words: Vec<&str> = place.split([' ', ',']).collect();
    let hash = |name: &str| name.len() >= 7 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    let life = |path: &str| {
        let number = path.strip_prefix(".self/log/life-")?.strip_suffix(".log")?;
        number.parse::<u64>().ok()
    };
    html! {
        @match words.as_slice() {
            ["asks", id] => a href={ "/asks/" (id) } { "the ask" },
            ["asks"] => a href="/asks" { "asks" },
            ["git", "show", commit] if hash(commit) => a href={ "/commit/" (commit) } { "the commit" },
            ["rollback", commit, ..] if hash(commit) => a href={ "/commit/" (commit) } { "the commit" },
            [path] if life(path).is_some() => a href={ "/lives/" (life(path).unwrap_or_default()) } { "the life" },
            ["say:", word @ ..] => a href={ "/talk?" (super::talk::query(&[("words", &word.join(" "))])) } { "say so" },
            ["status"] => a href="/" { "how it stands" },
            // Words that are too long for a report.
            ["feed", ..] => a href="/talk#last" { "in Talk" },
            // Sums of many records lead to no one of them.
            ["history", ..] => {},
            _ => span.why { (place) },
        }
    }
}
