//! The table of commands as it is told: the list of all in groups, the help of each, and how each is typed.

use super::Typed;
use clap::{Command, CommandFactory};
use house::terminal::{self, STARTS, hinted, typed};
use std::sync::LazyLock;

/// Columns of a command in the list of all.
const USAGE: usize = 24;
/// The first command of each group, in the order of the table, and the group's title.
const GROUPS: [(&str, &str); 5] = [
    ("window", "Talk"),
    ("status", "Watch"),
    ("asks", "Decide"),
    ("rollback", "Undo and stop"),
    ("backup", "Set up"),
];
/// The help of a command: all that is told of it, and its options in a row each.
const HELP: &str = "{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}";
pub const ENVIRONMENT: &str =
    "RUST_LOG (what is logged), NO_COLOR (plain output), TZ (where your clock stands).";
pub const EXIT_STATUS: &str = "0 done; 1 failed, or what was approved failed; 2 wrong usage; 3 no guardian runs, or no \
                               answer came within the time; 100 refused to start.";

/// The table, as commands are typed here; in a window, where no space follows what they begin with, by cargo: `help` and
/// `mistakes` rewrite that.
pub static TABLE: LazyLock<Command> = LazyLock::new(|| match typed("").strip_suffix(' ') {
    Some(program) => table(program),
    None => table(&format!("{STARTS} --")),
});

/// The table, for a program that is called so.
pub fn table(program: &str) -> Command {
    let table = Typed::command();
    let names: Vec<String> = table.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    // Where a window reads, it says how wide it is.
    let columns = columns.filter(|_| !terminal::is_one()).unwrap_or_else(terminal::width);
    let mut table = table
        .bin_name(program)
        .term_width(columns)
        .mut_subcommand("help", |help| help.mut_arg("command", |command| command.value_parser(names)))
        .mut_subcommands(|command| {
            let name = command.get_name().to_owned();
            with_help(command, &name, program)
                .mut_subcommands(|below| {
                    let name = format!("{name} {}", below.get_name());
                    with_help(below, &name, program)
                })
                .disable_help_subcommand(true)
        });
    table.build();
    table
}

/// A command with the help that is made of what the table says of it.
fn with_help(command: Command, name: &str, program: &str) -> Command {
    let more = command.get_long_about().or(command.get_about()).map(ToString::to_string);
    let more = format!("{name}: {}", more.unwrap_or_default());
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let examples: String = examples.lines().map(|line| format!("\n  {program} {line}")).collect();
    command
        .display_name(name.to_owned())
        .help_template(HELP)
        .before_help(more)
        .after_help(format!("Examples:{examples}"))
}

pub fn names() -> impl Iterator<Item = &'static str> {
    TABLE.get_subcommands().map(Command::get_name)
}

/// The help of a command.
pub fn help(name: &str) -> String {
    let command = TABLE.find_subcommand(name).cloned();
    command.map(|mut command| hinted(&command.render_help().to_string())).unwrap_or_default()
}

/// How a command is typed, without its options.
pub fn usage(command: &Command) -> String {
    let words = command.get_positionals().map(|word| {
        let name = word.get_value_names().unwrap_or_default().join(" ");
        if word.is_required_set() { format!(" {name}") } else { format!(" [{name}]") }
    });
    let below: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
    let below = if below.is_empty() { String::new() } else { format!(" [{}]", below.join("|")) };
    format!("{}{}{below}", command.get_name(), words.collect::<String>())
}

/// The options of a command, and the words that may stand behind it as they are.
pub fn choices(command: &Command) -> Vec<String> {
    let options = command.get_arguments().filter(|option| option.get_id() != "help");
    let options = options.flat_map(|option| {
        let short = option.get_short().map(|letter| format!("-{letter}"));
        short.into_iter().chain(option.get_long().map(|name| format!("--{name}")))
    });
    let words = command.get_positionals().flat_map(|word| word.get_possible_values());
    let below = command.get_subcommands().map(|below| below.get_name().to_owned());
    words.map(|word| word.get_name().to_owned()).chain(below).chain(options).collect()
}

/// Each command with the title of the group that it begins.
pub fn grouped() -> impl Iterator<Item = (Option<&'static str>, &'static Command)> {
    let title = |name| GROUPS.into_iter().find(|(first, _)| *first == name).map(|(_, title)| title);
    TABLE.get_subcommands().map(move |command| (title(command.get_name()), command))
}

/// The short description of a command.
pub fn brief(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

/// Prints the list of all commands, in groups.
pub fn print_all() {
    terminal::line("Keeps one self-editing creature alive.");
    terminal::line("");
    let starts = "builds the creature, runs it and watches it until Ctrl-C; at a terminal in a window, with `-- --plain` in lines";
    terminal::beside("1", STARTS, USAGE + 2, starts);
    terminal::beside("1", &typed("COMMAND"), USAGE + 2, "each of these; from any terminal of the clone");
    for (title, command) in grouped() {
        if let Some(title) = title {
            terminal::line("");
            terminal::painted("36", title);
        }
        terminal::beside("1", &format!("  {}", usage(command)), USAGE + 2, &brief(command));
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
