//! The owner's acts from the page: each by a form with a token of its own, in the same way as at the terminal.

use crate::page::form::Fields;
use crate::page::frame::{self, see};
use crate::page::tokens::Stale;
use crate::page::{Server, views};
use crate::say::{self, Word};
use crate::window::child::Running;
use crate::window::typed::Order;
use crate::{asks, rollback};
use anyhow::{Result, bail};
use axum::Extension;
use axum::extract::{Path, Request};
use axum::middleware::Next;
use axum::response::Response;
use house::records::text;
use http::StatusCode;
use maud::{Markup, html};
use std::sync::Arc;
use std::time::Duration;

/// Longest wait for the result of an answer before the ask is shown.
const CAME: Duration = Duration::from_secs(2);

/// Pages that an act may lead back to, and the part of each that is looked at.
const BACK: [(&str, &str); 3] = [("/", "/"), ("/talk", "/talk#last"), ("/asks", "/asks")];

/// Returns the part of the page the form came from, if it is in `BACK`.
fn back_to(fields: &Fields) -> Option<&'static str> {
    let from = fields.text("from");
    BACK.iter().find(|(page, _)| *page == from).map(|(_, to)| *to)
}

/// Arguments of an act's handler.
pub type Given = (Extension<Arc<Server>>, Extension<Fields>);

/// Lets an act through whose form has its token, which counts once; else says why not, with the owner's text.
pub async fn once(
    Extension(server): Extension<Arc<Server>>,
    Extension(fields): Extension<Fields>,
    request: Request,
    next: Next,
) -> Response {
    let path = request.uri().path();
    match server.tokens.take(path, &server.seal, &fields.text("act"), house::clock::wall_ms()) {
        Ok(()) => next.run(request).await,
        Err(stale) => refused(&server, path, &fields, &stale),
    }
}

/// Works with files, beside the server.
pub async fn beside<T: Send + 'static>(
    server: &Arc<Server>,
    work: impl FnOnce(&Server) -> Result<T> + Send + 'static,
) -> Result<T> {
    let server = server.clone();
    tokio::task::spawn_blocking(move || work(&server)).await?
}

/// Says that nothing was done; shows the owner's text once more, to be sent from there.
fn refused(server: &Server, path: &str, fields: &Fields, stale: &Stale) -> Response {
    let body = html! {
        p.wrong role="alert" { "Nothing was done. " (stale.told()) }
        @let others: Vec<_> = fields.others().collect();
        @if *stale == Stale::Used || others.is_empty() {
            p { "The pages above show how things stand; do it from there." }
        } @else {
            p { "This is what was sent. If it is still meant, send it from here." }
            form method="post" action=(path) {
                input type="hidden" name="act" value=(server.act(path));
                @for (name, value) in others {
                    @if value.contains('\n') || value.len() > 80 || name == "words" {
                        label for=(name) { (name) }
                        textarea id=(name) name=(name) rows="8" { "\n" (value) }
                    } @else {
                        input type="hidden" name=(name) value=(value);
                    }
                }
                button type="submit" { "Send it" }
            }
        }
    };
    frame::short(StatusCode::CONFLICT, "Not done", "", &body)
}

/// An act that failed, and why.
pub fn failed(title: &str, here: &str, error: &anyhow::Error, more: &Markup) -> Response {
    let body = html! { (frame::wrong(&format!("{error:#}"))) (more) };
    frame::short(StatusCode::CONFLICT, title, here, &body)
}

/// Runs a command of the terminal's to its end, beside the server; shows what it said, and whether it succeeded.
async fn run(server: &Arc<Server>, order: Order, title: &str, here: &str) -> Response {
    let ran = beside(server, move |server| Running::start(&server.house, &order, 100)?.whole()).await;
    let (is_done, lines) = match ran {
        Ok((status, lines)) => (status == Some(0), lines),
        Err(error) => (false, vec![format!("{error:#}")]),
    };
    let body = html! {
        p role="status" { @if is_done { "Done." } @else { "It was not done, or not all of it." } }
        pre tabindex="0" aria-label="What was said" { (lines.join("\n")) }
        p { a href=(here) { "How it stands now" } }
    };
    let status = if is_done { StatusCode::OK } else { StatusCode::CONFLICT };
    frame::short(status, title, here, &body)
}

pub async fn say((Extension(server), Extension(fields)): Given) -> Response {
    let words = fields.text("words");
    let said = words.clone();
    let kept = beside(&server, move |server| {
        let word = Word::new(&said, Some(say::MAIN)).map_err(anyhow::Error::msg)?;
        say::keep(&server.house, &word)
    });
    match kept.await {
        Ok(()) => see(back_to(&fields).unwrap_or("/talk#last")),
        Err(error) => failed("Not said", "/talk", &error, &views::talk::form(&server, &words)),
    }
}

async fn answer((Extension(server), Extension(fields)): Given, id: String, approve: bool) -> Response {
    let (of, shown) = (id.clone(), fields.text("digest"));
    let kept = beside(&server, move |server| {
        let answerable = asks::answerable(&server.house, &of)?;
        if answerable.digest != shown {
            bail!("ask {of} is not what was shown to you any more; nothing is answered");
        }
        asks::keep(&server.house, &of, approve, &shown)?;
        // What comes of it at once is on the page that follows.
        asks::came(&server.house, &answerable.ask, CAME)
    });
    let Err(error) = kept.await else { return see(back_to(&fields).unwrap_or(&format!("/asks/{id}"))) };
    let ask = house::asks::find(&server.house, &id).ok();
    failed("Not answered", "/asks", &error, &views::asks::not_taken(ask.as_ref(), &id))
}

pub async fn yes(given: Given, Path(id): Path<String>) -> Response {
    answer(given, id, true).await
}

pub async fn no(given: Given, Path(id): Path<String>) -> Response {
    answer(given, id, false).await
}

/// Orders the guardian to go back to a rung, where what is committed is still what the changes were shown against.
pub async fn back((Extension(server), Extension(fields)): Given, Path(rung): Path<String>) -> Response {
    let (to, shown) = (rung.clone(), fields.text("head"));
    let is_same = beside(&server, move |server| {
        if text(&rollback::facts(&server.house, Some(&to))?, "head") != shown {
            bail!("Something was committed since the changes were shown; look at them again.");
        }
        Ok(())
    });
    match is_same.await {
        Ok(()) => run(&server, Order::new(&["rollback", &rung]), "Back", "/edits").await,
        Err(error) => {
            failed("Not gone back", "/edits", &error, &html! { " " a href="/edits" { "Its self-edits" } })
        }
    }
}

pub async fn pause((Extension(server), _): Given) -> Response {
    run(&server, Order::new(&["pause"]), "Pause", "/").await
}

pub async fn resume((Extension(server), _): Given) -> Response {
    run(&server, Order::new(&["resume"]), "Resume", "/").await
}
