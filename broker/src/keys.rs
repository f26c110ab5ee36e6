//! Secrets: read once, from the environment or `.env`; named by variables, scrubbed from everything that goes back.
//!
//! Invariant: a secret's value never reaches a log line, a file or a client, be it spelled plainly, in base64, in
//! hexadecimal, percent-encoded or with escapes of JSON, or with two layers of the last two around each other.

use crate::house::House;
use aho_corasick::{AhoCorasick, MatchKind};
use anyhow::{Context, Result, anyhow, bail};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{ErrorKind, Read};
use std::ops::Range;

/// Bytes; a shorter value is a placeholder, and scrubbing it would only scrub words.
const SHORTEST: usize = 8;
/// Bytes; a line of a secret of several lines (a private key, say) is a secret itself.
const SHORTEST_LINE: usize = 16;
/// Bytes of `.env` that are read.
const MOST_FILE_BYTES: u64 = 1 << 20;
/// The layers of escapes that are looked through, outermost first. A secret may itself look like an escape of another
/// kind, so that each kind is taken off alone as well.
const LAYERS: [&[Kinds]; 6] = [
    &[Kinds::All, Kinds::All, Kinds::All],
    &[Kinds::Json, Kinds::Json],
    &[Kinds::Json, Kinds::Url],
    &[Kinds::Url, Kinds::Url],
    &[Kinds::Url, Kinds::Json],
    &[Kinds::Html],
];

/// Which escapes are taken off.
#[derive(Clone, Copy, PartialEq)]
enum Kinds {
    All,
    Json,
    Url,
    Html,
}

impl Kinds {
    /// True where an escape of this kind begins with the byte.
    fn begin(self, byte: u8) -> bool {
        let (json, url, html) = (byte == b'\\', byte == b'%', byte == b'&');
        match self {
            Self::All => json || url || html,
            Self::Json => json,
            Self::Url => url,
            Self::Html => html,
        }
    }
}

/// What stands in a secret's place.
pub const MARK: &str = "[key]";

#[derive(Clone, Default)]
pub struct Keys {
    values: BTreeMap<String, String>,
    /// Values that are scrubbed.
    known: Vec<String>,
    /// All their spellings at once; `None` while there is nothing to look for.
    spellings: Option<AhoCorasick>,
}

/// What of `.env` is an address or a name, and no secret.
const PLAIN: [&str; 5] =
    ["ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL", "OPENAI_BASE_URL", "OPENAI_MODEL", "OLLAMA_HOST"];

impl std::fmt::Debug for Keys {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Keys({} names)", self.values.len())
    }
}

impl Keys {
    /// Reads the variables `named` from the environment, else from the house's `.env`.
    pub fn load(house: &House, named: &[String]) -> Result<Self> {
        let file = read_file(house)?;
        let value = |name: &String| {
            std::env::var(name).ok().filter(|value| !value.is_empty()).or_else(|| file.get(name).cloned())
        };
        let names = named.iter().cloned().chain(PLAIN.map(str::to_owned));
        let values = names.filter_map(|name| Some((value(&name)?.trim().to_owned(), name)));
        let values: BTreeMap<_, _> = values.map(|(value, name)| (name, value)).collect();
        // Whatever else `.env` holds is secret as well, used or not.
        let secret = file.iter().chain(&values).filter(|(name, _)| !PLAIN.contains(&name.as_str()));
        let known = secret.map(|(_, value)| value.clone()).collect();
        let mut keys = Self { known, values, spellings: None };
        keys.prepare();
        Ok(keys)
    }

