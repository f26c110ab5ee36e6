//! Finds JSON objects in a model's reply that is not quite JSON, or has text around it, where they can be meant in one way only.
//!
//! Invariant: never panics, takes time in proportion to the text; what is JSON reads as JSON; at most one closing brace or
//! bracket is supplied, and a string that was cut short is never completed.

use serde_json::{Map, Value};

/// Levels of nesting: deeper than any real reply; below what serde_json and the stack can bear.
const MAX_DEPTH: usize = 100;

/// How many times the text's length may be read before it is given up as hopeless.
const MOST_READINGS: usize = 8;

/// Characters of the text shown with a fault.
const SHOWN: usize = 24;

const NONE: &str = "no JSON object in the reply";

/// An object as it was found in a text, from one byte to another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    pub object: Map<String, Value>,
    pub start: usize,
    pub end: usize,
    /// The text ended before its closing brace: what should have followed is not there.
    pub is_cut: bool,
    /// Repairs made, in words; empty where it was JSON as it stood.
    pub how: Vec<&'static str>,
}

/// The largest object in the text; an error says where the reading stopped and at what.
pub fn object(text: &str) -> Result<Found, String> {
    if let Ok(object) = serde_json::from_str(text) {
        return Ok(Found { object, end: text.len(), ..Found::default() });
    }
    let from = text.len() - after_thinking(text).len();
    let all = search(text, from)?;
    let others = all.len() > 1;
    // The first of the largest.
    let best = all.into_iter().rev().max_by_key(|found| found.end - found.start);
    let mut best = best.ok_or(NONE)?;
    let part = |from, to| text.get(from..to).unwrap_or_default();
    let says = |text: &str| text.chars().any(|letter| !is_blank(letter) && letter != '`');
    let before = part(from, best.start).trim().trim_end_matches("json");
    let around = [
        (part(0, best.start).contains("```"), "fenced"),
        (from > 0, "thinking before it"),
        (says(before), "text before it"),
        (says(part(best.end, text.len())), "text after it"),
        (others, "several objects"),
    ];
    best.how.extend(around.into_iter().filter(|(applies, _)| *applies).map(|(_, what)| what));
    Ok(best)
}

/// The objects of a text that do not stand in one another, in their order; an error says where the reading stopped.
pub fn objects(text: &str) -> Result<Vec<Found>, String> {
    search(text, 0)
}

/// The reply without what a reasoning model thought aloud before it; the tag that opens it may stand in the prompt.
pub fn after_thinking(text: &str) -> &str {
    let start = text.trim_start();
    let opens = ["<think>", "<thinking>"].iter().any(|tag| start.starts_with(tag));
    let is_json = start.starts_with(['{', '[', '`']);
    let ends = ["</think>", "</thinking>"].iter();
    let end = ends.filter_map(|tag| Some(text.find(tag)? + tag.len()));
    let end = if opens || !is_json { end.min().unwrap_or(0) } else { 0 };
    text.get(end..).unwrap_or(text)
}

/// The objects from `from` on.
fn search(text: &str, from: usize) -> Result<Vec<Found>, String> {
    let (mut at, mut read) = (from, 0);
    let mut all: Vec<Found> = Vec::new();
    let mut failed: Option<Fault> = None;
    while let Some(start) = text.get(at..).and_then(|rest| Some(at + rest.find('{')?)) {
        at = start + 1;
        // Inside an object that cannot be read, only what stands at a line's start is taken for another one:
        // an argument of a broken thought must not pass for the thought.
        if failed.is_some() && !text.get(..start).is_some_and(|before| before.ends_with('\n')) {
            continue;
        }
        let mut parser =
            Parser { text, at: start, how: Vec::new(), begun: false, supplied: false, is_cut: false };
        let result = parser.object(0);
        read += parser.at.saturating_sub(start);
        match result {
            Ok(object) => {
                at = parser.at.max(at);
                all.push(Found { object, start, end: parser.at, is_cut: parser.is_cut, how: parser.how });
            }
            Err(fault) if parser.begun => {
                failed.get_or_insert(fault);
            }
            Err(_) => {}
        }
        if read > MOST_READINGS * text.len() {
            break;
        }
    }
    match failed {
        Some(fault) if all.is_empty() => Err(told(&fault, text)),
        None if all.is_empty() => Err(NONE.to_owned()),
        _ => Ok(all),
    }
}

