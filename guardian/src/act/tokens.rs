//! Tokens by which the broker knows who calls: one for each life, each build and each start of the channels, in one file.
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
    /// The channels' token, with the port of the broker's door for them.
    channels: Option<(String, u16)>,
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

    /// Makes a new token for the channels, which find it in the file, with the way to the broker.
    pub fn for_channels(&mut self, house: &House, port: u16) -> Result<()> {
        self.channels = Some((hex(&files::random()?), port));
        self.write(house)
    }

    /// Removes the token of the channels.
    pub fn revoke_channels(&mut self, house: &House) {
        if self.channels.take().is_some() {
            self.rewrite(house);
        }
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
        if there {
            self.rewrite(house);
        }
    }

    fn rewrite(&self, house: &House) {
        if let Err(error) = self.write(house) {
            tracing::error!("{error:#}; what is left of a process that ended could still call the broker");
        }
    }

    fn write(&self, house: &House) -> Result<()> {
        let life = self
            .life
            .as_ref()
            .map(|(number, token)| json!({"number": number, "token": token, "unproven": self.unproven}));
        let build = self.build.as_ref().map(|token| json!({"token": token}));
        let mut document = json!({"life": life, "build": build});
        if let (Some((token, port)), Some(fields)) = (&self.channels, document.as_object_mut()) {
            fields.insert("channels".into(), json!({"token": token, "port": port}));
        }
        // Not synced: every start makes new tokens.
        files::replace_secret(&house.tokens(), document.to_string().as_bytes())
    }
}
