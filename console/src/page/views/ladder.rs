//! Changes that a rollback to a version would make, and the order for it.

use super::{change, number, texts};
use crate::diff;
use crate::page::Server;
use crate::page::form::button;
use crate::page::frame::{self, Weight};
use crate::page::out::{Out, missing};
use crate::rollback;
use anyhow::Result;
use axum::Extension;
use axum::extract::Path;
use axum::response::Response;
use house::bounds::short;
use house::records::text;
use maud::html;
use serde_json::Value;
use std::sync::Arc;

pub async fn one(Extension(server): Extension<Arc<Server>>, Path(rung): Path<String>) -> Response {
    let is_name = (1..=64).contains(&rung.len()) && rung.bytes().all(|byte| byte.is_ascii_hexdigit());
    let title =
        if is_name { format!("Back to version {}", short(&rung)) } else { "No such version".to_owned() };
    frame::page(server, &title, "/edits", Weight::Light, move |server, out| {
        let facts = rollback::facts(&server.house, Some(&rung)).map_err(missing)?;
        let change = diff::back_to(&server.house, &rung).map_err(missing)?;
        changes(server, &rung, &facts, &change, out)
    })
    .await
}

fn changes(server: &Server, rung: &str, facts: &Value, lines: &diff::Change, out: &mut Out) -> Result<()> {
    let is = |name: &str| facts.get(name) == Some(&true.into());
    out.html(&html! {
        p.headline { "It would be put back to " (text(facts, "to_told")) }
        p.about { "Nothing is changed yet. " a href="/edits" { "All self-edits" } }
        @if is("nothing_to_do") { p { "creature/ is already what that has; nothing would be done." } }
        @else {
            p { (number(facts, "files")) " files, +" (number(facts, "added")) " −" (number(facts, "removed")) " lines, as one new commit." }
            @if is("fell_before") { p.wrong { "It fell before; it would be tried once more, as you ask for it." } }
            @for (name, told) in [("undone", "Commits undone"), ("brought_back", "Commits brought back"), ("uncommitted", "Edits that are not committed: kept under refs/guardian/rescued/ first")] {
                @if !texts(facts, name).is_empty() { h2 { (told) } ul { @for one in texts(facts, name) { li { (one) } } } }
            }
            div.acts { (button(server, &format!("/ladder/{rung}/back"), &format!("Go back to version {}", short(rung)), &[("head", text(facts, "head"))])) }
        }
        h2 { "Line by line" }
    })?;
    change::lines(lines, out)
}
