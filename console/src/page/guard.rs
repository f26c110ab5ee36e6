//! Admits or refuses a request by its head alone, before anything is read or done. Pure.
//!
//! Invariant: no page of another origin, whatever name it reached this address by, gets an answer that says anything.

use form_urlencoded::parse;
pub use http::Request;
use http::request::Parts;
use http::{HeaderMap, Method, StatusCode, header};

/// Verdict on a request.
#[derive(Debug, PartialEq)]
pub enum Judged {
    /// It carries the token in the link: it gets the cookie. `from_elsewhere`: another site's link led here, so that a
    /// redirect would go on without the cookie.
    Enters {
        from_elsewhere: bool,
    },
    /// It carries the token.
    Passes,
    /// It asks for a path that needs no token.
    Open,
    Refused(Refusal),
}

/// Reason why a request is refused, and a remedy.
#[derive(Debug, PartialEq)]
pub struct Refusal {
    pub status: StatusCode,
    pub why: &'static str,
    pub what_to_do: &'static str,
}

const LINK: &str = "Open the link that `feral serve` prints; it holds the token of now.";
const AGAIN: &str = "Go back, load the page anew, and do it from there.";

/// Paths served without a token: only the stylesheet.
const OPEN: [&str; 1] = ["/style.css"];

/// Judges a request by the token that counts and the name of the cookie that carries it.
pub fn judge(asked: &Parts, token: &str, cookie: &str) -> Judged {
    match refusal(asked, token, cookie) {
        Ok(judged) => judged,
        Err(refusal) => Judged::Refused(refusal),
    }
}

fn refused<T>(status: StatusCode, why: &'static str, what_to_do: &'static str) -> Result<T, Refusal> {
    Err(Refusal { status, why, what_to_do })
}

fn refusal(asked: &Parts, token: &str, cookie: &str) -> Result<Judged, Refusal> {
    let is_post = asked.method == Method::POST;
    if !is_post && asked.method != Method::GET && asked.method != Method::HEAD {
        return refused(StatusCode::METHOD_NOT_ALLOWED, "Only GET and POST are answered here.", AGAIN);
    }
    let host = host(asked)?;
    let given = linked(asked);
    let is_link = given.as_deref().is_some_and(|given| same(token, given));
    let from_elsewhere = from_elsewhere(&asked.headers);
    if from_elsewhere && !(is_link && is_navigation(&asked.headers)) {
        return refused(StatusCode::FORBIDDEN, "This request comes from another site's page.", LINK);
    }
    own_origin(&asked.headers, host)?;
    if is_link {
        return Ok(Judged::Enters { from_elsewhere });
    }
    if given.is_some() {
        return refused(StatusCode::FORBIDDEN, "The token in this link is not the one of now.", LINK);
    }
    let is_known = cookies(&asked.headers, cookie).any(|given| same(token, given));
    if !is_known && !is_post && OPEN.contains(&asked.uri.path()) {
        return Ok(Judged::Open);
    }
    if !is_known {
        return refused(StatusCode::FORBIDDEN, "This browser has no token, or an old one.", LINK);
    }
    let form = "application/x-www-form-urlencoded";
    let kind = one(&asked.headers, "content-type").unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if is_post && !kind.eq_ignore_ascii_case(form) {
        return refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, "Only plain forms are taken here.", AGAIN);
    }
    Ok(Judged::Passes)
}

/// The host that was asked for: one name of this machine's own, said once or twice alike. Any other name means that
/// somebody's name server leads here.
fn host(asked: &Parts) -> Result<&str, Refusal> {
    let why = "This page answers only as 127.0.0.1, localhost or [::1].";
    let what_to_do = "Open it by the link that `feral serve` prints.";
    let refused = || Refusal { status: StatusCode::MISDIRECTED_REQUEST, why, what_to_do };
    let host = one(&asked.headers, "host").ok_or_else(refused)?;
    let is_same = asked.uri.authority().is_none_or(|authority| authority.as_str() == host);
    let (name, port) = match host.strip_prefix("[::1]") {
        Some(rest) => ("[::1]", rest.strip_prefix(':').or(rest.is_empty().then_some("80"))),
        None => host.split_once(':').map_or((host, Some("80")), |(name, port)| (name, Some(port))),
    };
    let is_ours = ["127.0.0.1", "localhost", "[::1]"].contains(&name);
    let is_port = port
        .is_some_and(|port| !port.is_empty() && port.len() <= 5 && port.bytes().all(|b| b.is_ascii_digit()));
    if is_same && is_ours && is_port { Ok(host) } else { Err(refused()) }
}

/// Whether the browser says that something other than this page, or its owner, asks.
fn from_elsewhere(headers: &HeaderMap) -> bool {
    let is_said = headers.contains_key("sec-fetch-site");
    is_said && !matches!(one(headers, "sec-fetch-site"), Some("none" | "same-origin"))
}

fn is_navigation(headers: &HeaderMap) -> bool {
    one(headers, "sec-fetch-mode") == Some("navigate") && one(headers, "sec-fetch-dest") == Some("document")
}

/// An origin that is said must be that of the host. `null` is what a form of ours says, since no page of ours tells
/// where it was; then the browser has to vouch for it.
fn own_origin(headers: &HeaderMap, host: &str) -> Result<(), Refusal> {
    let mut said = headers.get_all(header::ORIGIN).iter();
    let is_ours = match (said.next(), said.next()) {
        (None, _) => true,
        (Some(origin), None) if origin == "null" => one(headers, "sec-fetch-site") == Some("same-origin"),
        (Some(origin), None) => origin.to_str().ok().and_then(|it| it.strip_prefix("http://")) == Some(host),
        (Some(_), Some(_)) => false,
    };
    let why = "This request comes from a page of another origin.";
    if is_ours { Ok(()) } else { refused(StatusCode::FORBIDDEN, why, LINK) }
}

/// The token that a link carries; only the link to the first page does.
fn linked(asked: &Parts) -> Option<String> {
    if asked.uri.path() != "/" || asked.method != Method::GET {
        return None;
    }
    let mut given = parse(asked.uri.query()?.as_bytes()).filter(|(name, _)| name == "token");
    let first = given.next().map(|(_, token)| token.into_owned());
    if given.next().is_some() { Some(String::new()) } else { first }
}

/// A header that is there once.
fn one<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut all = headers.get_all(name).iter();
    let first = all.next()?;
    if all.next().is_some() { None } else { first.to_str().ok() }
}

/// The cookies of this name: another program at this address may have set one as well.
fn cookies<'a>(headers: &'a HeaderMap, name: &'a str) -> impl Iterator<Item = &'a str> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = all.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(move |(given, _)| *given == name).map(|(_, value)| value)
}

/// Compares in constant time, so that timing tells nothing about the token.
pub fn same(known: &str, given: &str) -> bool {
    known.len() >= 32
        && known.len() == given.len()
        && known.bytes().zip(given.bytes()).fold(0, |differ, (left, right)| differ | (left ^ right)) == 0
}
