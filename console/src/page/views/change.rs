//! A commit and its changes, line by line, with its fate.

use super::now::paint;
use super::{list, number, texts};
use crate::diff::{self, Change};
use crate::page::Server;
use crate::page::frame::{self, Weight, exact};
use crate::page::out::{Out, missing};
use crate::plain;
use anyhow::Result;
use axum::Extension;
use axum::extract::Path;
use axum::response::Response;
use house::bounds::short;
use house::records::text;
use maud::html;
use std::sync::Arc;

/// Lines that leave at once.
const LINES_A_PIECE: usize = 200;

pub async fn page(Extension(server): Extension<Arc<Server>>, Path(name): Path<String>) -> Response {
    let is_name = (4..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    let title = if is_name { format!("Commit {}", short(&name)) } else { "No commit".to_owned() };
    frame::page(server, &title, "/edits", Weight::Light, move |server, out| {
        if !is_name {
            return Err(missing("no commit is called so"));
        }
        write(&diff::commit(&server.house, &name).map_err(missing)?, out)
    })
    .await
}

/// Writes the facts of a change, and its lines.
pub fn write(change: &Change, out: &mut Out) -> Result<()> {
    let facts = &change.facts;
    let files = list(facts, "files");
    let (commit, before) = (text(facts, "commit"), text(facts, "before"));
    out.html(&html! {
        p.headline { (text(facts, "summary")) }
        dl {
            dt { "What" } dd { (text(facts, "told")) ": " a href={ "/commit/" (commit) } { (short(commit)) }
                @if !before.is_empty() { " since " a href={ "/commit/" (before) } { (short(before)) } } }
            dt { "When" } dd { (exact(text(facts, "at"))) }
            dt { "What came of it" } dd { (texts(facts, "came").iter().map(|came| plain::fate(came)).collect::<Vec<_>>().join("; ")) }
        }
        @if !files.is_empty() {
            div.scroll tabindex="0" role="region" aria-label="Files that differ" {
                table {
                    caption { "Files that differ" }
                    thead { tr { th scope="col" { "File" } th scope="col" { "How" } th.number scope="col" { "Came" } th.number scope="col" { "Went" } } }
                    tbody { @for file in files { tr {
                        th scope="row" { (text(file, "path")) } td { (text(file, "how")) }
                        td.number { "+" (number(file, "added")) } td.number { "−" (number(file, "removed")) }
                    } } }
                }
            }
        }
    })?;
    lines(change, out)
}

/// The lines of a change, each with the class of its kind.
pub fn lines(change: &Change, out: &mut Out) -> Result<()> {
    if change.lines.is_empty() {
        return out.html(&html! { p.none { "No line differs." } });
    }
    out.raw("<pre class=\"diff\" tabindex=\"0\" role=\"group\" aria-label=\"Lines that differ\">")?;
    for part in change.lines.chunks(LINES_A_PIECE) {
        out.html(&html! { @for (code, line) in part { span.(paint(code)) { (line) } } })?;
    }
    out.raw("</pre>")?;
    if change.cut {
        out.html(&html! { p.none { "Only the first lines are shown; git shows all." } })?;
    }
    Ok(())
}
