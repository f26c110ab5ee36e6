//! The owner's words in the inbox: each with the platform's ids, by which an end between two steps doubles none.

use crate::channel::Heard;
use crate::thread;
use anyhow::Result;
use house::records::{self, text, view::field};
use house::{House, clock, files};
use serde_json::{Value, json};
use std::collections::HashSet;

/// Bytes read from the end of the inbox for the ids that stand there.
const END_BYTES: u64 = 2 << 20;
/// Most characters of a word: the creature takes no more.
pub const MOST_CHARS: usize = 8_000;
/// Lines that a batch comes to, where its words fit into so many: the creature takes fifty at once.
const LINES: usize = 20;

/// A word that is to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    pub text: String,
    pub thread: String,
    /// Ids of the happenings that it was said in.
    pub ids: Vec<String>,
}

/// The id of a happening in the inbox.
pub fn id(channel: &str, heard: &Heard) -> String {
    let id = format!("{channel}:{}", heard.id);
    if id.len() <= 200 { id } else { format!("{channel}:{}", thread::key(&[&heard.id])) }
}

/// A text as the creature takes it: without control characters and without spaces around it.
pub fn plain(said: &str) -> String {
    let is_odd = |letter: char| letter.is_control() && !"\n\t".contains(letter);
    let text = said.replace("\r\n", "\n").replace('\r', "\n");
    let text: String = text.chars().map(|letter| if is_odd(letter) { ' ' } else { letter }).collect();
    text.trim().to_owned()
}

/// Whether these are so many that words go together.
pub fn is_many(words: &[Word]) -> bool {
    words.len() > LINES
}

/// The words as they are kept: singly, but of many at once as many of a thread together as make few lines of them; where many
/// came just before too, `is_flood`, as many as a line takes.
pub fn gathered(words: Vec<Word>, is_flood: bool) -> Vec<Word> {
    let most = if is_flood && is_many(&words) { usize::MAX } else { words.len().div_ceil(LINES) };
    let mut all: Vec<Word> = Vec::new();
    for word in words {
        let has_room = |last: &&mut Word| {
            let characters = last.text.chars().count() + word.text.chars().count();
            last.ids.len() < most && characters < MOST_CHARS
        };
        // In order within a thread; between two of them it says nothing.
        match all.iter_mut().rfind(|last| last.thread == word.thread).filter(has_room) {
            Some(last) => {
                last.text.push('\n');
                last.text.push_str(&word.text);
                last.ids.extend(word.ids);
            }
            None => all.push(word),
        }
    }
    all
}

/// Appends a word, whole and synced.
pub fn keep(house: &House, word: &Word) -> Result<()> {
    console::say::keep_line(house, &line(word, &clock::stamp()).to_string())
}

fn line(word: &Word, at: &str) -> Value {
    let mut line = json!({"at": at, "text": word.text, "thread": word.thread, "id": word.ids.first()});
    if let (Some(fields), true) = (line.as_object_mut(), word.ids.len() > 1) {
        fields.insert("ids".to_owned(), json!(word.ids));
    }
    line
}

/// The ids of a channel's words that stand at the end of the inbox.
pub fn known(house: &House, channel: &str) -> HashSet<String> {
    let end = files::tail(&house.inbox(), END_BYTES);
    let is_ours = |id: &String| id.strip_prefix(channel).is_some_and(|rest| rest.starts_with(':'));
    let lines = end.lines().filter_map(|line| records::parse(line.as_bytes()));
    let ids = lines.flat_map(|line| {
        let more = field::<&[Value]>(&line, "ids").iter().filter_map(Value::as_str).map(str::to_owned);
        std::iter::once(text(&line, "id").to_owned()).chain(more).collect::<Vec<_>>()
    });
    ids.filter(is_ours).collect()
}
