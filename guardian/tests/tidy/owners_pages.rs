//! The pages for owners: commands and options that are there, the field's words, sentences that say who does it, and a short glossary.

use crate::none;
use crate::sources::{Source, sources};
use std::collections::BTreeMap;

/// What an owner reads first.
const PAGES: [&str; 9] = [
    "README.md",
    "SECURITY.md",
    "docs/README.md",
    "docs/ten-things-to-say.md",
    "docs/give-it-a-model.md",
    "docs/leave-it-on.md",
    "docs/undo.md",
    "docs/connect-services.md",
    "docs/when-something-is-wrong.md",
];
/// Where the part for contributors begins, in pages that have one.
const CONTRIBUTORS: &str = "\nFor contributors.\n";
const MOST_WORDS: usize = 12;

/// Words of the house that have one in the field, and that one.
const OURS: [(&str, &str); 7] = [
    ("rung", "rollback point"),
    ("rungs", "rollback points"),
    ("ladder", "rollback points"),
    ("blessing", "proof"),
    ("reborn", "restarted"),
    ("papers", "the files by their names"),
    ("newborn", "new version"),
];

fn pages(sources: &[Source]) -> Vec<&Source> {
    let found: Vec<&Source> = sources.iter().filter(|source| PAGES.contains(&source.path.as_str())).collect();
    assert_eq!(found.len(), PAGES.len(), "a page for owners has gone");
    found
}

/// The lines of a page that are for owners, numbered.
fn lines(source: &Source) -> Vec<(usize, &str)> {
    let text = source.text.split(CONTRIBUTORS).next().unwrap_or_default();
    text.lines().enumerate().map(|(number, line)| (number + 1, line)).collect()
}

/// Each command with the text of its help.
pub fn commands(sources: &[Source]) -> BTreeMap<&str, &str> {
    let path = "console/tests/console/snapshots/help.snap";
    let help = sources.iter().find(|source| source.path == path).expect("the help");
    let rows = help.text.split("$ feral ").skip(1);
    rows.filter_map(|row| row.split_once(" --help\n")).collect()
}

/// What is typed behind `./feral`: in a fenced block to its remark, elsewhere to the end of the code.
fn typed(line: &str) -> Vec<&str> {
    let after = line.split("./feral ").skip(1);
    after.map(|rest| rest.split(['`', '#', '|', ';', '&']).next().unwrap_or_default().trim()).collect()
}

#[test]
fn every_command_and_option_that_an_owner_is_told_of_is_there() {
    let sources = sources();
    let commands = commands(&sources);
    assert!(commands.len() > 20, "{:?}", commands.keys());
    let (mut bad, mut tried) = (Vec::new(), 0);
    for source in sources.iter().filter(|source| source.path.ends_with(".md")) {
        for (number, line) in source.lines() {
            for typed in typed(line) {
                let mut words = typed.split_whitespace();
                let name = words.next().unwrap_or_default();
                let is_name = !name.is_empty() && name.chars().all(|letter| letter.is_ascii_lowercase());
                if !is_name {
                    continue;
                }
                // A word below it may be a command of its own; behind `--` stands another program's.
                let mut words = words.take_while(|word| *word != "--").peekable();
                let below = words.peek().map(|word| format!("{name} {word}"));
                let below = below.and_then(|below| commands.get(below.as_str()));
                let Some(help) = below.or(commands.get(name)) else {
                    bad.push(format!("{}:{number}: there is no command {name}", source.path));
                    continue;
                };
                tried += 1;
                let options = words.map(|word| word.trim_matches(['[', ']', '(', ')', ',']));
                for option in options.filter(|word| word.starts_with('-') && word.len() > 1) {
                    if !help.contains(option) {
                        bad.push(format!("{}:{number}: {name} takes no {option}", source.path));
                    }
                }
            }
        }
    }
    assert!(tried > 40, "{tried}");
    none(bad);
}

#[test]
fn pages_for_owners_use_the_words_of_the_field() {
    let sources = sources();
    let mut bad = Vec::new();
    for source in pages(&sources) {
        for (number, line) in lines(source) {
            let words: Vec<String> =
                line.split(|letter: char| !letter.is_alphanumeric()).map(str::to_lowercase).collect();
            let found = OURS.iter().filter(|(ours, _)| words.iter().any(|word| word == ours));
            bad.extend(found.map(|(ours, field)| {
                format!("{}:{number}: `{ours}`; owners know it as {field}", source.path)
            }));
        }
    }
    none(bad);
}

/// Pages that are written for readers, not measured or made.
fn is_written(source: &Source) -> bool {
    let (folder, name) = source.path.rsplit_once('/').unwrap_or(("", &source.path));
    match folder {
        "" => name.ends_with(".md") && name != "PURPOSE.md",
        "docs" => name.ends_with(".md") && !["map.md", "owner-toml.md"].contains(&name),
        "trials" | "walls" => name == "README.md",
        _ => false,
    }
}

