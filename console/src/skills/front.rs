//! Front matter of a skill: cut out of its text, and read as the YAML that the form allows. Pure.
//!
//! The form's own validator reads it as StrictYAML, a part of YAML without flow style, anchors, tags and doubled keys:
//! <https://hitchdev.com/strictyaml/features-removed/>.

use saphyr_parser::{Event, Parser, Span};
use std::collections::BTreeSet;

/// Value of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    Text(String),
    /// Texts by name.
    Texts,
    /// A list, or something nested.
    Other,
}

/// Fields in the order they stand, and the body after them.
#[derive(Debug, PartialEq)]
pub struct Front<'text> {
    pub fields: Vec<(String, Kind)>,
    pub body: &'text str,
}

/// Reads the front matter of a text; else what is wrong with it.
pub fn read(text: &str) -> Result<Front<'_>, String> {
    let is_mark = |line: &str| line.trim_end() == "---";
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().filter(|line| is_mark(line)).ok_or("it does not begin with a line `---`")?;
    let mut at = first.len();
    for line in lines {
        if is_mark(line) {
            let yaml = text.get(first.len()..at).unwrap_or_default();
            let body = text.get(at + line.len()..).unwrap_or_default();
            return Ok(Front { fields: fields(yaml)?, body });
        }
        at += line.len();
    }
    Err("no second line `---` ends the front matter".to_owned())
}

/// Reads fields as they come: keys and values of the outermost mapping, and what is within a value.
struct Reading<'yaml> {
    yaml: &'yaml str,
    /// The collections that are open: for each mapping its keys so far and the key whose value comes next.
    open: Vec<Open>,
    fields: Vec<(String, Kind)>,
}

enum Open {
    Mapping { seen: BTreeSet<String>, key: Option<String> },
    List,
}

fn fields(yaml: &str) -> Result<Vec<(String, Kind)>, String> {
    if let Some(letter) = yaml.chars().find(|letter| letter.is_control() && !"\n\r\t".contains(*letter)) {
        return Err(format!("a control character, {}, is no YAML (1.2.2, 5.1)", letter.escape_unicode()));
    }
    let mut reading = Reading { yaml, open: Vec::new(), fields: Vec::new() };
    let mut is_mapping = false;
    for event in Parser::new_from_str(yaml) {
        let (event, span) = event.map_err(|error| wrong(error.marker().line(), error.info()))?;
        is_mapping |= matches!(event, Event::MappingStart(..));
        if !is_mapping && matches!(event, Event::Scalar(..) | Event::SequenceStart(..)) {
            break;
        }
        reading.take(event, span)?;
    }
    if is_mapping { Ok(reading.fields) } else { Err("there are no fields, as `name: …`, in it".to_owned()) }
}

/// A mistake with its line in the file, where the front matter begins in the second.
fn wrong(line: usize, what: &str) -> String {
    format!("line {}: {what}", line + 1)
}

impl Reading<'_> {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), String> {
        let line = span.start.line();
        let strict = |what: &str| Err(wrong(line, &format!("{what}, which the form's YAML has not")));
        match event {
            Event::Scalar(_, _, _, Some(_))
            | Event::MappingStart(_, Some(_))
            | Event::SequenceStart(_, Some(_)) => {
                return strict("a tag (`!`)");
            }
            Event::Alias(_) => return strict("an alias (`*`)"),
            Event::Scalar(_, _, 1.., _) | Event::MappingStart(1.., _) | Event::SequenceStart(1.., _) => {
                return strict("an anchor (`&`)");
            }
            Event::MappingStart(..) if self.begins(span) == Some('{') => {
                return strict("a mapping in braces");
            }
            Event::SequenceStart(..) if self.begins(span) == Some('[') => {
                return strict("a list in brackets");
            }
            Event::Scalar(text, ..) => self.text(text.into_owned(), line)?,
            Event::MappingStart(..) => {
                self.nested(Kind::Texts);
                self.open.push(Open::Mapping { seen: BTreeSet::new(), key: None });
            }
            Event::SequenceStart(..) => {
                self.nested(Kind::Other);
                self.open.push(Open::List);
            }
            Event::MappingEnd | Event::SequenceEnd => {
                self.open.pop();
                self.valued();
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => {}
        }
        Ok(())
    }

    /// The letter at which something begins in the text.
    fn begins(&self, span: Span) -> Option<char> {
        self.yaml.lines().nth(span.start.line().saturating_sub(1))?.chars().nth(span.start.col())
    }

    fn text(&mut self, text: String, line: usize) -> Result<(), String> {
        let depth = self.open.len();
        let Some(Open::Mapping { seen, key }) = self.open.last_mut() else { return Ok(()) };
        match key.take() {
            None if !seen.insert(text.clone()) => {
                return Err(wrong(line, &format!("`{text}` stands there twice")));
            }
            None => *key = Some(text),
            Some(key) if depth == 1 => self.fields.push((key, Kind::Text(text))),
            Some(_) => {}
        }
        Ok(())
    }

    /// Notes that the value of the outermost key is a collection, or that within it is another.
    fn nested(&mut self, kind: Kind) {
        match self.open.as_slice() {
            [Open::Mapping { key: Some(key), .. }] => self.fields.push((key.clone(), kind)),
            [_, ..] => {
                if let Some((_, kind)) = self.fields.last_mut() {
                    *kind = Kind::Other;
                }
            }
            [] => {}
        }
    }

    /// Notes that a collection was the value of the key at hand.
    fn valued(&mut self) {
        if let Some(Open::Mapping { key, .. }) = self.open.last_mut() {
            key.take();
        }
    }
}
