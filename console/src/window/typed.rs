//! Parses a typed line: a word to the creature, or a command of the help's list; completes commands. Pure.

use crate::commands::list::{TABLE, brief, choices, grouped, names as all_names, usage};
use crate::feed::shown::Verbosity;
use crate::words::STOP;
use house::settings::notices::VERBOSITIES;
use house::settings::words::nearest;
use house::terminal::{STARTS, typed as as_typed};

/// Commands that the guardian's own program answers; the console answers the others.
const OF_THE_GUARDIAN: [&str; 5] = ["status", "stop", "pause", "resume", "rollback"];
/// Commands that the window does itself.
const OWN: [(&str, &str); 7] = [
    ("yes ID", "shows what ask ID would do; typed again it approves just that"),
    ("no ID", "the same, and denies it"),
    (
        "stop",
        "ends what it is at: a thought, a command, sub-sessions; Esc twice does the same. /stop guardian stops the guardian",
    ),
    ("verbosity [minimal|normal|verbose]", "how much of what happens is shown"),
    ("rollback [COMMIT|RUNG]", "shows what would change; typed again it is done"),
    ("help [COMMAND]", "this list; of a command, what there is to know of it"),
    ("quit", "leaves this window, as Ctrl-D"),
];
/// Commands that no window runs: itself, and those that stay until ended, write a file, or stop the house.
const OF_A_SHELL: [&str; 5] = ["window", "serve", "export", "restore", "update"];
/// Commands that are a word to the creature.
const WORDS: [&str; 5] = ["say", "remind", "pulse", "dream", "compact"];
/// Commands that take the id of an ask.
const OF_ASKS: [&str; 5] = ["yes", "no", "asks", "approve", "deny"];

/// Plain words for yes and no: they approve or deny nothing, for which bytes must have been shown.
const YES: [&str; 5] = ["yes", "y", "ok", "approve", "approved"];
const NO: [&str; 3] = ["no", "n", "deny"];

/// Returns the hint for a plain yes or no while asks wait; `None` for any other word.
pub fn plain_answer(word: &str, asks: &[String]) -> Option<String> {
    let word = word.trim().trim_end_matches(['.', '!']).to_lowercase();
    let (command, does) = match word.as_str() {
        yes if YES.contains(&yes) => ("yes", "approves"),
        no if NO.contains(&no) => ("no", "denies"),
        _ => return None,
    };
    let how = match asks {
        [] => return None,
        [one] => format!("/{command} {one}"),
        _ => "/asks lists them".to_owned(),
    };
    Some(format!("a plain {command} {does} nothing: {how}; Enter again says it all the same"))
}

#[derive(Clone, Debug, PartialEq)]
pub enum Typed {
    Nothing,
    /// A word to the creature.
    Word(String),
    Answer {
        id: String,
        approve: bool,
    },
    /// To this commit or rung; empty for the newest.
    Rollback(String),
    /// `None`: which one there is now.
    Verbosity(Option<Verbosity>),
    List,
    Quit,
    Run(Order),
    /// An error, in words.
    Wrong(String),
}

/// A command that runs as a program of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    /// Whether the guardian's program answers it, else the console's.
    pub of_guardian: bool,
    pub args: Vec<String>,
}

impl Order {
    pub fn new(args: &[&str]) -> Self {
        let of_guardian =
            args.first().is_some_and(|name| OF_THE_GUARDIAN.contains(name)) && !args.contains(&"--help");
        Self { of_guardian, args: args.iter().map(|word| (*word).to_owned()).collect() }
    }
}

/// Parses a typed line.
pub fn meant(line: &str) -> Typed {
    let line = line.trim();
    let Some(command) = line.strip_prefix('/') else {
        return if line.is_empty() { Typed::Nothing } else { Typed::Word(line.to_owned()) };
    };
    let words = match split(command) {
        Ok(words) => words,
        Err(wrong) => return Typed::Wrong(wrong),
    };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] | ["help"] => Typed::List,
        ["help", name] => Typed::Run(Order::new(&["help", name])),
        ["quit"] => Typed::Quit,
        ["stop"] => Typed::Word(STOP.to_owned()),
        ["stop", "guardian"] => Typed::Run(Order::new(&["stop"])),
        // An approval is of bytes that were shown, whatever it is called.
        ["yes" | "approve", id] => Typed::Answer { id: (*id).to_owned(), approve: true },
        ["no" | "deny", id] => Typed::Answer { id: (*id).to_owned(), approve: false },
        ["rollback"] => Typed::Rollback(String::new()),
        ["rollback", to] if !to.starts_with('-') => Typed::Rollback((*to).to_owned()),
        ["yes" | "approve" | "no" | "deny"] => Typed::Wrong("which ask? /asks lists them".to_owned()),
        ["verbosity"] => Typed::Verbosity(None),
        ["verbosity", which] => {
            which.parse().map_or_else(Typed::Wrong, |which| Typed::Verbosity(Some(which)))
        }
        ["window", ..] => Typed::Wrong("this is the window".to_owned()),
        [name, ..] if OF_A_SHELL.contains(name) => {
            Typed::Wrong(format!("{name} is for a shell of its own: `{}`", as_typed(&words.join(" "))))
        }
        // Its answer stands above as soon as it is there, as every word does: the command would say it once more.
        [name, ..] if WORDS.contains(name) && !words.contains(&"--wait") && !words.contains(&"--help") => {
            Typed::Run(Order::new(&[words.as_slice(), &["--wait", "0"]].concat()))
        }
        [name, ..] if TABLE.find_subcommand(name).is_some() => Typed::Run(Order::new(&words)),
        [name, ..] => {
            let names: Vec<&str> = names().collect();
            let near = nearest(name, &names).map(|near| format!("the nearest is /{near}; "));
            Typed::Wrong(format!("/{name} is no command; {}/help lists all", near.unwrap_or_default()))
        }
    }
}

