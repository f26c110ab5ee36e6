//! Text in Telegram's HTML, parsed as strictly as its own server does: `parse_html` in tdlib/td, td/telegram/MessageEntity.cpp.
//!
//! Said of it in the Bot API: "Formatting options", "HTML style".

/// Elements that are known, as the maker's parser has them.
const TAGS: [&str; 16] = [
    "a",
    "b",
    "strong",
    "i",
    "em",
    "s",
    "strike",
    "del",
    "u",
    "ins",
    "tg-spoiler",
    "tg-emoji",
    "span",
    "pre",
    "code",
    "blockquote",
];

/// The text without its marks, and where which element was: offset and length in UTF-16 units.
#[derive(Debug, PartialEq)]
pub struct Parsed {
    pub text: String,
    pub entities: Vec<(String, usize, usize)>,
}

pub fn parse(html: &str) -> Result<Parsed, String> {
    let mut reader = Reader { all: html, at: 0, text: String::new(), open: Vec::new(), entities: Vec::new() };
    while let Some(letter) = reader.peek() {
        match letter {
            '&' => reader.reference(),
            '<' => reader.tag()?,
            _ => {
                reader.text.push(letter);
                reader.at += letter.len_utf8();
            }
        }
    }
    if let Some((tag, _)) = reader.open.last() {
        return Err(format!("Can't find end tag corresponding to start tag \"{tag}\""));
    }
    Ok(Parsed { text: reader.text, entities: reader.entities })
}

struct Reader<'a> {
    all: &'a str,
    at: usize,
    text: String,
    open: Vec<(String, usize)>,
    entities: Vec<(String, usize, usize)>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.all[self.at..].chars().next()
    }

    /// Letters up to one that is not wanted.
    fn take(&mut self, wanted: impl Fn(char) -> bool) -> String {
        let taken: String = self.all[self.at..].chars().take_while(|letter| wanted(*letter)).collect();
        self.at += taken.len();
        taken
    }

    /// "All numerical HTML entities are supported", and of named ones lt, gt, amp and quot.
    fn reference(&mut self) {
        let rest = &self.all[self.at + 1..];
        let (length, decoded) = if let Some(number) = rest.strip_prefix('#') {
            let (digits, radix) = number.strip_prefix('x').map_or((number, 10), |hex| (hex, 16));
            let digits: String = digits.chars().take_while(|letter| letter.is_digit(radix)).collect();
            let length = 1 + usize::from(radix == 16) + digits.len();
            (
                length,
                u32::from_str_radix(&digits, radix).ok().filter(|code| *code != 0).and_then(char::from_u32),
            )
        } else {
            let name: String = rest.chars().take_while(char::is_ascii_alphabetic).collect();
            let known = [("lt", '<'), ("gt", '>'), ("amp", '&'), ("quot", '"')];
            (name.len(), known.iter().find(|(known, _)| *known == name).map(|(_, letter)| *letter))
        };
        match decoded {
            Some(letter) => {
                self.text.push(letter);
                self.at += 1 + length;
                self.at += usize::from(self.peek() == Some(';'));
            }
            None => {
                self.text.push('&');
                self.at += 1;
            }
        }
    }

    fn tag(&mut self) -> Result<(), String> {
        let begin = self.at;
        self.at += 1;
        if self.peek() == Some('/') {
            self.at += 1;
            return self.end_tag(begin);
        }
        let name = self.take(|letter| !letter.is_whitespace() && letter != '>').to_lowercase();
        if self.peek().is_none() {
            return Err(format!("Unclosed start tag at byte offset {begin}"));
        }
        if !TAGS.contains(&name.as_str()) {
            return Err(format!("Unsupported start tag \"{name}\" at byte offset {begin}"));
        }
        loop {
            self.take(char::is_whitespace);
            match self.peek() {
                Some('>') => break,
                None => return Err(format!("Unclosed start tag at byte offset {begin}")),
                Some(_) => self.attribute(&name, begin)?,
            }
        }
        self.at += 1;
        self.open.push((name, self.text.encode_utf16().count()));
        Ok(())
    }

    fn attribute(&mut self, tag: &str, begin: usize) -> Result<(), String> {
        let name = self.take(|letter| !letter.is_whitespace() && !['=', '>'].contains(&letter));
        if name.is_empty() {
            return Err(format!("Empty attribute name in the tag \"{tag}\" at byte offset {begin}"));
        }
        self.take(char::is_whitespace);
        if self.peek() != Some('=') {
            return Err(format!(
                "Expected equal sign in declaration of an attribute of the tag \"{tag}\" at byte offset {begin}"
            ));
        }
        self.at += 1;
        self.take(char::is_whitespace);
        match self.peek() {
            Some(quote @ ('"' | '\'')) => {
                self.at += 1;
                self.take(|letter| letter != quote);
                if self.peek().is_none() {
                    return Err(format!("Unclosed start tag at byte offset {begin}"));
                }
                self.at += 1;
            }
            _ => {
                let token = self.at;
                self.take(|letter| letter.is_ascii_alphanumeric() || ['.', '-'].contains(&letter));
                if !self.peek().is_some_and(|letter| letter.is_whitespace() || letter == '>') {
                    return Err(format!("Unexpected end of name token at byte offset {token}"));
                }
            }
        }
        Ok(())
    }

    fn end_tag(&mut self, begin: usize) -> Result<(), String> {
        let Some((tag, from)) = self.open.pop() else {
            return Err(format!("Unexpected end tag at byte offset {begin}"));
        };
        let name = self.take(|letter| !letter.is_whitespace() && letter != '>').to_lowercase();
        self.take(char::is_whitespace);
        if self.peek() != Some('>') {
            return Err(format!("Unclosed end tag at byte offset {begin}"));
        }
        self.at += 1;
        if !name.is_empty() && name != tag {
            return Err(format!(
                "Unmatched end tag at byte offset {begin}, expected \"</{tag}>\", found \"</{name}>\""
            ));
        }
        let length = self.text.encode_utf16().count() - from;
        if length > 0 {
            self.entities.push((tag, from, length));
        }
        Ok(())
    }
}