    pub fn of(values: BTreeMap<String, String>) -> Self {
        let mut keys = Self { known: values.values().cloned().collect(), values, spellings: None };
        keys.prepare();
        keys
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// From now on scrubs this value too: a token that was refreshed, say.
    pub fn know(&mut self, value: &str) {
        if !self.known.iter().any(|known| known == value) {
            self.known.push(value.to_owned());
            self.prepare();
        }
    }

    /// The text without any known secret.
    pub fn scrub(&self, text: &str) -> String {
        let scrubbed = self.scrubbed(text.as_bytes());
        String::from_utf8_lossy(&scrubbed).into_owned()
    }

    /// The bytes without any known secret.
    pub fn scrub_bytes(&self, bytes: Vec<u8>) -> Vec<u8> {
        match self.scrubbed(&bytes) {
            Cow::Borrowed(_) => bytes,
            Cow::Owned(scrubbed) => scrubbed,
        }
    }

    fn prepare(&mut self) {
        self.known.retain(|value| value.trim().len() >= SHORTEST);
        self.known.sort_by_key(|value| std::cmp::Reverse(value.len()));
        self.known.dedup();
        let spellings: Vec<Vec<u8>> = self.known.iter().flat_map(|value| spellings(value.trim())).collect();
        let search = AhoCorasick::builder().match_kind(MatchKind::Standard).build(&spellings);
        self.spellings = search.ok().filter(|_| !spellings.is_empty());
    }

    fn scrubbed<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let Some(search) = &self.spellings else { return Cow::Borrowed(bytes) };
        let mut found: Vec<Range<usize>> =
            search.find_overlapping_iter(bytes).map(|hit| hit.start()..hit.end()).collect();
        let mut look = |view: &View| {
            found.extend(search.find_overlapping_iter(&view.bytes).filter_map(|hit| view.place(hit.range())));
        };
        for layers in LAYERS {
            let mut view = View::of(bytes);
            for kinds in layers {
                let Some(below) = view.without(*kinds) else { break };
                view = below;
                look(&view);
            }
        }
        if found.is_empty() {
            return Cow::Borrowed(bytes);
        }
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
        Cow::Owned(clean)
    }
}

/// A secret as it is, in both base64 alphabets at each of three offsets, in both hexadecimals; and its lines.
fn spellings(secret: &str) -> Vec<Vec<u8>> {
    let mut found = vec![secret.as_bytes().to_vec()];
    let lines =
        secret.lines().map(str::trim).filter(|line| line.len() >= SHORTEST_LINE && line.len() < secret.len());
    found.extend(lines.map(|line| line.as_bytes().to_vec()));
    for offset in 0..3 {
        let padded = [vec![0; offset], secret.as_bytes().to_vec()].concat();
        // Characters that hold bits of what stands before or after the secret are left out.
        let (first, last) = ((offset * 8).div_ceil(6), padded.len() * 8 / 6);
        for text in [STANDARD_NO_PAD.encode(&padded), URL_SAFE_NO_PAD.encode(&padded)] {
            found.push(text.get(first..last).unwrap_or_default().as_bytes().to_vec());
        }
    }
    let hex = |upper: bool| -> Vec<u8> {
        let digits =
            secret.bytes().map(|byte| if upper { format!("{byte:02X}") } else { format!("{byte:02x}") });
        digits.collect::<String>().into_bytes()
    };
    found.extend([hex(false), hex(true)]);
    found.retain(|spelling| spelling.len() >= SHORTEST);
    found
}

/// Bytes with a layer of escapes taken off, and where each came from.
struct View<'a> {
    bytes: Cow<'a, [u8]>,
    /// Start of each byte in the first text, and one past the last; empty where nothing was taken off yet.
    from: Vec<u32>,
}

impl<'a> View<'a> {
    fn of(bytes: &'a [u8]) -> Self {
        Self { bytes: Cow::Borrowed(bytes), from: Vec::new() }
    }

    fn origin(&self, at: usize) -> u32 {
        self.from.get(at).copied().unwrap_or(u32::try_from(at).unwrap_or(u32::MAX))
    }

    fn place(&self, range: Range<usize>) -> Option<Range<usize>> {
        Some(*self.from.get(range.start)? as usize..*self.from.get(range.end)? as usize)
    }

    /// `None` where there is no escape left.
    fn without(&self, kinds: Kinds) -> Option<View<'static>> {
        if !self.bytes.iter().any(|byte| kinds.begin(*byte)) {
            return None;
        }
        let (mut bytes, mut from) =
            (Vec::with_capacity(self.bytes.len()), Vec::with_capacity(self.bytes.len()));
        let (mut at, mut changed) = (0, false);
        while let Some(rest) = self.bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let (character, length) = match rest.first() {
                Some(first) if !kinds.begin(*first) => (Unescaped::Byte(*first), 1),
                _ => unescaped(rest),
            };
            changed |= length > 1;
            let mut buffer = [0; 4];
            let put: &[u8] = match character {
                Unescaped::Byte(byte) => &[byte],
                Unescaped::Character(character) => character.encode_utf8(&mut buffer).as_bytes(),
            };
            put.iter().for_each(|byte| {
                bytes.push(*byte);
                from.push(self.origin(at));
            });
            at += length;
        }
        from.push(self.origin(at));
        changed.then_some(View { bytes: Cow::Owned(bytes), from })
    }
}

