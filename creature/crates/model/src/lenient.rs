//! A reader of almost-JSON as models really write it, where it can be meant in one way only.
//!
//! Invariant: what is JSON reads as JSON; at most one closing brace or bracket is supplied; a text cut in a string fails.

use serde_json::{Map, Value};

use crate::repair::is_blank;

/// Levels of nesting: deeper than any real reply; below what serde_json and the stack can bear.
const MAX_DEPTH: usize = 100;

/// Characters of the text shown with a fault.
const SHOWN: usize = 24;

/// Fault in the text: what was expected, and at which byte.
pub(crate) struct Fault {
    at: usize,
    expected: &'static str,
}

type Read<T> = Result<T, Fault>;

pub(crate) struct Parser<'t> {
    text: &'t str,
    /// Byte offset of the next character.
    pub at: usize,
    /// Repairs made, in words.
    pub how: Vec<&'static str>,
    /// Whether a key was read, so that this was meant as an object.
    pub begun: bool,
    supplied: bool,
}

impl Fault {
    /// The fault with its line, column and the text found there.
    pub fn told(&self, text: &str) -> String {
        let before = text.get(..self.at).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or(before).chars().count() + 1;
        let rest = text.get(self.at..).unwrap_or_default();
        let shown: String = rest.chars().take(SHOWN).collect();
        let found = match shown.trim() {
            "" => "the end".to_string(),
            shown => format!("{shown:?}"),
        };
        let expected = self.expected;
        format!("line {line} column {column}: expected {expected}, found {found}")
    }
}

impl<'t> Parser<'t> {
    pub fn new(text: &'t str, at: usize) -> Self {
        Parser { text, at, how: Vec::new(), begun: false, supplied: false }
    }

    /// Reads an object from its opening brace on.
    pub fn object(&mut self, depth: usize) -> Read<Map<String, Value>> {
        let mut object = Map::new();
        self.at += 1;
        loop {
            let comma = self.commas(!object.is_empty());
            if self.take('}') {
                self.noted(comma, "trailing comma");
                return Ok(object);
            }
            if self.closes_here(']', depth) {
                self.supply("a key or }")?;
                return Ok(object);
            }
            if !object.is_empty() && !comma {
                self.noted(true, "missing comma");
            }
            let key = self.key()?;
            self.blank();
            if !self.take(':') {
                return self.fault("a colon");
            }
            self.begun = true;
            self.blank();
            object.insert(key, self.value(depth + 1)?);
            self.separated('}')?;
        }
    }

    fn array(&mut self, depth: usize) -> Read<Vec<Value>> {
        let mut items = Vec::new();
        self.at += 1;
        loop {
            let comma = self.commas(!items.is_empty());
            if self.take(']') {
                self.noted(comma, "trailing comma");
                return Ok(items);
            }
            if self.closes_here('}', depth) {
                self.supply("a value or ]")?;
                return Ok(items);
            }
            if !items.is_empty() && !comma {
                self.noted(true, "missing comma");
            }
            items.push(self.value(depth + 1)?);
            self.separated(']')?;
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
            Some('-' | '0'..='9') => self.number(),
            Some(letter) if letter.is_alphabetic() => self.word(),
            _ => self.fault("a value"),
        }
    }

    fn key(&mut self) -> Read<String> {
        match self.peek() {
            Some('"' | '\'') => self.string(),
            Some(letter) if letter.is_alphabetic() || letter == '_' => {
                let key = self.while_in(|letter| letter.is_alphanumeric() || letter == '_');
                self.noted(true, "bare key");
                Ok(key.to_string())
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
                    let text = serde_json::from_str(&json);
                    return text.or_else(|_| self.fault_at(start, "a string without half characters"));
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
        self.fault_at(start, "a string that ends")
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

    fn number(&mut self) -> Read<Value> {
        let start = self.at;
        let text = self.while_in(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter));
        let number = serde_json::from_str(text).map(Value::Number);
        number.or_else(|_| self.fault_at(start, "a number"))
    }

    fn word(&mut self) -> Read<Value> {
        let start = self.at;
        let word = self.while_in(|letter| letter.is_alphanumeric() || letter == '_');
        let value = match word {
            "true" | "True" => Value::Bool(true),
            "false" | "False" => Value::Bool(false),
            "null" | "None" | "undefined" | "NaN" => Value::Null,
            _ => return self.fault_at(start, "a value"),
        };
        self.noted(!matches!(word, "true" | "false" | "null"), "foreign word");
        Ok(value)
    }

    /// Expects a comma, a closing mark or the next line after a value; anything else is a fault, not to be guessed at.
    fn separated(&mut self, close: char) -> Read<()> {
        let start = self.at;
        self.blank();
        let line = self.text.get(start..self.at).is_some_and(|gap| gap.contains('\n'));
        match self.peek() {
            None | Some(',' | '}' | ']' | '`') => Ok(()),
            Some(_) if line => Ok(()),
            Some(_) if close == '}' => self.fault("a comma or }"),
            Some(_) => self.fault("a comma or ]"),
        }
    }

    /// Skips blanks and commas between items; whether there was a comma.
    fn commas(&mut self, expected: bool) -> bool {
        self.blank();
        let first = self.take(',');
        self.noted(first && !expected, "stray comma");
        self.blank();
        while self.take(',') {
            self.noted(true, "stray comma");
            self.blank();
        }
        first && expected
    }

    /// Whether the mark that closes the outer value stands here, or, at the outermost, the end of text or fence.
    fn closes_here(&self, outer: char, depth: usize) -> bool {
        match self.peek() {
            Some(letter) if letter == outer => depth > 0,
            Some('`') => depth == 0 && self.rest().starts_with("```"),
            None => depth == 0,
            Some(_) => false,
        }
    }

    fn supply(&mut self, expected: &'static str) -> Read<()> {
        if self.supplied || !self.begun {
            return self.fault(expected);
        }
        self.supplied = true;
        self.noted(true, "unclosed brace");
        Ok(())
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
        self.fault_at(self.at, expected)
    }

    fn fault_at<T>(&self, at: usize, expected: &'static str) -> Read<T> {
        Err(Fault { at, expected })
    }
}
