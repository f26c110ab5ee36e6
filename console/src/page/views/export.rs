//! A life or a span to take away: a trace that Perfetto opens, or one page to show to others with secrets struck.

use crate::life::export::{self, Form};
use crate::life::picture::days;
use crate::life::{Part, Span, trace};
use crate::page::{Server, frame, out};
use axum::Extension;
use axum::extract::{Path, Query};
use axum::response::{IntoResponse, Response};
use http::{StatusCode, header};
use maud::html;
use serde::Deserialize;
use std::sync::Arc;

#[derive(Deserialize)]
pub struct Asked {
    from: Option<u64>,
    to: Option<u64>,
}

/// The kind of an exported part, and its writer.
fn form(ending: &str) -> Option<(&'static str, Form)> {
    match ending {
        "json" => Some(("application/json; charset=utf-8", trace::write)),
        "html" => Some(("text/html; charset=utf-8", export::html)),
        _ => None,
    }
}

/// `/export/life/7.json`.
pub async fn life(Extension(server): Extension<Arc<Server>>, Path(file): Path<String>) -> Response {
    let asked = file.split_once('.').and_then(|(life, ending)| Some((life.parse().ok()?, form(ending)?)));
    match asked {
        Some((life, form)) => write(server, Part::Life(life), &format!("life-{file}"), form).await,
        None => nothing(),
    }
}

/// `/export/span.json?from=MS&to=MS`; without times all of it.
pub async fn span(
    Extension(server): Extension<Arc<Server>>,
    Path(file): Path<String>,
    Query(asked): Query<Asked>,
) -> Response {
    let part = match (asked.from, asked.to) {
        (Some(from), Some(to)) => Part::Span(Span::of_ms(from, to)),
        (None, None) => Part::All,
        (Some(_), None) | (None, Some(_)) => return nothing(),
    };
    match file.strip_prefix("span.").and_then(form) {
        Some(form) => write(server, part, &file, form).await,
        None => nothing(),
    }
}

/// `/export/days.svg`: the calendar as one picture, with no word of the creature's or the owner's.
pub async fn days(Extension(server): Extension<Arc<Server>>) -> Response {
    let drawn = tokio::task::spawn_blocking(move || {
        server.past.look();
        server.past.with(|life| days::svg(&days::days(life, &server.place), &server.place, true))
    });
    match drawn.await {
        Ok(svg) if !svg.is_empty() => kept(svg, frame::SVG, "days.svg"),
        Ok(_) | Err(_) => nothing(),
    }
}

fn nothing() -> Response {
    let told = html! { p { "There is none of that name." } };
    frame::short(StatusCode::NOT_FOUND, "No such export", "/life", &told)
}

/// Answers with a part as a file to keep: its content is not shown at this address.
async fn write(server: Arc<Server>, part: Part, name: &str, (kind, write): (&'static str, Form)) -> Response {
    let house = server.house.clone();
    let body = out::body(String::new(), server.heavy.clone(), move |out| {
        let _ = write(&house, &part, out);
    });
    kept(body.await, kind, name)
}

/// An answer to be kept as a file.
fn kept(body: impl IntoResponse, kind: &'static str, name: &str) -> Response {
    let kept = format!("attachment; filename=\"feral-{name}\"");
    ([(header::CONTENT_DISPOSITION, kept)], frame::asset(kind, body)).into_response()
}
