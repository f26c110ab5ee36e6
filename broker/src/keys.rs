//! Secrets: read once, from the environment or `.env`; named by variables, scrubbed from everything that goes back.
//!
//! Invariant: a secret's value never reaches a log line, a file or a client.

use crate::house::House;
use anyhow::{Context, Result};
use std::collections::BTreeMap;

/// Characters; a shorter value is a placeholder, and scrubbing it would only scrub words.
const SHORTEST: usize = 8;

/// What stands in a secret's place.
pub const MARK: &str = "[key]";

#[derive(Clone, Default)]
pub struct Keys {
    values: BTreeMap<String, String>,
    /// Values that are scrubbed, longest first; with their spellings in base64 and percent-encoding.
    known: Vec<String>,
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Keys({} names)", self.values.len())
    }
}

impl Keys {
    /// Reads the variables `named` from the environment, else from the house's `.env`.
    pub fn load(house: &House, named: &[String]) -> Result<Self> {
        let mut file = BTreeMap::new();
        if house.secrets().exists() {
            for pair in dotenvy::from_path_iter(house.secrets()).context("failed to read .env")? {
                let (name, value) = pair.map_err(|error| match error {
                    // The line itself may hold a secret, so it is not quoted.
                    dotenvy::Error::LineParse(_, at) => {
                        anyhow::anyhow!(".env cannot be understood near byte {at}")
                    }
                    other => anyhow::anyhow!("failed to read .env: {other}"),
                })?;
                file.insert(name, value);
            }
        }
        let value = |name: &String| {
            std::env::var(name).ok().filter(|value| !value.is_empty()).or_else(|| file.get(name).cloned())
        };
        let values = named.iter().filter_map(|name| Some((name.clone(), value(name)?.trim().to_owned())));
        let mut keys = Self::of(values.collect());
        // Whatever else `.env` holds is secret as well, used or not.
        file.into_values().for_each(|value| keys.know(&value));
        Ok(keys)
    }

    pub fn of(values: BTreeMap<String, String>) -> Self {
        let mut keys = Self { known: Vec::new(), values: BTreeMap::new() };
        values.values().for_each(|value| keys.know(value));
        keys.values = values;
        keys
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// From now on scrubs this value too: a token that was refreshed, say.
    pub fn know(&mut self, value: &str) {
        if value.chars().count() >= SHORTEST && !self.known.iter().any(|known| known == value) {
            self.known.push(value.to_owned());
            self.known.sort_by_key(|value| std::cmp::Reverse(value.len()));
        }
    }

    /// The text without any known secret.
    pub fn scrub(&self, text: &str) -> String {
        self.known.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), MARK))
    }
}
