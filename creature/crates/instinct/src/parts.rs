//! Parts of the owner's words: spans of the past, names and the text between courtesies. Pure.

use super::score::Word;
use super::table::TABLE;
use agenda::{span, spoken};
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// The span where a question of the past names none.
pub const USUAL: &str = "last 24 hours";

/// A time at the end of 2199: every span that may be named lies before it.
const ANY_TIME: Timestamp = Timestamp::constant(7_258_075_200, 0);

/// Words of a span.
const MOST_SPAN: usize = 8;

/// The words of a span of the past; empty where there are none.
pub fn spanned(words: &[Word]) -> Option<String> {
    const FILLERS: [&str; 5] = ["so", "far", "exactly", "please", "and"];
    if words.len() > MOST_SPAN {
        return None;
    }
    let plain = words.iter().map(|word| word.plain.as_str()).filter(|word| !FILLERS.contains(word));
    let said = plain.collect::<Vec<_>>().join(" ");
    let is_span = |said: &String| span::read(said, ANY_TIME, &TimeZone::UTC).is_some();
    if said.is_empty() || is_span(&said) {
        return Some(said);
    }
    TABLE.in_english(&said.split(' ').collect::<Vec<_>>()).filter(is_span)
}

/// The longest span of the past that these words name, or the usual one.
pub fn window(words: &[Word]) -> String {
    let windows = (1..=words.len()).rev().flat_map(|length| words.windows(length));
    // "Your day" names none.
    let names = |said: &String| !said.is_empty() && spoken::length_s(&[said]).is_none();
    let named = windows.filter_map(spanned).find(names);
    named.unwrap_or_else(|| USUAL.to_owned())
}

/// A name of an order, goal, task or reminder.
pub fn id(raw: &str) -> Option<String> {
    let id = raw.trim_end_matches(['.', '!']).to_lowercase();
    let (kind, number) = id.split_once('-')?;
    let known = matches!(kind, "directive" | "goal" | "task" | "opportunity" | "gap" | "reminder");
    (known && number.parse::<u64>().is_ok()).then_some(id)
}

/// The words without marks and courtesies at their end.
pub fn bare(rest: &str) -> Option<String> {
    let mut rest = rest.trim();
    loop {
        let before = rest;
        rest = rest.trim_end_matches(['?', '.', '!', ',', ' ']);
        for courtesy in ["please", "thanks"] {
            rest = rest.strip_suffix(courtesy).filter(|rest| rest.ends_with([' ', ','])).unwrap_or(rest);
        }
        if rest == before {
            return Some(rest.trim_matches('"').to_owned()).filter(|rest| !rest.is_empty());
        }
    }
}
