//! Quotes in a mail are left out: only what its writer wrote is a word; pure.

/// Lines by which programs begin what they quote whole, under the owner's words.
const ORIGINAL: [&str; 6] = [
    "-----original message-----",
    "-------- original message --------",
    "-----ursprüngliche nachricht-----",
    "-------- forwarded message --------",
    "---------- forwarded message ---------",
    "________________________________",
];
/// Most lines over which the sentence before a quote may be folded ("On … wrote:").
const SENTENCE_LINES: usize = 3;

/// The writer's own lines of a text. In an answer quotes are left out: each line that begins with `>` (RFC 3676, 4.5), the
/// sentence above such lines that ends with a colon, and all below a program's mark. Above a signature all ends (4.3).
pub fn own_words(text: &str, is_answer: bool) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut own: Vec<&str> = Vec::new();
    let mut is_in_quote = false;
    for line in text.split('\n') {
        if line == "-- " {
            break;
        }
        if !is_answer {
            own.push(line);
            continue;
        }
        if ORIGINAL.contains(&line.trim().to_lowercase().as_str()) {
            break;
        }
        let is_quoted = line.starts_with('>');
        if is_quoted && !is_in_quote {
            take_sentence(&mut own);
        }
        is_in_quote = is_quoted;
        if !is_quoted {
            own.push(line);
        }
    }
    own.join("\n").trim().to_owned()
}

/// Takes the sentence off that stands above a quote: of its last lines as few as end with a colon and name an address or
/// a time, and a line with a time above those.
fn take_sentence(own: &mut Vec<&str>) {
    let end = own.iter().rposition(|line| !line.trim().is_empty()).map_or(0, |at| at + 1);
    let digits = |line: &str| line.chars().filter(char::is_ascii_digit).count();
    let is_named = |lines: &[&str]| lines.iter().any(|line| line.contains('@') || digits(line) >= 4);
    if !own.iter().take(end).next_back().is_some_and(|line| line.trim_end().ends_with(':')) {
        return;
    }
    for count in 1..=SENTENCE_LINES.min(end) {
        let start = end - count;
        let sentence = own.get(start..end).unwrap_or_default();
        if sentence.iter().any(|line| line.trim().is_empty()) {
            return;
        }
        if is_named(sentence) {
            let above = own.iter().take(start).next_back().is_some_and(|line| digits(line) >= 6);
            own.truncate(if above { start.saturating_sub(1) } else { start });
            return;
        }
    }
}
