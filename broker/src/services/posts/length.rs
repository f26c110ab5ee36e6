//! The length of a text as each network counts it. Pure.
//!
//! X: developer documentation, "Counting characters", and the configuration v3 of its library twitter-text; Bluesky: the
//! lexicon `app.bsky.feed.post`.

use super::facets::is_domain;
use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

const MOST_WEIGHT: usize = 280;
/// Weight of a link, whatever its length.
const LINK: usize = 23;
const MOST_GRAPHEMES: usize = 300;
const MOST_BYTES: usize = 3_000;

/// Tells what is too long about a post on X.
pub fn for_x(text: &str) -> Option<String> {
    let weight = weight(text);
    (weight > MOST_WEIGHT).then(|| format!("counts {weight} characters, and X takes {MOST_WEIGHT}"))
}

/// Tells what is too long about a post on Bluesky.
pub fn for_bluesky(text: &str) -> Option<String> {
    let (letters, bytes) = (text.graphemes(true).count(), text.len());
    (letters > MOST_GRAPHEMES || bytes > MOST_BYTES).then(|| {
        format!("has {letters} letters of {bytes} bytes, and Bluesky takes {MOST_GRAPHEMES} of {MOST_BYTES}")
    })
}

/// Counts a text as X does, in its composed form: a link is 23, an emoji 2 whatever it is made of, and of other
/// characters those outside of a few ranges 2.
pub fn weight(text: &str) -> usize {
    let text: String = text.nfc().collect();
    let (mut weight, mut at) = (0, 0);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        if let Some(length) = link(before, rest) {
            (weight, at) = (weight + LINK, at + length);
            continue;
        }
        let letter = rest.graphemes(true).next().unwrap_or(rest);
        weight += if is_emoji(letter) { 2 } else { letter.chars().map(of_letter).sum() };
        at += letter.len();
    }
    weight
}

fn of_letter(letter: char) -> usize {
    match u32::from(letter) {
        0..=4351 | 8192..=8205 | 8208..=8223 | 8242..=8247 => 1,
        _ => 2,
    }
}

/// Whether several characters are shown as one emoji: a sign with a variation, a skin, a cap or a joined one, or a flag.
fn is_emoji(letter: &str) -> bool {
    let begins =
        |letter: char| matches!(letter, '©' | '®' | '\u{203c}'..='\u{3299}' | '\u{1f000}'..='\u{1faff}');
    let joins = |letter: char| matches!(letter, '\u{fe0f}' | '\u{200d}' | '\u{1f1e6}'..='\u{1f1ff}' | '\u{1f3fb}'..='\u{1f3ff}');
    letter.ends_with('\u{20e3}') || (letter.starts_with(begins) && letter.chars().skip(1).any(joins))
}

/// Bytes of the link that a text begins with, by twitter-text's `extractUrlsWithIndices`: with or without a scheme, not
/// right after a letter, a digit or a sign of names, and without the signs that end a sentence.
fn link(before: Option<char>, text: &str) -> Option<usize> {
    let scheme = ["https://", "http://"]
        .into_iter()
        .find(|scheme| text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)));
    let joined = if scheme.is_some() { "@＠$#＃" } else { "@＠$#＃_-./" };
    if before.is_some_and(|before| before.is_ascii_alphanumeric() || joined.contains(before))
        || !text.starts_with(|letter: char| letter.is_ascii_alphanumeric())
    {
        return None;
    }
    let from = scheme.map_or(0, str::len);
    let rest = text.get(from..)?;
    let ends = |set: &'static str| {
        move |letter: char| !(letter.is_alphanumeric() && u32::from(letter) < 0x500 || set.contains(letter))
    };
    let host = rest.get(..rest.find(ends("-_.")).unwrap_or(rest.len()))?.trim_end_matches(['.', '-', '_']);
    if !is_domain(host) {
        return None;
    }
    let after = rest.get(host.len()..)?;
    let mut tail = match after.chars().next() {
        Some('/' | '?' | ':') => after
            .get(..after.find(ends("-_.~!*';:=+,$%#[]@&|/?()")).unwrap_or(after.len()))?
            .trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', '[', ']', '*', '$', '|', '~']),
        _ => "",
    };
    while tail.ends_with(')') && tail.matches('(').count() < tail.matches(')').count() {
        tail = tail.strip_suffix(')').unwrap_or(tail);
    }
    Some(from + host.len() + tail.len())
}
