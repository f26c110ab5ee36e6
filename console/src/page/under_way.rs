//! The wake under way, as the conversation shows it: for whom, since when, its cost so far, the words as they come.

use house::clock::Millis;
use house::records::ledger::Entry;
use house::records::{self, text};
use house::standing::Known;
use house::{House, files};
use serde_json::Value;
use std::path::PathBuf;

/// Bytes read of the ledger and the inbox, each from its end; and of the words under way.
const TAIL_BYTES: u64 = 64 << 10;
const WORDS_BYTES: u64 = 16 << 10;

/// A wake under way.
#[derive(Debug, Default, PartialEq)]
pub struct UnderWay {
    pub does: Does,
    /// Whether it is for the owner; else of its own accord.
    pub is_owners: bool,
    /// When it woke; 0 where that is not told.
    pub since_ms: Millis,
    /// Millionths of a dollar settled since.
    pub micro: u64,
    /// The reply as it streams.
    pub words: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Does {
    #[default]
    Thinks,
    Acts,
}

/// Reads the work under way from the files; none while it rests or nothing lives.
pub fn read(house: &House, known: &Known) -> Option<UnderWay> {
    let does = match text(&known.beat, "stage") {
        "thinking" if known.lives() => Does::Thinks,
        "acting" if known.lives() => Does::Acts,
        _ => return None,
    };
    let since = known.woke.map(|woke| format!("{woke:.3}"));
    let newest = |path: PathBuf| {
        let lines = files::tail(&path, TAIL_BYTES);
        let records = lines.lines().rev().filter_map(|line| records::parse(line.as_bytes()));
        let since = since.clone().unwrap_or_default();
        let is_since = move |record: &Value| !since.is_empty() && text(record, "at") >= since.as_str();
        records.take_while(is_since).collect::<Vec<_>>()
    };
    let micro =
        newest(house.ledger()).iter().filter_map(|entry| Entry(entry).paid()).fold(0, u64::saturating_add);
    let words = match known.streams() {
        "" => String::new(),
        _ => files::tail(&house.thinking(), WORDS_BYTES).trim().to_owned(),
    };
    // It woke for the owner, or a word came since, which it answers now whatever it woke for; or nothing says so.
    let is_owners = since.is_none() || known.is_for_owner || !newest(house.inbox()).is_empty();
    let since_ms = known.woke.map_or(0, |woke| u64::try_from(woke.as_millisecond()).unwrap_or(0));
    Some(UnderWay { does, is_owners, since_ms, micro, words })
}
