//! Survival: the fault matrix, each row a real guardian over a real repository; says and writes what it saw.
//!
//! `cargo test` runs the quick rows; `scripts/survival` runs them all and writes SURVIVAL.md.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]
#![allow(clippy::indexing_slicing, clippy::wildcard_enum_match_arm)]

#[path = "../support/mod.rs"]
mod support;

mod arguments;
mod matrix;
mod oracle;
mod outcome;
mod rows;
mod trial;

use arguments::{Arguments, HELP};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = match Arguments::read(std::env::args_os().skip(1)) {
        Ok(Some(arguments)) => arguments,
        Ok(None) => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Err(wrong) => {
            eprintln!("survival: {wrong}\n\n{HELP}");
            return ExitCode::from(2);
        }
    };
    let chosen: Vec<matrix::Variant> = rows::all()
        .into_iter()
        .flat_map(matrix::variants)
        .filter(|variant| arguments.wants(variant))
        .collect();
    if arguments.list {
        matrix::list(&chosen);
        return ExitCode::SUCCESS;
    }
    let outcomes = matrix::run(chosen, &arguments);
    outcome::report(&outcomes, &arguments)
}
