//! Shows a result to a mind: text as text, lines as lines, whole up to one cap. Pure.
//!
//! Invariant: never longer than the cap. A page has no hole and says which lines it shows; of anything else whole
//! lines are left out of the middle, counted, with where to find them.

use super::page;
use ground::text::first;
use serde_json::{Map, Value};

/// Characters of a value that stands on one line with its name.
const MOST_INLINE: usize = 200;

/// Characters reserved for the note about lines left out.
const MARK: usize = 200;

/// A part of a result that has lines of its own.
struct Block {
    name: String,
    lines: Vec<String>,
    /// Its lines are those of the kept text, so that they can be asked for by number.
    text: bool,
    /// Lines of the text before these, which are shown elsewhere.
    before: usize,
}

/// The result in words, at most `most` characters. `whole` names the files where long parts are kept, by field; a
/// `numbered` page is shown with line numbers.
pub fn shown(result: &Value, whole: &Map<String, Value>, numbered: bool, most: usize) -> String {
    let Value::Object(fields) = result else {
        return first(&result.to_string(), most);
    };
    let text = match page::is_page(fields) {
        true => a_page(fields.clone(), numbered, most),
        false => parts(fields, whole, most),
    };
    first(&text, most)
}

fn a_page(mut fields: Map<String, Value>, numbered: bool, most: usize) -> String {
    let number = |fields: &Map<String, Value>, name: &str| {
        fields.get(name).and_then(Value::as_u64).unwrap_or_default()
    };
    let (from, total) = (number(&fields, "from"), number(&fields, "lines_total"));
    let width = total.to_string().len();
    let spans = ["ok", "text", "from", "lines", "lines_total", "next_from"];
    let beside = fields.iter().filter(|(name, _)| !spans.contains(&name.as_str()));
    let mut text: String = beside.map(|(name, value)| block(name, value).lines.join("\n") + "\n").collect();
    text = first(&text, most / 2);
    let room = most.saturating_sub(text.chars().count() + 80);
    page::fit(&mut fields, room, if numbered { width + 2 } else { 0 });
    let lines = number(&fields, "lines");
    match lines {
        0 => text += "lines: none\n",
        _ => text += &format!("lines: {from}-{} of {total}\n", from + lines - 1),
    }
    if let Some(next) = fields.get("next_from") {
        text += &format!("next_from: {next}\n");
    }
    text.push('\n');
    let body = fields.get("text").and_then(Value::as_str).unwrap_or_default();
    match numbered {
        true => (from..).zip(body.lines()).for_each(|(at, line)| text += &format!("{at:>width$}  {line}\n")),
        false => text += body,
    }
    text
}

fn parts(fields: &Map<String, Value>, whole: &Map<String, Value>, most: usize) -> String {
    let (mut text, mut blocks) = (String::new(), Vec::new());
    let failed = fields.get("ok") == Some(&Value::Bool(false));
    if failed {
        let error = fields.get("error").and_then(Value::as_str).unwrap_or("no reason given");
        let (first, rest) = error.split_once('\n').unwrap_or((error, ""));
        text += &format!("failed: {}\n", page::cut(first, most / 4));
        if let Some(hint) = fields.get("hint").and_then(Value::as_str) {
            text += &format!("hint: {}\n", page::cut(hint, most / 4));
        }
        blocks.extend((!rest.trim().is_empty()).then(|| Block { before: 1, ..of_text("error", rest) }));
    }
    let said = |name: &str| name == "ok" || (failed && matches!(name, "error" | "hint"));
    for (name, value) in fields.iter().filter(|(name, value)| !said(name) && !value.is_null()) {
        match block(name, value) {
            one if one.lines.len() == 1 && !one.text => text += &format!("{}\n", one.lines.concat()),
            more => blocks.push(more),
        }
    }
    if text.is_empty() && blocks.is_empty() {
        return "ok\n".to_owned();
    }
    let text = first(&text, most / 2);
    let names: usize = blocks.iter().map(|block| block.name.len() + 3).sum();
    let mut room = most.saturating_sub(text.chars().count() + names);
    let mut order: Vec<(usize, usize)> = blocks.iter().map(Block::size).zip(0..).collect();
    order.sort_unstable();
    let mut left = blocks.len();
    let mut rooms = vec![0; left];
    // Short blocks get their room first: what they leave is for the long ones.
    for (size, at) in order {
        let share = size.min(room / left.max(1));
        (room, left) = (room - share, left - 1);
        if let Some(one) = rooms.get_mut(at) {
            *one = share;
        }
    }
    let alone = matches!(blocks.as_slice(), [one] if one.text);
    let written = blocks.iter().zip(rooms).map(|(block, room)| {
        let name = match (alone, text.is_empty()) {
            (true, true) => String::new(),
            (true, false) => "\n".to_owned(),
            _ => format!("{}:\n", block.name),
        };
        format!("{name}{}", block.within(room, whole.get(&block.name)))
    });
    let written: String = written.collect();
    text + &written
}

