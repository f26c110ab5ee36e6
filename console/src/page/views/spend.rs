//! Money: what is left of each cap, and what was spent by day, model and what it led to.

use crate::budget;
use crate::page::frame::{self, Weight};
use crate::page::spent::{self, Sum};
use crate::page::{Server, out::Out};
use anyhow::Result;
use axum::extract::{Query, State};
use axum::response::Response;
use house::{clock, records::text};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Days that one may choose from; and the most.
const DAYS: [u64; 4] = [1, 7, 30, 365];
const MOST_DAYS: u64 = 3_660;
const DAY_MS: u64 = 86_400_000;

#[derive(Deserialize)]
pub struct Asked {
    days: Option<u64>,
}

pub async fn page(State(server): State<Arc<Server>>, Query(asked): Query<Asked>) -> Response {
    let shared = server.clone();
    let days = asked.days.unwrap_or(7).clamp(1, MOST_DAYS);
    frame::page(&server, "Spend", "/spend", Weight::Heavy, move |out| write(&shared, days, out)).await
}

fn write(server: &Server, days: u64, out: &mut Out) -> Result<()> {
    let (page, missing) = budget::page(&server.house);
    out.html(&html! {
        @if let Some(missing) = missing { p.none { (missing) } }
        @for line in budget::lines(&server.house, &page) { p { (line) } }
        (caps(&page))
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
    out.html(&html! {
        (table("By day (UTC)", "Day", &spent.days, false))
        (table("By model", "Model", &spent.models, true))
        (table("By what it led to", "For what", &spent.led_to, true))
        p.about { "A call counts for the thought that was remembered next; for a thought that changed its own source it counts for that self-edit." }
        @for name in &spent.cut { p.none { "Of " (name) " only the newest was read." } }
    })
}

fn caps(page: &Value) -> Markup {
    let caps = page.get("caps").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let usd =
        |cap: &Value, name: &str| format!("{:.2}", cap.get(name).and_then(Value::as_f64).unwrap_or(0.0));
    html! {
        @if !caps.is_empty() {
            div.scroll tabindex="0" role="region" aria-label="Caps" { table {
                caption { "Caps, in US dollars" }
                thead { tr { th scope="col" { "Span" } th.number scope="col" { "Spent" } th.number scope="col" { "Cap" } th.number scope="col" { "On its own" } th.number scope="col" { "Its cap" } } }
                tbody { @for cap in caps { tr {
                    th scope="row" { "this " (text(cap, "span")) }
                    @for name in ["spent_usd", "cap_usd", "autonomous_usd", "autonomous_cap_usd"] { td.number { (usd(cap, name)) } }
                } } }
            } }
        }
    }
}

/// Sums as a table: the dearest first, or in order of their names, the last first.
fn table(name: &str, of: &str, sums: &BTreeMap<String, Sum>, by_cost: bool) -> Markup {
    let mut rows: Vec<(&String, &Sum)> = sums.iter().rev().collect();
    if by_cost {
        rows.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.micro));
    }
    let usd = |micro: u64| format!("{:.4}", micro as f64 / 1e6);
    html! {
        @if rows.is_empty() { h2 { (name) } p.none { "No call was paid for." } }
        @else { div.scroll tabindex="0" role="region" aria-label=(name) { table {
            caption { (name) }
            thead { tr { th scope="col" { (of) } th.number scope="col" { "US dollars" } th.number scope="col" { "on its own" } th.number scope="col" { "calls" } } }
            tbody { @for (name, sum) in rows { tr {
                th scope="row" { (name) } td.number { (usd(sum.micro)) } td.number { (usd(sum.own_micro)) } td.number { (sum.calls) }
            } } }
        } } }
    }
}
