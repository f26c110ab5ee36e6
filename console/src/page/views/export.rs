//! A life or a span to take away: a trace that Perfetto opens, or one page to show to others with secrets struck.

use crate::life::{Part, Span, export, trace};
use crate::page::{Server, frame, out};
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

/// How a part is written: its name's ending, its kind, and what writes it.
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

fn nothing() -> Response {
    frame::short(
        StatusCode::NOT_FOUND,
        "No such export",
        "/life",
        &html! { p { "There is none of that name." } },
    )
}

/// To be kept as a file: what it holds is not shown at this address.
async fn write(server: Arc<Server>, part: Part, name: &str, (kind, write): Form) -> Response {
    let house = server.house.clone();
    let (status, body) = out::body(String::new(), server.heavy.clone(), move |out| {
        let _ = write(&house, &part, out);
    })
    .await;
    let mut response = (status, body).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    if let Ok(kept) = HeaderValue::from_str(&format!("attachment; filename=\"feral-{name}\"")) {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, kept);
    }
    response
}
