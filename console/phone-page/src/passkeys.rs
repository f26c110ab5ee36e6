//! Passkeys: registered by who is signed in, and signed in by.
//!
//! Each ceremony of WebAuthn has a state that is held here, single-use, for some minutes.

use crate::guesses::Whose;
use crate::stored::{self, Stored};
use anyhow::{Context, Result, anyhow, bail};
use house::clock::{Millis, stamp, wall_ms};
use house::files;
use house::printable::hex;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use url::Url;
use webauthn_rs::prelude::{Passkey, PasskeyAuthentication, PasskeyRegistration, Uuid};
use webauthn_rs::{Webauthn, WebauthnBuilder};

/// The owner, as authenticators keep them: the same always, so that a second passkey of one device replaces the first.
const OWNER: Uuid = Uuid::from_u128(0xfe7a_1000_0000_4000_8000_0000_0000_0001);
/// Longest time of a ceremony, and most of them at once, of one and of all: beyond them the oldest ends. Those of who is
/// within are no stranger's to end.
const LONGEST_MS: Millis = 5 * 60 * 1_000;
const MOST_OF_ONE: usize = 8;
const MOST_STATES: usize = 512;
const MOST_KEPT: usize = 20;

/// A passkey as it is kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Kept {
    /// Its name for people.
    pub id: String,
    pub since: String,
    /// The browser it was added by.
    pub browser: String,
    pub key: Passkey,
}

/// Ceremonies of a kind that are under way, by a number that nobody guesses.
struct Ceremonies<T>(Mutex<BTreeMap<String, Ceremony<T>>>);

struct Ceremony<T> {
    since_ms: Millis,
    whose: String,
    state: T,
}

impl<T> Ceremonies<T> {
    fn hold(&self, whose: &str, state: T) -> Result<String> {
        let (number, now_ms) = (hex(&files::random()?), wall_ms());
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, one| now_ms.abs_diff(one.since_ms) < LONGEST_MS);
        let own = all.values().filter(|one| one.whose == whose).count();
        if own >= MOST_OF_ONE || all.len() >= MOST_STATES {
            let ends = all.iter().filter(|(_, one)| own < MOST_OF_ONE || one.whose == whose);
            let oldest = ends.min_by_key(|(_, one)| one.since_ms).map(|(number, _)| number.clone());
            oldest.map(|number| all.remove(&number));
        }
        all.insert(number.clone(), Ceremony { since_ms: now_ms, whose: whose.to_owned(), state });
        Ok(number)
    }

    fn take(&self, number: &str) -> Result<T> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = all.remove(number).filter(|one| wall_ms().abs_diff(one.since_ms) < LONGEST_MS);
        found.map(|one| one.state).context("it took too long, or was done once already: begin anew")
    }
}

pub struct Passkeys {
    webauthn: Webauthn,
    registrations: Ceremonies<PasskeyRegistration>,
    sign_ins: Ceremonies<PasskeyAuthentication>,
}

impl Passkeys {
    /// For a page of this name; none where that is an address: browsers have passkeys for names alone.
    pub fn of(host: &str, port: u16) -> Option<Self> {
        let origin = Url::parse(&format!("https://{host}:{port}")).ok()?;
        let webauthn = WebauthnBuilder::new(host, &origin).ok()?;
        // A router may stand between, with another port.
        let webauthn = webauthn.rp_name("Feral").allow_any_port(true).build().ok()?;
        let (registrations, sign_ins) = (Ceremonies(Mutex::default()), Ceremonies(Mutex::default()));
        Some(Self { webauthn, registrations, sign_ins })
    }

    pub fn begin_registration(&self, stored: &Stored, session: &str) -> Result<Value> {
        let kept: Vec<Kept> = stored.read(stored::PASSKEYS);
        let there = kept.iter().map(|kept| kept.key.cred_id().clone()).collect();
        let begun =
            self.webauthn.start_passkey_registration(OWNER, "owner", "the owner of this house", Some(there));
        let (options, state) = begun.map_err(|error| anyhow!("no passkey can be added: {error:?}"))?;
        let number = self.registrations.hold(session, state)?;
        Ok(json!({"options": options, "number": number}))
    }

    pub fn finish_registration(
        &self,
        stored: &Stored,
        number: &str,
        answer: &str,
        browser: &str,
    ) -> Result<()> {
        let state = self.registrations.take(number)?;
        let answer = serde_json::from_str(answer).context("the browser's answer cannot be read")?;
        let key = self.webauthn.finish_passkey_registration(&answer, &state);
        let key = key.map_err(|error| anyhow!("the passkey is not taken: {error:?}"))?;
        let id = hex(key.cred_id().as_ref()).chars().take(8).collect();
        let kept = Kept { id, since: stamp(), browser: browser.to_owned(), key };
        stored.change(stored::PASSKEYS, |all: &mut Vec<Kept>| {
            if all.len() >= MOST_KEPT {
                bail!("there are {MOST_KEPT} passkeys already: remove one first");
            }
            all.push(kept);
            Ok(())
        })?
    }

    pub fn begin_sign_in(&self, stored: &Stored, whose: &Whose) -> Result<Value> {
        let kept: Vec<Kept> = stored.read(stored::PASSKEYS);
        let keys: Vec<Passkey> = kept.into_iter().map(|kept| kept.key).collect();
        if keys.is_empty() {
            bail!("there is no passkey yet: sign in by the password and add one");
        }
        let begun = self.webauthn.start_passkey_authentication(&keys);
        let (options, state) = begun.map_err(|error| anyhow!("no passkey can be asked for: {error:?}"))?;
        let number = self.sign_ins.hold(&whose.name(), state)?;
        Ok(json!({"options": options, "number": number}))
    }

    /// Ok where the answer is of a passkey that is kept; how often it was used is noted, by which a copy is told.
    pub fn finish_sign_in(&self, stored: &Stored, number: &str, answer: &str) -> Result<()> {
        let state = self.sign_ins.take(number)?;
        let answer = serde_json::from_str(answer).context("the browser's answer cannot be read")?;
        let came = self.webauthn.finish_passkey_authentication(&answer, &state);
        let came = came.map_err(|error| anyhow!("the passkey is not taken: {error:?}"))?;
        stored.change(stored::PASSKEYS, |all: &mut Vec<Kept>| {
            let found = all.iter_mut().find(|kept| kept.key.cred_id() == came.cred_id());
            // One that was removed meanwhile is none. Of two that count as far, in ceremonies at once, one is a copy
            // (WebAuthn Level 3, section 6.1.1).
            match found.and_then(|kept| kept.key.update_credential(&came)) {
                None => bail!("this passkey was removed"),
                Some(false) if came.counter() > 0 => {
                    bail!("this passkey counts no further: it may be a copy")
                }
                Some(_) => Ok(()),
            }
        })?
    }
}
