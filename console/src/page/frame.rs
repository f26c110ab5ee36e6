//! Frame of every page: its head with the way to the others, the headers that keep it closed, refusals.

use crate::page::guard::Refusal;
use crate::page::out::{self, Ended, Out, safe};
use crate::page::{Server, app};
use anyhow::Result;
use axum::body::Body;
use axum::extract::Query;
use axum::response::{IntoResponse, Response};
use house::moments;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use jiff::Timestamp;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::Deserialize;
use std::sync::Arc;

/// The pages that the head leads to, as they are called there, and what each is for; on a phone the first ones stand in
/// the bar and the others behind `More`.
pub const PLACES: [(&str, &str, &str); 9] = [
    ("/", "Now", "what it is doing, what is next, what happened last"),
    ("/talk", "Talk", "everything you said to one another"),
    ("/asks", "Asks", "what waits for your yes or no"),
    ("/life", "A life", "all of it as a picture, and a calendar of its days"),
    ("/edits", "Self-edits", "every change it made to its own source, what became of it, and the way back"),
    ("/report", "Report", "what happened since a day, weightiest first"),
    ("/search", "Search", "words in everything it remembers"),
    ("/spend", "Spend", "what was paid for what"),
    ("/memory", "Memory", "facts, notes, skills and other papers, to read and correct"),
];
/// Kind of a picture.
pub const SVG: &str = "image/svg+xml; charset=utf-8";
/// Pages in a phone's bar; the last place there is `More`.
const IN_THE_BAR: usize = 3;

const HEADERS: [(header::HeaderName, &str); 8] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; \
         manifest-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    ),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (header::HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (header::CACHE_CONTROL, "no-store"),
    (header::HeaderName::from_static("permissions-policy"), "camera=(), microphone=(), geolocation=()"),
];

/// Adds the headers of every answer.
pub fn close(headers: &mut HeaderMap) {
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

/// Amount a page reads: pages that read far back wait for one another, and no other page for them.
#[derive(Clone, Copy, PartialEq)]
pub enum Weight {
    Light,
    Heavy,
}

/// A page: `title` is its heading, `here` the place in the head that it belongs to.
pub async fn page(
    server: Arc<Server>,
    title: &str,
    here: &str,
    weight: Weight,
    write: impl FnOnce(&Server, &mut Out) -> Result<()> + Send + 'static,
) -> Response {
    let places = match weight {
        Weight::Light => server.light.clone(),
        Weight::Heavy => server.heavy.clone(),
    };
    let head = begin(title, here, waiting(&server).await);
    let (status, body) = out::body(head, places, move |out| {
        if let Err(error) = write(&server, out) {
            match error.downcast_ref() {
                Some(Ended::Gone) => return,
                Some(Ended::Missing(_)) => drop(out.missing()),
                None => {}
            }
            let _ = out.html(&wrong(&format!("{error:#}")));
        }
        let _ = out.raw(END);
    })
    .await;
    html_response(status, body)
}

fn html_response(status: StatusCode, body: Body) -> Response {
    (status, asset("text/html; charset=utf-8", body)).into_response()
}

const END: &str = "</main></body></html>";

/// Number of waiting asks: read beside the server where they have changed.
async fn waiting(server: &Arc<Server>) -> usize {
    if let Some(count) = server.waiting.known(&server.house) {
        return count;
    }
    let server = server.clone();
    tokio::task::spawn_blocking(move || server.waiting.count(&server.house)).await.unwrap_or(0)
}

/// Writes every page's `<head>`; title and icon count waiting asks, but not on a refusal.
fn named(title: &str, waiting: Option<usize>) -> Markup {
    html! {
        meta charset="utf-8";
        meta name="viewport" content="width=device-width, initial-scale=1";
        meta name="color-scheme" content="light dark";
        title { @if let Some(waiting) = waiting.filter(|waiting| *waiting > 0) { "(" (waiting) ") " } (title) " · Feral" }
        @if let Some(waiting) = waiting { link rel="icon" type="image/svg+xml" href={ "/favicon.svg?asks=" (waiting.min(10)) }; }
        link rel="stylesheet" href="/style.css";
        (app::head())
    }
}

/// Begins the page, up to its heading. A place's own is hidden from sight: the bar marks it, screen readers say it.
fn begin(title: &str, here: &str, waiting: usize) -> String {
    let at = PLACES.iter().position(|(place, ..)| *place == here);
    let is_place = at.is_some_and(|at| PLACES.get(at).is_some_and(|(_, name, _)| *name == title));
    let is_behind = here == "/more" || at.is_some_and(|at| at >= IN_THE_BAR);
    let whole = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                (named(title, Some(waiting)))
                script src="/stream.js" defer {}
                @if here == "/life" { script src="/life.js" defer {} }
                @if here == "/talk" { script src="/talk.js" defer {} }
            }
            body {
                a.skip href="#main" { "To the content" }
                header.top {
                    p.name { a href="/" { "Feral" } }
                    nav aria-label="Pages" {
                        ul {
                            @for (number, (place, name, _)) in PLACES.iter().enumerate() {
                                li.behind[number >= IN_THE_BAR] {
                                    a href={ (place) @if *place == "/talk" { "#last" } } aria-current=[(*place == here).then_some("page")] {
                                        (name)
                                        @if *place == "/asks" { " " (badge(waiting)) }
                                    }
                                }
                            }
                            li.more { a.here[is_behind] href="/more" { "More" } }
                        }
                    }
                    p #notice role="status" {}
                }
                main #main tabindex="-1" {
                    h1.hidden[is_place] { (title) }
                }
            }
        }
    };
    let whole = safe(&whole.0);
    whole.strip_suffix(END).unwrap_or(&whole).to_owned()
}