enum Unescaped {
    Byte(u8),
    Character(char),
}

/// The first character behind an escape of URLs, JSON or HTML, and how many bytes it takes.
fn unescaped(rest: &[u8]) -> (Unescaped, usize) {
    let hex = |digits: &[u8]| u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
    let byte = |byte: u8, length: usize| (Unescaped::Byte(byte), length);
    match rest {
        [b'%', high, low, ..] => match hex(&[*high, *low]).and_then(|code| u8::try_from(code).ok()) {
            Some(code) if *high != b'+' => byte(code, 3),
            _ => byte(b'%', 1),
        },
        [b'\\', b'u', a, b, c, d, ..] => match hex(&[*a, *b, *c, *d]).and_then(char::from_u32) {
            Some(character) => (Unescaped::Character(character), 6),
            None => byte(b'\\', 1),
        },
        [b'\\', b'n', ..] => byte(b'\n', 2),
        [b'\\', b'r', ..] => byte(b'\r', 2),
        [b'\\', b't', ..] => byte(b'\t', 2),
        [b'\\', escaped @ (b'"' | b'\\' | b'/' | b'\''), ..] => byte(*escaped, 2),
        [b'&', b'a', b'm', b'p', b';', ..] => byte(b'&', 5),
        [b'&', b'l', b't', b';', ..] => byte(b'<', 4),
        [b'&', b'g', b't', b';', ..] => byte(b'>', 4),
        [b'&', b'q', b'u', b'o', b't', b';', ..] => byte(b'"', 6),
        [b'&', b'#', b'3', b'9', b';', ..] => byte(b'\'', 5),
        [first, ..] => byte(*first, 1),
        [] => byte(0, 1),
    }
}

/// The pairs of `.env`; nothing where there is none. An error never quotes the file.
fn read_file(house: &House) -> Result<BTreeMap<String, String>> {
    let mut text = String::new();
    match std::fs::File::open(house.secrets()) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(error) => return Err(error).context("failed to open .env"),
        Ok(file) => {
            use std::os::unix::fs::PermissionsExt;
            let mode = file.metadata().context("failed to look at .env")?.permissions().mode();
            if mode & 0o077 != 0 {
                tracing::warn!("others on this machine can read .env; mend it with: chmod 600 .env");
            }
            file.take(MOST_FILE_BYTES + 1).read_to_string(&mut text).context("failed to read .env")?;
        }
    }
    if text.len() as u64 > MOST_FILE_BYTES {
        bail!("failed to read .env: it is larger than {MOST_FILE_BYTES} bytes");
    }
    let literal = literal(&text);
    let pairs = dotenvy::from_read_iter(literal.as_bytes()).map(|pair| {
        pair.map_err(|error| match error {
            // The line itself may hold a secret, so only its number is told.
            dotenvy::Error::LineParse(line, _) => {
                let known =
                    literal.lines().position(|found| !line.is_empty() && found.starts_with(line.as_str()));
                match known {
                    Some(at) => anyhow!(".env, line {}: not NAME=value; quote values with spaces", at + 1),
                    None => anyhow!(".env: a line is not NAME=value; quote values with spaces"),
                }
            }
            dotenvy::Error::Io(_) | dotenvy::Error::EnvVar(_) | _ => anyhow!("failed to read .env"),
        })
    });
    pairs.collect()
}

/// The text with every `$` meant as it stands: a password is not a template, and no other variable belongs in it.
fn literal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut quote, mut before, mut comment, mut escaped) = (None, '\n', false, false);
    for c in text.chars() {
        match (c, quote) {
            ('\n', None) => comment = false,
            _ if comment => {}
            ('\\', None | Some('"')) if !escaped => {
                escaped = true;
                out.push(c);
                before = c;
                continue;
            }
            ('$', None | Some('"')) if !escaped => out.push('\\'),
            ('#', None) if before.is_whitespace() => comment = true,
            ('"' | '\'', None) if !escaped => quote = Some(c),
            ('"', Some('"')) if !escaped => quote = None,
            ('\'', Some('\'')) => quote = None,
            _ => {}
        }
        escaped = false;
        before = c;
        out.push(c);
    }
    out
}
