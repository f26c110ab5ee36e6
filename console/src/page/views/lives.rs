//! A life: its commit, how that was blessed, its death with the evidence, the end of its log, its new commits.

use super::change;
use crate::page::Server;
use crate::page::frame::{self, Weight, exact, time};
use crate::page::out::{Out, missing};
use crate::{diff, history, plain};
use anyhow::Result;
use axum::Extension;
use axum::extract::Path;
use axum::response::Response;
use house::bounds::short;
use house::files;
use house::records::{
    self,
    history::{Death, Event, Line},
};
use maud::{Markup, html};
use serde_json::Value;
use std::sync::Arc;

/// Events that are shown, and bytes of the end of a log.
const MOST_EVENTS: usize = 200;
const LOG_BYTES: u64 = 64 << 10;

pub async fn page(Extension(server): Extension<Arc<Server>>, Path(life): Path<u64>) -> Response {
    let title = format!("Life {life}");
    frame::page(server, &title, "/life", Weight::Light, move |server, out| write(server, life, out)).await
}

fn write(server: &Server, life: u64, out: &mut Out) -> Result<()> {
    let (mut events, mut commit, mut began) = (Vec::new(), String::new(), String::new());
    for event in records::of(&server.house.history()) {
        let is_of = Line(&event).life() == Some(life);
        if let Event::Life(of) = Event::of(&event)
            && is_of
        {
            (commit, began) = (of.commit().to_owned(), Line(&event).at().to_owned());
        }
        if is_of && events.len() < MOST_EVENTS {
            events.push(event);
        }
    }
    let is_of = |record: &Value| Line(record).life() == Some(life);
    let deaths: Vec<Value> = records::of(&server.house.deaths()).filter(is_of).take(MOST_EVENTS).collect();
    let log = files::tail(&server.house.life_log(life), LOG_BYTES);
    if events.is_empty() && deaths.is_empty() && log.is_empty() {
        return Err(missing("No such life is on record."));
    }
    let until = deaths.last().map(|death| Death(death).at()).unwrap_or_default();
    out.html(&html! {
        nav aria-label="Other lives" { ul {
            @if life > 1 { li { a href={ "/lives/" (life - 1) } { "The one before" } } }
            li { a href={ "/lives/" (life + 1) } { "The next" } }
            li { a href={ "/export/life/" (life) ".json" } { "As a trace for Perfetto" } }
            li { a href={ "/export/life/" (life) ".html" } { "As one page to show to others" } }
            @if let Some(span) = span(&began, until) { li { a href={ "/life?" (span) } { "Its time as a picture" } } }
        } }
        @if !commit.is_empty() { p.headline { "Began " (exact(&began)) " at " a href={ "/commit/" (commit) } { (short(&commit)) } } }
        @for death in &deaths { (self::death(Death(death))) }
        h2 { "What the guardian did" }
        ol.rows { @for event in &events { li.row {
            @let what = Line(event).what();
            (time(Line(event).at())) " " span.tag { @if what == "blessed" { "proved" } @else { (what.replace('_', " ")) } } " " span.told { (plain::fate(&history::sentence(event))) }
        } } }
        @if !log.is_empty() { h2 { "The end of its log" } (super::thought::pre("The end of its log", &log)) }
        h2 { "What was new in it" }
    })?;
    match diff::change(&server.house, Some(&life.to_string()))? {
        Some(change) => change::write(&change, out),
        None => out.html(&html! { p.none { "Nothing." } }),
    }
}

/// The span of a life, as the picture takes it.
fn span(began: &str, until: &str) -> Option<String> {
    let from = house::moments::ms(began)?;
    let to = house::moments::ms(until).unwrap_or_else(house::clock::wall_ms);
    Some(format!("from={from}&to={to}"))
}

fn death(death: Death) -> Markup {
    let evidence = [death.evidence(), death.log_tail()];
    html! {
        h2 { "How it ended" }
        p.headline.red { (death.ended().replace('_', " ")) ": " (death.cause()) }
        p { (exact(death.at())) ", blamed on " (death.blame()) }
        @for evidence in evidence.into_iter().filter(|evidence| !evidence.is_empty()) { (super::thought::pre("Evidence", evidence)) }
    }
}
