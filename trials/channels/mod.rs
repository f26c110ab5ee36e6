//! Words on a channel over kills: each has to be heard once, and answered once or shown as doubtful, whatever is killed, restarted or cut.

mod broken;
mod fates;
mod house;
mod judge;
mod owner;
mod platform;
#[path = "../../channels/tests/channels/faithful/relay.rs"]
mod relay;
mod strikes;
mod written;

use crate::survival::soak::Dice;
use house::Place;
use judge::Judge;
use owner::Owner;
use serde_json::json;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

const HELP: &str = "usage: channels kills [--minutes N] [--words N] [--seed N] [--keep] [--break]\n";
/// Longest rest between two strikes.
const REST_MS: usize = 14_000;

struct Plan {
    how_long: Duration,
    words: usize,
    seed: u64,
    /// Whether the page is written.
    keep: bool,
    /// Whether an answer is taken out of the outbox in the middle, which has to be found missing.
    breaks: bool,
}

pub fn main(words: impl Iterator<Item = OsString>) -> ExitCode {
    match read(words) {
        Ok(plan) => run(&plan),
        Err(wrong) => {
            eprint!("channels: {wrong}\n{HELP}");
            ExitCode::from(2)
        }
    }
}

fn read(words: impl Iterator<Item = OsString>) -> Result<Plan, String> {
    use lexopt::prelude::*;
    let (mut minutes, mut count, mut seed, mut keep, mut breaks) = (2.5_f64, None, 1, false, false);
    let mut parser = lexopt::Parser::from_args(words);
    let wrong = |error: lexopt::Error| error.to_string();
    while let Some(argument) = parser.next().map_err(wrong)? {
        match argument {
            Value(name) if name == "kills" => {}
            Long("minutes") => minutes = parser.value().and_then(|value| value.parse()).map_err(wrong)?,
            Long("words") => count = Some(parser.value().and_then(|value| value.parse()).map_err(wrong)?),
            Long("seed") => seed = parser.value().and_then(|value| value.parse()).map_err(wrong)?,
            Long("keep") => keep = true,
            Long("break") => breaks = true,
            other => return Err(other.unexpected().to_string()),
        }
    }
    // A thousand an hour.
    let words = count.unwrap_or((minutes * 1_000.0 / 60.0) as usize).max(1);
    Ok(Plan { how_long: Duration::from_secs_f64(minutes * 60.0), words, seed, keep, breaks })
}

fn run(plan: &Plan) -> ExitCode {
    // Whoever works beside it may commit meanwhile.
    let commit = crate::survival::render::commit();
    let mut place = Place::found();
    let (begun, mut dice) = (Instant::now(), Dice(plan.seed));
    let owner = Owner::begin(&place, plan.words, plan.how_long / plan.words as u32);
    let judge = Judge::begin(&place);
    let (mut struck, mut is_whole) = (strikes::Struck::default(), !plan.breaks);
    while begun.elapsed() < plan.how_long {
        std::thread::sleep(Duration::from_millis(1_000 + dice.below(REST_MS) as u64));
        strikes::strike(&mut place, &mut dice, &mut struck);
        if struck.all() % 10 == 0 {
            judge.progress(begun.elapsed(), &struck, owner.said().len());
        }
        if !is_whole && begun.elapsed() > plan.how_long / 2 {
            println!("channels: taken out of the outbox: {}", broken::drop_an_answer(&place));
            is_whole = true;
        }
    }
    let said = owner.end();
    let took = begun.elapsed();
    let mut figures = judge.end(&place, &said);
    figures["minutes"] = json!((took.as_secs_f64() / 60.0).round());
    figures["seed"] = json!(plan.seed);
    figures["struck"] = json!(struck.0);
    figures["commit"] = json!(commit);
    println!("{figures:#}");
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/channels");
    std::fs::create_dir_all(&target).unwrap();
    std::fs::write(target.join("kills.json"), figures.to_string()).unwrap();
    if plan.keep {
        written::keep(&Path::new(env!("CARGO_MANIFEST_DIR")).join("CHANNELS.md"), &figures);
    }
    let faults = figures["faults"].as_array().map_or(0, Vec::len);
    if faults > 0 {
        println!("what is left of the house: {}", place.leave().display());
    }
    ExitCode::from(u8::from(faults > 0))
}
