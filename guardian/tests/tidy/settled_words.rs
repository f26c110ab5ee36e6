//! Words that were settled: what each is called here, so that a reader learns one word for one thing.

use crate::none;
use crate::sources::{Source, sources};

/// The word that went, the word that stays, and whether it went from prose too: some are good English elsewhere.
const SETTLED: [(&str, &str, bool); 14] = [
    ("errand", "job", true),
    ("errands", "jobs", true),
    ("companion", "broker process", true),
    ("custody", "doctor", true),
    ("keepsake", "snapshot", true),
    ("keepsakes", "snapshots", true),
    ("last words", "panic", false),
    ("desk", "agenda store", false),
    ("outlook", "sense", false),
    ("way", "repair paths", false),
    ("beneath", "openat", false),
    ("room", "connection limit", false),
    ("shelf", "ask files", false),
    ("spelling", "canonical", false),
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

/// Names that a line of Rust gives to a module or a type.
fn named(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = line.strip_prefix("pub ").or_else(|| line.strip_prefix("pub(crate) ")).unwrap_or(line);
    let kinds = ["mod ", "struct ", "enum ", "trait ", "type "];
    let name = kinds.iter().find_map(|kind| line.strip_prefix(kind))?;
    name.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next()
}

#[test]
fn one_word_for_one_thing() {
    let this = "guardian/tests/tidy/settled_words.rs";
    // Pages that were measured name files as they were then.
    let data = |source: &Source| {
        source.path.contains("/golden/") || [".lock", "SURVIVAL.md", "BENCH.md"].iter().any(|end| source.path.ends_with(end))
    };
    let mut bad = Vec::new();
    for source in sources().iter().filter(|source| source.path != this && !data(source)) {
        let file =
            words(source.path.rsplit('/').next().unwrap_or_default().split('.').next().unwrap_or_default());
        for (gone, stays, _) in SETTLED.iter().filter(|(gone, ..)| holds(&file, gone)) {
            bad.push(format!("{}:1: a file named `{gone}`; the word here is {stays}", source.path));
        }
        let read = source.is_rust() || [".md", ".toml"].iter().any(|end| source.path.ends_with(end));
        for (gone, stays, everywhere) in SETTLED.iter().filter(|_| read) {
            let said = |text: &str| {
                let name = named(text).filter(|_| source.is_rust()).map(words).unwrap_or_default();
                holds(&name, gone) || (*everywhere && holds(&words(text), gone))
            };
            let lines: Vec<usize> =
                source.lines().filter(|(_, text)| said(text)).map(|(line, _)| line).collect();
            if let Some(line) = lines.first() {
                let times = lines.len();
                bad.push(format!(
                    "{}:{line}: `{gone}`, in {times} lines; the word here is {stays}",
                    source.path
                ));
            }
        }
    }
    none(bad);
}

#[test]
fn names_are_read_as_words() {
    assert_eq!(words("last_words"), "last words");
    assert_eq!(words("DeskOfWords"), "desk of words");
    assert_eq!(named("pub(crate) struct Way<'a> {"), Some("Way"));
    assert_eq!(named("pub mod room;"), Some("room"));
    assert_eq!(named("let way = 1;"), None);
    assert!(holds("a desk of words", "desk") && !holds("a helpdesk", "desk"));
}