/// Number of waiting asks, beside the link to them.
fn badge(waiting: usize) -> Markup {
    html! {
        span.badge #badge hidden[waiting == 0] { span #count { (waiting) } span.hidden { " waiting" } }
    }
}

/// The places that a phone's bar has no room for.
pub fn more(_: &Server, out: &mut Out) -> Result<()> {
    out.html(&html! {
        ul.places { @for (place, name, told) in PLACES.iter().skip(IN_THE_BAR) { li { a href=(place) { (name) } p.about { (told) } } } }
    })
}

/// Query of the icon: the number of waiting asks.
#[derive(Deserialize)]
pub struct Icon {
    #[serde(default)]
    asks: u8,
}

/// The icon: a mark, with a red dot while something waits.
pub async fn icon(Query(Icon { asks }): Query<Icon>) -> Response {
    let dot = if asks > 0 { "<circle cx=\"25\" cy=\"7\" r=\"7\" fill=\"#d3302f\"/>" } else { "" };
    let whole = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 32 32\"><rect width=\"32\" height=\"32\" rx=\"8\" \
         fill=\"#2f6f4f\"/><path d=\"M11 25V8h11M11 16h8\" stroke=\"#fff\" stroke-width=\"4\" fill=\"none\"/>{dot}</svg>"
    );
    asset(SVG, whole)
}

/// Renders an error, in the place where it occurred.
pub fn wrong(told: &str) -> Markup {
    html! { p.wrong role="alert" { (told) } }
}

/// A page that is short and made at once.
pub fn short(status: StatusCode, title: &str, here: &str, body: &Markup) -> Response {
    let whole = format!("{}{}{END}", begin(title, here, 0), safe(&body.0));
    html_response(status, Body::from(whole))
}

/// A refusal: it leads nowhere and says nothing of the house.
pub fn refuse(refusal: &Refusal) -> Response {
    let told = html! { h1 { "Refused" } p { (refusal.why) } p { (refusal.what_to_do) } };
    bare(refusal.status, "Refused", None, &told)
}

/// A page without a way to the others, which says nothing of the house.
pub fn bare(status: StatusCode, title: &str, script: Option<&str>, body: &Markup) -> Response {
    let whole = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                (named(title, None))
                @if let Some(script) = script { script src=(script) defer {} }
            }
            body { main { (body) } }
        }
    };
    html_response(status, Body::from(safe(&whole.0)))
}

/// The page between a link on another site and the first page: a redirect would still count as that site's.
pub fn entry() -> Response {
    let whole = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="refresh" content="0;url=/";
                title { "Feral" }
                link rel="stylesheet" href="/style.css";
            }
            body { main { h1 { "Feral" } p { a href="/" { "Go on" } } } }
        }
    };
    html_response(StatusCode::OK, Body::from(whole.0))
}

/// Leads to the page that shows the result of an act.
pub fn see(place: &str) -> Response {
    let place = HeaderValue::from_str(place).unwrap_or(HeaderValue::from_static("/"));
    (StatusCode::SEE_OTHER, [(header::LOCATION, place)]).into_response()
}

/// An answer of a kind of content.
pub fn asset(kind: &'static str, body: impl IntoResponse) -> Response {
    ([(header::CONTENT_TYPE, kind)], body).into_response()
}

/// A time for people and programs: how long ago, and the exact time on pointing at it.
pub fn time(at: &str) -> Markup {
    let Ok(then) = at.parse::<Timestamp>() else { return html! { time { (moments::told(at)) } } };
    html! { time datetime=(at) title=(moments::told(at)) { (moments::since_then(then, moments::now())) } }
}

/// A time to the second, and how long ago that is.
pub fn exact(at: &str) -> Markup {
    let Ok(then) = at.parse::<Timestamp>() else { return html! { time { (moments::told(at)) } } };
    html! { time.exact-time datetime=(at) { (moments::told(at)) } " (" (moments::since_then(then, moments::now())) ")" }
}

/// Markup that was made and escaped elsewhere in this program.
pub fn made(text: String) -> Markup {
    PreEscaped(text)
}
