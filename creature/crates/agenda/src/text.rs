//! Texts: on one line, cut to a length, by sentences and words, told apart by a hash; a word in a list. Pure.

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

/// The sentences and lines of a text that say something; what is quoted is not split, unless a quote stays open.
pub fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let is_quote = |letter: char| matches!(letter, '"' | '`');
    let closes = text.matches(is_quote).count().is_multiple_of(2);
    let (mut parts, mut from, mut quoted) = (Vec::new(), 0, false);
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        quoted ^= closes && is_quote(letter);
        let is_last = letters.peek().is_none_or(|(_, next)| next.is_whitespace());
        if !quoted && (letter == '\n' || is_last && matches!(letter, '.' | '?' | '!' | ';')) {
            let to = at + letter.len_utf8();
            parts.extend(text.get(from..to));
            from = to;
        }
    }
    parts.extend(text.get(from..));
    let trimmed = parts.into_iter().map(|part| part.trim().trim_end_matches(';').trim_end());
    trimmed.filter(|part| part.contains(char::is_alphanumeric))
}

/// Whether a word stands in a list of words with spaces between.
pub fn among(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|known| known == word)
}

/// The words of a text in lower case, without marks.
pub fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
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
