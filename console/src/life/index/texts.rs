//! Short texts of the index: reasons, names of tools, beginnings of words.

use crate::feed::at_word;

/// Characters of one.
const TEXT_CHARS: usize = 100;

/// A text on one line, of at most `TEXT_CHARS` characters, and not cut within a word.
pub fn short(text: &str) -> String {
    short_to(text, TEXT_CHARS)
}

pub fn short_to(text: &str, most_chars: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().take(most_chars).collect();
    at_word(&words.join(" "), most_chars)
}
