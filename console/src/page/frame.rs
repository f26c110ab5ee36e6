//! What every page has around it: its head with the way to the others, the headers that keep it closed, refusals.

use crate::page::Server;
use crate::page::guard::Refusal;
use crate::page::out::{self, Gone, Out, safe};
use anyhow::Result;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The pages that the head leads to, as they are called there.
pub const PLACES: [(&str, &str); 9] = [
    ("/", "Now"),
    ("/talk", "Talk"),
    ("/asks", "Asks"),
    ("/life", "A life"),
    ("/ladder", "Ladder"),
    ("/report", "Report"),
    ("/search", "Search"),
    ("/spend", "Spend"),
    ("/memory", "Memory"),
];

const HEADERS: [(header::HeaderName, &str); 8] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; \
         form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    ),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (header::HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (header::CACHE_CONTROL, "no-store"),
    (header::HeaderName::from_static("permissions-policy"), "camera=(), microphone=(), geolocation=()"),
];

/// Adds what every answer says.
pub fn close(headers: &mut HeaderMap) {
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

/// How much a page reads: what reads far back waits for its like, and nothing else for it.
#[derive(Clone, Copy, PartialEq)]
pub enum Weight {
    Light,
    Heavy,
}

/// A page: `title` is its heading, `here` the place in the head that it belongs to.
pub async fn page(
    server: &Server,
    title: &str,
    here: &str,
    weight: Weight,
    write: impl FnOnce(&mut Out) -> Result<()> + Send + 'static,
) -> Response {
    let places = match weight {
        Weight::Light => server.light.clone(),
        Weight::Heavy => server.heavy.clone(),
    };
    let head = begin(title, here);
    let (status, body) = out::body(head, places, move |out| {
        match write(out) {
            Err(error) if error.is::<Gone>() => return,
            Err(error) => {
                let _ = out.html(&wrong(&format!("{error:#}")));
            }
            Ok(()) => {}
        }
        let _ = out.raw(END);
    })
    .await;
    html_response(status, body)
}

fn html_response(status: StatusCode, body: Body) -> Response {
    let mut response = (status, body).into_response();
    let kind = HeaderValue::from_static("text/html; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

const END: &str = "</main></body></html>";

/// What stands in every page's head.
fn named(title: &str) -> Markup {
    html! {
        meta charset="utf-8";
        meta name="viewport" content="width=device-width, initial-scale=1";
        meta name="color-scheme" content="light dark";
        title { (title) " · Feral" }
        link rel="stylesheet" href="/style.css";
    }
}

/// What the page begins with, up to its heading.
fn begin(title: &str, here: &str) -> String {
    let whole = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                (named(title))
                script src="/stream.js" defer {}
                @if here == "/life" { script src="/life.js" defer {} }
            }
            body {
                a.skip href="#main" { "To the content" }
                header.top {
                    p.name { a href="/" { "Feral" } }
                    nav aria-label="Pages" {
                        ul {
                            @for (place, name) in PLACES {
                                li { a href={ (place) @if place == "/talk" { "#last" } } aria-current=[(place == here).then_some("page")] { (name) } }
                            }
                        }
                    }
                    p #notice role="status" {}
                }
                main #main tabindex="-1" {
                    h1 { (title) }
                }
            }
        }
    };
    let whole = safe(&whole.0);
    whole.strip_suffix(END).unwrap_or(&whole).to_owned()
}

/// What went wrong, in its place.
pub fn wrong(told: &str) -> Markup {
    html! { p.wrong role="alert" { (told) } }
}

/// A page that is short and made at once.
pub fn short(status: StatusCode, title: &str, here: &str, body: &Markup) -> Response {
    let whole = format!("{}{}{END}", begin(title, here), safe(&body.0));
    html_response(status, Body::from(whole))
}

/// A refusal: it leads nowhere and says nothing of the house.
pub fn refuse(refusal: &Refusal) -> Response {
    let whole = html! {
        (DOCTYPE)
        html lang="en" {
            head { (named("Refused")) }
            body { main { h1 { "Refused" } p { (refusal.why) } p { (refusal.what_to_do) } } }
        }
    };
    html_response(refusal.status, Body::from(whole.0))
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

/// Leads to the page that shows what came of an act.
pub fn see(place: &str) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    let place = HeaderValue::from_str(place).unwrap_or(HeaderValue::from_static("/"));
    response.headers_mut().insert(header::LOCATION, place);
    response
}

/// A file of the page's own.
pub fn asset(kind: &'static str, text: &'static str) -> Response {
    let mut response = text.into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// A time as a person and a program read it.
pub fn time(at: &str) -> Markup {
    html! { time datetime=(at) { (house::moments::near(at)) } }
}

/// Markup that was made and escaped elsewhere in this program.
pub fn made(text: String) -> Markup {
    PreEscaped(text)
}