/// White space, and the mark some editors put at a text's start.
fn is_blank(letter: char) -> bool {
    letter.is_whitespace() || letter == '\u{feff}'
}

/// Fault in the text: at which byte, and what was expected there.
type Fault = (usize, &'static str);

type Read<T> = Result<T, Fault>;

/// A fault with its line, column and the text found there.
fn told((at, expected): &Fault, text: &str) -> String {
    let (before, rest) = text.split_at_checked(*at).unwrap_or((text, ""));
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or(before).chars().count() + 1;
    let shown: String = rest.chars().take(SHOWN).collect();
    let found = match shown.trim() {
        "" => "the end".to_owned(),
        shown => format!("{shown:?}"),
    };
    format!("line {line} column {column}: expected {expected}, found {found}")
}

struct Parser<'t> {
    text: &'t str,
    /// Byte offset of the next character.
    at: usize,
    how: Vec<&'static str>,
    /// Whether a key was read, so that this was meant as an object.
    begun: bool,
    /// A closing mark was supplied; `is_cut`: that of the outermost object.
    supplied: bool,
    is_cut: bool,
}

impl<'t> Parser<'t> {
    /// Reads an object from its opening brace on.
    fn object(&mut self, depth: usize) -> Read<Map<String, Value>> {
        let mut object = Map::new();
        self.items('}', depth, &mut |parser| {
            let key = parser.key()?;
            parser.blank();
            if !parser.take(':') {
                return parser.fault("a colon");
            }
            parser.begun = true;
            parser.blank();
            object.insert(key, parser.value(depth + 1)?);
            Ok(())
        })?;
        Ok(object)
    }

    fn array(&mut self, depth: usize) -> Read<Vec<Value>> {
        let mut items = Vec::new();
        self.items(']', depth, &mut |parser| {
            items.push(parser.value(depth + 1)?);
            Ok(())
        })?;
        Ok(items)
    }

    /// Reads items from an opening mark on to the one that closes it, with a comma or a line's end between them; anything
    /// else is a fault, not to be guessed at.
    fn items(&mut self, close: char, depth: usize, item: &mut dyn FnMut(&mut Self) -> Read<()>) -> Read<()> {
        let (outer, unclosed, unseparated) = match close {
            '}' => (']', "a key or }", "a comma or }"),
            _ => ('}', "a value or ]", "a comma or ]"),
        };
        self.at += 1;
        let mut due = 0;
        loop {
            let commas = self.commas();
            self.noted(commas > due, "stray comma");
            if self.take(close) {
                self.noted(commas > 0, "trailing comma");
                return Ok(());
            }
            if self.ends_here(outer, depth) {
                if self.supplied || !self.begun {
                    return self.fault(unclosed);
                }
                (self.supplied, self.is_cut) = (true, depth == 0);
                self.noted(true, "unclosed brace");
                return Ok(());
            }
            self.noted(commas < due, "missing comma");
            item(self)?;
            due = 1;
            let start = self.at;
            self.blank();
            let is_next_line = self.text.get(start..self.at).is_some_and(|gap| gap.contains('\n'));
            if !is_next_line && !matches!(self.peek(), None | Some(',' | '}' | ']' | '`')) {
                return self.fault(unseparated);
            }
        }
    }

    fn value(&mut self, depth: usize) -> Read<Value> {
        if depth > MAX_DEPTH {
            return self.fault("less nesting");
        }
        match self.peek() {
            Some('{') => Ok(Value::Object(self.object(depth)?)),
            Some('[') => Ok(Value::Array(self.array(depth)?)),
            Some('"' | '\'') => Ok(Value::String(self.string()?)),
            Some(letter) if letter.is_alphanumeric() || letter == '-' => self.word(),
            _ => self.fault("a value"),
        }
    }

    fn key(&mut self) -> Read<String> {
        match self.peek() {
            Some('"' | '\'') => self.string(),
            Some(letter) if letter.is_alphabetic() || letter == '_' => {
                let key = self.while_in(|letter| letter.is_alphanumeric() || letter == '_');
                self.noted(true, "bare key");
                Ok(key.to_owned())
            }
            _ => self.fault("a key or }"),
        }
    }

