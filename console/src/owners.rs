//! The owner's words in memory: only those also in the inbox. The creature writes memory, so memory proves none.

use house::files::{self, Mark};
use house::lines::Lines;
use house::records::{LONGEST_LINE, memory::Record};
use serde_json::Value;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Bytes of the inbox that are read; words before these prove nothing any more.
const MOST_BYTES: u64 = 32 << 20;
/// Characters of a word, and of its time, that the creature hears.
const MOST_CHARS: usize = 8_000;
const MOST_AT: usize = 40;

/// The words of an inbox, read again when it has changed.
pub struct Owners {
    inbox: PathBuf,
    mark: Option<Mark>,
    /// When each was written, if its line says so, and its text.
    words: HashSet<(String, String)>,
}

impl Owners {
    /// Those of the house that has this memory.
    pub fn beside(memory: &Path) -> Self {
        Self { inbox: memory.with_file_name("inbox.jsonl"), mark: None, words: HashSet::new() }
    }

    /// The record, with the name of whoever wrote it: a message that is neither the creature's own nor a word of the inbox
    /// was written by the creature in another's name.
    pub fn judged(&mut self, mut record: Value) -> Value {
        let Some(message) = Record(&record).message() else { return record };
        let from = message.from().to_owned();
        let is_true = match from.as_str() {
            "creature" | "" => true,
            "owner" => self.holds(message.at(), message.text()),
            _ => false,
        };
        if let Some(data) = record.get_mut("data").and_then(Value::as_object_mut).filter(|_| !is_true) {
            let told =
                if from == "owner" { "it says you said".to_owned() } else { format!("it says {from} said") };
            data.insert("from".into(), told.into());
        }
        record
    }

    fn holds(&mut self, at: &str, said: &str) -> bool {
        let mark = files::mark(&self.inbox);
        if mark != self.mark {
            (self.mark, self.words) = (mark, read(&self.inbox));
        }
        let said = heard(said);
        self.words.contains(&(at.to_owned(), said.clone())) || self.words.contains(&(String::new(), said))
    }
}

fn read(inbox: &Path) -> HashSet<(String, String)> {
    let Ok(Some(file)) = files::open(inbox) else { return HashSet::new() };
    let mut lines = Lines::new(file, LONGEST_LINE);
    let end = lines.bytes();
    lines.pass(end.saturating_sub(MOST_BYTES));
    let mut words = HashSet::new();
    lines.each(|line| {
        words.extend(line.and_then(word));
        true
    });
    words.extend(word(lines.torn()));
    words
}

/// The word of a line, in any of the forms that the creature hears.
fn word(line: &[u8]) -> Option<(String, String)> {
    let line = std::str::from_utf8(line.trim_ascii()).ok()?;
    let (at, said) = match serde_json::from_str(line) {
        Ok(Value::Object(said)) => {
            let field = |name: &str| said.get(name).and_then(Value::as_str);
            (field("at").unwrap_or_default().to_owned(), field("text")?.to_owned())
        }
        Ok(Value::String(said)) => (String::new(), said),
        _ => (String::new(), line.to_owned()),
    };
    Some((at.chars().take(MOST_AT).collect(), heard(&said))).filter(|(_, said)| !said.is_empty())
}

/// A text as the creature hears it.
fn heard(said: &str) -> String {
    said.trim().chars().take(MOST_CHARS).collect::<String>().trim().to_owned()
}
