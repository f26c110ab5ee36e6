//! Strikes from exports the values of `.env` in their usual encodings, texts that look like secrets, the house's path.

use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use house::secret_beginnings::{KEY_BEGINS, of_texts};
use house::{House, files, makers};
use serde_json::Value;

/// Shortest value that counts, in bytes: a shorter one is a placeholder, and would match ordinary words.
const SHORTEST: usize = 8;
const MOST_FILE_BYTES: u64 = 1 << 20;
/// Texts that replace a struck value, and the house's path.
const KEY: &str = "[key]";
const HOUSE: &str = "[house]";
const KEY_ENDS: &str = "-----END ";

pub struct Secrets {
    /// Values and paths, what stands for each, and how the usual secrets begin, with how much must follow.
    values: Option<AhoCorasick>,
    marks: Vec<&'static str>,
    beginnings: Option<AhoCorasick>,
    follow: Vec<usize>,
}

impl Secrets {
    /// All that is known of a house. An `.env` that is there and cannot be read is an error: what it holds could not
    /// be struck.
    pub fn of(house: &House) -> anyhow::Result<Self> {
        let text = files::read_most(&house.secrets(), MOST_FILE_BYTES)?.unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        let named = makers::keys().filter_map(|name| std::env::var(name).ok());
        let known = text.lines().flat_map(values).chain(named.map(|value| value.trim().to_owned()));
        let mut patterns: Vec<(Vec<u8>, &str)> = Vec::new();
        for value in known.filter(|value| value.len() >= SHORTEST) {
            patterns.extend(encodings(&value).into_iter().map(|text| (text, KEY)));
        }
        let root = house.root();
        for path in [Some(root.to_owned()), root.canonicalize().ok()].into_iter().flatten() {
            let path = path.to_string_lossy().into_owned();
            if path.len() > 1 {
                patterns.extend(encodings(&path).into_iter().map(|text| (text, HOUSE)));
            }
        }
        let (texts, marks): (Vec<Vec<u8>>, Vec<&str>) = patterns.into_iter().unzip();
        let (beginnings, follow): (Vec<&str>, Vec<usize>) = of_texts().unzip();
        let values = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(texts)?;
        let beginnings = AhoCorasick::new(beginnings)?;
        Ok(Self { values: Some(values), marks, beginnings: Some(beginnings), follow })
    }

    /// For what stays in the house: nothing is struck.
    pub fn none() -> Self {
        Self { values: None, marks: Vec::new(), beginnings: None, follow: Vec::new() }
    }

    pub fn struck(&self, text: &str) -> String {
        self.without_forms(&without_keys(&self.without_values(text)))
    }

    fn without_values(&self, text: &str) -> String {
        let Some(values) = &self.values else { return text.to_owned() };
        let (mut out, mut at) = (String::new(), 0);
        for hit in values.find_iter(text) {
            // A beginning within a letter is none: an encoding of bytes is all of ASCII.
            let Some(before) = text.get(at..hit.start()) else { continue };
            out.push_str(before);
            out.push_str(self.marks.get(hit.pattern().as_usize()).copied().unwrap_or(KEY));
            at = hit.end();
        }
        out.push_str(text.get(at..).unwrap_or_default());
        out
    }

    /// Without what begins as the usual keys do, and goes on as one.
    fn without_forms(&self, text: &str) -> String {
        let Some(beginnings) = &self.beginnings else { return text.to_owned() };
        let (mut out, mut at) = (String::new(), 0);
        for hit in beginnings.find_overlapping_iter(text) {
            let before = hit.start().checked_sub(1).and_then(|before| text.as_bytes().get(before));
            if hit.end() < at || before.is_some_and(u8::is_ascii_alphanumeric) {
                continue;
            }
            let rest = text.get(hit.end()..).unwrap_or_default();
            let belongs = |letter: char| letter.is_ascii_alphanumeric() || "-_.~+/=".contains(letter);
            let run =
                rest.get(..rest.find(|letter| !belongs(letter)).unwrap_or(rest.len())).unwrap_or_default();
            let least = self.follow.get(hit.pattern().as_usize()).copied().unwrap_or(usize::MAX);
            // Ordinary words may follow such a beginning as well; a secret has a digit.
            if run.len() >= least && run.bytes().any(|byte| byte.is_ascii_digit()) {
                out.push_str(text.get(at..hit.end()).unwrap_or_default());
                out.push_str(KEY);
                at = hit.end() + run.len();
            }
        }
        out.push_str(text.get(at..).unwrap_or_default());
        out
    }

    /// Strikes every text of a record, names of its fields too.
    pub fn strike(&self, value: &mut Value) {
        if self.values.is_none() {
            return;
        }
        match value {
            Value::String(text) => *text = self.struck(text),
            Value::Array(list) => list.iter_mut().for_each(|value| self.strike(value)),
            Value::Object(fields) => {
                let taken = std::mem::take(fields);
                for (name, mut value) in taken {
                    self.strike(&mut value);
                    fields.insert(self.struck(&name), value);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Returns the possible values of a line of `.env`: the text behind `=`, with and without its quotes and a remark; or a
/// line of a value of several lines.
fn values(line: &str) -> Vec<String> {
    let line = line.trim();
    if line.starts_with('#') {
        return vec![];
    }
    let value = line.split_once('=').map_or(line, |(_, value)| value).trim();
    let bare = value.split_once(" #").map_or(value, |(value, _)| value).trim();
    let inside = |value: &str| value.trim_matches(|letter| letter == '"' || letter == '\'').trim().to_owned();
    let unescaped = inside(bare).replace("\\$", "$").replace("\\\"", "\"").replace("\\\\", "\\");
    vec![inside(value), inside(bare), unescaped]
}

/// A value as it is, and as JSON, addresses, markup, hexadecimal and base64 have it.
fn encodings(value: &str) -> Vec<Vec<u8>> {
    let json = Value::from(value).to_string();
    let percent = |plain: fn(u8) -> bool| {
        value
            .bytes()
            .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
            .collect::<String>()
    };
    let hex: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
    let mut all = vec![
        value.to_owned(),
        json.trim_matches('"').to_owned(),
        percent(|byte| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte)),
        percent(|byte| byte.is_ascii_alphanumeric() || b"-_.~/".contains(&byte)),
        value.chars().rev().collect(),
        super::super::picture::escaped(value),
        hex.to_uppercase(),
        hex,
    ];
    for offset in 0..3 {
        let padded = [vec![0; offset], value.as_bytes().to_vec()].concat();
        // Letters that depend on what stands beside the value are left out.
        let (first, last) = ((offset * 8).div_ceil(6), padded.len() * 8 / 6);
        for text in [STANDARD_NO_PAD.encode(&padded), URL_SAFE_NO_PAD.encode(&padded)] {
            all.push(text.get(first..last).unwrap_or_default().to_owned());
        }
    }
    all.retain(|text| text.len() >= SHORTEST.min(value.len()));
    all.sort();
    all.dedup();
    all.into_iter().map(String::into_bytes).collect()
}

/// Without private keys: each from its first line to its last, or to the end.
fn without_keys(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once(KEY_BEGINS) {
        out.push_str(before);
        if !after.get(..48.min(after.len())).is_some_and(|head| head.contains("KEY-----")) {
            out.push_str(KEY_BEGINS);
            rest = after;
            continue;
        }
        out.push_str(KEY);
        rest = after
            .split_once(KEY_ENDS)
            .and_then(|(_, end)| end.split_once("-----"))
            .map_or("", |(_, end)| end);
    }
    out.push_str(rest);
    out
}
