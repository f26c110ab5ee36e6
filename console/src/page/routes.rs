//! Paths of the page and their handlers.

use crate::page::frame::Weight::{self, Heavy, Light};
use crate::page::out::Out;
use crate::page::{Server, acts, app, frame, stream, views};
use anyhow::Result;
use axum::extract::Query;
use axum::middleware::from_fn;
use axum::routing::{MethodRouter, get, post};
use axum::{Extension, Router};
use http::StatusCode;
use maud::html;
use serde::de::DeserializeOwned;
use std::sync::Arc;

const STYLE: &str = include_str!("style.css");
const STREAM: &str = include_str!("stream.js");
const LIFE: &str = include_str!("life.js");
const TALK: &str = include_str!("talk.js");
pub const SCRIPT: &str = "text/javascript; charset=utf-8";

pub fn all(server: &Server) -> Router {
    let [own_shown, own_done] = server.entrance.routes();
    let shown = Router::new()
        .route("/", shown("Now", "/", Light, views::now::write))
        .route("/talk", asked("Talk", "/talk", Light, views::talk::write))
        .route("/asks", shown("Asks", "/asks", Light, views::asks::write))
        .route("/asks/{id}", get(views::asks::one))
        .route("/life", asked("A life", "/life", Heavy, views::life::write))
        .route("/life.svg", get(views::life::picture))
        .route("/export/life/{file}", get(views::export::life))
        .route("/export/days.svg", get(views::export::days))
        .route("/export/{file}", get(views::export::span))
        .route("/lives/{life}", get(views::lives::page))
        .route("/thought/{number}", get(views::thought::page))
        .route("/commit/{name}", get(views::change::page))
        .route("/record/{file}/{at}", get(views::record::page))
        .route("/edits", asked("Self-edits", "/edits", Heavy, views::edits::write))
        .route("/ladder", get(|| async { frame::see("/edits") }))
        .route("/ladder/{rung}", get(views::ladder::one))
        .route("/report", asked("Report", "/report", Heavy, views::report::write))
        .route("/search", asked("Search", "/search", Heavy, views::search::write))
        .route("/spend", asked("Spend", "/spend", Heavy, views::spend::write))
        .route("/memory", shown("Memory", "/memory", Light, views::memory::write))
        .route("/memory/paper/{*name}", get(views::memory::paper))
        .route("/memory/snapshot/{name}", get(views::memory::snapshot))
        .route("/stream", get(stream::follow))
        .route("/more", shown("More", "/more", Light, frame::more))
        .route("/favicon.svg", get(frame::icon))
        .route("/favicon.ico", get(|| async { StatusCode::NO_CONTENT }))
        .merge(app::routes())
        .route("/style.css", get(|| async { frame::asset("text/css; charset=utf-8", STYLE) }))
        .route("/stream.js", get(|| async { frame::asset(SCRIPT, STREAM) }))
        .route("/life.js", get(|| async { frame::asset(SCRIPT, LIFE) }))
        .route("/talk.js", get(|| async { frame::asset(SCRIPT, TALK) }))
        .merge(own_shown);
    let done = Router::new()
        .route("/say", post(acts::say))
        .route("/asks/{id}/yes", post(acts::yes))
        .route("/asks/{id}/no", post(acts::no))
        .route("/ladder/{rung}/back", post(acts::back))
        .route("/pause", post(acts::pause))
        .route("/resume", post(acts::resume))
        .route("/memory/paper/{*name}", post(views::memory::save))
        .merge(own_done)
        .route_layer(from_fn(acts::once));
    shown.merge(done).fallback(nothing).method_not_allowed_fallback(not_so)
}

/// A page that is the same however it is asked for.
fn shown(
    title: &'static str,
    here: &'static str,
    weight: Weight,
    write: fn(&Server, &mut Out) -> Result<()>,
) -> MethodRouter {
    get(move |Extension(server): Extension<Arc<Server>>| frame::page(server, title, here, weight, write))
}

/// A page by the fields of its query.
fn asked<Q: DeserializeOwned + Send + 'static>(
    title: &'static str,
    here: &'static str,
    weight: Weight,
    write: fn(&Server, &Q, &mut Out) -> Result<()>,
) -> MethodRouter {
    get(move |Extension(server): Extension<Arc<Server>>, Query(asked): Query<Q>| {
        frame::page(server, title, here, weight, move |server, out| write(server, &asked, out))
    })
}

async fn nothing() -> axum::response::Response {
    frame::short(StatusCode::NOT_FOUND, "No such page", "", &html! { p { "Nothing is here." } })
}

async fn not_so() -> axum::response::Response {
    let told = html! { p { "What changes something is done by a button of its page, never by a link." } };
    frame::short(StatusCode::METHOD_NOT_ALLOWED, "Not so", "", &told)
}
