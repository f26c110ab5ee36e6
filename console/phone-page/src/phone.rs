//! All that requests of the page beyond this machine share: its settings and files, who is signed in, and how one is.

use crate::browser;
use crate::guesses::{Guesses, Whose};
use crate::passkeys::{Kept as Passkey, Passkeys};
use crate::password::Kept;
use crate::seats::{By, KNOWN_MS, LONGEST_MS, Seats, Session, digest};
use crate::stored::{self, Stored};
use anyhow::{Context, Result, bail};
use axum::response::Response;
use console::page::frame::see;
use console::page::guard::cookies;
use house::clock::{Millis, wall_ms};
use house::files::{self, Mark};
use house::printable::hex;
use house::settings::page::Page;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

/// Least time between two notes of sign-ins that failed.
const NOTED_MS: Millis = 5_000;

pub struct Phone {
    pub page: Page,
    pub stored: Stored,
    pub passkeys: Option<Passkeys>,
    /// Each held by the one hash that is made, which takes 19 MiB and a processor: of strangers, and of browsers that
    /// signed in before, so that no crowd stands in the owner's way.
    hashing: [tokio::sync::Mutex<()>; 2],
    port: u16,
    seats: Mutex<(Option<Mark>, Seats)>,
    /// When a failed sign-in was noted last.
    noted_ms: Mutex<Millis>,
}

impl Phone {
    pub fn new(page: Page, stored: Stored, port: u16) -> Self {
        let passkeys = page.host.as_deref().and_then(|host| Passkeys::of(host, port));
        let (hashing, seats, noted_ms) = (Default::default(), Mutex::default(), Mutex::default());
        Self { page, stored, passkeys, hashing, port, seats, noted_ms }
    }

    /// Works with who is signed in, as it stands in the file now.
    pub fn with_seats<T>(&self, work: impl FnOnce(&Seats) -> T) -> T {
        let mark = files::mark(&self.stored.path(stored::SEATS));
        let mut held = self.seats.lock().unwrap_or_else(PoisonError::into_inner);
        if held.0 != mark {
            *held = (mark, if mark.is_some() { self.stored.read(stored::SEATS) } else { Seats::default() });
        }
        work(&held.1)
    }

    /// The name of a cookie: of one house's page, taken by browsers from this host over TLS alone.
    fn cookie(&self, what: &str) -> String {
        format!("__Host-feral-{what}{}", self.port)
    }

    /// The digest of the cookie that has this name and is somebody's.
    fn given(
        &self,
        headers: &HeaderMap,
        what: &str,
        is_one: impl Fn(&Seats, &str) -> bool,
    ) -> Option<String> {
        let name = self.cookie(what);
        let mut digests = cookies(headers, &name).map(digest);
        digests.find(|digest| self.with_seats(|seats| is_one(seats, digest)))
    }

    /// The digest of the session that a request belongs to.
    pub fn session(&self, headers: &HeaderMap) -> Option<String> {
        self.given(headers, "", |seats, digest| seats.of(digest, wall_ms()).is_some())
    }

    /// The digest of the cookie of a browser that signed in before.
    fn known(&self, headers: &HeaderMap) -> Option<String> {
        self.given(headers, "known-", |seats, digest| seats.knows(digest, wall_ms()))
    }

    /// The one a guess of this browser is counted for.
    pub fn whose(&self, headers: &HeaderMap, from: IpAddr) -> Whose {
        self.known(headers).map_or(Whose::Strangers(from.to_canonical()), Whose::Known)
    }

    /// The turn of a guess.
    pub fn turn(&self, whose: &Whose) -> &tokio::sync::Mutex<()> {
        let [strangers, known] = &self.hashing;
        if matches!(whose, Whose::Strangers(_)) { strangers } else { known }
    }

    /// Whether a session began so lately that it may do what outlasts it: a cookie that was stolen later may not.
    pub fn is_fresh(&self, seal: &str) -> bool {
        let now_ms = wall_ms();
        self.with_seats(|seats| seats.of(seal, now_ms).is_some_and(|one| one.is_fresh(now_ms)))
    }

