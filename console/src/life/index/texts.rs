//! Short texts of the index, each kept once: reasons, names of tools, beginnings of words; bounded in all.

use super::bytes::{kept, sum};
use std::collections::BTreeMap;

/// Bytes of all texts together; what comes then has no text. What guardian and broker say has room of its own: the
/// creature cannot fill that.
const MOST_BYTES: usize = 3 << 20;
const MOST_BYTES_OF_OURS: usize = 4 << 20;
/// Characters of one.
pub const TEXT_CHARS: usize = 100;

/// Texts by number; 0 is none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Texts {
    all: String,
    /// Where each ends in `all`.
    ends: Vec<u32>,
    /// Numbers by the text's sum: two texts of one sum are as good as one here.
    known: BTreeMap<u64, u32>,
}

kept!(Texts { all, ends, known });

impl Texts {
    /// The number of a text of the creature's, cut between words.
    pub fn number(&mut self, text: &str) -> u32 {
        self.within(text, MOST_BYTES)
    }

    /// As `number`, of what guardian and broker say.
    pub fn ours(&mut self, text: &str) -> u32 {
        self.within(text, MOST_BYTES_OF_OURS)
    }

    fn within(&mut self, text: &str, most_bytes: usize) -> u32 {
        let text = short(text);
        if text.is_empty() {
            return 0;
        }
        let hash = sum(text.as_bytes());
        if let Some(number) = self.known.get(&hash) {
            return *number;
        }
        let (end, number) = (self.all.len() + text.len(), self.ends.len() + 1);
        let (Ok(end_at), Ok(number)) = (u32::try_from(end), u32::try_from(number)) else { return 0 };
        if end > most_bytes {
            return 0;
        }
        self.all.push_str(&text);
        self.ends.push(end_at);
        self.known.insert(hash, number);
        number
    }

    pub fn of(&self, number: u32) -> &str {
        let Some(at) = (number as usize).checked_sub(1) else { return "" };
        let end = self.ends.get(at).map_or(0, |end| *end as usize);
        let begin = at.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |end| *end as usize);
        self.all.get(begin..end).unwrap_or_default()
    }
}

/// A text on one line, of at most `TEXT_CHARS` characters, and not cut within a word.
pub fn short(text: &str) -> String {
    short_to(text, TEXT_CHARS)
}

pub fn short_to(text: &str, most_chars: usize) -> String {
    let (mut out, mut used) = (String::new(), 0);
    for word in text.split_whitespace() {
        let chars = word.chars().count();
        if used + usize::from(used > 0) + chars > most_chars {
            if out.is_empty() {
                // One word alone that is too long: nothing of it can be shown but its beginning.
                out.extend(word.chars().take(most_chars));
            }
            out.push_str(" …");
            return out;
        }
        if used > 0 {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += chars;
        if out.len() > most_chars * 4 {
            break;
        }
    }
    out
}
