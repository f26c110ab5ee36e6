//! The list of commands in groups, and the answer to a mistyped command or option.

use super::{COMMANDS, ENVIRONMENT, EXIT_STATUS, Help, of};
use house::settings::words::nearest;
use house::terminal::{self, STARTS, typed};

/// Columns of a command in the list of all.
const USAGE: usize = 24;
/// Groups of commands by the owner's purpose; a command of no group stands in the last.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Talk", &["window", "serve", "say", "remind", "pulse", "dream", "compact"]),
    ("Watch", &["status", "mind", "feed", "goals", "why", "diff", "report", "history", "budget", "export"]),
    ("Decide", &["asks", "yes", "no", "approve", "deny"]),
    ("Undo and stop", &["rollback", "pause", "resume", "stop"]),
    ("Set up", &[]),
];

/// The groups with their commands; each command stands in one.
pub fn groups() -> impl Iterator<Item = (&'static str, Vec<&'static Help>)> {
    let is_grouped = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    GROUPS.into_iter().map(move |(title, names)| {
        let of_group = names.iter().filter_map(|name| of(name));
        let rest = COMMANDS.iter().filter(|help| names.is_empty() && !is_grouped(help.name));
        (title, of_group.chain(rest).collect())
    })
}

/// Prints the list of all commands, in groups.
pub fn print_all() {
    terminal::line("Keeps one self-editing creature alive.");
    terminal::line("");
    let starts = "builds the creature, runs it and watches it until Ctrl-C; at a terminal in a window, with `-- --plain` in lines";
    terminal::beside("1", STARTS, USAGE + 2, starts);
    terminal::beside("1", &typed("COMMAND"), USAGE + 2, "each of these; from any terminal of the clone");
    for (title, commands) in groups() {
        terminal::line("");
        terminal::painted("36", title);
        for command in commands {
            // Options stand in the help of each.
            let usage = command.usage.split(" [-").next().unwrap_or_default();
            let usage = if usage.len() < USAGE { usage } else { command.name };
            terminal::beside("1", &format!("  {usage}"), USAGE + 2, command.brief);
        }
    }
    terminal::line("");
    terminal::painted("36", "Examples");
    for example in ["say \"what are you up to\"", "report --since 8h", "yes 12", "rollback --dry-run"] {
        terminal::line(&format!("  {}", typed(example)));
    }
    terminal::line("");
    terminal::line("-h, --help after a command: all of it; -V, --version.");
    terminal::line(&format!("Environment: {ENVIRONMENT}"));
    terminal::line(&format!("Exit status: {EXIT_STATUS}"));
}

/// The answer to an unknown command.
pub fn unknown(words: &str) -> String {
    let names: Vec<&str> = COMMANDS.iter().map(|command| command.name).collect();
    let first = words.split(' ').next().unwrap_or_default();
    if of(first).is_some() {
        return format!(
            "`{words}` is too much for {first}; how it is typed: {}",
            typed(&format!("{first} --help"))
        );
    }
    let meant = match nearest(first, &names) {
        Some(name) => format!("the nearest is {name}"),
        None => format!("there are {}", names.join(", ")),
    };
    format!("`{words}` is no command of the guardian; {meant}")
}

/// Says what is wrong with an unknown option, behind this command or behind none.
pub fn unknown_option(option: &str, command: &str) -> String {
    let of_one = of(command).map(std::slice::from_ref);
    let all = of_one.unwrap_or(&COMMANDS).iter().flat_map(Help::choices);
    let options: Vec<&str> = all.filter(|choice| choice.starts_with('-')).collect();
    let meant = nearest(option, &options).map(|near| format!("; did you mean {near}?")).unwrap_or_default();
    let whose = if command.is_empty() { String::new() } else { format!(" of {command}") };
    format!("no option{whose} is called {option}{meant}")
}
