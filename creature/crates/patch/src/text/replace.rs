//! Replaces one passage of a text by another: the passage must stand there once. Pure.

use super::nearest::{self, nearest};

/// A text after a replacement, how the passage was found, and its line from 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Replaced {
    pub text: String,
    pub pass: &'static str,
    pub line: usize,
}

/// Reason that a passage found no place, and the lines of the text it comes nearest to, numbered.
pub type Miss = (String, String);

/// Replaces `old`, which must stand once exactly, or once when spaces at the ends of lines are ignored.
pub fn replace(text: &str, old: &str, new: &str) -> Result<Replaced, Miss> {
    // A text whose every line ends with \r\n is edited with \n, and gets \r\n back.
    let crlf = text.contains('\n') && text.matches('\n').count() == text.matches("\r\n").count();
    if !crlf {
        return plain(text, old, new);
    }
    let unix = |text: &str| text.replace("\r\n", "\n");
    let mut replaced = plain(&unix(text), &unix(old), &unix(new))?;
    replaced.text = replaced.text.replace('\n', "\r\n");
    Ok(replaced)
}

fn plain(text: &str, old: &str, new: &str) -> Result<Replaced, Miss> {
    if old == new {
        return Err(bare("`old` and `new` are the same: nothing would change"));
    }
    if old.is_empty() {
        return match text.is_empty() {
            true => Ok(Replaced { text: new.to_owned(), pass: "new text", line: 1 }),
            false => Err(bare("`old` is empty, but the file is not; quote the passage to replace")),
        };
    }
    let exact = overlapping(text, old);
    match exact.as_slice() {
        [at] => return Ok(cut(text, *at, at + old.len(), new, "exact")),
        [] => {}
        several => return Err(bare(many(text, several))),
    }
    let near = nearly(text, old);
    match near.as_slice() {
        [(from, to)] => Ok(cut(text, *from, *to, new, "trailing spaces ignored")),
        [] => Err(missing(text, old, new)),
        several => {
            let starts: Vec<usize> = several.iter().map(|(from, _)| *from).collect();
            Err(bare(many(text, &starts)))
        }
    }
}

/// Every start of the passage, overlapping ones too: two readings of a place are two places.
fn overlapping(text: &str, old: &str) -> Vec<usize> {
    let starts = text.char_indices().map(|(at, _)| at);
    starts.filter(|at| text.get(*at..).is_some_and(|rest| rest.starts_with(old))).collect()
}

/// Byte ranges of whole lines that equal the passage's lines but for spaces at their ends.
fn nearly(text: &str, old: &str) -> Vec<(usize, usize)> {
    let wanted: Vec<&str> = old.lines().map(str::trim_end).collect();
    if wanted.iter().all(|line| line.is_empty()) {
        return Vec::new();
    }
    let (mut lines, mut start) = (Vec::new(), 0);
    for line in text.split_inclusive('\n') {
        lines.push((start, line));
        start += line.len();
    }
    let same = |window: &&[(usize, &str)]| {
        let bare = window.iter().map(|(_, line)| line.trim_end());
        bare.eq(wanted.iter().copied())
    };
    let range = |window: &[(usize, &str)]| {
        let (from, _) = window.first()?;
        let (last, line) = window.last()?;
        // The last newline of the place is replaced only if `old` ends with one.
        let body = if old.ends_with('\n') { line.len() } else { line.trim_end_matches(['\n', '\r']).len() };
        Some((*from, last + body))
    };
    let found = lines.windows(wanted.len()).filter(same);
    found.filter_map(range).collect()
}

fn cut(text: &str, from: usize, to: usize, new: &str, pass: &'static str) -> Replaced {
    let (before, after) = (text.get(..from).unwrap_or(""), text.get(to..).unwrap_or(""));
    Replaced { text: format!("{before}{new}{after}"), pass, line: line_of(text, from) }
}

fn line_of(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}

fn many(text: &str, starts: &[usize]) -> String {
    let lines: Vec<usize> = starts.iter().map(|at| line_of(text, *at)).collect();
    format!("`old` stands in {}; quote more of what is around the one you mean", nearest::places(&lines))
}

/// Says why the passage is not found: `new` stands there already, or where the nearest block is and first differs.
fn missing(text: &str, old: &str, new: &str) -> Miss {
    if let [at] = overlapping(text, new).as_slice()
        && new.trim().len() >= 8
    {
        let line = line_of(text, *at);
        return bare(format!(
            "`old` is not there, but `new` is already, at line {line}; was it edited before?"
        ));
    }
    let file: Vec<&str> = text.lines().collect();
    let wanted: Vec<&str> = old.lines().collect();
    let Some(nearest) = nearest(&file, &wanted, 0) else { return alike(&file, &wanted) };
    let (line, difference) = (nearest.start + 1, nearest.difference());
    let why = format!("`old` is not there; the nearest block starts at line {line}, {difference}");
    (why, nearest.shown())
}

/// The lines that come nearest to a misquoted passage of which no line is there whole.
fn alike(file: &[&str], wanted: &[&str]) -> Miss {
    let nothing = || bare("`old` is not there, nor any whole line of it");
    let Some((at, line)) = wanted.iter().enumerate().find(|(_, line)| !line.trim().is_empty()) else {
        return nothing();
    };
    let line = line.trim();
    let shared = |other: &str| {
        let other = other.trim();
        let same = |(a, b): &(char, char)| a == b;
        let head = line.chars().zip(other.chars()).take_while(same).count();
        let tail = line.chars().rev().zip(other.chars().rev()).take_while(same).count();
        (head + tail).min(line.chars().count())
    };
    let best = file.iter().enumerate().map(|(at, other)| (shared(other), std::cmp::Reverse(at)));
    match best.max() {
        // A line that agrees by half is no accident.
        Some((chars, std::cmp::Reverse(found))) if chars * 2 >= line.chars().count() && chars > 3 => {
            let why = format!("`old` is not there; the nearest to its line {} is line {}", at + 1, found + 1);
            (why, nearest::numbered(file, found.saturating_sub(at), wanted.len()))
        }
        _ => nothing(),
    }
}

fn bare(why: impl Into<String>) -> Miss {
    (why.into(), String::new())
}
