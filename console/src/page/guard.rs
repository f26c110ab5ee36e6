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

/// Paths served without a token: they say nothing of the house.
pub const OPEN: [&str; 6] =
    ["/style.css", "/app.webmanifest", "/icon.svg", "/icon-180.png", "/icon-192.png", "/icon-512.png"];

/// How browsers call a way in.
pub struct Called<'a> {
    /// With its slashes: `http://`.
    pub scheme: &'a str,
    /// Names and addresses, as they stand before the port.
    pub names: &'a [String],
    pub why: &'static str,
    pub what_to_do: &'static str,
}

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
    let names = ["127.0.0.1", "localhost", "[::1]"].map(str::to_owned);
    let called = Called {
        scheme: "http://",
        names: &names,
        why: "This page answers only as 127.0.0.1, localhost or [::1].",
        what_to_do: LINK,
    };
    let host = called_so(asked, &called)?;
    let given = linked(asked);
    let is_link = given.as_deref().is_some_and(|given| same(token, given));
    let from_elsewhere = from_here(asked, &called, host, is_link)?;
    let is_post = asked.method == Method::POST;
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
    plain_form(asked)?;
    Ok(Judged::Passes)
}

/// The host of a request by a method that is answered: one of the names, said once or twice alike. Any other name means
/// that somebody's name server leads here, or a proxy.
pub fn called_so<'p>(asked: &'p Parts, called: &Called) -> Result<&'p str, Refusal> {
    if ![Method::GET, Method::HEAD, Method::POST].contains(&asked.method) {
        return refused(StatusCode::METHOD_NOT_ALLOWED, "Only GET and POST are answered here.", AGAIN);
    }
    let refused = || Refusal {
        status: StatusCode::MISDIRECTED_REQUEST,
        why: called.why,
        what_to_do: called.what_to_do,
    };
    let host = one(&asked.headers, "host").ok_or_else(refused)?;
    let is_same = asked.uri.authority().is_none_or(|authority| authority.as_str() == host);
    // The port of an address in brackets stands behind them.
    let end = host.find(']').map_or(0, |end| end + 1);
    let (name, port) = match host.get(end..).and_then(|rest| rest.find(':')) {
        Some(colon) => host.split_at(end + colon),
        None => (host, ":80"),
    };
    let port = port.strip_prefix(':').unwrap_or_default();
    let is_port = !port.is_empty() && port.len() <= 5 && port.bytes().all(|b| b.is_ascii_digit());
    let is_ours = called.names.iter().any(|ours| ours == name);
    if is_same && is_ours && is_port { Ok(host) } else { Err(refused()) }
}

/// Refuses what a page of another origin asks. Where `may_lead` a link of another site may lead here, by a window of its
/// own; returns whether one did.
pub fn from_here(asked: &Parts, called: &Called, host: &str, may_lead: bool) -> Result<bool, Refusal> {
    let from_elsewhere = from_elsewhere(&asked.headers);
    if from_elsewhere && !(may_lead && is_navigation(&asked.headers)) {
        let why = "This request comes from another site's page.";
        return refused(StatusCode::FORBIDDEN, why, called.what_to_do);
    }
    if !is_own_origin(&asked.headers, called.scheme, host) {
        let why = "This request comes from a page of another origin.";
        return refused(StatusCode::FORBIDDEN, why, called.what_to_do);
    }
    Ok(from_elsewhere)
}

/// Refuses a post of anything but a plain form.
pub fn plain_form(asked: &Parts) -> Result<(), Refusal> {
    let form = "application/x-www-form-urlencoded";
    let kind = one(&asked.headers, "content-type").unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if asked.method == Method::POST && !kind.eq_ignore_ascii_case(form) {
        return refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, "Only plain forms are taken here.", AGAIN);
    }
    Ok(())
}

/// Whether the browser says that something other than this page, or its owner, asks.
fn from_elsewhere(headers: &HeaderMap) -> bool {
    let is_said = headers.contains_key("sec-fetch-site");
    is_said && !matches!(one(headers, "sec-fetch-site"), Some("none" | "same-origin"))
}

fn is_navigation(headers: &HeaderMap) -> bool {
    one(headers, "sec-fetch-mode") == Some("navigate") && one(headers, "sec-fetch-dest") == Some("document")
}

/// Whether an origin that is said is that of the host. `null` is what a form of ours says, since no page of ours tells
/// where it was; then the browser has to vouch for it.
fn is_own_origin(headers: &HeaderMap, scheme: &str, host: &str) -> bool {
    let mut said = headers.get_all(header::ORIGIN).iter();
    match (said.next(), said.next()) {
        (None, _) => true,
        (Some(origin), None) if origin == "null" => one(headers, "sec-fetch-site") == Some("same-origin"),
        (Some(origin), None) => origin.to_str().ok().and_then(|it| it.strip_prefix(scheme)) == Some(host),
        (Some(_), Some(_)) => false,
    }
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
pub fn cookies<'a>(headers: &'a HeaderMap, name: &'a str) -> impl Iterator<Item = &'a str> {
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
