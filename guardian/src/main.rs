//! The guardian's door: reads the command line, then starts, refuses, or carries an order.

use anyhow::Result;
use guardian::house::House;
use guardian::walls::launch;
use guardian::{asks, doctor, feed, history, orders, report, settings, start};
use std::io::IsTerminal;
use std::process::ExitCode;

const HELP: &str = "\
Keeps one self-editing creature alive.

Usage: cargo run -p guardian [-- COMMAND]

Without a command it builds the creature, runs it and watches it until Ctrl-C.

Commands:
  status [--json]                what is going on; exit status 3 when no guardian runs
  stop                           end the creature and the guardian
  pause                          end the creature; the guardian waits
  resume                         go on
  rollback [COMMIT]              put creature/ back to the blessed commit before, or to COMMIT
  asks [ID] [--full] [--json]    what waits for your yes or no; with an ID or --full its exact bytes
  approve ID                     let it be done, once and exactly as shown
  deny ID                        do not
  history [--since T] [--json]   what happened; T is 90m, 12h, 7d or a time (default 24h)
  feed                           follow the creature's memory, readable
  doctor [--json]                what is missing or odd, and how to mend it

Options:
  -h, --help      this text
  -V, --version   the version

Examples:
  cargo run -p guardian
  cargo run -p guardian -- history --since 8h
  cargo run -p guardian -- rollback 1a2b3c4
  cargo run -p guardian -- asks 12
  cargo run -p guardian -- approve 12

Environment: RUST_LOG (what is logged), NO_COLOR (plain output).
Exit status: 0 done; 1 failed, or what was approved failed; 2 wrong usage; 3 no guardian runs; 100 refused to start.
";

enum Command {
    Run,
    Status { json: bool },
    Order { order: &'static str, to: Option<String> },
    History { since: String, json: bool },
    Asks { id: Option<String>, full: bool, json: bool },
    Answer { id: String, approve: bool },
    Feed,
    Doctor { json: bool },
    Help,
    Version,
}

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == "wall") {
        return launch::launch(arguments);
    }
    let command = match parse(lexopt::Parser::from_env()) {
        Ok(command) => command,
        Err(error) => {
            eprintln!("guardian: {error}; see `cargo run -p guardian -- --help`");
            return ExitCode::from(2);
        }
    };
    match carry_out(command) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("guardian: {error:#}");
            ExitCode::from(if error.is::<start::Refused>() { 100 } else { 1 })
        }
    }
}

fn parse(mut parser: lexopt::Parser) -> Result<Command, lexopt::Error> {
    use lexopt::prelude::*;
    let (mut words, mut json, mut full, mut since) = (Vec::new(), false, false, None);
    while let Some(argument) = parser.next()? {
        match argument {
            Short('h') | Long("help") => return Ok(Command::Help),
            Short('V') | Long("version") => return Ok(Command::Version),
            Long("json") => json = true,
            Long("full") => full = true,
            Long("since") => since = Some(parser.value()?.string()?),
            Value(word) => words.push(word.string()?),
            Short(_) | Long(_) => return Err(argument.unexpected()),
        }
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let order = |order| Ok(Command::Order { order, to: None });
    match words.as_slice() {
        [] => Ok(Command::Run),
        ["status"] => Ok(Command::Status { json }),
        ["stop"] => order("stop"),
        ["pause"] => order("pause"),
        ["resume"] => order("resume"),
        ["rollback"] => order("rollback"),
        ["rollback", commit] => Ok(Command::Order { order: "rollback", to: Some((*commit).to_owned()) }),
        ["history"] => Ok(Command::History { since: since.unwrap_or_else(|| "24h".into()), json }),
        ["asks"] => Ok(Command::Asks { id: None, full, json }),
        ["asks", id] => Ok(Command::Asks { id: Some((*id).to_owned()), full, json }),
        ["approve", id] => Ok(Command::Answer { id: (*id).to_owned(), approve: true }),
        ["deny", id] => Ok(Command::Answer { id: (*id).to_owned(), approve: false }),
        ["approve" | "deny"] => Err("which ask? `guardian asks` lists them".into()),
        ["feed"] => Ok(Command::Feed),
        ["doctor"] => Ok(Command::Doctor { json }),
        ["help"] => Ok(Command::Help),
        other => Err(format!("`{}` is no command of the guardian", other.join(" ")).into()),
    }
}

fn carry_out(command: Command) -> Result<u8> {
    if !matches!(command, Command::Run) {
        // A reader that closes the pipe early ends us quietly, as it does any command of the shell.
        // SAFETY: nothing else runs yet, and the default handler is no code of ours.
        #[allow(unsafe_code)]
        let _ = unsafe {
            nix::sys::signal::signal(nix::sys::signal::Signal::SIGPIPE, nix::sys::signal::SigHandler::SigDfl)
        };
    }
    match command {
        Command::Help => print!("{HELP}"),
        Command::Version => println!("guardian {}", env!("CARGO_PKG_VERSION")),
        Command::Run => return start::run(),
        Command::Status { json } => return orders::status(&find()?, json),
        Command::Order { order, to } => {
            orders::give(&find()?, order, to)?;
        }
        Command::History { since, json } => history::print(&find()?, &history::since(&since)?, json),
        Command::Asks { id, full, json } => return asks::show(&find()?, id.as_deref(), full, json),
        Command::Answer { id, approve } => return asks::answer(&find()?, &id, approve),
        Command::Feed => {
            let colour = report::colour(std::io::stdout().is_terminal());
            let mut feed = feed::Feed::from_start(find()?.memory(), colour);
            loop {
                let (lines, more) = feed.look();
                lines.iter().for_each(|line| println!("{line}"));
                if !more {
                    std::thread::sleep(std::time::Duration::from_millis(500));
                }
            }
        }
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
