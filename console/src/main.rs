//! The console's command line: reads it as the guardian hands it over, then shows or answers.

use anyhow::Result;
use console::life::Part;
use console::life::export::{self, Form};
use console::window::view::Verbosity;
use console::{
    asks, backup, budget, completions, diff, doctor, feed, goals, help, history, manual, mind, notices, page,
    report, rollback, say, update, why, window, words,
};
use house::terminal::{self, typed};
use house::{House, bounds, moments, printable, settings};
use std::process::ExitCode;

/// Most rows of the past that may be asked for.
const MOST_ROWS: usize = 100_000;

enum Command {
    History {
        since: String,
        json: bool,
    },
    Report {
        since: String,
        json: bool,
    },
    Letter {
        since: String,
    },
    Mind {
        json: bool,
    },
    Goals {
        id: Option<String>,
        json: bool,
    },
    Budget {
        json: bool,
    },
    Why {
        thought: Option<String>,
        json: bool,
    },
    Diff {
        which: Option<String>,
        json: bool,
    },
    DryRun {
        to: Option<String>,
        json: bool,
    },
    Rungs {
        json: bool,
    },
    Asks {
        id: Option<String>,
        full: bool,
        json: bool,
    },
    Answer {
        id: String,
        approve: bool,
    },
    Feed(feed::Wanted),
    Say(say::Wanted),
    Window(window::Wanted),
    Serve(page::Wanted),
    Doctor {
        json: bool,
    },
    Backup(backup::Wanted),
    Restore(backup::restore::Wanted),
    Update(update::Wanted),
    Completions(String),
    Man,
    Export {
        part: Part,
        form: Form,
    },
    /// The guardian's own: what happens is told to the owner.
    Notices,
    Help(Option<String>),
}

/// The typed line: words in their order, and options wherever they stood.
#[derive(Default)]
struct Typed {
    words: Vec<String>,
    json: bool,
    full: bool,
    dry_run: bool,
    list: bool,
    help: bool,
    since: Option<String>,
    last: Option<usize>,
    follow: bool,
    live: Option<u64>,
    html: bool,
    trace: bool,
    wait_s: Option<u64>,
    thread: Option<String>,
    verbosity: Option<Verbosity>,
    port: Option<u16>,
    new_link: bool,
    with_secrets: bool,
    markdown: bool,
}

fn main() -> ExitCode {
    house::files::close_to_others();
    let command = match parse(lexopt::Parser::from_env()) {
        Ok(command) => command,
        Err(error) => {
            terminal::error(&format!("guardian: {error}; see `{}`", typed("help")));
            return ExitCode::from(2);
        }
    };
    match carry_out(command) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            terminal::error(&format!("guardian: {error:#}"));
            ExitCode::from(if error.is::<house::refused::Refused>() { 100 } else { 1 })
        }
    }
}

fn read(mut parser: lexopt::Parser) -> Result<Typed, lexopt::Error> {
    use lexopt::prelude::*;
    let mut line = Typed::default();
    while let Some(argument) = parser.next()? {
        match argument {
            Short('h') | Long("help") => line.help = true,
            Long("json") => line.json = true,
            Long("full") => line.full = true,
            Long("dry-run") => line.dry_run = true,
            Long("list") => line.list = true,
            Long("html") => line.html = true,
            Long("trace") => line.trace = true,
            Long("since") => line.since = Some(moments::since(&parser.value()?.string()?)?),
            Long("wait") => line.wait_s = Some(parser.value()?.parse::<u64>()?),
            Long("thread") => line.thread = Some(parser.value()?.string()?),
            Long("verbosity") => line.verbosity = Some(parser.value()?.parse::<Verbosity>()?),
            Long("port") => line.port = Some(parser.value()?.parse()?),
            Long("new-link") => line.new_link = true,
            Long("with-secrets") => line.with_secrets = true,
            Long("markdown") => line.markdown = true,
            Long("live") => line.live = Some(parser.value()?.parse()?),
            Short('n') => line.last = Some(parser.value()?.parse::<usize>()?.min(MOST_ROWS)),
            Short('f') | Long("follow") => line.follow = true,
            Value(word) => line.words.push(word.string()?),
            Short(_) | Long(_) => {
                let option = match argument {
                    Short(letter) => format!("-{letter}"),
                    Long(name) => format!("--{name}"),
                    Value(_) => String::new(),
                };
                let option = printable::flat(&bounds::brief(&option, bounds::NAME_CHARS));
                let first = line.words.first().map(String::as_str).unwrap_or_default();
                return Err(help::unknown_option(&option, first).into());
            }
        }
    }
    Ok(line)
}

