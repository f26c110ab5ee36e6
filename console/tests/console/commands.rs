//! The command line as it is told: the list, each command's help, mistakes and the man page, each as a file that was reviewed.

use console::commands::list::{TABLE, names};
use insta::{Settings, assert_snapshot};
use trials::{House, SOUND, said};

/// Mistakes that owners make, a line each as it is typed.
const MISTAKES: [&str; 37] = [
    "nonsens",
    "gaols",
    "help nonsens",
    "goals a b",
    "stop now",
    "pulse now",
    "feed --sinse 1h",
    "mind -x",
    "--jsn",
    "--json",
    "feed --html",
    "status --josn",
    "rollback a b",
    "rollback --json",
    "rollback --dry-run --list",
    "feed -n",
    "feed -n ten",
    "feed --since",
    "feed --since never",
    "--since never feed",
    "say",
    "say --wait soon hello",
    "window --verbosity loud",
    "serve --port 99999",
    "yes",
    "remind",
    "completions",
    "completions csh",
    "export x",
    "export 7 --since 7d",
    "report --json --markdown",
    "goals --json=1",
    "mcp lst",
    "mcp add --ur x",
    "mcp add mine --url x -- y",
    "mcp test",
    "mcp remove a b",
];

/// Each line as it is typed, what it says and its exit status.
fn told<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let house = House::new(SOUND);
    let told = lines.map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let output = house.command(&words).env("FERAL_CALLED", "feral").output().unwrap();
        format!("$ feral {line}\n{}[{}]\n\n", said(&output), output.status.code().unwrap())
    });
    told.collect()
}

/// Compares with the file of this name, which stays as it is: `.config/insta.yaml`.
fn is_as_reviewed(name: &str, text: &str) {
    let mut settings = Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| assert_snapshot!(name, text));
}

#[test]
fn help_is_as_reviewed() {
    let below = |name: &'static str| {
        let below = TABLE.find_subcommand(name).into_iter().flat_map(|command| command.get_subcommands());
        let below = below.map(move |below| format!("{name} {} --help", below.get_name()));
        std::iter::once(format!("{name} --help")).chain(below)
    };
    let lines: Vec<String> = names().flat_map(below).collect();
    is_as_reviewed("help", &told(["help"].into_iter().chain(lines.iter().map(String::as_str))));
}

#[test]
fn mistakes_are_told_as_reviewed() {
    is_as_reviewed("mistakes", &told(MISTAKES.into_iter()));
}

#[test]
fn the_man_page_is_as_reviewed() {
    is_as_reviewed("man", &told(["man"].into_iter()));
}

/// Options may stand before the command, and a flag twice.
#[test]
fn options_stand_anywhere() {
    let house = House::new(SOUND);
    for line in ["--json mind", "mind --json", "mind --json --json"] {
        let output = house.ask(&line.split(' ').collect::<Vec<_>>());
        serde_json::from_slice::<serde_json::Value>(&output.stdout)
            .unwrap_or_else(|error| panic!("{line}: {error}"));
    }
    let all = said(&house.ask(&["help"]));
    for line in ["--help", "-h"] {
        assert_eq!(said(&house.ask(&[line])), all);
    }
    let one = said(&house.ask(&["help", "goals"]));
    for line in [["--help", "goals"], ["goals", "-h"]] {
        assert_eq!(said(&house.ask(&line)), one, "{line:?}");
    }
}