/// The sentences of a page's prose, each in one line; a list's item begins one.
fn sentences(text: &str) -> Vec<String> {
    let (mut parts, mut part, mut fenced) = (Vec::new(), String::new(), false);
    for line in text.lines().chain([""]) {
        let trimmed = line.trim_start();
        let is_fence = trimmed.starts_with("```");
        fenced ^= is_fence;
        let item = trimmed.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let begins = item.starts_with("- ") || item.starts_with(". ") && item != trimmed;
        if begins || trimmed.is_empty() || is_fence || trimmed.starts_with(['#', '|']) {
            parts.push(std::mem::take(&mut part));
        }
        if fenced || is_fence || trimmed.starts_with(['#', '|']) {
            continue;
        }
        part.push_str(if begins { item.trim_start_matches(['-', '.']) } else { trimmed });
        part.push(' ');
    }
    let mut found = Vec::new();
    for part in parts {
        let part = part.replace("**", "");
        found.extend(
            part.split_inclusive(['.', '?', '!', ':', ';']).map(|sentence| sentence.trim().to_owned()),
        );
    }
    found.retain(|sentence| !sentence.is_empty());
    found
}

/// A sentence that begins with such a word has no subject that a tired reader finds at once; a question may.
fn is_riddle(sentence: &str) -> bool {
    const RIDDLES: [&str; 5] = ["What ", "Whatever ", "Whoever ", "Who ", "That which "];
    RIDDLES.iter().any(|riddle| sentence.starts_with(riddle)) && !sentence.ends_with('?')
}

#[test]
fn sentences_begin_with_who_does_it() {
    let sources = sources();
    let written: Vec<&Source> = sources.iter().filter(|source| is_written(source)).collect();
    assert!(written.len() > 25, "{} pages", written.len());
    let mut bad = Vec::new();
    for source in written {
        let riddles = sentences(&source.text).into_iter().filter(|sentence| is_riddle(sentence));
        bad.extend(riddles.map(|sentence| format!("{}: say who does it: {sentence}", source.path)));
    }
    none(bad);
}

#[test]
fn sentences_are_found_in_prose_and_lists() {
    let text = "# What is it\nWho knows? It is\nwell. What fell\nstays.\n\n- **What is new** is told;\n  what else?\n1. Go.\n```\nWhat a fence\n```\n";
    let found = sentences(text);
    assert_eq!(
        found,
        ["Who knows?", "It is well.", "What fell stays.", "What is new is told;", "what else?", "Go."]
    );
    let riddles: Vec<&String> = found.iter().filter(|sentence| is_riddle(sentence)).collect();
    assert_eq!(riddles, ["What fell stays.", "What is new is told;"]);
}

#[test]
fn the_glossary_has_at_most_twelve_words() {
    let sources = sources();
    let index = sources.iter().find(|source| source.path == "docs/README.md").expect("the index of pages");
    let glossary = index.text.split("## Glossary").nth(1).expect("a glossary");
    let words = glossary.lines().filter(|line| line.starts_with('|')).count().saturating_sub(2);
    assert!((8..=MOST_WORDS).contains(&words), "{words} words in the glossary");
}

#[test]
fn what_is_typed_is_read_to_its_end() {
    assert_eq!(typed("run `./feral feed -f` or `./feral why`."), ["feed -f", "why"]);
    assert_eq!(typed("./feral diff 7     # a life"), ["diff 7"]);
    assert_eq!(typed("./feral stop && rm -rf x"), ["stop"]);
}

/// Found stale more than once: a figure in the README goes with the page that was measured.
#[test]
fn figures_of_the_readme_are_those_that_were_measured() {
    let sources = sources();
    let page = |path: &str| &sources.iter().find(|source| source.path == path).expect("the page").text;
    let flat = page("README.md").split_whitespace().collect::<Vec<_>>().join(" ");
    let rows = page("trials/SURVIVAL.md").lines().find_map(|line| line.strip_prefix("| rows | ")).unwrap();
    let rows = rows.split(',').next().unwrap();
    let survived =
        page("trials/SURVIVAL.md").lines().find_map(|line| line.strip_prefix("| survived | ")).unwrap();
    assert_eq!(survived.trim_end_matches(" |"), rows, "the README says that all were survived");
    let harms = page("trials/HARMS.md").split("## Sound edits").next().unwrap_or_default();
    let became = |of: &str| harms.lines().filter(|line| line.contains(of)).count();
    let (back, unnoticed) = (became("| put back"), became("| not noticed"));
    let said = [
        format!("[{rows} faults]"),
        format!(
            "of {} such edits tried so far, {back} were rolled back and {unnoticed} went",
            back + unnoticed
        ),
    ];
    for said in said {
        assert!(flat.contains(&said), "README.md does not say `{said}`");
    }
}