fn parse(parser: lexopt::Parser) -> Result<Command, lexopt::Error> {
    let line = read(parser)?;
    let first = line.words.first().map(String::as_str).unwrap_or_default();
    if line.help || first == "help" {
        let about = if first == "help" && !line.help { line.words.get(1) } else { line.words.first() };
        return Ok(Command::Help(about.cloned()));
    }
    let given = [
        ("--json", line.json),
        ("--full", line.full),
        ("--dry-run", line.dry_run),
        ("--list", line.list),
        ("--html", line.html),
        ("--trace", line.trace),
        ("--since", line.since.is_some()),
        ("-n", line.last.is_some()),
        ("-f", line.follow),
        ("--wait", line.wait_s.is_some()),
        ("--thread", line.thread.is_some()),
        ("--port", line.port.is_some()),
        ("--new-link", line.new_link),
        ("--with-secrets", line.with_secrets),
        ("--markdown", line.markdown),
        ("--verbosity", line.verbosity.is_some() && !line.words.is_empty()),
    ];
    let takes = |option: &str| help::of(first).is_some_and(|help| help.takes(option));
    if let Some((option, _)) = given.iter().find(|(option, given)| *given && !takes(option)) {
        let whose = if first.is_empty() { "the guardian's start" } else { first };
        return Err(format!("{whose} takes no {option}").into());
    }
    Ok(match whole_house(&line)? {
        Some(command) => command,
        None => command(line)?,
    })
}

/// The command that was typed, or what is wrong with it.
fn command(line: Typed) -> Result<Command, String> {
    let form = if line.trace { Form::Trace } else { Form::Html };
    let both = line.html && line.trace;
    let Typed { words, json, full, dry_run, list, since, last, live, wait_s, thread, verbosity, .. } = line;
    let (port, new_link) = (line.port.unwrap_or(page::PORT), line.new_link);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let owned = |word: &str| Some(word.to_owned());
    Ok(match words.as_slice() {
        ["history"] => Command::History { since: since.map_or_else(|| moments::since("24h"), Ok)?, json },
        ["report"] => Command::Report { since: since.map_or_else(|| moments::since("yesterday"), Ok)?, json },
        ["mind"] => Command::Mind { json },
        ["goals"] => Command::Goals { id: None, json },
        ["goals", id] => Command::Goals { id: owned(id), json },
        ["budget"] => Command::Budget { json },
        ["why"] => Command::Why { thought: None, json },
        ["why", thought] => Command::Why { thought: owned(thought), json },
        ["diff"] => Command::Diff { which: None, json },
        ["diff", which] => Command::Diff { which: owned(which), json },
        ["rollback"] if list && !dry_run => Command::Rungs { json },
        ["rollback"] if dry_run && !list => Command::DryRun { to: None, json },
        ["rollback", to] if dry_run && !list => Command::DryRun { to: owned(to), json },
        ["rollback", ..] => {
            return Err(
                "rollback takes one COMMIT or RUNG, --json only beside --dry-run or --list, and one of these"
                    .into(),
            );
        }
        ["asks"] => Command::Asks { id: None, full, json },
        ["asks", id] => Command::Asks { id: owned(id), full, json },
        ["approve" | "yes", id] => Command::Answer { id: (*id).to_owned(), approve: true },
        ["deny" | "no", id] => Command::Answer { id: (*id).to_owned(), approve: false },
        ["approve" | "deny" | "yes" | "no"] => {
            return Err(format!("which ask? `{}` lists them", typed("asks")));
        }
        ["feed"] => Command::Feed(feed::Wanted { last, since, json, follow: line.follow, live }),
        ["say"] => {
            let example = typed("say \"how are you?\"");
            return Err(format!("say what? `{example}`; - takes it from the standard input"));
        }
        [name @ ("say" | "remind" | "pulse" | "dream" | "compact"), more @ ..] => {
            let said = if *name == "say" { Some(more.join(" ")) } else { words::word(name, more) };
            let Some(words) = said else { return Err(wrong_word(name)) };
            Command::Say(say::Wanted { words, wait_s: wait_s.unwrap_or(say::WAIT_S), thread, json })
        }
        ["completions", shell] if completions::SHELLS.contains(shell) => {
            Command::Completions((*shell).to_owned())
        }
        ["completions", ..] => {
            return Err(format!("completions for which shell? {}", completions::SHELLS.join(", ")));
        }
        ["export", ..] if both => return Err("export takes one of --html and --trace".into()),
        ["export"] => Command::Export { part: Part::since(since.as_deref()), form },
        ["export", _] if since.is_some() => return Err("export takes a LIFE or --since, not both".into()),
        ["export", life] => {
            let life = life
                .parse()
                .map_err(|_| "export of which life? its number, as `history` tells it".to_owned())?;
            Command::Export { part: Part::Life(life), form }
        }
        ["man"] => Command::Man,
        ["notices"] => Command::Notices,
        [] if !house::window::takes_a_window() => Command::Help(None),
        [] | ["window"] => Command::Window(window::Wanted { verbosity, live }),
        ["serve"] => Command::Serve(page::Wanted { port, new_link }),
        ["doctor"] => Command::Doctor { json },
        other => return Err(help::unknown(&other.join(" "))),
    })
}

