//! Meaning of the owner's text: a word to the mind, a command, an answer to an ask. Pure.

use console::words::STOP;
use house::bounds::brief;
use house::settings::notices::VERBOSITIES;
use house::settings::words::nearest;

/// Commands, what may stand behind each, and what it does.
const COMMANDS: [(&str, &str, &str); 15] = [
    ("mind", "", "how it stands"),
    ("goals", "[ID]", "its goals, tasks and reminders"),
    ("report", "[8h]", "what came to pass since yesterday, or so long"),
    ("asks", "[ID]", "what waits for your yes or no"),
    ("yes", "ID", "approves an ask that was shown here"),
    ("no", "ID", "denies an ask"),
    ("stop", "", "ends what it is at"),
    ("pause", "", "ends it until /resume; nothing is spent"),
    ("resume", "", "goes on"),
    ("budget", "", "what is spent and left"),
    ("why", "[THOUGHT]", "a thought: what woke it, what it saw and did"),
    ("history", "[8h]", "what happened in the last day, or so long"),
    ("status", "", "what is going on"),
    ("verbosity", "[minimal|normal|verbose]", "how much of what happens is told here"),
    ("help", "", "this list"),
];
/// Words that stand before an ask's id, for yes and for no.
const YES: [&str; 3] = ["yes", "approve", "ok"];
const NO: [&str; 2] = ["no", "deny"];
/// Characters of what stands behind a command.
const MOST_ARGUMENT: usize = 40;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meant {
    /// For the mind, as it was said.
    Word(String),
    /// A program of the guardian's or the console's is asked.
    Run(Vec<String>),
    /// The asks that wait, or this one.
    Asks(Option<String>),
    Answer {
        id: String,
        approve: bool,
    },
    /// `None`: which one there is now.
    Verbosity(Option<String>),
    Help,
    /// A mistake, in a sentence.
    Wrong(String),
}

impl Meant {
    /// Whether it is asked again when it was said long ago, as it sets something going. An end of something always acts.
    pub fn is_asked_again(&self) -> bool {
        match self {
            Self::Run(args) => args.first().is_some_and(|name| name == "resume"),
            Self::Answer { approve, .. } => *approve,
            Self::Word(_) | Self::Asks(_) | Self::Verbosity(_) | Self::Help | Self::Wrong(_) => false,
        }
    }
}

/// Understands a text; `own`: the channel's name there, which may stand behind a command, as in `/mind@feral_bot`.
pub fn meant(text: &str, own: &str) -> Meant {
    let text = text.trim();
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or_default();
    let rest: Vec<&str> = words.collect();
    let own = own.trim_start_matches('@');
    let name = first.strip_suffix(own).and_then(|name| name.strip_suffix('@')).unwrap_or(first);
    // Where a platform keeps the slash to itself, a mark of exclamation does.
    let is_known = |name: &str| COMMANDS.iter().any(|(known, _, _)| *known == name);
    let name = match (name.strip_prefix('/'), name.strip_prefix('!')) {
        (Some(name), _) if !name.is_empty() && !name.contains('/') => name.to_lowercase(),
        (_, Some(name)) if is_known(&name.to_lowercase()) => name.to_lowercase(),
        _ => return answer(text, first, &rest).unwrap_or_else(|| Meant::Word(text.to_owned())),
    };
    command(&name, &rest)
}

/// `yes 12`, `no 12`: an answer to an ask in plain words.
fn answer(text: &str, first: &str, rest: &[&str]) -> Option<Meant> {
    let word = first.to_lowercase();
    let approve = YES.contains(&word.as_str());
    let [id] = rest else { return None };
    let id = id.trim_end_matches(['.', '!']);
    let is_id = is_id(id) && id.starts_with(|letter: char| letter.is_ascii_digit()) && text.len() < 80;
    ((approve || NO.contains(&word.as_str())) && is_id).then(|| Meant::Answer { id: id.to_owned(), approve })
}

fn command(name: &str, rest: &[&str]) -> Meant {
    let run = |args: &[&str]| Meant::Run(args.iter().map(|word| (*word).to_owned()).collect());
    match (name, rest) {
        ("help" | "start", _) => Meant::Help,
        ("stop", []) => Meant::Word(STOP.to_owned()),
        ("mind" | "budget" | "status" | "pause" | "resume", []) => run(&[name]),
        ("goals" | "why" | "report" | "history", []) => run(&[name]),
        ("goals" | "why", [one]) if is_id(one) => run(&[name, one]),
        ("report" | "history", [since] | ["--since", since]) if is_id(since) => {
            run(&[name, "--since", since])
        }
        // Reports name it; a chat has all of it in its history.
        ("feed", ["--since", since]) if is_id(since) => run(&["history", "--since", since]),
        ("asks", []) => Meant::Asks(None),
        ("asks", [id]) if is_id(id) => Meant::Asks(Some((*id).to_owned())),
        (yes, [id]) if YES.contains(&yes) && is_id(id) => {
            Meant::Answer { id: (*id).to_owned(), approve: true }
        }
        (no, [id]) if NO.contains(&no) && is_id(id) => Meant::Answer { id: (*id).to_owned(), approve: false },
        ("verbosity", []) => Meant::Verbosity(None),
        ("verbosity", [which]) if VERBOSITIES.contains(which) => Meant::Verbosity(Some((*which).to_owned())),
        _ => Meant::Wrong(wrong(name)),
    }
}

/// A name or a span that a program may be given: nothing that it would take for an option.
fn is_id(word: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.:".contains(letter);
    (1..=MOST_ARGUMENT).contains(&word.len()) && !word.starts_with('-') && word.chars().all(is_plain)
}

fn wrong(name: &str) -> String {
    if let Some((name, args, does)) = COMMANDS.iter().find(|(known, _, _)| *known == name) {
        return format!("/{name} is typed `/{name} {args}`: {does}").replace(" `:", "`:");
    }
    let names: Vec<&str> = COMMANDS.iter().map(|(name, _, _)| *name).collect();
    let name = brief(name, MOST_ARGUMENT);
    match nearest(&name, &names) {
        Some(near) => format!("there is no /{name}; did you mean /{near}? /help lists what there is"),
        None => format!("there is no /{name}; /help lists what there is"),
    }
}

/// The list of commands, a line each.
pub fn help() -> String {
    let line = |(name, args, does): &(&str, &str, &str)| match *args {
        "" => format!("/{name}: {does}"),
        args => format!("/{name} {args}: {does}"),
    };
    let lines: Vec<String> = COMMANDS.iter().map(line).collect();
    format!(
        "Whatever you write goes to it; a file comes along. Where the slash is taken, ! does as well.\n{}",
        lines.join("\n")
    )
}
