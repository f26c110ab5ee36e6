//! The owner's commands at the terminal: the password, the single-use link, sessions listed and ended.

use crate::asking::unseen;
use crate::guesses::Guesses;
use crate::passkeys::Kept as Passkey;
use crate::password::{self, Kept};
use crate::seats::{IDLE_MS, LONGEST_MS, Seats, days, digest};
use crate::sign_in::{INVITED_MS, Invitation};
use crate::stored::{self, Stored};
use anyhow::{Context, Result, bail};
use house::clock::{Millis, stamp, stamp_of, wall_ms};
use house::printable::hex;
use house::settings::page::Page;
use house::terminal::{self, typed};
use house::{House, beyond, files, moments, settings};
use std::net::{IpAddr, SocketAddr};

/// Sets the password, asked for twice; every session ends, and no guess waits any more.
pub fn password(house: &House) -> Result<u8> {
    let first = unseen(&format!(
        "The password for your page, {} letters at least (nothing is shown):",
        password::LEAST_CHARS
    ))?;
    if let Err(why) = password::judged(&first) {
        bail!("this password is not taken: {why}; nothing was changed");
    }
    if unseen("Once more:")? != first {
        bail!("the two are not the same; nothing was changed");
    }
    let stored = Stored::of(house);
    let kept = Kept { hash: password::hashed(&first)?, since: stamp() };
    let ended = stored.alone(|| {
        let mut seats: Seats = stored.read(stored::SEATS);
        seats.known.clear();
        let ended = seats.end(|_| true);
        // Sessions first: ended in between, this leaves nobody within by a password that is not the one of now.
        stored.write(stored::SEATS, &serde_json::to_vec(&seats)?)?;
        stored.write(stored::INVITATION, b"null")?;
        stored.write(stored::PASSWORD, &serde_json::to_vec(&kept)?)?;
        Ok(ended)
    })?;
    stored.change(stored::GUESSES, Guesses::forget)?;
    let sessions = if ended == 1 { "1 session ended".to_owned() } else { format!("{ended} sessions ended") };
    terminal::line(&format!("The password is set; {sessions}."));
    if settings::whole(house)?.page.listen.is_none() {
        terminal::line(
            "The page is not open beyond this machine yet: `[page] listen = \"0.0.0.0:4433\"` in owner.toml opens it.",
        );
    }
    Ok(0)
}

/// Prints a link that signs in once, within ten minutes, to add a passkey.
pub fn passkey(house: &House) -> Result<u8> {
    let page = settings::whole(house)?.page;
    if page.host.is_none() {
        bail!("a passkey needs a name to belong to: set `host` under [page] in owner.toml");
    }
    let at = beyond::read(house).and_then(|told| told.at.parse().ok()).or(page.listens());
    let at =
        at.context("the page is not open beyond this machine: set `listen` under [page] in owner.toml")?;
    let token = hex(&files::random()?);
    let invitation = Invitation { digest: digest(&token), until_ms: wall_ms() + INVITED_MS };
    Stored::of(house).change(stored::INVITATION, |held: &mut Option<Invitation>| *held = Some(invitation))?;
    terminal::words(&format!("{}/invited?token={token}", address(&page, at)));
    terminal::error(
        "Good once, for ten minutes: it signs in whoever opens it, and leads to where a passkey is added.",
    );
    Ok(0)
}

fn ago(at_ms: Millis) -> String {
    moments::near(&stamp_of(at_ms))
}

/// Lists who is signed in.
pub fn sessions(house: &House) -> Result<u8> {
    let stored = Stored::of(house);
    let seats: Seats = stored.read(stored::SEATS);
    let all = seats.in_turn(wall_ms());
    passkeys(&stored.read::<Vec<Passkey>>(stored::PASSKEYS));
    if all.is_empty() {
        terminal::line("Nobody is signed in.");
        return Ok(0);
    }
    for one in all {
        let told = format!(
            "{}, by {} from {}, since {}, used {}",
            one.browser,
            one.by.told(),
            one.from,
            ago(one.since_ms),
            ago(one.seen_ms)
        );
        terminal::beside("1", &one.id, 10, &told);
    }
    terminal::line(&format!(
        "Each ends {} days after it was used last, {} days after it began, or by {}.",
        days(IDLE_MS),
        days(LONGEST_MS),
        typed("page sessions end ID")
    ));
    Ok(0)
}

fn passkeys(all: &[Passkey]) {
    for one in all {
        let told = format!("a passkey, added by {}, {}", one.browser, moments::near(&one.since));
        terminal::beside("1", &one.id, 10, &told);
    }
}

/// Ends one session, or removes a passkey: whoever lost a phone has both out here.
pub fn end(house: &House, id: &str) -> Result<u8> {
    let stored = Stored::of(house);
    if stored.read::<Vec<Passkey>>(stored::PASSKEYS).iter().any(|kept| kept.id == id) {
        stored.change(stored::PASSKEYS, |all: &mut Vec<Passkey>| all.retain(|kept| kept.id != id))?;
        terminal::line(&format!("Passkey {id} is removed."));
        return Ok(0);
    }
    let ended = stored.change(stored::SEATS, |seats: &mut Seats| seats.end(|one| one.id == id))?;
    if ended == 0 {
        bail!("there is no session {id}: {} lists them", typed("page sessions"));
    }
    terminal::line(&format!("Session {id} has ended."));
    Ok(0)
}

/// Ends all sessions.
pub fn end_all(house: &House) -> Result<u8> {
    let ended = Stored::of(house).change(stored::SEATS, |seats: &mut Seats| seats.end(|_| true))?;
    terminal::line(&format!("Sessions that have ended: {ended}."));
    Ok(0)
}

/// Where a page listens, as an address to open: by its name, else by an address of this machine's.
fn address(page: &Page, at: SocketAddr) -> String {
    let host = page.host.clone().unwrap_or_else(|| match at.ip() {
        ip if ip.is_unspecified() => "this machine's address".to_owned(),
        IpAddr::V6(ip) => format!("[{ip}]"),
        IpAddr::V4(ip) => ip.to_string(),
    });
    if at.port() == 443 { format!("https://{host}") } else { format!("https://{host}:{}", at.port()) }
}