/// A field as a block: one line where it is short.
fn block(name: &str, value: &Value) -> Block {
    if let Value::String(text) = value {
        let bare = text.strip_suffix('\n').unwrap_or(text);
        return match bare.contains('\n') || bare.chars().count() > MOST_INLINE {
            true => of_text(name, text),
            false => of_lines(name, vec![format!("{name}: {bare}")]),
        };
    }
    let mut lines = Vec::new();
    write(value, "", &mut lines);
    match lines.as_slice() {
        [] => lines = vec![format!("{name}: none")],
        [one] if !one.starts_with("- ") => lines = vec![format!("{name}: {one}")],
        [one] => lines = vec![format!("{name}:\n{one}")],
        _ => {}
    }
    of_lines(name, lines)
}

fn of_lines(name: &str, lines: Vec<String>) -> Block {
    Block { name: name.to_owned(), lines, text: false, before: 0 }
}

fn of_text(name: &str, text: &str) -> Block {
    Block { text: true, ..of_lines(name, text.lines().map(str::to_owned).collect()) }
}

/// A value as lines: `name: value`, lists with dashes, what is inside something indented below it.
fn write(value: &Value, indent: &str, lines: &mut Vec<String>) {
    match value {
        Value::Null => {}
        Value::String(text) => lines.extend(text.lines().map(|line| format!("{indent}{line}"))),
        Value::Object(fields) => {
            for (name, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
                match plain(value) {
                    Some(text) => lines.push(format!("{indent}{name}: {text}")),
                    None => {
                        lines.push(format!("{indent}{name}:"));
                        write(value, &format!("{indent}  "), lines);
                    }
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                let mut inner = Vec::new();
                write(item, "", &mut inner);
                let short = inner.iter().map(|line| line.chars().count() + 2).sum::<usize>() <= MOST_INLINE;
                if item.is_object() && short {
                    inner = vec![inner.join("; ")];
                }
                let marks = std::iter::once("- ").chain(std::iter::repeat("  "));
                lines.extend(marks.zip(inner).map(|(mark, line)| format!("{indent}{mark}{line}")));
            }
        }
        other => lines.push(format!("{indent}{other}")),
    }
}

/// A value that fits behind its name.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => (!text.contains('\n')).then(|| text.clone()),
        Value::Array(items) if items.is_empty() => Some("none".to_owned()),
        Value::Array(_) | Value::Object(_) => None,
        other => Some(other.to_string()),
    }
}

impl Block {
    fn size(&self) -> usize {
        self.lines.iter().map(|line| line.chars().count() + 1).sum()
    }

    /// The block whole, or as many lines of its head and tail as fit, around a note of what is left out.
    fn within(&self, room: usize, whole: Option<&Value>) -> String {
        if self.size() <= room {
            return self.lines.iter().map(|line| format!("{line}\n")).collect();
        }
        let room = room.saturating_sub(MARK);
        let mut head = taken(self.lines.iter(), room / 3 * 2);
        if head.is_empty() {
            head.extend(self.lines.first().map(|line| page::cut(line, (room / 3 * 2).saturating_sub(1))));
        }
        let rest = self.lines.get(head.len()..).unwrap_or_default();
        let mut tail = taken(rest.iter().rev(), room / 3);
        tail.reverse();
        let (first, left_out) = (self.before + head.len() + 1, rest.len() - tail.len());
        let mut text: String = head.iter().map(|line| format!("{line}\n")).collect();
        if left_out > 0 {
            let (last, total) = (first + left_out - 1, self.before + self.lines.len());
            let kept = whole.and_then(Value::as_str).map_or(String::new(), |path| match self.text {
                true => format!("; repo.read {{path: {path}, from: {first}}} shows them"),
                false => format!("; the whole is in {path}"),
            });
            let mark = format!("… lines {first}-{last} of {total} left out{kept} …");
            text += &format!("{}\n", page::cut(&mark, MARK - 1));
        }
        tail.iter().for_each(|line| text += &format!("{line}\n"));
        text
    }
}

/// The lines that fit, whole.
fn taken<'a>(lines: impl Iterator<Item = &'a String>, mut room: usize) -> Vec<String> {
    let fits = lines.take_while(|line| match room.checked_sub(line.chars().count() + 1) {
        Some(left) => {
            room = left;
            true
        }
        None => false,
    });
    fits.cloned().collect()
}
