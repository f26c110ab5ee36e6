//! Tokens: who calls. One for each life, one for builds; written by the guardian, never told by the client otherwise.

use crate::files::{self, Mark};
use crate::house::House;
use base64::Engine;
use http::HeaderMap;
use serde::Deserialize;
use std::sync::{Mutex, PoisonError};

/// Who a token belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    Life(u64),
    /// Cargo, called by the guardian: registries only.
    Build,
}

#[derive(Default, Deserialize)]
struct Told {
    life: Option<LifeToken>,
    build: Option<BuildToken>,
}

#[derive(Deserialize)]
struct LifeToken {
    number: u64,
    token: String,
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
        let given = given(headers)?;
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let mark = files::mark(&self.house.tokens());
        if mark != told.0 {
            let bytes = files::read_small(&self.house.tokens()).ok().flatten().unwrap_or_default();
            *told = (mark, serde_json::from_slice(&bytes).unwrap_or_default());
        }
        let told = &told.1;
        match (&told.life, &told.build) {
            (Some(life), _) if same(&life.token, &given) => Some(Caller::Life(life.number)),
            (_, Some(build)) if same(&build.token, &given) => Some(Caller::Build),
            _ => None,
        }
    }
}

/// The token in any of the places where clients of the field put one.
fn given(headers: &HeaderMap) -> Option<String> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(bearer) = text("authorization").and_then(|value| value.strip_prefix("Bearer ")) {
        return Some(bearer.trim().to_owned());
    }
    if let Some(key) = text("x-api-key") {
        return Some(key.trim().to_owned());
    }
    let basic = text("proxy-authorization").or_else(|| text("authorization"))?.strip_prefix("Basic ")?;
    let bytes = base64::engine::general_purpose::STANDARD.decode(basic.trim()).ok()?;
    Some(String::from_utf8(bytes).ok()?.split_once(':')?.1.to_owned())
}

/// Compares without telling by its time how much was right.
fn same(known: &str, given: &str) -> bool {
    known.len() >= 32
        && known.len() == given.len()
        && known.bytes().zip(given.bytes()).fold(0, |differ, (left, right)| differ | (left ^ right)) == 0
}
