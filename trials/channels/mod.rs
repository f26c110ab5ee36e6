//! Words on a channel over kills: each has to be heard once, and answered once or shown as doubtful, whatever is killed, restarted or cut.

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
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

const HELP: &str = "usage: channels kills [--minutes N] [--words N] [--seed N] [--keep]\n";
/// Longest rest between two strikes.
const REST_MS: usize = 14_000;

struct Plan {
    how_long: Duration,
    words: usize,
    seed: u64,
    /// Whether the page is written.
    keep: bool,
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
    let (mut minutes, mut count, mut seed, mut keep) = (2.5_f64, None, 1, false);
    let mut parser = lexopt::Parser::from_args(words);
    let wrong = |error: lexopt::Error| error.to_string();
    while let Some(argument) = parser.next().map_err(wrong)? {
        match argument {
            Value(name) if name == "kills" => {}
            Long("minutes") => minutes = parser.value().and_then(|value| value.parse()).map_err(wrong)?,
            Long("words") => count = Some(parser.value().and_then(|value| value.parse()).map_err(wrong)?),
            Long("seed") => seed = parser.value().and_then(|value| value.parse()).map_err(wrong)?,
            Long("keep") => keep = true,
            other => return Err(other.unexpected().to_string()),
        }
    }
    // A thousand an hour.
    let words = count.unwrap_or((minutes * 1_000.0 / 60.0) as usize).max(1);
    Ok(Plan { how_long: Duration::from_secs_f64(minutes * 60.0), words, seed, keep })
}

fn run(plan: &Plan) -> ExitCode {
    let mut place = Place::found();
    let idle = plan.keep.then(|| place.idle());
    let (begun, mut dice) = (Instant::now(), Dice(plan.seed));
    let owner = Owner::begin(&place, plan.words, plan.how_long / plan.words as u32);
    let judge = Judge::begin(&place);
    let mut struck = strikes::Struck::default();
    while begun.elapsed() < plan.how_long {
        std::thread::sleep(Duration::from_millis(1_000 + dice.below(REST_MS) as u64));
        strikes::strike(&mut place, &mut dice, &mut struck);
        if struck.all() % 10 == 0 {
            judge.progress(begun.elapsed(), &struck, owner.said().len());
        }
    }
    let said = owner.end();
    let mut figures = judge.end(&mut place, &said, &struck, begun.elapsed(), plan.seed);
    figures["idle"] = serde_json::json!(idle);
    println!("{figures:#}");
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/channels");
    std::fs::create_dir_all(&target).unwrap();
    std::fs::write(target.join("kills.json"), figures.to_string()).unwrap();
    if plan.keep {
        let page: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("CHANNELS.md");
        // What `channels idle` wrote stands behind it.
        let before = std::fs::read_to_string(&page).unwrap_or_default();
        let costs =
            before.find("\n# What each channel costs").map_or("", |at| before.get(at..).unwrap_or_default());
        std::fs::write(page, written::page(&figures) + costs).unwrap();
    }
    let faults = figures["faults"].as_array().map_or(0, Vec::len);
    if faults > 0 {
        println!("what is left of the house: {}", place.leave().display());
    }
    ExitCode::from(u8::from(faults > 0))
}
