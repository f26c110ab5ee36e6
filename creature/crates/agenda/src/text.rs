//! Texts: on one line, cut to a length, told apart by a hash; a word in a list. Pure.

/// The text on one line, with single spaces between its words.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `text` on one line and at most `most` characters, with an ellipsis where it was cut.
pub fn clip(text: &str, most: usize) -> String {
    let line = one_line(text);
    if line.chars().nth(most).is_none() {
        return line;
    }
    let head: String = line.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", head.trim_end())
}

/// Whether a word stands in a list of words with spaces between.
pub fn among(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|known| known == word)
}

/// A hash of a text in lower case, the same in every life (FNV-1a).
pub(crate) fn hash(text: &str) -> u64 {
    let step = |sum: u64, byte: u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.to_lowercase().bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

/// A shorter hash of a text in lower case, the same in every life (FNV-1a): ids that houses keep are made of it.
pub(crate) fn short_hash(text: &str) -> u32 {
    let step = |sum: u32, byte: u8| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    text.to_lowercase().bytes().fold(0x811c_9dc5, step)
}
