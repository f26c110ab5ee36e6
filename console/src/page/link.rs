//! The token of the link that leads in: in a file that no creature reads, made anew on demand, also under a running server.
//!
//! Invariant: only `serve` writes that file, and what stands in it counts at the next request.

use crate::page::guard::same;
use anyhow::Result;
use house::printable::hex;
use house::records::text;
use house::{House, clock, files};
use serde_json::json;
use std::os::unix::fs::MetadataExt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The token as it was read last.
pub struct Link {
    house: House,
    held: Mutex<Held>,
}

struct Held {
    token: String,
    mark: Option<files::Mark>,
    /// The state it was read in: another one may have been put in its place.
    state: Option<(u64, u64)>,
}

impl Link {
    /// Reads the token; makes a new one where there is none, or where a new one is wanted.
    pub fn open(house: &House, anew: bool) -> Result<Self> {
        let there = read(house).filter(|_| !anew);
        let token = match there {
            Some(token) => token,
            None => {
                let token = hex(&files::random()?);
                write(house, &token)?;
                token
            }
        };
        let held = Held { token, mark: files::mark(&house.page_link()), state: state(house) };
        Ok(Self { house: house.clone(), held: Mutex::new(held) })
    }

    /// The token that counts now.
    pub fn token(&self) -> String {
        let mut held = self.held();
        let (mark, state) = (files::mark(&self.house.page_link()), state(&self.house));
        if mark == held.mark && state == held.state {
            return held.token.clone();
        }
        // Other state was put here: its token may be one that was made old long ago.
        let said = if state == held.state { read(&self.house) } else { None };
        match said {
            Some(token) => held.token = token,
            None if state.is_some() => {
                let _ = write(&self.house, &held.token);
            }
            None => {}
        }
        (held.mark, held.state) = (files::mark(&self.house.page_link()), state);
        held.token.clone()
    }

    /// Makes a new token; every browser that has the old one is out.
    pub fn renew(&self) -> Result<String> {
        let token = hex(&files::random()?);
        let mut held = self.held();
        write(&self.house, &token)?;
        let mark = files::mark(&self.house.page_link());
        *held = Held { token: token.clone(), mark, state: state(&self.house) };
        Ok(token)
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Device and number of the folder of state.
pub fn state(house: &House) -> Option<(u64, u64)> {
    std::fs::metadata(house.state_folder()).ok().map(|meta| (meta.dev(), meta.ino()))
}

fn read(house: &House) -> Option<String> {
    let told: serde_json::Value =
        serde_json::from_slice(&files::read_small(&house.page_link()).ok()??).ok()?;
    let token = text(&told, "token").to_owned();
    // One that is too short to be of use is the same as none.
    same(&token, &token).then_some(token)
}

fn write(house: &House, token: &str) -> Result<()> {
    let told = json!({"token": token, "since": clock::stamp()});
    files::replace_secret(&house.page_link(), told.to_string().as_bytes())
}