/// A command about the house as a whole: kept, put back, brought up to date, told of to others.
fn whole_house(line: &Typed) -> Result<Option<Command>, String> {
    let (json, with_secrets) = (line.json, line.with_secrets);
    let words: Vec<&str> = line.words.iter().map(String::as_str).collect();
    let (name, file) = match words.as_slice() {
        [name] => (*name, None),
        [name @ ("backup" | "restore"), file] => (*name, Some((*file).to_owned())),
        _ => return Ok(None),
    };
    Ok(Some(match name {
        "backup" => Command::Backup(backup::Wanted { file, with_secrets, json }),
        "restore" => Command::Restore(backup::restore::Wanted { file, with_secrets, json }),
        "update" => Command::Update(update::Wanted { dry_run: line.dry_run, json }),
        "report" if line.markdown && json => return Err("report takes one of --json and --markdown".into()),
        "report" if line.markdown => {
            Command::Letter { since: line.since.clone().map_or_else(|| moments::since("7d"), Ok)? }
        }
        _ => return Ok(None),
    }))
}

/// Says what is wrong with the words given to a command.
fn wrong_word(name: &str) -> String {
    match name {
        "remind" => {
            format!("remind you of what, and when? `{}`", typed("remind \"in 10 minutes to stretch\""))
        }
        name => format!("{name} takes no words; `{}` says anything else", typed("say WORDS")),
    }
}

fn carry_out(command: Command) -> Result<u8> {
    if !matches!(command, Command::Answer { .. } | Command::Notices | Command::Window(_) | Command::Serve(_))
    {
        terminal::end_with_reader();
    }
    match command {
        Command::Help(None) => help::print_all(),
        Command::Help(Some(name)) => match help::of(&name) {
            Some(help) => print(&help.text()),
            None => {
                terminal::error(&format!("guardian: {}", help::unknown(&name)));
                return Ok(2);
            }
        },
        Command::History { since, json } => history::print(&find()?, &since, json),
        Command::Report { since, json } => report::print(&find()?, &since, json),
        Command::Letter { since } => report::letter::print(&find()?, &since)?,
        Command::Mind { json } => return Ok(mind::show(&find()?, json)),
        Command::Goals { id, json } => return goals::show(&find()?, id.as_deref(), json),
        Command::Budget { json } => return Ok(budget::show(&find()?, json)),
        Command::Why { thought, json } => return why::show(&find()?, thought.as_deref(), json),
        Command::Diff { which, json } => return diff::show(&find()?, which.as_deref(), json),
        Command::DryRun { to, json } => return rollback::dry_run(&find()?, to.as_deref(), json),
        Command::Rungs { json } => return rollback::list(&find()?, json),
        Command::Completions(shell) => print(&completions::of(&shell).unwrap_or_default()),
        Command::Man => print(&manual::page()),
        Command::Asks { id, full, json } => return asks::show(&find()?, id.as_deref(), full, json),
        Command::Answer { id, approve } => return asks::answer(&find()?, &id, approve),
        Command::Feed(wanted) => feed::show(&find()?, &wanted)?,
        Command::Export { part, form } => export::show(&find()?, &part, form)?,
        Command::Notices => notices::run(&find()?)?,
        Command::Say(wanted) => return say::say(&find()?, &wanted),
        Command::Window(wanted) => return window::open(find()?, &wanted),
        Command::Serve(wanted) => return page::serve(&find()?, &wanted),
        Command::Backup(wanted) => return backup::backup(&find()?, &wanted),
        Command::Restore(wanted) => return backup::restore::restore(&find()?, &wanted),
        Command::Update(wanted) => return update::update(&find()?, &wanted),
        Command::Doctor { json } => {
            let house = find()?;
            let limits = settings::whole(&house).map(|settings| settings.limits).unwrap_or_default();
            return Ok(doctor::examine(&house, &limits, json));
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
