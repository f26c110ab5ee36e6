//! Signing in: the page for it, by password, by passkey, or by the single-use link of `page passkey`.

use crate::guesses::{Guesses, Whose};
use crate::password::{self, Kept};
use crate::phone::Phone;
use crate::seats::{By, digest};
use crate::stored;
use anyhow::Result;
use axum::extract::Query;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use console::page::entrance::Ends;
use console::page::form::Fields;
use console::page::frame;
use console::page::guard::same;
use house::clock::{Millis, wall_ms};
use house::moments;
use house::terminal::typed;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use maud::html;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// Paths by which one signs in.
pub const INVITED: &str = "/invited";
pub const PATHS: [&str; 5] =
    ["/sign-in", INVITED, "/sign-in/passkey", "/sign-in/passkey/finish", "/passkey.js"];
/// How long the single-use link is good for.
pub const INVITED_MS: Millis = 10 * 60 * 1_000;
/// Longest wait of a guess for the one before it.
const PATIENCE: Duration = Duration::from_secs(5);
const SCRIPT: &str = include_str!("passkey.js");

/// A single-use link.
#[derive(Serialize, Deserialize)]
pub struct Invitation {
    pub digest: String,
    pub until_ms: Millis,
}

impl Invitation {
    fn is(&self, token: &str, now_ms: Millis) -> bool {
        let is_good = now_ms < self.until_ms && self.until_ms - now_ms <= INVITED_MS;
        same(&self.digest, &digest(token)) && is_good
    }
}

type Here = Extension<Arc<Phone>>;
/// A form by which somebody would sign in: where, from where, and by which browser.
type Given = (Here, Extension<Ends>, Extension<Fields>, HeaderMap);

pub fn routes() -> Router {
    Router::new()
        .route("/sign-in", get(page).post(by_password))
        .route(INVITED, get(invited).post(by_link))
        .route("/sign-in/passkey", post(begin_passkey))
        .route("/sign-in/passkey/finish", post(by_passkey))
        .route("/passkey.js", get(|| async { frame::asset("text/javascript; charset=utf-8", SCRIPT) }))
}

/// The page to sign in at, with what came of the try before it.
fn shown(phone: &Phone, status: StatusCode, told: Option<&str>) -> Response {
    let has_passkeys = phone.has_passkeys();
    let body = html! {
        h1 { "Sign in" }
        @if let Some(told) = told { (frame::wrong(told)) }
        form.sign-in method="post" action="/sign-in" {
            // By it a password manager tells this page from another.
            input type="text" name="user" value="owner" autocomplete="username" hidden readonly;
            label for="password" { "Password" }
            input #password type="password" name="password" autocomplete="current-password" required maxlength=(password::MOST_BYTES);
            button type="submit" { "Sign in" }
        }
        @if has_passkeys {
            form.sign-in data-passkey="sign-in" { button type="submit" { "Sign in with a passkey" } }
            p #passkey-told role="status" {}
        }
    };
    frame::bare(status, "Sign in", has_passkeys.then_some("/passkey.js"), &body)
}

async fn page(Extension(phone): Here) -> Response {
    shown(&phone, StatusCode::OK, None)
}

/// Outcome of a guess.
enum Came {
    In(Response),
    Wrong,
    Waits(Millis),
}

async fn by_password((Extension(phone), Extension(ends), Extension(fields), headers): Given) -> Response {
    let from = ends.there.ip();
    let whose = phone.whose(&headers, from);
    // Looked at first, and nothing is written: a crowd that waits anyway costs no turn and no disk.
    let guesses: Guesses = phone.stored.read(stored::GUESSES);
    let wait_ms = guesses.wait_ms(&whose, wall_ms());
    if wait_ms > 0 {
        return waits(&phone, wait_ms);
    }
    let Ok(held) = tokio::time::timeout(PATIENCE, phone.turn(&whose).lock()).await else {
        return shown(
            &phone,
            StatusCode::SERVICE_UNAVAILABLE,
            Some("Others try to sign in just now. Try again in a moment."),
        );
    };
    let (of, given) = (phone.clone(), fields.text("password"));
    let came = beside(move || guess(&of, &headers, from, &whose, &given)).await;
    drop(held);
    match came {
        Ok(Came::In(answer)) => answer,
        Ok(Came::Wrong) => {
            let told = format!(
                "This is not the password, or none is set yet. At the house's terminal, {} sets one.",
                typed("page password")
            );
            shown(&phone, StatusCode::UNAUTHORIZED, Some(&told))
        }
        Ok(Came::Waits(wait_ms)) => waits(&phone, wait_ms),
        Err(error) => failed(&phone, &error),
    }
}

