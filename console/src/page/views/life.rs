//! A life as a picture, and as a table of the same things.

use crate::page::frame::{self, Weight};
use crate::page::{Server, out::Out};
use anyhow::Result;
use axum::extract::State;
use axum::response::Response;
use maud::html;
use std::sync::Arc;

pub async fn page(State(server): State<Arc<Server>>) -> Response {
    let shared = server.clone();
    frame::page(&server, "A life", "/life", Weight::Heavy, move |out| write(&shared, out)).await
}

fn write(_server: &Server, out: &mut Out) -> Result<()> {
    out.html(&html! { p.none { "Nothing is drawn so far." } })
}
