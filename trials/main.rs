//! The laboratory's command: the fault matrix, escapes, mutants, harms, soaks, benches, houses for the page, machines, and the README's pictures, each by its name.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]
#![allow(clippy::indexing_slicing, clippy::wildcard_enum_match_arm)]

mod bench;
mod channels;
mod escapes;
#[path = "../creature/tests/faithful/mod.rs"]
mod faithful;
mod harms;
mod mutants;
mod page;
mod record;
mod survival;

use std::process::ExitCode;

const HELP: &str = "usage: trials survival | channels | escapes | mutants | harms | bench | page | record | machines, each with words of its own; see scripts/trials --help\n";

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let name = words.next().unwrap_or_default();
    match name.to_str() {
        Some("survival") => survival::main(words),
        Some("channels") => channels::main(words),
        Some("escapes") => escapes::main(words),
        Some("mutants") => mutants::main(words),
        Some("harms") => harms::main(words),
        Some("bench") => bench::main(words),
        Some("page") => page::main(words),
        Some("record") => record::main(words),
        Some("machines") => {
            let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("MACHINES.md");
            let only = words.next().and_then(|only| only.into_string().ok());
            ExitCode::from(u8::from(!trials::machines::write(&page, only.as_deref())))
        }
        _ => {
            eprint!("{HELP}");
            ExitCode::from(2)
        }
    }
}
