//! Short texts of the index: reasons, names of tools, beginnings of words.

/// Characters of one.
const TEXT_CHARS: usize = 100;

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
