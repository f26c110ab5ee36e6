//! The console's command line: reads it as the guardian hands it over, then shows or answers.

use anyhow::Result;
use clap::FromArgMatches;
use clap::error::ErrorKind;
use console::commands::list::{TABLE, help, print_all};
use console::commands::options::{self, Answer, Form};
use console::commands::{Command, Typed, mistakes};
use console::life::{Part, export, trace};
use console::{
    asks, backup, budget, channels, completions, diff, doctor, feed, goals, history, manual, mcp, mind,
    notices, page, report, rollback, say, skills, update, why, window, words,
};
use house::terminal::{self, STARTS, hinted};
use house::{House, settings};
use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    house::files::close_to_others();
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let code = guardians_own(&words).unwrap_or_else(|| owners(words)).unwrap_or_else(|error| {
        terminal::error(&format!("guardian: {error:#}"));
        if error.is::<house::refused::Refused>() { 100 } else { 1 }
    });
    ExitCode::from(code)
}

/// Carries out a stage of the guardian's own, which no owner types; none for any other words.
fn guardians_own(words: &[OsString]) -> Option<Result<u8>> {
    let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
    let live = |from: &str| from.parse().ok();
    match words.as_slice() {
        ["notices"] => Some(find().and_then(|house| notices::run(&house)).map(|()| 0)),
        ["feed", "--live", from] => {
            Some(carry_out(Command::Feed(options::Feed { live: live(from), ..Default::default() })))
        }
        ["window", "--live", from] => {
            Some(carry_out(Command::Window(options::Window { live: live(from), ..Default::default() })))
        }
        _ => None,
    }
}

fn owners(mut words: Vec<OsString>) -> Result<u8> {
    let named = |word: &OsString| TABLE.find_subcommand(word.to_str()?);
    // Options may stand before the command too.
    let begins = words.first().is_some_and(|word| word.as_encoded_bytes().starts_with(b"-"));
    let at = words.iter().position(|word| begins && named(word).is_some());
    if let Some(to_the_command) = at.and_then(|at| words.get_mut(..=at)) {
        to_the_command.rotate_right(1);
    }
    let command = words.first().and_then(named);
    let below = command.zip(words.get(1)).and_then(|(above, word)| above.find_subcommand(word.to_str()?));
    let matches = TABLE.clone().try_get_matches_from(&words);
    match matches.and_then(|matches| Typed::from_arg_matches(&matches)) {
        Ok(Typed { command: Some(command), .. }) => carry_out(command),
        Ok(Typed { window, .. }) if house::window::takes_a_window() => carry_out(Command::Window(window)),
        Ok(_) => carry_out(Command::Help { command: None }),
        Err(error) if error.kind() == ErrorKind::DisplayHelp && command.is_none() => {
            carry_out(Command::Help { command: None })
        }
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            terminal::end_with_reader();
            print(&hinted(&error.to_string()));
            Ok(0)
        }
        Err(error) => {
            terminal::error(&format!("guardian: {}", mistakes::told(&error, below.or(command))));
            Ok(2)
        }
    }
}

fn carry_out(command: Command) -> Result<u8> {
    use Command::{Approve, Deny, No, Serve, Window, Yes};
    if !matches!(command, Approve(_) | Deny(_) | No(_) | Serve(_) | Window(_) | Yes(_)) {
        terminal::end_with_reader();
    }
    match command {
        Command::Window(wanted) => return window::open(find()?, &wanted),
        Command::Serve(wanted) => return page::loopback::serve(&find()?, &wanted),
        Command::Page { order } => return page::beyond::carry_out(&find()?, &order.words()),
        Command::Say { words, wanted } => return say::say(&find()?, &words.join(" "), &wanted),
        Command::Remind { words, wanted } => return say::say(&find()?, &words::reminder(&words), &wanted),
        Command::Pulse(wanted) => return say::say(&find()?, words::PULSE, &wanted),
        Command::Dream(wanted) => return say::say(&find()?, words::DREAM, &wanted),
        Command::Compact(wanted) => return say::say(&find()?, words::COMPACT, &wanted),
        Command::Mind(Form { json }) => return Ok(mind::show(&find()?, json)),
        Command::Feed(wanted) => feed::show(&find()?, &wanted)?,
        Command::Goals { id, form } => return goals::show(&find()?, id.as_deref(), form.json),
        Command::Skills { check: Some(_), which, form } => {
            return skills::check(&find()?, which.as_deref(), form.json);
        }
        Command::Skills { form, .. } => skills::list(&find()?, form.json),
        Command::Why { thought, form } => return why::show(&find()?, thought.as_deref(), form.json),
        Command::Diff { which, form } => return diff::show(&find()?, which.as_deref(), form.json),
        Command::Report { since, markdown: true, .. } => report::letter::print(&find()?, &since)?,
        Command::Report { since, form, .. } => report::print(&find()?, &since, form.json),
        Command::History { since, form } => history::print(&find()?, &since, form.json),
        Command::Budget(Form { json }) => return Ok(budget::show(&find()?, json)),
        Command::Export { life, trace: is_trace, since, .. } => {
            let part = life.map_or_else(|| Part::since(since.as_deref()), Part::Life);
            export::show(&find()?, &part, if is_trace { trace::write } else { export::html })?;
        }
        Command::Asks { id, full, form } => return asks::show(&find()?, id.as_deref(), full, form.json),
        Command::Yes(Answer { id }) | Command::Approve(Answer { id }) => {
            return asks::answer(&find()?, &id, true);
        }
        Command::No(Answer { id }) | Command::Deny(Answer { id }) => {
            return asks::answer(&find()?, &id, false);
        }
        Command::Rollback { list: true, json, .. } => return rollback::list(&find()?, json),
        Command::Rollback { to, dry_run: true, json, .. } => {
            return rollback::dry_run(&find()?, to.as_deref(), json);
        }
        Command::Backup(wanted) => return backup::backup(&find()?, &wanted),
        Command::Restore(wanted) => return backup::restore::restore(&find()?, &wanted),
        Command::Update(wanted) => return update::update(&find()?, &wanted),
        Command::Mcp { order } => return mcp::carry_out(&find()?, order),
        Command::Channels { order } => return channels::carry_out(&find()?, order),
        Command::Doctor(Form { json }) => {
            let house = find()?;
            let limits = settings::whole(&house).map(|settings| settings.limits).unwrap_or_default();
            return Ok(doctor::examine(&house, &limits, json));
        }
        Command::Completions { shell } => print(&completions::of(shell)),
        Command::Man => print(&manual::page()?),
        Command::Help { command: None } => print_all(),
        Command::Help { command: Some(name) } => print(&help(&name)),
        Command::Status(_) | Command::Rollback { .. } | Command::Pause | Command::Resume | Command::Stop => {
            terminal::error(&format!(
                "guardian: its own program does this: {STARTS} --, or ./feral, before the command"
            ));
            return Ok(2);
        }
    }
    Ok(0)
}

fn print(text: &str) {
    text.lines().for_each(terminal::line);
}

fn find() -> Result<House> {
    house::find::find_house(&std::env::current_dir()?)
}
