//! A long text in parts that fit: between paragraphs first, code whole where it fits, never inside a letter with its marks. Pure.

use console::markdown::options;
use pulldown_cmark::{Event, Parser};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// The parts of a Markdown text, each of which `fits`; a letter that does not fit alone is a part all the same.
pub fn parts(text: &str, fits: &dyn Fn(&str) -> bool) -> Vec<String> {
    if fits(text) {
        return Some(text.trim_end().to_owned()).filter(|text| !text.trim().is_empty()).into_iter().collect();
    }
    let blocks = blocks(text);
    let pieces: Vec<&str> = blocks.iter().filter_map(|range| text.get(range.clone())).collect();
    packed(&pieces, &|part| part.to_owned(), fits, &|block| broken(block, fits))
}

/// A text of no markup in parts.
pub fn plain_parts(text: &str, fits: &dyn Fn(&str) -> bool) -> Vec<String> {
    if fits(text) {
        return Some(text.trim_end().to_owned()).filter(|text| !text.trim().is_empty()).into_iter().collect();
    }
    lines(text, &|part| part.to_owned(), fits)
}

/// The beginning of a text, of at most so many bytes.
pub fn beginning(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or_default()
}

/// The blocks at the top, each with what follows it up to the next.
#[allow(clippy::wildcard_enum_match_arm)]
fn blocks(text: &str) -> Vec<Range<usize>> {
    let (mut starts, mut depth) = (vec![0], 0_usize);
    for (event, range) in Parser::new_ext(text, options()).into_offset_iter() {
        match event {
            Event::Start(_) => {
                if depth == 0 {
                    starts.push(range.start);
                }
                depth += 1;
            }
            Event::End(_) => depth = depth.saturating_sub(1),
            Event::Rule if depth == 0 => starts.push(range.start),
            _ => {}
        }
    }
    starts.sort_unstable();
    starts.dedup();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
}

/// Puts pieces together as long as they fit, dressed; a piece that does not fit alone is broken by `finer`.
fn packed(
    pieces: &[&str],
    dress: &dyn Fn(&str) -> String,
    fits: &dyn Fn(&str) -> bool,
    finer: &dyn Fn(&str) -> Vec<String>,
) -> Vec<String> {
    let (mut parts, mut rest) = (Vec::new(), pieces);
    while !rest.is_empty() {
        let joined = |number: usize| rest.get(..number).unwrap_or_default().concat();
        let is_fit = |number: usize| fits(&dress(trimmed(&joined(number))));
        let number = most(rest.len(), &is_fit);
        if number == 0 {
            let piece = rest.first().copied().unwrap_or_default();
            let trimmed = trimmed(piece);
            parts.extend(if trimmed.trim().is_empty() { vec![] } else { finer(trimmed) });
            rest = rest.get(1..).unwrap_or_default();
            continue;
        }
        let part = joined(number);
        if !part.trim().is_empty() {
            parts.push(dress(trimmed(&part)));
        }
        rest = rest.get(number..).unwrap_or_default();
    }
    parts
}

/// The largest number up to `all` that is fit, found by doubling and halving, and tried.
fn most(all: usize, is_fit: &dyn Fn(usize) -> bool) -> usize {
    let (mut good, mut bad) = (0, all + 1);
    let mut next = 1;
    while good + 1 < bad {
        let number = next.clamp(good + 1, bad - 1);
        if is_fit(number) {
            good = number;
            next = number.saturating_mul(2);
        } else {
            bad = number;
        }
        if bad <= all {
            next = good + (bad - good) / 2;
        }
    }
    good
}

/// Without the empty lines around it; spaces at its beginning may be meant.
fn trimmed(part: &str) -> &str {
    let part = part.trim_end();
    let empty = part.len() - part.trim_start().len();
    let before = part.get(..empty).unwrap_or_default();
    part.get(before.rfind('\n').map_or(0, |at| at + 1)..).unwrap_or_default()
}

/// A block that does not fit: code by its lines, in a fence each; all else by lines, words, letters.
fn broken(block: &str, fits: &dyn Fn(&str) -> bool) -> Vec<String> {
    let Some((fence, code)) = fenced(block) else { return lines(block, &|part| part.to_owned(), fits) };
    let mark: String = fence.trim_start().chars().take_while(|letter| "`~".contains(*letter)).collect();
    lines(code, &|part| format!("{fence}\n{}\n{mark}", part.trim_end_matches('\n')), fits)
}

/// The first line of fenced code, and the code (CommonMark, 4.5).
fn fenced(block: &str) -> Option<(&str, &str)> {
    let (first, rest) = block.split_once('\n')?;
    let mark = first.trim_start();
    if !(mark.starts_with("```") || mark.starts_with("~~~")) || first.len() - mark.len() > 3 {
        return None;
    }
    let letter = mark.chars().next()?;
    let run = mark.chars().take_while(|other| *other == letter).count();
    let rest = rest.trim_end();
    let last = rest.rsplit('\n').next().unwrap_or_default();
    let closes = last.trim().chars().all(|other| other == letter) && last.trim().chars().count() >= run;
    let code = if closes { rest.strip_suffix(last).unwrap_or(rest) } else { rest };
    Some((first, code))
}

fn lines(text: &str, dress: &dyn Fn(&str) -> String, fits: &dyn Fn(&str) -> bool) -> Vec<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    packed(&lines, dress, fits, &|line| words(line, dress, fits))
}

fn words(line: &str, dress: &dyn Fn(&str) -> String, fits: &dyn Fn(&str) -> bool) -> Vec<String> {
    let words: Vec<&str> = line.split_inclusive(char::is_whitespace).collect();
    packed(&words, dress, fits, &|word| letters(word, dress, fits))
}

fn letters(word: &str, dress: &dyn Fn(&str) -> String, fits: &dyn Fn(&str) -> bool) -> Vec<String> {
    let letters: Vec<&str> = word.graphemes(true).collect();
    packed(&letters, dress, fits, &|letter| {
        // Marks without an end on one letter: no platform takes them whole.
        let each: Vec<&str> = letter.split("").filter(|part| !part.is_empty()).collect();
        packed(&each, dress, fits, &|one| vec![dress(one)])
    })
}
