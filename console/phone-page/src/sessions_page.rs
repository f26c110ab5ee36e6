//! The page of sessions: who is signed in, ended one by one or all; passkeys, added and removed.

use crate::passkeys::Kept;
use crate::phone::Phone;
use crate::seats::{IDLE_MS, LONGEST_MS, Seats, Session, days};
use crate::sign_in::{beside, refused};
use crate::{browser, stored};
use anyhow::{Result, bail, ensure};
use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use console::page::Server;
use console::page::acts::failed;
use console::page::form::{Fields, button, hidden};
use console::page::frame::{self, see, time};
use house::clock::{stamp_of, wall_ms};
use http::{HeaderMap, StatusCode};
use maud::{Markup, html};
use serde_json::json;
use std::sync::Arc;

/// A passkey outlasts the session that added it: one of a stolen cookie would lead in when that has long ended.
const LATE: &str = "A passkey is added within 15 minutes after signing in: sign out, and in again.";

type Here = Extension<Arc<Phone>>;
type At = Extension<Arc<Server>>;

pub fn shown() -> Router {
    Router::new().route("/sessions", get(page))
}

pub fn done() -> Router {
    Router::new()
        .route("/sessions/{id}/end", post(end))
        .route("/sessions/end-all", post(end_all))
        .route("/sign-out", post(sign_out))
        .route("/passkeys/add", post(begin_passkey))
        .route("/passkeys/finish", post(finish_passkey))
        .route("/passkeys/{id}/remove", post(remove_passkey))
}

/// Tells of this way in at the end of the first page.
pub fn told(server: &Server) -> Markup {
    html! {
        details {
            summary { "You are signed in" }
            p { a href="/sessions" { "Sessions and passkeys" } }
            (button(server, "/sign-out", "Sign out", &[]))
        }
    }
}

async fn page(Extension(server): At, Extension(phone): Here) -> Response {
    let (of, at) = (phone.clone(), server.clone());
    let body = beside(move || {
        let kept: Vec<Kept> = of.stored.read(stored::PASSKEYS);
        let sessions = of.with_seats(|seats| sessions(&at, seats));
        Ok(html! { (sessions) (passkeys(&at, &of, &kept)) })
    });
    match body.await {
        Ok(body) => frame::short(StatusCode::OK, "Sessions", "/more", &body),
        Err(error) => failed("Sessions", "/more", &error, &html! {}),
    }
}

fn sessions(server: &Server, seats: &Seats) -> Markup {
    html! {
        p { "A session ends " (days(IDLE_MS)) " days after it was used last, and " (days(LONGEST_MS)) " days after it began." }
        ul.sessions { @for one in seats.in_turn(wall_ms()) { li { (session(server, one)) } } }
        (button(server, "/sessions/end-all", "End all of them, this one too", &[]))
    }
}

fn session(server: &Server, one: &Session) -> Markup {
    let is_this = one.digest == server.seal;
    html! {
        p {
            strong { (one.browser) } @if is_this { " · this one" }
            span.about { " by " (one.by.told()) " from " (one.from) ", " (time(&stamp_of(one.since_ms))) "; used " (time(&stamp_of(one.seen_ms))) }
        }
        (button(server, &format!("/sessions/{}/end", one.id), "End", &[]))
    }
}

fn passkeys(server: &Server, phone: &Phone, kept: &[Kept]) -> Markup {
    html! {
        section aria-labelledby="passkeys" {
            h2 #passkeys { "Passkeys" }
            ul.sessions { @for one in kept { li {
                p { strong { "Passkey " (one.id) } span.about { " added by " (one.browser) ", " (time(&one.since)) } }
                (button(server, &format!("/passkeys/{}/remove", one.id), "Remove", &[]))
            } } }
            @if phone.passkeys.is_some() && !phone.is_fresh(&server.seal) {
                p { (LATE) }
            } @else if phone.passkeys.is_some() {
                form method="post" action="/passkeys/add" data-passkey="add" { (hidden(server, "/passkeys/add", &[])) button type="submit" { "Add a passkey of this device" } }
                p #passkey-told role="status" {}
                script src="/passkey.js" defer {}
            } @else {
                p { "A passkey needs a name to belong to: " code { "host" } " under " code { "[page]" } " in owner.toml." }
            }
        }
    }
}

/// Ends the sessions that are so; who ended their own is led to sign in.
async fn ended(
    server: &Server,
    phone: Arc<Phone>,
    is_it: impl Fn(&Session) -> bool + Send + 'static,
) -> Response {
    let of = phone.clone();
    let came = beside(move || {
        let count = of.stored.change(stored::SEATS, |seats: &mut Seats| seats.end(&is_it))?;
        if count == 0 { bail!("there is no such session any more") } else { Ok(()) }
    });
    match came.await {
        Ok(()) if server.entrance.counts(&server.seal) => see("/sessions"),
        Ok(()) => phone.signed_out(),
        Err(error) => failed("Not ended", "/more", &error, &html! {}),
    }
}

async fn end(Extension(server): At, Extension(phone): Here, Path(id): Path<String>) -> Response {
    ended(&server, phone, move |one| one.id == id).await
}

async fn end_all(Extension(server): At, Extension(phone): Here) -> Response {
    ended(&server, phone, |_| true).await
}

async fn sign_out(Extension(server): At, Extension(phone): Here) -> Response {
    let own = server.seal.clone();
    ended(&server, phone, move |one| one.digest == own).await
}

/// Begins to add a passkey; the answer carries the token of the act that ends it.
async fn begin_passkey(Extension(server): At, Extension(phone): Here) -> Response {
    let own = server.seal.clone();
    let begun = beside(move || {
        ensure!(phone.is_fresh(&own), "{LATE}");
        phone.passkeys()?.begin_registration(&phone.stored, &own)
    });
    let act = server.act("/passkeys/finish");
    let told = begun
        .await
        .map(|begun| json!({"options": begun.get("options"), "number": begun.get("number"), "act": act}));
    told.map_or_else(|error| refused(&error), |told| axum::Json(told).into_response())
}

async fn finish_passkey(
    Extension(phone): Here,
    Extension(fields): Extension<Fields>,
    headers: HeaderMap,
) -> Response {
    let (number, answer) = (fields.text("number"), fields.text("answer"));
    let came = beside(move || {
        phone.passkeys()?.finish_registration(&phone.stored, &number, &answer, &browser::told(&headers))
    });
    came.await.map_or_else(|error| refused(&error), |()| StatusCode::OK.into_response())
}

async fn remove_passkey(Extension(phone): Here, Path(id): Path<String>) -> Response {
    let came: Result<()> = beside(move || {
        phone.stored.change(stored::PASSKEYS, |all: &mut Vec<Kept>| {
            let before = all.len();
            all.retain(|kept| kept.id != id);
            if all.len() == before { bail!("there is no such passkey any more") } else { Ok(()) }
        })?
    })
    .await;
    match came {
        Ok(()) => see("/sessions"),
        Err(error) => failed("Not removed", "/more", &error, &html! {}),
    }
}