    fn string(&mut self) -> Read<String> {
        let start = self.at;
        let close = self.next().unwrap_or('"');
        self.noted(close == '\'', "single quotes");
        // Written again as strict JSON, so that serde_json decodes the escapes.
        let mut json = String::from('"');
        while let Some(letter) = self.next() {
            match letter {
                _ if letter == close && self.ends_string() => {
                    json.push('"');
                    return serde_json::from_str(&json)
                        .map_err(|_| (start, "a string without half characters"));
                }
                '\\' => self.escape(&mut json),
                '"' => {
                    self.noted(close == '"', "quote in a string");
                    json.push_str("\\\"");
                }
                '\0'..' ' => {
                    self.noted(true, "control character in a string");
                    json.push_str(&format!("\\u{:04x}", u32::from(letter)));
                }
                _ => json.push(letter),
            }
        }
        Err((start, "a string that ends"))
    }

    /// Whether a quote just read closes its string, by what follows it.
    fn ends_string(&self) -> bool {
        let rest = self.rest();
        let next = rest.trim_start_matches(is_blank);
        let gap = rest.get(..rest.len() - next.len()).unwrap_or_default();
        match next.chars().next() {
            None | Some(',' | '}' | ']' | ':' | '`') => true,
            Some('"' | '\'') => gap.contains('\n'),
            Some('/') => next.starts_with("//") || next.starts_with("/*"),
            Some('#') => !gap.is_empty(),
            Some(_) => false,
        }
    }

    fn escape(&mut self, json: &mut String) {
        let letter = self.next().unwrap_or('\\');
        let hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let known = match letter {
            'u' => self.rest().get(..4).is_some_and(hex),
            _ => "\"\\/bfnrt".contains(letter),
        };
        self.noted(!known, "unknown escape");
        match letter {
            _ if known => json.extend(['\\', letter]),
            '\'' => json.push(letter),
            '\0'..' ' => json.push_str(&format!("\\u{:04x}", u32::from(letter))),
            _ => json.extend(['\\', '\\', letter]),
        }
    }

    /// Reads a number, or a word that stands for a value.
    fn word(&mut self) -> Read<Value> {
        let start = self.at;
        let word = self.while_in(|letter| letter.is_alphanumeric() || "_+-.".contains(letter));
        let value = match word {
            "true" | "True" => Value::Bool(true),
            "false" | "False" => Value::Bool(false),
            "null" | "None" | "undefined" | "NaN" => Value::Null,
            _ if word.starts_with(char::is_alphabetic) => return Err((start, "a value")),
            _ => return serde_json::from_str(word).map(Value::Number).map_err(|_| (start, "a number")),
        };
        self.noted(!matches!(word, "true" | "false" | "null"), "foreign word");
        Ok(value)
    }

    /// Skips white space, comments and commas, and counts the commas.
    fn commas(&mut self) -> usize {
        self.blank();
        let mut commas = 0;
        while self.take(',') {
            commas += 1;
            self.blank();
        }
        commas
    }

    /// Whether the mark that closes the outer value stands here, or, at the outermost, the end of text or fence.
    fn ends_here(&self, outer: char, depth: usize) -> bool {
        match self.peek() {
            Some('`') => depth == 0 && self.rest().starts_with("```"),
            None => depth == 0,
            letter => letter == Some(outer) && depth > 0,
        }
    }

    /// Skips white space and comments.
    fn blank(&mut self) {
        loop {
            let rest = self.rest();
            let next = rest.trim_start_matches(is_blank);
            let comment = if next.starts_with("//") || next.starts_with('#') {
                next.find('\n').unwrap_or(next.len())
            } else if next.starts_with("/*") {
                next.find("*/").map_or(next.len(), |end| end + 2)
            } else {
                0
            };
            self.at += rest.len() - next.len() + comment;
            if comment == 0 {
                return;
            }
            self.noted(true, "comment");
        }
    }

    fn while_in(&mut self, fits: impl Fn(char) -> bool) -> &'t str {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let end = rest.find(|letter| !fits(letter)).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }

    fn noted(&mut self, applies: bool, what: &'static str) {
        if applies && !self.how.contains(&what) {
            self.how.push(what);
        }
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.at += letter.len_utf8();
        Some(letter)
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    fn fault<T>(&self, expected: &'static str) -> Read<T> {
        Err((self.at, expected))
    }
}
