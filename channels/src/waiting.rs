//! Words that wait for their files, and words behind them in their threads. Pure.

use crate::channel::{Attached, Chat};
use crate::inbox;
use crate::received::{MOST_FILES, harmless};
use serde::{Deserialize, Serialize};
use std::collections::{HashSet, VecDeque};

/// Most bytes of a file's place, of which each platform needs a tenth: the state has to be read back.
const PLACE_BYTES: usize = 2 << 10;

/// A word that waits for its files, or behind such a word.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Waiting {
    /// Its id in the inbox, and the platform's id of its message.
    pub id: String,
    pub message: String,
    pub thread: String,
    pub chat: Chat,
    pub text: String,
    /// At most `MOST_FILES`, and how many more came with it.
    pub files: Vec<Attached>,
    pub left: usize,
}

impl Waiting {
    /// The word as it is kept where its files are not waited for.
    pub fn without_files(self) -> inbox::Word {
        let Self { id, thread, text, files, left, .. } = self;
        let text = match files.len() + left {
            0 => text,
            number => format!("{text}\n(files of this: {number}, not fetched, for what came behind it)"),
        };
        inbox::Word { text: text.trim().to_owned(), thread, ids: vec![id] }
    }

    /// As many files as are taken, and how many are left where they are.
    pub fn bounded(files: &[Attached]) -> (Vec<Attached>, usize) {
        let fit = files.iter().filter(|file| file.place.to_string().len() <= PLACE_BYTES);
        let taken: Vec<Attached> = fit
            .take(MOST_FILES)
            .map(|file| Attached { name: harmless(&file.name), ..file.clone() })
            .collect();
        let left = files.len() - taken.len();
        (taken, left)
    }
}

/// Words that wait for no file any more, in their order, and those that still do.
pub fn freed(waiting: VecDeque<Waiting>) -> (Vec<Waiting>, VecDeque<Waiting>) {
    let mut held = HashSet::new();
    let mut freed = Vec::new();
    let mut rest = VecDeque::new();
    for word in waiting {
        if word.files.is_empty() && !held.contains(&word.thread) {
            freed.push(word);
        } else {
            held.insert(word.thread.clone());
            rest.push_back(word);
        }
    }
    (freed, rest)
}
