//! Houses to show the owner's page: one that is lived in and hostile, one of a year; and a writer whose appends are timed.

mod appends;
mod lived;
mod repository;
mod year;

use serde_json::Value;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

const HELP: &str = "usage: trials page lived FOLDER | year FOLDER | appends FILE COUNT\n\
    The first two make a house in FOLDER and print what is in it as JSON; the last appends records as the creature does,\n\
    each synced, and prints how long each took, in microseconds, as JSON. The walk itself: scripts/trials page\n";

pub fn main(words: impl Iterator<Item = OsString>) -> ExitCode {
    let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let told: Value = match words[..] {
        ["lived", folder] => lived::make(&PathBuf::from(folder)),
        ["year", folder] => year::make(&PathBuf::from(folder)),
        ["appends", file, count] if count.parse::<u64>().is_ok() => {
            appends::run(&PathBuf::from(file), count.parse().unwrap())
        }
        _ => {
            eprint!("{HELP}");
            return ExitCode::from(2);
        }
    };
    println!("{told}");
    ExitCode::SUCCESS
}
