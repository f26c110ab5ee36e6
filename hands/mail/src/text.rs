//! Texts of others as they are shown: without control characters and invisible marks, within bounds; pure.

/// Makes a text one line of at most so many characters.
pub fn line(text: &str, most: usize) -> String {
    let words: Vec<&str> = text.split(|c: char| c.is_whitespace() || c.is_control()).collect();
    let plain: String = words.join(" ").chars().filter(|c| !is_hidden(*c)).collect();
    short(plain.split_whitespace().collect::<Vec<_>>().join(" "), most)
}

/// Lines as they stand, without what steers a terminal or hides text.
pub fn lines(text: &str) -> String {
    let plain = text.replace("\r\n", "\n").replace('\r', "\n");
    let shown = plain.chars().filter(|c| matches!(c, '\n' | '\t') || !(c.is_control() || is_hidden(*c)));
    let mut shown: String = shown.collect();
    while shown.contains("\n\n\n\n") {
        shown = shown.replace("\n\n\n\n", "\n\n");
    }
    shown
}

/// Marks that are not seen, or that turn the direction of what follows: Unicode's default ignorable characters of
/// format, tags among them (UTS 39, 2.3 and UAX 9, 2).
fn is_hidden(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// At most so many characters, with a mark where something was cut.
pub fn short(text: String, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text,
    }
}
