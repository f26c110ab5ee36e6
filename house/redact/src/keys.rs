//! The keys: read once from the environment or `.env`, looked up by variable, and scrubbed from everything that goes back.
//!
//! Invariant: a secret's value never reaches a log line, a file or a client, in any of the encodings in the table of
//! docs/services.md.

use crate::encodings::{self, View};
use crate::env_file;
use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use anyhow::Result;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use house::{House, makers};
use std::collections::BTreeMap;
use std::ops::Range;

/// Shortest value that is scrubbed, in bytes; a shorter one is a placeholder, and would match ordinary words.
const SHORTEST: usize = 8;
/// Shortest line of a secret of several lines (a private key, say) that is scrubbed by itself, in bytes.
const SHORTEST_LINE: usize = 16;
/// Replaces a secret in a text.
pub const MARK: &str = "[key]";

#[derive(Clone, Default)]
pub struct Keys {
    values: BTreeMap<String, String>,
    /// Values to scrub.
    known: Vec<String>,
    /// The compiled search; `None` if there is nothing to scrub.
    search: Option<Search>,
}

/// Searches for all encodings of all secrets at once.
#[derive(Clone)]
struct Search {
    /// For text without blanks: broken lines and UTF-16 have some between the letters.
    letters: AhoCorasick,
    /// For hexadecimal digits in lower case, whatever is between them.
    digits: AhoCorasick,
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Keys({} names)", self.values.len())
    }
}

impl Keys {
    /// Reads the variables `named` from the environment, else from the house's `.env`.
    pub fn load(house: &House, named: &[String]) -> Result<Self> {
        let file = env_file::read(house)?;
        let in_file = |name: &String| {
            file.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.clone())
        };
        let value = |name: &String| {
            std::env::var(name).ok().filter(|value| !value.is_empty()).or_else(|| in_file(name))
        };
        let names = named.iter().cloned().chain(makers::plain().map(str::to_owned));
        let values = names.filter_map(|name| Some((value(&name)?.trim().to_owned(), name)));
        let values: BTreeMap<_, _> = values.map(|(value, name)| (name, value)).collect();
        // Every other value in `.env` counts as secret too, used or not.
        let all = file.iter().map(|(name, value)| (name, value)).chain(&values);
        let secret = all.filter(|(name, _)| !makers::plain().any(|plain| plain == *name));
        let known = secret.map(|(_, value)| value.clone()).collect();
        let mut keys = Self { known, values, search: None };
        keys.prepare();
        Ok(keys)
    }

    pub fn of(values: BTreeMap<String, String>) -> Self {
        let mut keys = Self { known: values.values().cloned().collect(), values, search: None };
        keys.prepare();
        keys
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Scrubs this value too from now on: a renewed token, for instance.
    pub fn know(&mut self, value: &str) {
        if !self.known.iter().any(|known| known == value) {
            self.known.push(value.to_owned());
            self.prepare();
        }
    }

    /// The text without any known secret.
    pub fn scrub(&self, text: &str) -> String {
        match self.found(text.as_bytes()) {
            found if found.is_empty() => text.to_owned(),
            found => String::from_utf8_lossy(&struck(text.as_bytes(), found)).into_owned(),
        }
    }

    /// The bytes without any known secret.
    pub fn scrub_bytes(&self, bytes: Vec<u8>) -> Vec<u8> {
        match self.found(&bytes) {
            found if found.is_empty() => bytes,
            found => struck(&bytes, found),
        }
    }

    fn prepare(&mut self) {
        self.known.retain(|value| value.trim().len() >= SHORTEST);
        self.known.sort_by_key(|value| std::cmp::Reverse(value.len()));
        self.known.dedup();
        let built = |encodings_of: fn(&str) -> Vec<Vec<u8>>| {
            let mut all: Vec<Vec<u8>> =
                self.known.iter().flat_map(|value| encodings_of(value.trim())).collect();
            all.sort();
            all.dedup();
            // Its tables are built in a tenth of the time that those of the automaton chosen by itself take.
            let kind = Some(AhoCorasickKind::ContiguousNFA);
            AhoCorasick::builder().match_kind(MatchKind::Standard).kind(kind).build(all).ok()
        };
        let search = || Some(Search { letters: built(in_letters)?, digits: built(in_digits)? });
        self.search = if self.known.is_empty() { None } else { search() };
    }

    /// Finds the ranges of bytes in which secrets are.
    fn found(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let Some(search) = &self.search else { return found };
        let mut look = |view: &View, search: &AhoCorasick, keep: fn(u8) -> Option<u8>| {
            let (kept, places) = view.only(keep);
            found.extend(search.find_overlapping_iter(&kept).filter_map(|hit| {
                Some(view.place(*places.get(hit.start())?, *places.get(hit.end().checked_sub(1)?)?))
            }));
        };
        encodings::each_view(bytes, |view| {
            look(view, &search.letters, letter);
            look(view, &search.digits, digit);
        });
        found
    }
}