fn waits(phone: &Phone, wait_ms: Millis) -> Response {
    let wait = Duration::from_millis(wait_ms.div_ceil(1_000) * 1_000);
    let told = format!("Too many tries were wrong. The next one is looked at in {}.", moments::span(wait));
    let mut answer = shown(phone, StatusCode::TOO_MANY_REQUESTS, Some(&told));
    answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(wait.as_secs()));
    answer
}

fn failed(phone: &Phone, error: &anyhow::Error) -> Response {
    let told = format!("Nobody was signed in: {error:#}");
    shown(phone, StatusCode::INTERNAL_SERVER_ERROR, Some(&told))
}

/// Looks at a guess, where it need not wait: counted as failed before, and on the disk so.
fn guess(phone: &Phone, headers: &HeaderMap, from: IpAddr, whose: &Whose, given: &str) -> Result<Came> {
    let now_ms = wall_ms();
    let begun = phone.stored.change(stored::GUESSES, |guesses: &mut Guesses| {
        match guesses.wait_ms(whose, now_ms) {
            0 => Ok(guesses.begin(whose, from, now_ms)),
            wait_ms => Err(wait_ms),
        }
    })?;
    let before = match begun {
        Ok(before) => before,
        Err(wait_ms) => return Ok(Came::Waits(wait_ms)),
    };
    let kept: Kept = phone.stored.read(stored::PASSWORD);
    if !password::is(given, &kept) {
        return Ok(Came::Wrong);
    }
    let answer = phone.begin(headers, from, By::Password, Some(&kept.hash))?;
    phone.stored.change(stored::GUESSES, |guesses: &mut Guesses| guesses.was_right(whose, before))?;
    Ok(Came::In(answer))
}

/// Query of the single-use link.
#[derive(Deserialize)]
struct Token {
    #[serde(default)]
    token: String,
}

/// The page that a single-use link leads to: programs that look at links before people do use none up.
async fn invited(Query(Token { token }): Query<Token>) -> Response {
    let body = html! {
        h1 { "Sign in by this link" }
        p { "The link is good once. Then a passkey can be added here, by which you sign in from then on." }
        form.sign-in method="post" action="/invited" {
            input type="hidden" name="token" value=(token);
            button type="submit" { "Sign in" }
        }
    };
    frame::bare(StatusCode::OK, "Sign in", None, &body)
}

async fn by_link((Extension(phone), Extension(ends), Extension(fields), headers): Given) -> Response {
    let (of, token) = (phone.clone(), fields.text("token"));
    let from = ends.there.ip();
    let came = beside(move || {
        let is_it = of.stored.take(stored::INVITATION, |held: &Invitation| held.is(&token, wall_ms()))?;
        if is_it { of.begin(&headers, from, By::Link, None).map(Some) } else { Ok(None) }
    });
    match came.await {
        Ok(Some(answer)) => answer,
        Ok(None) => {
            phone.tell_failed(from);
            let told = format!(
                "This link was used, or its ten minutes are over. {} prints another.",
                typed("page passkey")
            );
            shown(&phone, StatusCode::UNAUTHORIZED, Some(&told))
        }
        Err(error) => failed(&phone, &error),
    }
}

/// Works with files and signatures, beside the server.
pub async fn beside<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await?
}

/// A failure as the script of the page shows it.
pub fn refused(error: &anyhow::Error) -> Response {
    (StatusCode::CONFLICT, format!("{error:#}")).into_response()
}

async fn begin_passkey((Extension(phone), Extension(ends), _, headers): Given) -> Response {
    let whose = phone.whose(&headers, ends.there.ip());
    let begun = beside(move || phone.passkeys()?.begin_sign_in(&phone.stored, &whose));
    begun.await.map_or_else(|error| refused(&error), |options| axum::Json(options).into_response())
}

async fn by_passkey((Extension(phone), Extension(ends), Extension(fields), headers): Given) -> Response {
    let (of, from) = (phone.clone(), ends.there.ip());
    let (number, answer) = (fields.text("number"), fields.text("answer"));
    let came = beside(move || {
        of.passkeys()?.finish_sign_in(&of.stored, &number, &answer)?;
        of.begin(&headers, from, By::Passkey, None)
    });
    match came.await {
        // The script goes on by itself: what it fetches does not lead a page anywhere.
        Ok(mut answer) => {
            *answer.status_mut() = StatusCode::OK;
            answer
        }
        Err(error) => {
            phone.tell_failed(from);
            refused(&error)
        }
    }
}
