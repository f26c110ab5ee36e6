//! Links, mentions and tags in a text, by bytes of UTF-8, as Bluesky marks them beside it. Pure.
//!
//! Lexicon `app.bsky.richtext.facet`; a facet is found as by `detectFacets` of Bluesky's own client, @atproto/api.

use unicode_segmentation::UnicodeSegmentation;

const MOST_TAG: usize = 64;

/// Endings of names that are domains without a scheme before them, besides those of two letters.
const DOMAINS: &str = "com org net edu gov mil int info biz name pro app dev blog online site shop store news tech cloud page \
    social world media art design studio email live tv xyz wiki zone club space website digital agency foundation network";

/// A marked part of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Facet {
    pub start: usize,
    pub end: usize,
    pub is: Is,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Is {
    Link(String),
    /// The handle, without its sign.
    Mention(String),
    Tag(String),
}

/// Marks of a text, in their order.
pub fn found(text: &str) -> Vec<Facet> {
    let (mut facets, mut start) = (Vec::new(), 0);
    for word in text.split_inclusive(char::is_whitespace) {
        let bare = word.trim_end();
        let inner = bare.strip_prefix('(').unwrap_or(bare);
        let at = start + bare.len() - inner.len();
        let is = mention(inner).or_else(|| link(inner));
        // A tag begins a word.
        facets.extend(is.map(|(end, is)| Facet { start: at, end: at + end, is }));
        facets.extend(tag(bare).map(|(end, is)| Facet { start, end: start + end, is }));
        start += word.len();
    }
    facets
}

fn mention(word: &str) -> Option<(usize, Is)> {
    let rest = word.strip_prefix('@')?;
    let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '.' || letter == '-';
    let handle =
        rest.get(..rest.find(|letter| !plain(letter)).unwrap_or(rest.len()))?.trim_end_matches(['.', '-']);
    handle.contains('.').then(|| (handle.len() + 1, Is::Mention(handle.to_owned())))
}

fn link(word: &str) -> Option<(usize, Is)> {
    let has_scheme =
        ["https://", "http://"].iter().any(|scheme| word.len() > scheme.len() && word.starts_with(scheme));
    let host = word
        .split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '.')
        .next()
        .unwrap_or_default();
    let begins = word.starts_with(|letter: char| letter.is_ascii_alphabetic());
    if !(has_scheme || begins && is_domain(host.trim_end_matches('.'))) {
        return None;
    }
    let mut link = word.strip_suffix(['.', ',', ';', ':', '!', '?']).unwrap_or(word);
    if !link.contains('(') {
        link = link.strip_suffix(')').unwrap_or(link);
    }
    let address = if has_scheme { link.to_owned() } else { format!("https://{link}") };
    Some((link.len(), Is::Link(address)))
}

fn tag(word: &str) -> Option<(usize, Is)> {
    let rest = word.strip_prefix(['#', '＃'])?;
    let sign = word.len() - rest.len();
    let hidden =
        |letter: char| matches!(letter, '\u{ad}' | '\u{2060}' | '\u{200a}'..='\u{200d}' | '\u{20e2}');
    let rest = rest.get(..rest.find(hidden).unwrap_or(rest.len()))?;
    let name = rest.trim_end_matches(is_punctuation);
    let has_letter = name.chars().any(|letter| !letter.is_numeric() && !is_punctuation(letter));
    let fits = has_letter && !name.starts_with('\u{fe0f}') && name.graphemes(true).count() <= MOST_TAG;
    fits.then(|| (sign + name.len(), Is::Tag(name.to_owned())))
}

fn is_punctuation(letter: char) -> bool {
    match letter {
        '$' | '+' | '<' | '=' | '>' | '^' | '`' | '|' | '~' => false,
        '\u{2010}'..='\u{2027}'
        | '\u{2030}'..='\u{205e}'
        | '\u{3001}'..='\u{3003}'
        | '\u{3008}'..='\u{3011}' => true,
        '¡' | '§' | '«' | '¶' | '·' | '»' | '¿' | '！' | '，' | '．' | '？' | '：' | '；' => {
            true
        }
        letter => letter.is_ascii_punctuation(),
    }
}

/// Whether a name is one of a host that people would write without a scheme.
pub fn is_domain(host: &str) -> bool {
    let Some((rest, last)) = host.rsplit_once('.') else { return false };
    let last = last.to_ascii_lowercase();
    let plain = |part: &str| !part.is_empty() && !part.starts_with('-') && !part.ends_with('-');
    let known = last.len() == 2 && last.bytes().all(|byte| byte.is_ascii_alphabetic())
        || last.starts_with("xn--")
        || DOMAINS.split_ascii_whitespace().any(|known| known == last);
    known && rest.split('.').all(plain)
}
