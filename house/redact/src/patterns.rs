//! Finds unknown secrets by their form: the usual beginnings of keys, bearer tokens and private keys.
//!
//! Applied after the known values, not instead of them. Invariant: each byte is visited a bounded number of times,
//! whatever surrounds it. Pure: nothing here reads, sends or waits.

use crate::keys::struck;
use aho_corasick::AhoCorasick;
use house::secret_beginnings::{KEY_BEGINS, of_texts};
use std::ops::Range;
use std::sync::LazyLock;

const KEY_IS: &str = "PRIVATE KEY-----";
const KEY_ENDS: &str = "-----END ";

/// Bytes after the beginning of a block within which the word KEY has to come.
const KEY_SAYS: usize = 48;

/// All beginnings, those of private keys last; and how many characters have to follow each of the others.
struct Search {
    beginnings: AhoCorasick,
    follow: Vec<usize>,
}

static SEARCH: LazyLock<Option<Search>> = LazyLock::new(|| {
    let (texts, follow): (Vec<&str>, Vec<usize>) = of_texts().unzip();
    let beginnings = AhoCorasick::new(texts.into_iter().chain([KEY_BEGINS])).ok()?;
    Some(Search { beginnings, follow })
});

/// Ranges that look like a secret, and how many bytes were visited to find them.
#[derive(Debug, Default)]
pub struct Found {
    pub places: Vec<Range<usize>>,
    pub visited: usize,
}

/// The text without anything that looks like a secret.
pub fn scrub(text: String) -> String {
    match found(&text).places {
        places if places.is_empty() => text,
        places => String::from_utf8_lossy(&struck(text.as_bytes(), places)).into_owned(),
    }
}

pub fn found(text: &str) -> Found {
    let mut found = Found { places: Vec::new(), visited: text.len() };
    let Some(search) = &*SEARCH else { return found };
    let bytes = text.as_bytes();
    let (mut run, mut key_ends) = (Run::default(), 0);
    // Hits come in the order of their ends, so that neither a run nor a block is visited twice.
    for hit in search.beginnings.find_overlapping_iter(text) {
        let Some(least) = search.follow.get(hit.pattern().as_usize()) else {
            if hit.start() >= key_ends
                && let Some(end) = private_key(bytes, hit.end(), &mut found.visited)
            {
                found.places.push(hit.start()..end);
                key_ends = end;
            }
            continue;
        };
        let apart =
            !hit.start().checked_sub(1).and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_alphanumeric);
        if !apart {
            continue;
        }
        if hit.end() >= run.end {
            run = Run::from(bytes, hit.end());
            found.visited += run.end - hit.end() + 1;
        }
        // Ordinary words may follow a scheme's name as well; a secret has a digit.
        if run.end >= hit.end() + least && run.last_digit.is_some_and(|at| at >= hit.end()) {
            found.places.push(hit.end()..run.end);
        }
    }
    found
}

/// Consecutive bytes that may belong to a token.
#[derive(Default)]
struct Run {
    end: usize,
    last_digit: Option<usize>,
}

impl Run {
    fn from(bytes: &[u8], start: usize) -> Self {
        let rest = bytes.get(start..).unwrap_or_default();
        let belongs = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.~+/=".contains(byte);
        let length = rest.iter().position(|byte| !belongs(byte)).unwrap_or(rest.len());
        let digit = rest.get(..length).and_then(|run| run.iter().rposition(u8::is_ascii_digit));
        Self { end: start + length, last_digit: digit.map(|at| start + at) }
    }
}

/// The end of the private key that begins before `from`; a block without an end reaches to the end of the text.
fn private_key(bytes: &[u8], from: usize, visited: &mut usize) -> Option<usize> {
    let mut after = |text: &str, from: usize, most: usize| {
        let rest = bytes.get(from..from.saturating_add(most).min(bytes.len()))?;
        let at = rest.windows(text.len()).position(|window| window == text.as_bytes());
        *visited += at.map_or(rest.len(), |at| at + text.len());
        Some(from + at? + text.len())
    };
    let body = after(KEY_IS, from, KEY_SAYS)?;
    let end = after(KEY_ENDS, body, usize::MAX).and_then(|at| after(KEY_IS, at, usize::MAX));
    Some(end.unwrap_or(bytes.len()))
}