    /// Begins a session, which is on the disk when this returns; the answer that hands it over. `by_hash`: the hash of
    /// the password that was given, which may have been changed since it was looked at.
    pub fn begin(
        &self,
        headers: &HeaderMap,
        from: IpAddr,
        by: By,
        by_hash: Option<&str>,
    ) -> Result<Response> {
        let (cookie, browser, now_ms) = (hex(&files::random()?), hex(&files::random()?), wall_ms());
        let session = Session {
            id: digest(&cookie).chars().take(8).collect(),
            digest: digest(&cookie),
            since_ms: now_ms,
            seen_ms: now_ms,
            by,
            browser: browser::told(headers),
            from: from.to_canonical().to_string(),
        };
        let (had, known) = (self.session(headers), digest(&browser));
        self.stored.alone(|| {
            if by_hash.is_some_and(|hash| self.stored.read::<Kept>(stored::PASSWORD).hash != hash) {
                bail!("the password was changed just now");
            }
            let mut seats: Seats = self.stored.read(stored::SEATS);
            seats.begin(session, had.as_deref(), &known);
            self.stored.write(stored::SEATS, &serde_json::to_vec(&seats)?)
        })?;
        let mut answer = see(if by == By::Link { "/sessions" } else { "/" });
        self.set(answer.headers_mut(), "", &cookie, LONGEST_MS);
        self.set(answer.headers_mut(), "known-", &browser, KNOWN_MS);
        Ok(answer)
    }

    /// Has the browser keep a cookie for so long, or forget it.
    fn set(&self, headers: &mut HeaderMap, what: &str, value: &str, longest_ms: Millis) {
        let (name, longest_s) = (self.cookie(what), longest_ms / 1_000);
        let set = format!("{name}={value}; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age={longest_s}");
        if let Ok(set) = HeaderValue::from_str(&set) {
            headers.append(header::SET_COOKIE, set);
        }
    }

    /// The answer to a browser that is signed out: what it holds of the page goes, in its history too.
    pub fn signed_out(&self) -> Response {
        let mut answer = see("/sign-in");
        self.set(answer.headers_mut(), "", "", 0);
        let clear = HeaderName::from_static("clear-site-data");
        answer.headers_mut().insert(clear, HeaderValue::from_static("\"cache\""));
        answer
    }

    /// Notes that a session is used, now and then; nobody waits for it.
    pub fn note(&self, digest: &str) {
        let now_ms = wall_ms();
        if self.with_seats(|seats| seats.of(digest, now_ms).is_some_and(|one| one.is_noted_long_ago(now_ms)))
        {
            let (stored, digest) = (self.stored.clone(), digest.to_owned());
            tokio::task::spawn_blocking(move || {
                stored.change(stored::SEATS, |seats: &mut Seats| seats.note(&digest, now_ms))
            });
        }
    }

    /// The passkeys, where there can be any.
    pub fn passkeys(&self) -> Result<&Passkeys> {
        self.passkeys.as_ref().context("passkeys need a name: set `host` under [page] in owner.toml")
    }

    /// Whether a passkey leads in.
    pub fn has_passkeys(&self) -> bool {
        self.passkeys.is_some() && !self.stored.read::<Vec<Passkey>>(stored::PASSKEYS).is_empty()
    }

    /// Counts a failed sign-in that nobody could have guessed, for notices; not each of many at once.
    pub fn tell_failed(&self, from: IpAddr) {
        let now_ms = wall_ms();
        let mut noted_ms = self.noted_ms.lock().unwrap_or_else(PoisonError::into_inner);
        if now_ms.abs_diff(*noted_ms) >= NOTED_MS {
            *noted_ms = now_ms;
            let stored = self.stored.clone();
            tokio::task::spawn_blocking(move || {
                stored.change(stored::GUESSES, |guesses: &mut Guesses| guesses.fail(from, now_ms))
            });
        }
    }
}
