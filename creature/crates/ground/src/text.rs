//! Texts cut to a length in characters, with a note of how much was left out. Pure.

/// Room for the note that says what was left out, in characters.
pub const NOTE: usize = 60;

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

/// Head and tail of a text within `most` characters; what matters in a result is at its ends.
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

/// Its length in characters.
pub fn count(text: &str) -> usize {
    text.chars().count()
}
