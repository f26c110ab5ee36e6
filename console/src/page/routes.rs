//! Paths of the page and their handlers.

use crate::page::{Server, acts, frame, stream, views};
use axum::Router;
use axum::routing::{get, post};
use http::StatusCode;
use maud::html;
use std::sync::Arc;

const STYLE: &str = include_str!("style.css");
const STREAM: &str = include_str!("stream.js");
const LIFE: &str = include_str!("life.js");
const TALK: &str = include_str!("talk.js");
const SCRIPT: &str = "text/javascript; charset=utf-8";

pub fn all() -> Router<Arc<Server>> {
    let shown = Router::new()
        .route("/", get(views::now::page))
        .route("/talk", get(views::talk::page))
        .route("/asks", get(views::asks::page))
        .route("/asks/{id}", get(views::asks::one))
        .route("/life", get(views::life::page))
        .route("/life.svg", get(views::life::picture))
        .route("/export/life/{file}", get(views::export::life))
        .route("/export/days.svg", get(views::export::days))
        .route("/export/{file}", get(views::export::span))
        .route("/lives/{life}", get(views::lives::page))
        .route("/thought/{number}", get(views::thought::page))
        .route("/commit/{name}", get(views::change::page))
        .route("/record/{file}/{at}", get(views::record::page))
        .route("/edits", get(views::edits::page))
        .route("/ladder", get(|| async { frame::see("/edits") }))
        .route("/ladder/{rung}", get(views::ladder::one))
        .route("/report", get(views::report::page))
        .route("/search", get(views::search::page))
        .route("/spend", get(views::spend::page))
        .route("/memory", get(views::memory::page))
        .route("/memory/paper/{*name}", get(views::memory::paper).post(views::memory::save))
        .route("/memory/snapshot/{name}", get(views::memory::snapshot))
        .route("/stream", get(stream::follow))
        .route("/more", get(frame::more))
        .route("/favicon.svg", get(frame::icon))
        .route("/favicon.ico", get(|| async { StatusCode::NO_CONTENT }))
        .route("/style.css", get(|| async { frame::asset("text/css; charset=utf-8", STYLE) }))
        .route("/stream.js", get(|| async { frame::asset(SCRIPT, STREAM) }))
        .route("/life.js", get(|| async { frame::asset(SCRIPT, LIFE) }))
        .route("/talk.js", get(|| async { frame::asset(SCRIPT, TALK) }));
    let done = Router::new()
        .route("/say", post(acts::say))
        .route("/asks/{id}/yes", post(acts::yes))
        .route("/asks/{id}/no", post(acts::no))
        .route("/ladder/{rung}/back", post(acts::back))
        .route("/pause", post(acts::pause))
        .route("/resume", post(acts::resume))
        .route("/link/new", post(acts::new_link));
    shown.merge(done).fallback(nothing).method_not_allowed_fallback(not_so)
}

async fn nothing() -> axum::response::Response {
    frame::short(StatusCode::NOT_FOUND, "No such page", "", &html! { p { "Nothing is here." } })
}

async fn not_so() -> axum::response::Response {
    let told = html! { p { "What changes something is done by a button of its page, never by a link." } };
    frame::short(StatusCode::METHOD_NOT_ALLOWED, "Not so", "", &told)
}
