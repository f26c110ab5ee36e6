//! Tokens by which the broker knows who calls: one for each life and one for each build, in its environment and in one file.
//!
//! Invariant: a token is in the file before its process starts, and removed as soon as the process has ended.

use anyhow::Result;
use house::printable::hex;
use house::{House, files};
use processes::child::Occupant;
use serde_json::json;

#[derive(Default)]
pub struct Tokens {
    /// Whether the current or next life has tests to pass before it may act.
    pub unproven: bool,
    life: Option<(u64, String)>,
    build: Option<String>,
}

impl Tokens {
    /// Makes a new token, for this life or, without one, for a build.
    pub fn fresh(&mut self, house: &House, life: Option<u64>) -> Result<String> {
        let token = hex(&files::random()?);
        match life {
            Some(number) => self.life = Some((number, token.clone())),
            None => self.build = Some(token.clone()),
        }
        self.write(house)?;
        Ok(token)
    }

    /// Notes that the life's tests passed: from here on it may act.
    pub fn proven(&mut self, house: &House) -> Result<()> {
        if std::mem::take(&mut self.unproven) { self.write(house) } else { Ok(()) }
    }

    /// Removes the token of a life or build that has ended, so that processes it left cannot call the broker.
    pub fn revoke(&mut self, house: &House, occupant: Occupant) {
        let there = match occupant {
            Occupant::Life => self.life.take().is_some(),
            Occupant::Build => self.build.take().is_some(),
        };
        if there && let Err(error) = self.write(house) {
            tracing::error!("{error:#}; what is left of a life or build could still call the broker");
        }
    }

    fn write(&self, house: &House) -> Result<()> {
        let life = self
            .life
            .as_ref()
            .map(|(number, token)| json!({"number": number, "token": token, "unproven": self.unproven}));
        let build = self.build.as_ref().map(|token| json!({"token": token}));
        let document = json!({"life": life, "build": build});
        // Not synced: every start makes new tokens.
        files::replace_secret(&house.tokens(), document.to_string().as_bytes())
    }
}
