//! Who is calling, by their token: one for each life, one for builds; written by the guardian, never told by the client otherwise.

use crate::ground::files::{self, Mark};
use crate::ground::lock::lock;
use base64::Engine;
use house::House;
use http::HeaderMap;
use serde::Deserialize;
use std::sync::{Mutex, MutexGuard};

/// Who a token belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    Life(u64),
    /// Cargo, called by the guardian: registries only.
    Build,
}

/// The life a request comes from; goes with the request.
#[derive(Clone, Copy, Debug)]
pub struct Life(pub u64);

#[derive(Default, Deserialize)]
struct Told {
    life: Option<LifeToken>,
    build: Option<BuildToken>,
}

#[derive(Deserialize)]
struct LifeToken {
    number: u64,
    token: String,
    /// Born of a self-edit whose tests are not through.
    #[serde(default)]
    unproven: bool,
}

#[derive(Deserialize)]
struct BuildToken {
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

    /// Whose token a request carries; `None` for none, an unknown one, or one of a former life.
    pub fn caller(&self, headers: &HeaderMap) -> Option<Caller> {
        self.whose(&given(headers)?)
    }

    /// The same for a request to the proxy, whose other headers are meant for the other end.
    pub fn proxy_caller(&self, headers: &HeaderMap) -> Option<Caller> {
        self.whose(&credential(text(headers, "proxy-authorization")?)?)
    }

    /// Whether a life may not act yet: its own tests still run beside it.
    pub fn is_unproven(&self, number: u64) -> bool {
        self.told().1.life.as_ref().is_some_and(|life| life.number == number && life.unproven)
    }

    fn whose(&self, given: &str) -> Option<Caller> {
        let told = &self.told().1;
        match (&told.life, &told.build) {
            (Some(life), _) if same(&life.token, given) => Some(Caller::Life(life.number)),
            (_, Some(build)) if same(&build.token, given) => Some(Caller::Build),
            _ => None,
        }
    }

    /// What the guardian says now.
    fn told(&self) -> MutexGuard<'_, (Option<Mark>, Told)> {
        let mut told = lock(&self.told);
        let mark = files::mark(&self.house.tokens());
        if mark != told.0 {
            let bytes = files::read_small(&self.house.tokens()).ok().flatten().unwrap_or_default();
            // Half a file knows nobody, and is read again when it changes.
            *told = (mark, serde_json::from_slice(&bytes).unwrap_or_default());
        }
        told
    }
}

/// The token in any of the places where clients of the field put one. A header that is there twice counts for none:
/// whoever stands between could have added the other.
fn given(headers: &HeaderMap) -> Option<String> {
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

/// Compares without telling by its time how much was right.
fn same(known: &str, given: &str) -> bool {
    known.len() >= 32
        && known.len() == given.len()
        && known.bytes().zip(given.bytes()).fold(0, |differ, (left, right)| differ | (left ^ right)) == 0
}