/// The byte, unless it is a blank.
fn letter(byte: u8) -> Option<u8> {
    (!matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C | 0)).then_some(byte)
}

/// The byte in lower case, if it is a hexadecimal digit.
fn digit(byte: u8) -> Option<u8> {
    byte.is_ascii_hexdigit().then_some(byte.to_ascii_lowercase())
}

/// The bytes with one mark for each range; ranges that touch get a single mark.
pub fn struck(bytes: &[u8], mut found: Vec<Range<usize>>) -> Vec<u8> {
    found.sort_by_key(|range| range.start);
    let (mut clean, mut at) = (Vec::with_capacity(bytes.len()), 0);
    for range in found {
        if range.start >= at {
            clean.extend_from_slice(bytes.get(at..range.start).unwrap_or_default());
            clean.extend_from_slice(MARK.as_bytes());
        }
        at = at.max(range.end);
    }
    clean.extend_from_slice(bytes.get(at..).unwrap_or_default());
    clean
}

/// A secret, its lines, and backwards; and in base64, of the plain bytes and of UTF-16.
fn in_letters(secret: &str) -> Vec<Vec<u8>> {
    let plain = |text: &[u8]| text.iter().copied().filter_map(letter).collect::<Vec<u8>>();
    let once = in_base64(secret.as_bytes());
    let mut found: Vec<Vec<u8>> = once.iter().flat_map(|text| in_base64(text)).collect();
    found.extend(once);
    found.extend(in_utf16(secret).iter().flat_map(|text| in_base64(text)));
    found.retain(|encoded| encoded.len() >= SHORTEST);
    found.extend(
        secret
            .lines()
            .map(str::trim)
            .filter(|line| line.len() >= SHORTEST_LINE)
            .map(|line| plain(line.as_bytes())),
    );
    found.extend(in_utf16(secret).iter().map(|text| plain(text)));
    found.push(plain(secret.as_bytes()));
    found.push(plain(secret.chars().rev().collect::<String>().as_bytes()));
    found
}

/// A secret in hexadecimal, of the plain bytes and of UTF-16.
fn in_digits(secret: &str) -> Vec<Vec<u8>> {
    let hex = |bytes: &[u8]| house::printable::hex(bytes).into_bytes();
    in_utf16(secret).iter().map(|bytes| hex(bytes)).chain([hex(secret.as_bytes())]).collect()
}

/// Returns the secret as UTF-16 in both byte orders.
fn in_utf16(secret: &str) -> [Vec<u8>; 2] {
    let units = || secret.encode_utf16();
    [units().flat_map(u16::to_le_bytes).collect(), units().flat_map(u16::to_be_bytes).collect()]
}

/// Encodes in both alphabets, at each of three offsets; characters that depend on neighbouring bytes are left out.
fn in_base64(bytes: &[u8]) -> Vec<Vec<u8>> {
    let at = |offset: usize| {
        let padded = [vec![0; offset], bytes.to_vec()].concat();
        let (first, last) = ((offset * 8).div_ceil(6), padded.len() * 8 / 6);
        [STANDARD_NO_PAD.encode(&padded), URL_SAFE_NO_PAD.encode(&padded)]
            .map(|text| text.get(first..last).unwrap_or_default().as_bytes().to_vec())
    };
    (0..3).flat_map(at).collect()
}
