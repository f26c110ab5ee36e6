//! The program of the page beyond this machine: serves it for the guardian, and carries out the owner's `page` commands.

use anyhow::{Context, Result};
use house::settings::page::Page;
use house::{House, settings, terminal};
use phone_page::{check, entrance, words};
use std::process::ExitCode;

/// The variable that the guardian hands the settings in force over in.
const SETTINGS: &str = "FERAL_PAGE";

fn main() -> ExitCode {
    // Keys and digests: whatever this process makes is its owner's alone.
    nix::sys::stat::umask(nix::sys::stat::Mode::from_bits_truncate(0o077));
    let given: Vec<String> = std::env::args().skip(1).collect();
    let given: Vec<&str> = given.iter().map(String::as_str).collect();
    ExitCode::from(carried_out(&given).unwrap_or_else(|error| {
        terminal::error(&format!("page: {error:#}"));
        1
    }))
}

fn carried_out(given: &[&str]) -> Result<u8> {
    let house = house::find::find_house(&std::env::current_dir()?)?;
    match given {
        ["serve"] => serve(&house).map(|()| 0),
        ["check"] => check::print(&house),
        ["password"] => words::password(&house),
        ["passkey"] => words::passkey(&house),
        ["sessions"] => words::sessions(&house),
        ["sessions", "end", id] => words::end(&house, id),
        ["sessions", "end-all"] => words::end_all(&house),
        _ => {
            terminal::error(
                "usage: phone-page serve | check | password | passkey | sessions [end ID | end-all]",
            );
            Ok(2)
        }
    }
}

/// Serves until the guardian ends it.
fn serve(house: &House) -> Result<()> {
    let page = match std::env::var(SETTINGS) {
        Ok(given) => {
            serde_json::from_str::<Page>(&given).context("the guardian's settings cannot be read")?
        }
        Err(_) => settings::whole(house)?.page,
    };
    entrance::serve(house, page)
}
