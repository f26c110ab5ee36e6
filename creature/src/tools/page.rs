//! Pages through text: whole lines from a line on, as many as fit, and where the next page begins. Pure.
//!
//! Invariant: a page has every line that it says it has, and `next_from` is the line after its last one.

use super::arguments::Arguments;
use crate::fault::Fault;
use ground::text::first;
use serde_json::{Map, Value, json};

/// Characters reserved for the note about a cut line.
const CUT_WORDS: usize = 80;

/// The lines that the arguments `from` and `lines` ask for, however many; `fit` cuts them to size later.
pub fn page(args: &Arguments, path: &str, text: &str) -> Result<Value, Fault> {
    let from = args.number("from").unwrap_or(1);
    span(args, path, text, from, args.number("lines").unwrap_or(usize::MAX))
}

/// Takes at most `most` lines from line `from` on, counted from 1.
pub fn span(args: &Arguments, path: &str, text: &str, from: usize, most: usize) -> Result<Value, Fault> {
    let total = text.lines().count();
    if from > total.max(1) {
        return Err(args.fault(format!("asks for line {from}, but {path} has {total} lines")));
    }
    let lines = text.lines().skip(from - 1).take(most);
    let shown: String = lines.flat_map(|line| [line, "\n"]).collect();
    let count = shown.lines().count();
    let mut page = json!({"path": path, "text": shown, "from": from, "lines": count, "lines_total": total});
    if let Value::Object(fields) = &mut page {
        go_on(fields, from + count, total);
    }
    Ok(page)
}

pub fn is_page(fields: &Map<String, Value>) -> bool {
    fields.get("text").is_some_and(Value::is_string) && fields.contains_key("lines_total")
}

/// Cuts a page to the lines that `most` characters hold, each taking `beside` more; the first is kept, cut.
pub fn fit(fields: &mut Map<String, Value>, most: usize, beside: usize) {
    let number = |name: &str| fields.get(name).and_then(Value::as_u64).unwrap_or_default() as usize;
    let (from, total) = (number("from"), number("lines_total"));
    let Some(Value::String(text)) = fields.get("text") else { return };
    let (mut shown, mut chars, mut count) = (String::new(), 0, 0);
    for line in text.lines() {
        let length = line.chars().count() + 1 + beside;
        if count > 0 && chars + length > most {
            break;
        }
        (chars, count) = (chars + length, count + 1);
        shown.push_str(&cut(line, most.saturating_sub(beside + 1)));
        shown.push('\n');
        if length > most {
            break;
        }
    }
    fields.insert("text".to_owned(), json!(shown));
    fields.insert("lines".to_owned(), json!(count));
    go_on(fields, from + count, total);
}

fn go_on(fields: &mut Map<String, Value>, next: usize, total: usize) {
    match next <= total {
        true => fields.insert("next_from".to_owned(), json!(next)),
        false => fields.shift_remove("next_from"),
    };
}

/// A line as it is, or within `most` characters its beginning and how much is left out.
pub fn cut(line: &str, most: usize) -> String {
    let length = line.chars().count();
    if length <= most {
        return line.to_owned();
    }
    let kept = most.saturating_sub(CUT_WORDS);
    let said =
        format!("{} … the rest of this line is left out: {} characters …", first(line, kept), length - kept);
    first(&said, most)
}
