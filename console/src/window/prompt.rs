//! The prompt as it is edited: text of several lines, a cursor, and the lines typed before. Pure.

use house::printable;

/// Most characters it takes, as many as a word may have.
const MOST_CHARS: usize = 8_000;
/// Most lines that are remembered.
const MOST_BEFORE: usize = 200;

/// The line being typed.
#[derive(Default)]
pub struct Prompt {
    text: Vec<char>,
    /// The letter before which the next one comes.
    at: usize,
    /// Lines typed before, oldest first, and the index of the one shown.
    before: Vec<String>,
    shown: Option<usize>,
    /// The unfinished line set aside while an older one is shown.
    draft: String,
}

/// The prompt as lines of a width, and the cursor's column and line among them.
pub struct Laid {
    pub lines: Vec<String>,
    pub cursor: (usize, usize),
}

/// Where a move goes, or up to where letters are taken away.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum To {
    Left,
    Right,
    WordLeft,
    WordRight,
    LineStart,
    LineEnd,
    /// To the beginning of the word left of the cursor, whatever letters it has.
    SpaceLeft,
}

impl Prompt {
    pub fn text(&self) -> String {
        self.text.iter().collect()
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Puts letters in at the cursor; drops those that steer a terminal or cannot be seen.
    pub fn insert(&mut self, text: &str) {
        let text = printable::plain_spaces(text).replace('\r', "\n");
        for letter in text.chars().filter(|letter| is_plain(*letter)) {
            if self.text.len() >= MOST_CHARS {
                return;
            }
            self.text.insert(self.at, letter);
            self.at += 1;
        }
    }

    /// Another text in place of this one, the cursor at its end.
    pub fn set(&mut self, text: &str) {
        self.text.clear();
        self.at = 0;
        self.insert(text);
    }

    /// Takes the typed text, and remembers it.
    pub fn take(&mut self) -> String {
        let text = self.text();
        self.text.clear();
        (self.at, self.shown) = (0, None);
        if !text.trim().is_empty() && self.before.last() != Some(&text) {
            self.before.push(text.clone());
        }
        if self.before.len() > MOST_BEFORE {
            self.before.remove(0);
        }
        text
    }

    pub fn go(&mut self, to: To) {
        self.at = self.place(to);
    }

    /// Takes away the text between the cursor and there.
    pub fn cut(&mut self, to: To) {
        let there = self.place(to);
        let (from, until) = (self.at.min(there), self.at.max(there));
        self.text.drain(from..until);
        self.at = from;
    }

    /// A line up, or the line typed before.
    pub fn up(&mut self) {
        let start = self.place(To::LineStart);
        if start > 0 {
            let column = self.at - start;
            self.at = start - 1;
            let start = self.place(To::LineStart);
            self.at = self.at.min(start + column);
            return;
        }
        let older = self.shown.unwrap_or(self.before.len()).checked_sub(1);
        if let Some(older) = older {
            if self.shown.is_none() {
                self.draft = self.text();
            }
            self.show(Some(older));
        }
    }

    /// A line down, or the line typed after.
    pub fn down(&mut self) {
        let end = self.place(To::LineEnd);
        if end < self.text.len() {
            let column = self.at - self.place(To::LineStart);
            self.at = end + 1;
            self.at = self.place(To::LineEnd).min(end + 1 + column);
            return;
        }
        if let Some(shown) = self.shown {
            self.show(Some(shown + 1).filter(|next| *next < self.before.len()));
        }
    }

    fn show(&mut self, which: Option<usize>) {
        let text = match which {
            Some(which) => self.before.get(which).cloned().unwrap_or_default(),
            None => std::mem::take(&mut self.draft),
        };
        self.set(&text);
        self.shown = which;
    }

    fn place(&self, to: To) -> usize {
        let at = self.at;
        match to {
            // A letter takes with it what stands upon it.
            To::Left => self.back(at, is_mark).saturating_sub(1),
            To::Right => self.on((at + 1).min(self.text.len()), is_mark),
            To::WordLeft => {
                self.back(self.back(at, |letter| !letter.is_alphanumeric()), char::is_alphanumeric)
            }
            To::SpaceLeft => self.back(self.back(at, char::is_whitespace), |letter| !letter.is_whitespace()),
            To::WordRight => self.on(self.on(at, |letter| !letter.is_alphanumeric()), char::is_alphanumeric),
            To::LineStart => self.back(at, |letter| letter != '\n'),
            To::LineEnd => self.on(at, |letter| letter != '\n'),
        }
    }

    /// Back from a place over letters of a kind.
    fn back(&self, at: usize, over: impl Fn(char) -> bool) -> usize {
        let before = self.text.iter().take(at).rev();
        at - before.take_while(|letter| over(**letter)).count()
    }

    /// On from a place over letters of a kind.
    fn on(&self, at: usize, over: impl Fn(char) -> bool) -> usize {
        at + self.text.iter().skip(at).take_while(|letter| over(**letter)).count()
    }

    /// The text as lines of so many columns, broken at the edge.
    pub fn laid(&self, columns: usize) -> Laid {
        let columns = columns.max(2);
        let (mut lines, mut line, mut used, mut cursor) = (Vec::new(), String::new(), 0, (0, 0));
        for place in 0..=self.text.len() {
            let letter = self.text.get(place).copied();
            let wide = letter.map_or(1, width);
            if used + wide > columns {
                lines.push(std::mem::take(&mut line));
                used = 0;
            }
            if place == self.at {
                cursor = (used, lines.len());
            }
            match letter {
                Some('\n') => {
                    lines.push(std::mem::take(&mut line));
                    used = 0;
                }
                Some(letter) => {
                    line.push(letter);
                    used += wide;
                }
                None => {}
            }
        }
        lines.push(line);
        Laid { lines, cursor }
    }
}

fn width(letter: char) -> usize {
    if letter == '\n' { 0 } else { printable::columns(letter.encode_utf8(&mut [0; 4])) }
}

/// A letter that stands upon the one before it.
fn is_mark(letter: char) -> bool {
    letter != '\n' && width(letter) == 0
}

fn is_plain(letter: char) -> bool {
    let text = letter.to_string();
    letter == '\n' || printable::spelled(&text) == text
}
