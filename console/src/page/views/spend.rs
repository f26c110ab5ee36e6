//! Money: the rest of each cap; bars a day, and the cost of each question and reason, with tokens, cache and seconds.

use super::list;
use crate::budget;
use crate::life::DAY_MS;
use crate::page::bars::{self, Part};
use crate::page::spent::{self, Spent, Sum, Tokens};
use crate::page::{Server, out::Out};
use crate::plain;
use anyhow::Result;
use house::records::view::field;
use house::{clock, records::text};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Days to choose from, and the most.
const DAYS: [u64; 4] = [1, 7, 30, 365];
const MOST_DAYS: u64 = 3_660;
/// Rows of a table.
const MOST_ROWS: usize = 60;

#[derive(Deserialize)]
pub struct Asked {
    days: Option<u64>,
}

pub fn write(server: &Server, asked: &Asked, out: &mut Out) -> Result<()> {
    let days = asked.days.unwrap_or(7).clamp(1, MOST_DAYS);
    let (page, missing) = budget::page(&server.house);
    out.html(&html! {
        @if let Some(missing) = missing { p.none { (missing) } }
        (caps(&page))
        @for line in budget::lines(&server.house, &page).iter().skip(usize::from(!list(&page, "caps").is_empty())) { p.about { (plain::words(line)) } }
        nav aria-label="How many days" { ul {
            @for of in DAYS { li { a href={ "/spend?days=" (of) } aria-current=[(of == days).then_some("true")] {
                @if of == 1 { "today" } @else { (of) " days" }
            } } }
        } }
    })?;
    out.flush()?;
    // Days are counted by UTC, as the caps are.
    let first_ms = clock::wall_ms() / DAY_MS * DAY_MS;
    let since = clock::stamp_of(first_ms.saturating_sub((days - 1) * DAY_MS));
    let spent = spent::read(&server.house, &since);
    let cap = list(&page, "caps").iter().find(|cap| text(cap, "span") == "day");
    let cap = cap.and_then(|cap| field(cap, "cap_usd"));
    out.html(&html! {
        (whole(&spent.all, days))
        (by_day(&spent, cap))
        (table("By question and reason", "For what", &spent.led_to))
        (table("By model", "Model", &spent.models))
        p.about { "A call counts for the thought that was remembered next; a thought that changed its own source counts for that self-edit. Seconds are those of a whole call, on average." }
        @for name in &spent.cut { p.none { "Of " (name) " only the newest was read." } }
    })
}

/// Draws the used part of each cap, as bars.
fn caps(page: &Value) -> Markup {
    html! {
        div.caps { @for cap in list(page, "caps") {
            section { h2 { @if text(cap, "span") == "day" { "Today" } @else { "This " (text(cap, "span")) } }
                (bars::cap(cap))
            }
        } }
    }
}

fn usd(micro: u64) -> String {
    let dollars = micro as f64 / 1e6;
    if dollars < 1.0 { format!("${dollars:.4}") } else { format!("${dollars:.2}") }
}

/// `12.3 k`.
fn tokens(count: u64) -> String {
    match count {
        0..10_000 => count.to_string(),
        10_000..10_000_000 => format!("{:.1} k", count as f64 / 1e3),
        _ => format!("{:.1} M", count as f64 / 1e6),
    }
}

fn whole(all: &Sum, days: u64) -> Markup {
    let span = if days == 1 { "today".to_owned() } else { format!("in {days} days") };
    html! {
        @if all.calls == 0 { p.none { "No call was paid for " (span) "." } }
        @else { p.headline {
            (usd(all.micro)) " " (span) " for " (all.calls) " calls"
            @if !all.tokens.is_none() { ", " (tokens(all.tokens.input + all.tokens.cached)) " tokens in, " (tokens(all.tokens.output)) " out" }
            @if let Some(percent) = all.tokens.cached_percent() { ", " (percent) " % of it from the cache" }
        } }
    }
}

/// Draws a bar a day: the owner's requests and its own ideas, against the present cap.
fn by_day(spent: &Spent, cap: Option<f64>) -> Markup {
    let most = spent.days.values().map(|sum| sum.micro as f64 / 1e6).fold(0.0, f64::max);
    let top = cap.filter(|cap| *cap < most * 4.0).unwrap_or(0.0).max(most).max(1e-6) * 1.02;
    html! {
        @if !spent.days.is_empty() { div.scroll tabindex="0" role="region" aria-label="By day" { table.dense {
            caption { "By day (UTC)" }
            thead { tr { th scope="col" { "Day" } th.wide scope="col" { "Yours, and its own" } th.number scope="col" { "All" } th.number scope="col" { "Its own" } (heads()) } }
            tbody { @for (day, sum) in spent.days.iter().rev().take(MOST_ROWS) { tr {
                @let (all, own) = (sum.micro as f64 / 1e6, sum.own_micro as f64 / 1e6);
                th scope="row" { (day) }
                td.wide { (bars::bar(&format!("{day}: ${:.2} for you, ${own:.2} its own", all - own),
                    &[Part { from: 0.0, to: (all - own) / top, class: "yours" }, Part { from: (all - own) / top, to: all / top, class: "its-own" }], cap.map(|cap| cap / top))) }
                td.number { (usd(sum.micro)) } td.number { (usd(sum.own_micro)) } (tails(sum))
            } } }
        } }
        p.legend { span.swatch.yours {} "for you " span.swatch.its-own {} "its own " @if cap.is_some() { span.swatch.cap {} "the cap of now" } } }
    }
}

fn heads() -> Markup {
    html! { th.number scope="col" { "Calls" } th.number scope="col" { "Tokens in" } th.number scope="col" { "Cached" } th.number scope="col" { "Out" } th.number scope="col" { "Seconds" } }
}

fn tails(sum: &Sum) -> Markup {
    let Tokens { input, cached, output } = sum.tokens;
    html! {
        td.number { (sum.calls) }
        td.number { @if !sum.tokens.is_none() { (tokens(input + cached)) } }
        td.number { @if let Some(percent) = sum.tokens.cached_percent() { (percent) " %" } }
        td.number { @if !sum.tokens.is_none() { (tokens(output)) } }
        td.number { @if let Some(seconds) = sum.seconds() { (format!("{seconds:.1}")) } }
    }
}

/// Sums as a table, the dearest first.
fn table(name: &str, of: &str, sums: &BTreeMap<String, Sum>) -> Markup {
    let mut rows: Vec<(&String, &Sum)> = sums.iter().collect();
    rows.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.micro));
    let most = rows.first().map_or(1, |(_, sum)| sum.micro.max(1)) as f64;
    html! {
        @if !rows.is_empty() { div.scroll tabindex="0" role="region" aria-label=(name) { table.dense {
            caption { (name) }
            thead { tr { th scope="col" { (of) } th.wide scope="col" { span.hidden { "Share" } } th.number scope="col" { "All" } (heads()) } }
            tbody { @for (name, sum) in rows.iter().take(MOST_ROWS) { tr {
                @let (yours, all) = ((sum.micro - sum.own_micro.min(sum.micro)) as f64 / most, sum.micro as f64 / most);
                th scope="row" { (name) }
                td.wide { (bars::bar(&format!("{} of it its own", usd(sum.own_micro)), &[Part { from: 0.0, to: yours, class: "yours" }, Part { from: yours, to: all, class: "its-own" }], None)) }
                td.number { (usd(sum.micro)) } (tails(sum))
            } } }
        } } }
        @if rows.len() > MOST_ROWS { p.about { (rows.len() - MOST_ROWS) " more, each cheaper" } }
    }
}
