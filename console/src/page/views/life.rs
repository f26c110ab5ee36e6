//! A life as a picture of the chosen span, and as a table of the weightiest of the same things.

use crate::life::picture::{self, days};
use crate::life::tell::{self, Table};
use crate::life::{DAY_MS, HOUR_MS, Looked, Span};
use crate::page::out::{Out, safe};
use crate::page::{Server, frame};
use anyhow::Result;
use axum::Extension;
use axum::extract::Query;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use maud::{Markup, html};
use serde::Deserialize;
use std::sync::Arc;

/// Columns of a picture where nobody says how wide it is shown.
const COLUMNS: u32 = 960;
/// Spans to choose from.
const SPANS: [(&str, u64); 5] = [
    ("an hour", HOUR_MS),
    ("a day", DAY_MS),
    ("a week", 7 * DAY_MS),
    ("a month", 30 * DAY_MS),
    ("a year", 365 * DAY_MS),
];

#[derive(Clone, Copy, Deserialize)]
pub struct Asked {
    from: Option<u64>,
    to: Option<u64>,
    width: Option<u32>,
}

/// Returns the span asked for, else the last day known.
fn span(asked: &Asked, all: Option<Span>) -> Span {
    let now_ms = house::clock::wall_ms();
    let all = all.unwrap_or_else(|| Span::of_ms(now_ms.saturating_sub(DAY_MS), now_ms));
    match (asked.from, asked.to) {
        (Some(from), Some(to)) if from < to => Span::of_ms(from, to),
        (Some(from), _) => Span::of_ms(from, from.saturating_add(DAY_MS)),
        (None, Some(to)) => Span::of_ms(to.saturating_sub(DAY_MS), to),
        (None, None) => Span::of_ms(all.from_ms().max(all.to_ms().saturating_sub(DAY_MS)), all.to_ms()),
    }
}

pub fn write(server: &Server, asked: &Asked, out: &mut Out) -> Result<()> {
    let looked = server.past.look();
    let columns = asked.width.unwrap_or(COLUMNS);
    let (all, span, svg, table, days) = server.past.with(|life| {
        let (all, span) = (life.span(), span(asked, life.span()));
        (
            all,
            span,
            picture::svg(life, &span, columns, &server.place),
            tell::table(life, &span, &server.place),
            days::days(life, &server.place),
        )
    });
    out.html(&html! {
        (reading(&looked))
        @if all.is_none() { p.none { "Nothing has lived here so far." } }
        @else {
            h2 { "Its days" }
            div.scroll tabindex="0" role="region" aria-label="A calendar of its days" { (frame::made(days::svg(&days, &server.place, false))) }
            p.about { "A square a day: coloured by what it mostly woke for, stronger the more it thought; a dot where it edited itself, a red corner where it fell. " a href="/export/days.svg" { "Save as a picture" } ": it holds no words of yours or its own." }
        }
        h2 { "What happened when" }
        (ways(&span, all))
        div #life.scroll tabindex="0" role="region" aria-label="A life as a picture" aria-describedby="life-about" { (frame::made(svg)) }
        p.about #life-about { "Each bar leads to the thing whole. With scripts: drag, turn the wheel, or press + and −, the arrows and Home." }
        (legend())
        (things(&table))
        @let fields = format!("from={}&to={}", span.from_ms(), span.to_ms());
        p #exports { "This span " a href={ "/export/span.json?" (fields) } { "as a trace for Perfetto" } ", or "
            a href={ "/export/span.html?" (fields) } { "as one page to show to others, secrets struck" } "." }
    })
}

fn reading(looked: &Looked) -> Markup {
    let percent = looked.read_bytes.saturating_mul(100).checked_div(looked.all_bytes).unwrap_or(100);
    html! {
        @if looked.more {
            p.wrong role="status" { "The past is still being read, " (percent) " % so far: load the page again for more." }
        }
    }
}

/// The ways to other spans: earlier and later, nearer and farther, all of it.
fn ways(span: &Span, all: Option<Span>) -> Markup {
    let (from, to) = (span.from_ms(), span.to_ms());
    let length = to.saturating_sub(from).max(1);
    let link = |from: u64, to: u64| format!("/life?from={from}&to={}", to.max(from.saturating_add(1)));
    let around = |length: u64| {
        let middle = from / 2 + to / 2;
        let from = middle.saturating_sub(length / 2);
        link(from, from.saturating_add(length))
    };
    html! {
        nav #ways aria-label="Span" { ul {
            li { a href=(link(from.saturating_sub(length), from)) { "← earlier" } }
            li { a href=(link(to, to.saturating_add(length))) { "later →" } }
            li { a href=(around(length / 3)) { "nearer" } }
            li { a href=(around(length.saturating_mul(3))) { "farther" } }
            @for (name, length) in SPANS {
                // The end stays where it is: what one looks for is mostly the newest.
                li { a href=(link(to.saturating_sub(length), to)) { (name) } }
            }
            @if let Some(all) = all { li { a #all href=(link(all.from_ms(), all.to_ms())) { "all of it" } } }
        } }
    }
}

/// Explains the colours; each thing also says it in words, never by colour alone.
fn legend() -> Markup {
    let reasons = [
        ("why-owner", "for you"),
        ("why-own", "its own aims"),
        ("why-clock", "by the clock"),
        ("why-event", "for an event"),
        ("why-self", "its own source"),
        ("why-other", "something else"),
    ];
    html! {
        ul.legend aria-label="Colours of wakes and thoughts" {
            @for (class, told) in reasons { li { span.swatch.(class) aria-hidden="true" {} (told) } }
        }
    }
}

fn things(table: &Table) -> Markup {
    html! {
        div #things.scroll.tall tabindex="0" role="region" aria-label="The same in words" {
            table.dense {
                caption { "The same in words, the weightiest of it, the newest first" @if table.left_out > 0 { "; " (table.left_out) " more are in shorter spans" } }
                thead { tr { th scope="col" { "When" } th scope="col" { "What" } } }
                tbody {
                    @for row in table.rows.iter().rev() { tr { td.at { (row.when) } td { a href=(row.href) { (row.what) } } } }
                    @if table.rows.is_empty() { tr { td colspan="2" { "Nothing in this span." } } }
                }
            }
        }
    }
}

/// The picture alone, for a browser that drags it.
pub async fn picture(Extension(server): Extension<Arc<Server>>, Query(asked): Query<Asked>) -> Response {
    let drawn = tokio::task::spawn_blocking(move || {
        server.past.look();
        server.past.with(|life| {
            let span = span(&asked, life.span());
            picture::svg(life, &span, asked.width.unwrap_or(COLUMNS), &server.place)
        })
    });
    let Ok(svg) = drawn.await else { return StatusCode::INTERNAL_SERVER_ERROR.into_response() };
    frame::asset(frame::SVG, safe(&svg))
}
