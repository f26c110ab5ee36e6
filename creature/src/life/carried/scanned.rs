//! Sources that papers name: what is known of them, and their news that wait. Kept in `scanned.json`.

use agenda::own::Kind;
use ground::checklist::Named;
use ground::pages;
use ground::text::keep_last;
use memory::state;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// News that wait for own time.
const MOST_NEWS: usize = 16;

/// Known sources, by address, and their news; replaced whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Scanned {
    pub sources: BTreeMap<String, Source>,
    /// News that wait for the creature's own time, oldest first.
    pub news: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Source {
    /// Time of the next look at it, in seconds since 1970.
    pub next_s: i64,
    /// Failures in a row.
    pub fails: u32,
    /// Hashes of the items of a feed that were seen before; of a page one, once it was read.
    pub known: Vec<u64>,
    /// Sentences known of the page.
    pub page: pages::Known,
}

impl Scanned {
    /// Reads the file; garbage costs a look more, nothing else.
    pub fn load(path: &Path) -> Self {
        state::read(path).unwrap_or_default()
    }

    /// Keeps news for the creature's own time; of too many the oldest go.
    pub fn has_news(&mut self, text: String) {
        self.news.push(text);
        keep_last(&mut self.news, MOST_NEWS);
    }

    /// Clears the news that a look of this kind was given.
    pub fn given(&mut self, kind: Kind, path: &Path) {
        if kind == Kind::Sources && !self.news.is_empty() {
            self.news.clear();
            state::keep(path, self);
        }
    }

    pub fn next_s(&self, named: &Named) -> i64 {
        self.sources.get(&named.url).map_or(0, |source| source.next_s)
    }
}
