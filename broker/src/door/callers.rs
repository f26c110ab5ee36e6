//! Callers by token: one for each life, one for builds, one for the channels, written by the guardian; nothing else identifies one.

use crate::ground::files::{self, Mark};
use base64::Engine;
use house::House;
use house::mutex::lock;
use http::HeaderMap;
use serde::Deserialize;
use std::sync::{Mutex, MutexGuard};

/// The only path that the channels ask, and that nobody else may.
pub const OF_CHANNELS: &str = "/channels/send";

/// The owner of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    Life(u64),
    /// Cargo, started by the guardian: may only reach registries.
    Build,
    /// The owner's channels, started by the guardian: may only reach the places of these.
    Channels,
}

/// The number of the life a request comes from.
#[derive(Clone, Copy, Debug)]
pub struct Life(pub u64);

#[derive(Default, Deserialize)]
struct Told {
    life: Option<LifeToken>,
    build: Option<Token>,
    channels: Option<Token>,
}

#[derive(Deserialize)]
struct LifeToken {
    number: u64,
    token: String,
    /// Whether it comes of a self-edit whose tests have not passed yet.
    #[serde(default)]
    unproven: bool,
}

#[derive(Deserialize)]
struct Token {
    token: String,
}

pub struct Tokens {
    house: House,
    told: Mutex<(Option<Mark>, Told)>,
}

impl Tokens {
    pub fn new(house: House) -> Self {
        Self { house, told: Mutex::default() }
    }

    /// The caller a request's token belongs to; `None` for no token, an unknown one, or one of a former life.
    pub fn caller(&self, headers: &HeaderMap) -> Option<Caller> {
        self.whose(&given(headers)?)
    }

    /// As `caller`, for a request to the proxy: its other headers are meant for the server.
    pub fn proxy_caller(&self, headers: &HeaderMap) -> Option<Caller> {
        self.whose(&credential(text(headers, "proxy-authorization")?)?)
    }

    /// Whether a life may not act yet because its tests still run.
    pub fn is_unproven(&self, number: u64) -> bool {
        self.told().1.life.as_ref().is_some_and(|life| life.number == number && life.unproven)
    }

    fn whose(&self, given: &str) -> Option<Caller> {
        let told = &self.told().1;
        let life = told.life.iter().map(|life| (life.token.as_str(), Caller::Life(life.number)));
        let build = told.build.iter().map(|build| (build.token.as_str(), Caller::Build));
        let channels = told.channels.iter().map(|channels| (channels.token.as_str(), Caller::Channels));
        let known = life.chain(build).chain(channels).find(|(token, _)| same(token, given));
        known.map(|(_, caller)| caller)
    }

    /// The guardian's file of tokens, read again when it has changed.
    fn told(&self) -> MutexGuard<'_, (Option<Mark>, Told)> {
        let mut told = lock(&self.told);
        let mark = files::mark(&self.house.tokens());
        if mark != told.0 {
            let bytes = files::read_small(&self.house.tokens()).ok().flatten().unwrap_or_default();
            // A half-written file identifies nobody, and is read again when it changes.
            *told = (mark, serde_json::from_slice(&bytes).unwrap_or_default());
        }
        told
    }
}

/// The token, from any of the headers in which clients usually send one. A repeated header counts for nothing:
/// somebody in between could have added one of the two.
pub fn given(headers: &HeaderMap) -> Option<String> {
    if let Some(value) = text(headers, "authorization") {
        return credential(value);
    }
    match text(headers, "x-api-key") {
        Some(key) => Some(key.trim().to_owned()),
        None => credential(text(headers, "proxy-authorization")?),
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut all = headers.get_all(name).iter();
    let first = all.next()?;
    if all.next().is_some() { None } else { first.to_str().ok() }
}

/// `Bearer T` or `Basic base64(any:T)`.
fn credential(value: &str) -> Option<String> {
    let (scheme, rest) = value.trim().split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some(rest.trim().to_owned());
    }
    let basic = scheme.eq_ignore_ascii_case("basic").then(|| rest.trim())?;
    let bytes = base64::engine::general_purpose::STANDARD.decode(basic).ok()?;
    Some(String::from_utf8(bytes).ok()?.split_once(':')?.1.to_owned())
}

/// Compares in constant time, so that timing tells nothing about the token.
fn same(known: &str, given: &str) -> bool {
    known.len() >= 32
        && known.len() == given.len()
        && known.bytes().zip(given.bytes()).fold(0, |differ, (left, right)| differ | (left ^ right)) == 0
}
