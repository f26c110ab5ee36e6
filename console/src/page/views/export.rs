//! A life or a span to take away: a trace that Perfetto opens, or one page to show to others with secrets struck.

use crate::life::picture::days;
use crate::life::{Part, Span, export, trace};
use crate::page::{Server, frame, out, past};
use anyhow::Result;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Response};
use house::House;
use http::{HeaderValue, StatusCode, header};
use maud::html;
use serde::Deserialize;
use std::io::Write;
use std::sync::Arc;

#[derive(Deserialize)]
pub struct Asked {
    from: Option<u64>,
    to: Option<u64>,
}

/// Form of an exported part: its kind and its writer.
type Form = (&'static str, fn(&House, &Part, &mut dyn Write) -> Result<()>);

fn form(ending: &str) -> Option<Form> {
    match ending {
        "json" => Some(("application/json; charset=utf-8", trace::write)),
        "html" => Some(("text/html; charset=utf-8", export::html)),
        _ => None,
    }
}

/// `/export/life/7.json`.
pub async fn life(State(server): State<Arc<Server>>, Path(file): Path<String>) -> Response {
    let asked = file.split_once('.').and_then(|(life, ending)| Some((life.parse().ok()?, form(ending)?)));
    match asked {
        Some((life, form)) => write(server, Part::Life(life), &format!("life-{file}"), form).await,
        None => nothing(),
    }
}

/// `/export/span.json?from=MS&to=MS`; without times all of it.
pub async fn span(
    State(server): State<Arc<Server>>,
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
pub async fn days(State(server): State<Arc<Server>>) -> Response {
    let drawn = tokio::task::spawn_blocking(move || {
        past::look(&server);
        server.past.with(&server, |life| days::svg(&days::days(life, &server.place), &server.place, true))
    });
    match drawn.await {
        Ok(svg) if !svg.is_empty() => kept(svg.into_response(), "image/svg+xml; charset=utf-8", "days.svg"),
        Ok(_) | Err(_) => nothing(),
    }
}

fn nothing() -> Response {
    frame::short(
        StatusCode::NOT_FOUND,
        "No such export",
        "/life",
        &html! { p { "There is none of that name." } },
    )
}

/// Answers with a part as a file to keep: its content is not shown at this address.
async fn write(server: Arc<Server>, part: Part, name: &str, (kind, write): Form) -> Response {
    let house = server.house.clone();
    let (status, body) = out::body(String::new(), server.heavy.clone(), move |out| {
        let _ = write(&house, &part, out);
    })
    .await;
    kept((status, body).into_response(), kind, name)
}

/// An answer to be kept as a file.
fn kept(mut response: Response, kind: &'static str, name: &str) -> Response {
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    if let Ok(kept) = HeaderValue::from_str(&format!("attachment; filename=\"feral-{name}\"")) {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, kept);
    }
    response
}
