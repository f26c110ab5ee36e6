//! Texts cut to a length in characters, with a note of how much was left out; their links, names and hashes. Pure.

/// Room for the note that says what was left out, in characters.
pub const NOTE: usize = 60;

/// Longest link that is followed, in bytes.
const LONGEST_URL: usize = 500;

/// The head of a text within `most` characters, the note on the rest included.
pub fn head(text: &str, most: usize) -> String {
    let total = count(text);
    if total <= most {
        return text.to_owned();
    }
    let note = format!("\n(… {} more characters)", total.saturating_sub(most.saturating_sub(NOTE)));
    let room = most.saturating_sub(count(&note));
    let kept: String = text.chars().take(room).collect();
    (kept + &note).chars().take(most).collect()
}

/// Head and tail of a text within `most` characters, since the ends of a result matter most.
pub fn shorten(text: &str, most: usize) -> String {
    let total = count(text);
    if total <= most {
        return text.to_owned();
    }
    let room = most.saturating_sub(NOTE / 2);
    let (first, last) = (room * 2 / 3, room - room * 2 / 3);
    let front: String = text.chars().take(first).collect();
    let back: String = text.chars().skip(total - last).collect();
    let note = format!(" …{} left out… ", total - first - last);
    format!("{front}{note}{back}").chars().take(most).collect()
}

/// The text on one line, with single spaces between its words.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first characters of a text.
pub fn first(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

/// The last characters of a text.
pub fn last(text: &str, most: usize) -> String {
    text.chars().skip(count(text).saturating_sub(most)).collect()
}

/// Counts the characters of a text.
pub fn count(text: &str) -> usize {
    text.chars().count()
}

/// Links in `text`, in order.
pub fn urls(text: &str) -> Vec<String> {
    let stops = |c: char| c.is_whitespace() || "<>()[]{}\"'`|".contains(c);
    text.split(stops)
        .map(|part| part.trim_end_matches(|c| ".,;:!?*".contains(c)))
        .filter(|part| part.starts_with("http://") || part.starts_with("https://"))
        .filter(|url| !host(url).is_empty() && url.len() <= LONGEST_URL)
        .map(str::to_owned)
        .collect()
}

/// Host of a link, with its port; empty where there is none.
pub fn host(url: &str) -> &str {
    let after = url.split_once("://").map_or("", |(_, after)| after);
    after.split(['/', '?', '#']).next().unwrap_or("")
}

/// A name for a file: lower-case letters, digits and single dashes, 50 characters at most.
pub fn slug(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let parts = lower.split(|c: char| !c.is_ascii_alphanumeric());
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    parts.join("-").chars().take(50).collect()
}

/// Hash of a text or of bytes, the same in every life and build (FNV-1a: the standard hasher may change).
pub fn hash(text: &(impl AsRef<[u8]> + ?Sized)) -> u64 {
    let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    text.as_ref().iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Forgets the first of too many; returns how many those were.
pub fn keep_last<T>(list: &mut Vec<T>, most: usize) -> usize {
    let over = list.len().saturating_sub(most);
    list.drain(..over);
    over
}
