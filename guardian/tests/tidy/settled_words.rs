//! Words that were settled: what each is called here, so that a reader learns one word for one thing.

use crate::none;
use crate::sources::{Source, sources};

/// Where a word is held to: what it meant here went with it, but some are good English elsewhere.
#[derive(Clone, Copy, PartialEq)]
enum Held {
    Everywhere,
    /// In names of files, modules and types.
    Names,
    /// As the whole name of a file or module.
    Modules,
}
use Held::{Everywhere, Modules, Names};

/// The word that went, and the word that stays.
const SETTLED: [(&str, &str, Held); 14] = [
    ("errand", "job", Everywhere),
    ("errands", "jobs", Everywhere),
    ("companion", "broker process", Everywhere),
    ("custody", "doctor", Everywhere),
    ("keepsake", "snapshot", Everywhere),
    ("keepsakes", "snapshots", Everywhere),
    ("last words", "panic", Names),
    ("desk", "agenda store", Names),
    ("outlook", "sense", Names),
    ("shelf", "ask files", Names),
    ("beneath", "openat", Modules),
    ("room", "connection limit", Modules),
    ("spelling", "canonical", Modules),
    ("way", "repair paths", Modules),
];

/// A name as words: `last_words`, `LastWords` and `last-words` are all `last words`.
fn words(name: &str) -> String {
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() || !letter.is_alphanumeric() {
            words.push(' ');
        }
        if letter.is_alphanumeric() {
            words.extend(letter.to_lowercase());
        }
    }
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn holds(text: &str, word: &str) -> bool {
    format!(" {text} ").contains(&format!(" {word} "))
}

/// The kind and the name that a line of Rust gives to a module or a type.
fn named(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    let line = line.strip_prefix("pub ").or_else(|| line.strip_prefix("pub(crate) ")).unwrap_or(line);
    let (kind, rest) = line.split_once(' ')?;
    let name = rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next()?;
    ["mod", "struct", "enum", "trait", "type"].contains(&kind).then_some((kind, name))
}

/// Whether a line of a source has a word where it is held to.
fn is_said(source: &Source, text: &str, gone: &str, held: Held) -> bool {
    let (kind, name) = named(text).filter(|_| source.is_rust()).unwrap_or_default();
    match held {
        Everywhere => holds(&words(text), gone),
        Names => holds(&words(name), gone),
        Modules => kind == "mod" && words(name) == gone,
    }
}

fn is_file_of(source: &Source, gone: &str, held: Held) -> bool {
    let name = source.path.rsplit('/').next().unwrap_or_default();
    let name = words(name.split('.').next().unwrap_or_default());
    if held == Modules { name == gone } else { holds(&name, gone) }
}

#[test]
fn one_word_for_one_thing() {
    // Pages that are measured or made, and data, name files as they were or are.
    const DATA: [&str; 5] = [".lock", "SURVIVAL.md", "BENCH.md", "docs/map.md", "tidy/settled_words.rs"];
    let sources = sources();
    let data = |source: &Source| {
        source.path.contains("/golden/") || DATA.iter().any(|end| source.path.ends_with(end))
    };
    let mut bad = Vec::new();
    for source in sources.iter().filter(|source| !data(source)) {
        let read = source.is_rust() || [".md", ".toml"].iter().any(|end| source.path.ends_with(end));
        for (gone, stays, held) in SETTLED {
            let said = source.lines().filter(|(_, text)| read && is_said(source, text, gone, held));
            let lines: Vec<usize> = said.map(|(line, _)| line).collect();
            if lines.is_empty() && !is_file_of(source, gone, held) {
                continue;
            }
            bad.push(format!(
                "{}:{}: `{gone}` in its name or in {} lines; the word here is {stays}",
                source.path,
                lines.first().unwrap_or(&1),
                lines.len()
            ));
        }
    }
    none(bad);
}

#[test]
fn names_are_read_as_words() {
    assert_eq!(words("last_words"), "last words");
    assert_eq!(words("DeskOfWords"), "desk of words");
    assert_eq!(named("pub(crate) struct Way<'a> {"), Some(("struct", "Way")));
    assert_eq!(named("pub mod room;"), Some(("mod", "room")));
    assert_eq!(named("let way = 1;"), None);
    assert!(holds("a desk of words", "desk") && !holds("a helpdesk", "desk"));
}
