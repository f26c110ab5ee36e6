//! Findings of `doctor` about the page: whether it is served, by which certificate, and what is the matter with that.

use crate::certificate::{Certificate, LATE_DAYS};
use crate::guesses::Guesses;
use crate::passkeys::Kept as Passkey;
use crate::password::Kept;
use crate::seats::Seats;
use crate::stored::{self, Stored};
use anyhow::Result;
use house::clock::{stamp_of, wall_ms};
use house::settings::page::Page;
use house::terminal::{self, typed};
use house::{House, beyond, moments, settings};
use serde_json::{Value, json};

/// Prints the findings, a list of JSON.
pub fn print(house: &House) -> Result<u8> {
    let page = settings::whole(house)?.page;
    terminal::json(&Value::Array(findings(house, &page)));
    Ok(0)
}

fn finding(grade: &str, found: &str, mend: &str) -> Value {
    json!({"grade": grade, "found": found, "mend": mend})
}

pub fn findings(house: &House, page: &Page) -> Vec<Value> {
    let Some(listen) = &page.listen else { return Vec::new() };
    let stored = Stored::of(house);
    let standing = match beyond::line(house, page) {
        Some(line) if beyond::read(house).is_some() => finding("ok", &line, ""),
        _ => {
            let found = format!("it is to listen at {listen} and does not");
            finding(
                "odd",
                &found,
                "start the guardian, which starts it; why it does not stay: .self/log/phone-page.log",
            )
        }
    };
    let mut found = vec![standing];
    match Certificate::there(page, &stored) {
        None => {}
        Some(Ok(certificate)) => found.extend(of_certificate(page, &certificate)),
        Some(Err(error)) => {
            let told = format!("the certificate cannot be used: {error:#}");
            let mend = "mend `cert` and `key` under [page] in owner.toml; a page that runs goes on with those from before";
            found.push(finding("BAD", &told, mend));
        }
    }
    found.extend(damaged(&stored));
    if stored.read::<Kept>(stored::PASSWORD).hash.is_empty() {
        let told = "no password is set, so nobody signs in by one";
        found.push(finding("odd", told, &typed("page password")));
    }
    found
}

/// Files that cannot be understood: each counts as if it were not there.
fn damaged(stored: &Stored) -> Vec<Value> {
    let sign_in = "nobody is signed in by it: sign in anew, which replaces it";
    let all = [
        (stored::PASSWORD, stored.damage::<Kept>(stored::PASSWORD), typed("page password")),
        (stored::SEATS, stored.damage::<Seats>(stored::SEATS), sign_in.to_owned()),
        (
            stored::PASSKEYS,
            stored.damage::<Vec<Passkey>>(stored::PASSKEYS),
            "put it back from a backup, or add each passkey anew".to_owned(),
        ),
        (
            stored::GUESSES,
            stored.damage::<Guesses>(stored::GUESSES),
            "waits are forgotten; the next sign-in replaces it".to_owned(),
        ),
    ];
    let told = |(name, damage, mend): (&str, Option<String>, String)| {
        let path = stored.path(name);
        damage.map(|why| finding("BAD", &format!("{} cannot be understood: {why}", path.display()), &mend))
    };
    all.into_iter().filter_map(told).collect()
}

fn of_certificate(page: &Page, certificate: &Certificate) -> Vec<Value> {
    let mut found = Vec::new();
    let until = moments::told(&stamp_of(certificate.until_ms));
    let renew = if certificate.is_owners {
        "renew it: the files are read anew as soon as they are replaced"
    } else {
        "start the guardian anew, which makes another"
    };
    match certificate {
        _ if wall_ms() >= certificate.until_ms => {
            found.push(finding("BAD", &format!("its certificate is no longer good, since {until}"), renew));
        }
        _ if !certificate.has_begun() => {
            let from = moments::told(&stamp_of(certificate.from_ms));
            let mend = if certificate.is_owners { "set this machine's clock, or wait" } else { renew };
            found.push(finding("BAD", &format!("its certificate is not good before {from}"), mend));
        }
        _ if certificate.is_owners && certificate.ends_within(LATE_DAYS) => {
            found.push(finding("odd", &format!("its certificate is good until {until}"), renew));
        }
        _ => {}
    }
    if let Some(host) = page.host.as_deref().filter(|host| certificate.is_owners && !certificate.is_for(host))
    {
        let told = format!("its certificate is not for {host}");
        found.push(finding("odd", &told, "take one that has this name, or set `host` to a name it has"));
    }
    found
}