/// Rewrites commands in another program's text as they are typed in a window.
pub fn typed_here(told: &str) -> String {
    let long = format!("{STARTS} -- ");
    let told = told.replace(&as_typed(""), &long);
    told.replace(&format!("{long}stop"), "/stop guardian").replace(&long, "/")
}

fn names() -> impl Iterator<Item = &'static str> {
    let own = OWN.iter().map(|(usage, _)| usage.split(' ').next().unwrap_or_default());
    own.chain(all_names().filter(|name| !OF_A_SHELL.contains(name)))
}

/// Every command with what it does.
pub fn list() -> Vec<String> {
    let row = |usage: &str, brief: &str| format!("/{usage}: {brief}");
    // What it does itself is told as it does it, and once.
    let is_other = |name: &str| {
        let is_said = OF_A_SHELL.contains(&name) || ["approve", "deny"].contains(&name);
        !is_said && !OWN.iter().any(|(usage, _)| usage.split(' ').next() == Some(name))
    };
    let others = grouped().flat_map(|(title, command)| {
        let one = is_other(command.get_name()).then(|| row(&usage(command), &brief(command)));
        title.map(str::to_owned).into_iter().chain(one)
    });
    let own = OWN.iter().map(|(usage, brief)| row(usage, brief));
    let keys = "Enter sends, Alt-Enter begins another line, Tab completes, Up and Down show what was typed before, \
                Esc empties the line or ends a command that runs; twice on an empty line it ends what the creature is at.";
    std::iter::once("Plain text is a word to the creature.".to_owned())
        .chain(own)
        .chain(others)
        .chain([keys.to_owned()])
        .collect()
}

/// Words as a shell splits them: quoted text is a single word.
fn split(line: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for letter in line.chars() {
        match quote {
            Some(end) if letter == end => quote = None,
            None if letter == '"' || (letter == '\'' && word.is_none()) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            None if letter.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    if let Some(quote) = quote {
        return Err(format!("a {quote} has no end"));
    }
    words.extend(word);
    Ok(words)
}

/// The line with its last word completed as far as it is certain, and the choices where there are several.
pub fn completed(line: &str, asks: &[&str]) -> Option<(String, Vec<String>)> {
    let command = line.strip_prefix('/')?;
    let (before, part) = match command.rsplit_once(' ') {
        Some((before, part)) => (format!("/{before} "), part),
        None => ("/".to_owned(), command),
    };
    let first = command.split(' ').next().unwrap_or_default();
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let known: Vec<String> = match command.contains(' ') {
        true if OF_ASKS.contains(&first) => owned(asks),
        true if first == "verbosity" => owned(VERBOSITIES),
        true if first != "help" => TABLE.find_subcommand(first).map(choices).unwrap_or_default(),
        _ => names().map(str::to_owned).collect(),
    };
    let mut fits: Vec<&str> =
        known.iter().map(String::as_str).filter(|name| name.starts_with(part)).collect();
    fits.sort_unstable();
    let common = fits.iter().copied().reduce(common)?;
    if let [one] = fits.as_slice() {
        return Some((format!("{before}{one} "), vec![]));
    }
    Some((format!("{before}{common}"), fits.into_iter().map(str::to_owned).collect()))
}

/// The beginning that two words have in common.
fn common<'a>(one: &'a str, other: &str) -> &'a str {
    let same = one.char_indices().zip(other.chars()).find(|((_, mine), theirs)| mine != theirs);
    let end = same.map_or(one.len().min(other.len()), |((at, _), _)| at);
    one.get(..end).unwrap_or(one)
}
