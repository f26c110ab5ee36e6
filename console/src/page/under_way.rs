//! The wake under way, as the conversation shows it: for whom, since when, its cost so far, the words as they come.

use crate::window::state::Known;
use house::House;
use house::clock::Millis;
use house::records::ledger::Entry;
use house::records::memory::{Fed, FeedLine};
use house::records::{self, text, view::field};
use house::{files, moments};
use serde_json::Value;

/// Bytes read of its feed, the ledger and the inbox, each from its end; and of the words under way.
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
    let does = does(known)?;
    let (feed, inbox) = (files::tail(&house.events(), TAIL_BYTES), files::tail(&house.inbox(), TAIL_BYTES));
    let parse = |line: &str| records::parse(line.as_bytes());
    let wakeup = feed.lines().rev().filter(|line| line.contains("\"wakeup\"")).find_map(parse);
    let word = inbox.lines().rev().find_map(parse);
    let since = wakeup.as_ref().map(|line| FeedLine(line).at()).unwrap_or_default().to_owned();
    let ledger = if since.is_empty() { String::new() } else { files::tail(&house.ledger(), TAIL_BYTES) };
    let paid = ledger.lines().rev().filter_map(parse).take_while(|entry| Entry(entry).at() >= since.as_str());
    let micro = paid.filter_map(|entry| Entry(&entry).paid());
    let words = match known.streams() {
        "" => String::new(),
        _ => files::tail(&house.thinking(), WORDS_BYTES).trim().to_owned(),
    };
    Some(UnderWay {
        does,
        is_owners: is_owners(wakeup.as_ref(), word.as_ref()),
        since_ms: moments::ms(&since).unwrap_or(0),
        micro: micro.fold(0, u64::saturating_add),
        words,
    })
}

/// Thinking or acting, where this life is the guardian's and does either.
fn does(known: &Known) -> Option<Does> {
    let life = |value: &Value| field::<Option<u64>>(value, "life");
    let is_alive = known.runs && ["probation", "settled"].contains(&text(&known.told, "phase"));
    if !is_alive || life(&known.beat).is_none() || life(&known.beat) != life(&known.told) {
        return None;
    }
    match text(&known.beat, "stage") {
        "thinking" => Some(Does::Thinks),
        "acting" => Some(Does::Acts),
        _ => None,
    }
}

/// Whether a wake is for the owner: it woke for that, or a word came since, which it answers now whatever it woke for.
/// True also where the records do not say.
fn is_owners(wakeup: Option<&Value>, word: Option<&Value>) -> bool {
    let Some(wakeup) = wakeup else { return true };
    let wakeup = FeedLine(wakeup);
    let is_owners = matches!(wakeup.told(), Fed::Wakeup(beat) if beat.priority() == "owner");
    is_owners || word.is_some_and(|word| text(word, "at") >= wakeup.at())
}
