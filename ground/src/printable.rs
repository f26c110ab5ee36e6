//! Makes text written by others safe for a terminal: control characters are spelled out, lines wrapped at words. Pure.

use crate::bounds::{NAME_CHARS, brief};
use serde_json::Value;
use std::path::Path;
use unicode_width::UnicodeWidthChar;

/// Narrowest column for wrapping, however narrow the terminal says it is.
const NARROWEST: usize = 16;
/// Most marks on a letter, as accents and vowel signs are; more would be drawn over the lines above and below.
const MOST_MARKS: usize = 6;

/// Bytes as hexadecimal digits in lower case.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A text with control and invisible characters spelled out, and marks beyond what a letter can have; its lines stay.
pub fn spelled(text: &str) -> String {
    spelled_but(text, is_hidden)
}

/// As `spelled`, and right-to-left letters too: they would show the text beside them in another order.
pub fn exactly(text: &str) -> String {
    spelled_but(text, is_inexact)
}

fn spelled_but(text: &str, hidden: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut marks = 0;
    for letter in text.chars() {
        marks = if columns_of(letter) == 0 { marks + 1 } else { 0 };
        if letter != '\n' && (letter.is_control() || hidden(letter) || marks > MOST_MARKS) {
            out.extend(letter.escape_unicode());
        } else {
            out.push(letter);
        }
    }
    out
}

/// Untrusted text for people (names of files, logs, summaries). Lines after the first are indented, so that none
/// looks like one of the guardian's; libgit2's error codes are left out.
pub fn harmless(text: &str) -> String {
    spelled(&plain_spaces(&without_codes(text))).replace('\n', "\n    ")
}

/// As `harmless`, on one line.
pub fn flat(text: &str) -> String {
    harmless(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Tabs and spaces of any width as plain ones, and line ends of any kind as one.
pub fn plain_spaces(text: &str) -> String {
    let spaces = ['\u{a0}', '\u{2009}', '\u{202f}', '\u{3000}'];
    text.replace("\r\n", "\n").replace('\t', "    ").replace(spaces, " ")
}

/// Without the codes libgit2 adds for programs: `; class=Reference (4); code=NotFound (-3)`.
pub fn without_codes(text: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find("; class=") {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let end = code_end(from, "; class=");
        let end = end + code_end(from.get(end..).unwrap_or_default(), "; code=");
        let end = if end == 0 { 1 } else { end };
        if end == 1 {
            out.push(';');
        }
        rest = from.get(end..).unwrap_or_default();
    }
    out + rest
}

/// Returns where `NAME (NUMBER)` after `beginning` ends; 0 where there is none.
fn code_end(text: &str, beginning: &str) -> usize {
    let Some(rest) = text.strip_prefix(beginning) else { return 0 };
    let Some((name, number)) = rest.split_once(" (") else { return 0 };
    let Some((number, _)) = number.split_once(')') else { return 0 };
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_code = is_name && number.parse::<i64>().is_ok();
    if is_code { beginning.len() + name.len() + 2 + number.len() + 1 } else { 0 }
}

/// JSON in which every character is visible; parsers read the same document.
pub fn json(document: &Value) -> String {
    json_text(&format!("{document:#}"))
}

/// As `json`, on one line.
pub fn json_line(document: &Value) -> String {
    json_text(&document.to_string())
}

fn json_text(document: &str) -> String {
    let mut out = String::with_capacity(document.len());
    for letter in document.chars() {
        if letter != '\n' && (letter.is_control() || is_inexact(letter)) {
            letter.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
        } else {
            out.push(letter);
        }
    }
    out
}

/// Characters that are invisible or reorder others; the joiners of emoji are not among them.
fn is_hidden(letter: char) -> bool {
    if letter.is_ascii() || matches!(letter, '\u{200d}' | '\u{fe0f}') {
        return false;
    }
    // What Rust's own debug format escapes: format characters, separators, unassigned code points.
    let printed = ['x', letter].iter().collect::<String>().escape_debug().count() == 2;
    let blank = matches!(u32::from(letter),
        0x34F | 0x115F..=0x1160 | 0x17B4..=0x17B5 | 0x180B..=0x180F | 0x2800 | 0x3164 | 0xFE00..=0xFE0F | 0xFFA0
        | 0xE0000..=0xE0FFF);
    !printed || blank
}

/// Characters whose display does not show exactly which character it is.
fn is_inexact(letter: char) -> bool {
    is_hidden(letter) || matches!(letter, '\u{200d}' | '\u{fe0f}') || is_backwards(letter)
}

/// Letters of scripts that run from right to left.
fn is_backwards(letter: char) -> bool {
    matches!(u32::from(letter),
        0x590..=0x8FF | 0xFB1D..=0xFDFF | 0xFE70..=0xFEFF | 0x10800..=0x10FFF | 0x1E800..=0x1EFFF)
}

/// A text as lines of at most `rest` columns, the first of at most `first`: broken between words, and within a word
/// only where that is wider than a line.
pub fn wrapped(text: &str, first: usize, rest: usize) -> Vec<String> {
    let (mut lines, mut room) = (Vec::new(), first.max(NARROWEST));
    let rest = rest.max(NARROWEST);
    for paragraph in text.split('\n') {
        let (mut line, mut used) = (String::new(), 0);
        for word in paragraph.split_inclusive(' ') {
            let width = columns(word.trim_end_matches(' '));
            if used > 0 && used + width > room {
                lines.push(line.trim_end().to_owned());
                (line, used, room) = (String::new(), 0, rest);
            }
            for letter in word.chars() {
                let wide = columns_of(letter);
                // Spaces at the end of a line may stand beyond its edge.
                if used + wide > room && letter != ' ' {
                    lines.push(std::mem::take(&mut line));
                    (used, room) = (0, rest);
                }
                line.push(letter);
                used += wide;
            }
        }
        lines.push(line.trim_end().to_owned());
        room = rest;
    }
    lines
}

/// Columns a text takes at a terminal.
pub fn columns(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

fn columns_of(letter: char) -> usize {
    letter.width().unwrap_or(0)
}

/// An untrusted path for a terminal: shortened, and made harmless.
pub fn path(path: &Path) -> String {
    harmless(&brief(&path.to_string_lossy(), NAME_CHARS))
}
