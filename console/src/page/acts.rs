//! The owner's acts from the page: each by a form with a token of its own, in the same way as at the terminal.

use crate::page::form::Fields;
use crate::page::frame::{self, see};
use crate::page::tokens::Stale;
use crate::page::{Server, views};
use crate::say::{self, Word};
use crate::window::child::Running;
use crate::window::typed::Order;
use crate::{asks, rollback};
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use house::records::text;
use http::{StatusCode, Uri};
use maud::{Markup, html};
use std::sync::Arc;
use std::time::Duration;

/// The thread of the page's words: so a plain yes is heard as the answer to a question there.
const THREAD: &str = "main";
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
pub type Given = (State<Arc<Server>>, Uri, Extension<Fields>);

/// Takes the token of an act; `None`: it may be done. Else the page that says why not, with the owner's text.
pub fn refusal(server: &Server, path: &str, fields: &Fields) -> Option<Response> {
    let link = server.link.token();
    let taken = server.tokens.take(path, &link, &fields.text("act"), house::clock::wall_ms());
    taken.err().map(|stale| refused(server, path, fields, &stale))
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
pub fn failed(title: &str, here: &str, told: &str, more: &Markup) -> Response {
    let body = html! { p.wrong role="alert" { (told) } (more) };
    frame::short(StatusCode::CONFLICT, title, here, &body)
}

/// Runs a command of the terminal's to its end, beside the server; its lines, and whether it succeeded.
pub async fn run(server: &Arc<Server>, order: Order) -> (bool, Vec<String>) {
    let server = server.clone();
    let ran = tokio::task::spawn_blocking(move || Running::start(&server.house, &order, 100)?.whole()).await;
    match ran {
        Ok(Ok((status, lines))) => (status == Some(0), lines),
        Ok(Err(error)) => (false, vec![format!("{error:#}")]),
        Err(error) => (false, vec![error.to_string()]),
    }
}

/// Renders the result of a command.
pub fn came(title: &str, here: &str, (is_done, lines): &(bool, Vec<String>), back: &str) -> Response {
    let body = html! {
        p role="status" { @if *is_done { "Done." } @else { "It was not done, or not all of it." } }
        pre tabindex="0" aria-label="What was said" { (lines.join("\n")) }
        p { a href=(back) { "How it stands now" } }
    };
    let status = if *is_done { StatusCode::OK } else { StatusCode::CONFLICT };
    frame::short(status, title, here, &body)
}

pub async fn say((State(server), uri, Extension(fields)): Given) -> Response {
    if let Some(refused) = refusal(&server, uri.path(), &fields) {
        return refused;
    }
    let words = fields.text("words");
    let kept = tokio::task::spawn_blocking({
        let (server, words) = (server.clone(), words.clone());
        move || {
            let word = Word::new(&words, Some(THREAD)).map_err(anyhow::Error::msg)?;
            say::keep(&server.house, &word)
        }
    });
    match kept.await {
        Ok(Ok(())) => see(back_to(&fields).unwrap_or("/talk#last")),
        Ok(Err(error)) => {
            failed("Not said", "/talk", &format!("{error:#}"), &views::talk::form(&server, &words))
        }
        Err(error) => failed("Not said", "/talk", &error.to_string(), &views::talk::form(&server, &words)),
    }
}

async fn answer((State(server), uri, Extension(fields)): Given, id: String, approve: bool) -> Response {
    if let Some(refused) = refusal(&server, uri.path(), &fields) {
        return refused;
    }
    let shown = fields.text("digest");
    let kept = tokio::task::spawn_blocking({
        let (server, id) = (server.clone(), id.clone());
        move || {
            let answerable = asks::answerable(&server.house, &id)?;
            if answerable.digest != shown {
                anyhow::bail!("ask {id} is not what was shown to you any more; nothing is answered");
            }
            asks::keep(&server.house, &id, approve, &shown)?;
            // What comes of it at once is on the page that follows.
            asks::came(&server.house, &answerable.ask, CAME)
        }
    });
    let told = match kept.await {
        Ok(Ok(_)) => return see(back_to(&fields).unwrap_or(&format!("/asks/{id}"))),
        Ok(Err(error)) => format!("{error:#}"),
        Err(error) => error.to_string(),
    };
    let ask = house::asks::find(&server.house, &id).ok();
    let told = views::asks::not_taken(ask.as_ref(), &id, &told);
    frame::short(StatusCode::CONFLICT, "Not answered", "/asks", &told)
}

pub async fn yes(given: Given, Path(id): Path<String>) -> Response {
    answer(given, id, true).await
}

pub async fn no(given: Given, Path(id): Path<String>) -> Response {
    answer(given, id, false).await
}

/// Orders the guardian to go back to a rung, where what is committed is still what the changes were shown against.
pub async fn back((State(server), uri, Extension(fields)): Given, Path(rung): Path<String>) -> Response {
    if let Some(refused) = refusal(&server, uri.path(), &fields) {
        return refused;
    }
    let head = tokio::task::spawn_blocking({
        let (server, rung) = (server.clone(), rung.clone());
        move || rollback::facts(&server.house, Some(&rung))
    });
    let told = match head.await {
        Ok(Ok(facts)) if text(&facts, "head") == fields.text("head") => {
            let came = run(&server, Order::new(&["rollback", &rung])).await;
            return self::came("Back", "/edits", &came, "/edits");
        }
        Ok(Ok(_)) => "Something was committed since the changes were shown; look at them again.".to_owned(),
        Ok(Err(error)) => format!("{error:#}"),
        Err(error) => error.to_string(),
    };
    failed("Not gone back", "/edits", &told, &html! { " " a href="/edits" { "Its self-edits" } })
}

async fn order(server: &Arc<Server>, path: &str, fields: &Fields, name: &str, title: &str) -> Response {
    if let Some(refused) = refusal(server, path, fields) {
        return refused;
    }
    let came = run(server, Order::new(&[name])).await;
    self::came(title, "/", &came, "/")
}

pub async fn pause((State(server), uri, Extension(fields)): Given) -> Response {
    order(&server, uri.path(), &fields, "pause", "Pause").await
}

pub async fn resume((State(server), uri, Extension(fields)): Given) -> Response {
    order(&server, uri.path(), &fields, "resume", "Resume").await
}

/// Makes the link anew; the browser that asked keeps access, all others lose it.
pub async fn new_link((State(server), uri, Extension(fields)): Given) -> Response {
    if let Some(refused) = refusal(&server, uri.path(), &fields) {
        return refused;
    }
    match server.link.renew() {
        Ok(token) => {
            let mut response = see("/");
            let set = format!("{}={token}; HttpOnly; SameSite=Strict; Path=/", server.cookie());
            if let Ok(set) = http::HeaderValue::from_str(&set) {
                response.headers_mut().insert(http::header::SET_COOKIE, set);
            }
            response
        }
        Err(error) => failed("The link", "/", &format!("{error:#}"), &html! {}),
    }
}
