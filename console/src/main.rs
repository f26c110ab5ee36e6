//! The console's command line: reads it as the guardian hands it over, then shows or answers.

use anyhow::Result;
use console::{asks, doctor, feed, help, history, report, say};
use guardian::{settings, start};
use house::terminal::{self, typed};
use house::{House, moments};
use std::process::ExitCode;

/// Most rows of the past that may be asked for.
const MOST_ROWS: usize = 100_000;

enum Command {
    History { since: String, json: bool },
    Report { since: String, json: bool },
    Asks { id: Option<String>, full: bool, json: bool },
    Answer { id: String, approve: bool },
    Feed(feed::Wanted),
    Say(say::Wanted),
    Doctor { json: bool },
    Help(Option<String>),
}

fn main() -> ExitCode {
    let command = match parse(lexopt::Parser::from_env()) {
        Ok(command) => command,
        Err(error) => {
            terminal::error(&format!("guardian: {error}; see `cargo run -p guardian -- --help`"));
            return ExitCode::from(2);
        }
    };
    match carry_out(command) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            terminal::error(&format!("guardian: {error:#}"));
            ExitCode::from(if error.is::<start::Refused>() { 100 } else { 1 })
        }
    }
}

fn parse(mut parser: lexopt::Parser) -> Result<Command, lexopt::Error> {
    use lexopt::prelude::*;
    let (mut words, mut json, mut full, mut since) = (Vec::new(), false, false, None);
    let (mut last, mut live, mut wants_help) = (None, None, false);
    let (mut wait_s, mut thread) = (None, None);
    while let Some(argument) = parser.next()? {
        match argument {
            Short('h') | Long("help") => wants_help = true,
            Long("json") => json = true,
            Long("full") => full = true,
            Long("since") => since = Some(moments::since(&parser.value()?.string()?)?),
            Long("wait") => wait_s = Some(parser.value()?.parse::<u64>()?),
            Long("thread") => thread = Some(parser.value()?.string()?),
            Long("live") => live = Some(parser.value()?.parse()?),
            Short('n') => last = Some(parser.value()?.parse::<usize>()?.min(MOST_ROWS)),
            Value(word) => words.push(word.string()?),
            Short(_) | Long(_) => return Err(argument.unexpected()),
        }
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let first = words.first().copied().unwrap_or_default();
    if wants_help || first == "help" {
        let about = if first == "help" { words.get(1) } else { words.first() };
        return Ok(Command::Help(about.map(|&word| word.to_owned())));
    }
    let takes = |option: &str| help::of(first).is_some_and(|help| help.takes(option));
    let given = [
        ("--json", json),
        ("--full", full),
        ("--since", since.is_some()),
        ("-n", last.is_some()),
        ("--wait", wait_s.is_some()),
        ("--thread", thread.is_some()),
    ];
    if let Some((option, _)) = given.iter().find(|(option, given)| *given && !takes(option)) {
        let whose = if first.is_empty() { "the guardian's start" } else { first };
        return Err(format!("{whose} takes no {option}").into());
    }
    match words.as_slice() {
        ["history"] => Ok(Command::History { since: since.map_or_else(|| moments::since("24h"), Ok)?, json }),
        ["report"] => {
            Ok(Command::Report { since: since.map_or_else(|| moments::since("yesterday"), Ok)?, json })
        }
        ["asks"] => Ok(Command::Asks { id: None, full, json }),
        ["asks", id] => Ok(Command::Asks { id: Some((*id).to_owned()), full, json }),
        ["approve", id] => Ok(Command::Answer { id: (*id).to_owned(), approve: true }),
        ["deny", id] => Ok(Command::Answer { id: (*id).to_owned(), approve: false }),
        ["approve" | "deny"] => Err(format!("which ask? `{}` lists them", typed("asks")).into()),
        ["feed"] => Ok(Command::Feed(feed::Wanted { last, since, json, live })),
        ["say"] => {
            Err(format!("say what? `{}`; - takes it from the standard input", typed("say \"how are you?\""))
                .into())
        }
        ["say", words @ ..] => {
            let (words, wait_s) = (words.join(" "), wait_s.unwrap_or(say::WAIT_S));
            Ok(Command::Say(say::Wanted { words, wait_s, thread, json }))
        }
        [] => Ok(Command::Help(None)),
        ["doctor"] => Ok(Command::Doctor { json }),
        other => Err(help::unknown(&other.join(" ")).into()),
    }
}

fn carry_out(command: Command) -> Result<u8> {
    if !matches!(command, Command::Answer { .. }) {
        terminal::end_with_reader();
    }
    match command {
        Command::Help(None) => help::all().lines().for_each(terminal::line),
        Command::Help(Some(name)) => match help::of(&name) {
            Some(help) => help.text().lines().for_each(terminal::line),
            None => {
                terminal::error(&format!("guardian: {}", help::unknown(&name)));
                return Ok(2);
            }
        },
        Command::History { since, json } => history::print(&find()?, &since, json),
        Command::Report { since, json } => report::print(&find()?, &since, json),
        Command::Asks { id, full, json } => return asks::show(&find()?, id.as_deref(), full, json),
        Command::Answer { id, approve } => return asks::answer(&find()?, &id, approve),
        Command::Feed(wanted) => feed::follow(&find()?, &wanted)?,
        Command::Say(wanted) => return say::say(&find()?, &wanted),
        Command::Doctor { json } => {
            let house = find()?;
            let limits = settings::load(&house).map(|settings| settings.limits).unwrap_or_default();
            return Ok(doctor::examine(&house, &limits, json));
        }
    }
    Ok(0)
}

fn find() -> Result<House> {
    start::find_house(&std::env::current_dir()?)
}
