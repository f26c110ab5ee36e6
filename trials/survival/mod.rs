//! Survival: the fault matrix, each row a real guardian over a real repository; says and writes what it saw.
//!
//! `scripts/check` runs the quick rows; `scripts/trials survival` runs them all and writes SURVIVAL.md.

mod arguments;
mod comeback;
mod hostile;
mod houses;
mod killing;
pub mod matrix;
mod oracle;
pub mod outcome;
pub mod render;
pub mod rows;
pub mod soak;
mod tracer;
pub mod trial;
mod whole;

use arguments::{Arguments, HELP};
use std::ffi::OsString;
use std::process::ExitCode;

pub fn main(given: impl Iterator<Item = OsString>) -> ExitCode {
    let arguments = match Arguments::read(given) {
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
    if let Some(path) = &arguments.write {
        return write(path);
    }
    if arguments.hostile_minutes.is_some() {
        return hostile_run(&arguments);
    }
    if arguments.soak_hours.is_some() || arguments.restarts.is_some() {
        return long_run(&arguments);
    }
    let chosen: Vec<matrix::Variant> = rows::all()
        .into_iter()
        .flat_map(matrix::variants)
        .filter(|variant| arguments.wants(variant))
        .filter(|variant| !(arguments.stewards && variant.is_killed()))
        .map(|variant| {
            let killed = if arguments.stewards { matrix::Killed::Steward } else { variant.killed };
            matrix::Variant { is_sample: arguments.samples(), killed, ..variant }
        })
        .collect();
    if chosen.is_empty() {
        eprintln!("survival: no row has that in its family or name; `--list --full` names them all");
        return ExitCode::from(2);
    }
    if arguments.list {
        matrix::list(&chosen);
        return ExitCode::SUCCESS;
    }
    let begun = std::time::Instant::now();
    let outcomes = matrix::run(chosen, &arguments);
    outcome::report(&outcomes, &arguments, begun.elapsed())
}

/// A soak or restarts without end: a trial like any other, with measurements to keep.
fn long_run(arguments: &Arguments) -> ExitCode {
    let row = matrix::Row::new("soak", "the same house", "faults at random, one after another", |_| {});
    let mut trial =
        trial::Trial::new(matrix::Variant { row, killed: matrix::Killed::Nobody, is_sample: false });
    let mut measured = match (arguments.soak_hours, arguments.restarts) {
        (Some(hours), _) => soak::soak(
            &mut trial,
            std::time::Duration::from_secs_f64(hours * 3_600.0),
            arguments.seed.unwrap_or(1),
        ),
        (None, number) => soak::restarts(&mut trial, number.unwrap_or(100_000)),
    };
    trial.close();
    measured["commit"] = render::commit().into();
    println!("{measured:#}");
    if let Some(path) = &arguments.json {
        std::fs::write(path, measured.to_string()).unwrap();
    }
    ExitCode::SUCCESS
}

/// A hostile soak; fails where it saw a fault.
fn hostile_run(arguments: &Arguments) -> ExitCode {
    let row = matrix::Row::new("soak", "a hostile house", "kills at random over a hostile creature", |_| {});
    let mut trial =
        trial::Trial::new(matrix::Variant { row, killed: matrix::Killed::Nobody, is_sample: false });
    let plan = hostile::Plan {
        how_long: std::time::Duration::from_secs_f64(arguments.hostile_minutes.unwrap_or(60.0) * 60.0),
        seed: arguments.seed.unwrap_or(1),
        open: arguments.open,
        json: arguments.json.clone(),
        resume: arguments.resume,
    };
    let figures = hostile::hostile(&mut trial, &plan);
    println!("{figures:#}");
    let faults = figures["faults"].as_object().map_or(0, serde_json::Map::len);
    ExitCode::from(u8::from(faults > 0))
}

fn write(path: &std::path::Path) -> ExitCode {
    let results = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/survival");
    let written = render::survival(&results).and_then(|page| {
        std::fs::write(path, page).map_err(|error| format!("failed to write {}: {error}", path.display()))
    });
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(wrong) => {
            eprintln!("survival: {wrong}");
            ExitCode::FAILURE
        }
    }
}
