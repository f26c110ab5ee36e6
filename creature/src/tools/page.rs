//! Pages through text: whole lines from a line on, as many as a result may hold.

use super::arguments::Arguments;
use crate::fault::Fault;
use serde_json::{Value, json};

/// Characters of one page, so that a page with its frame is never spilled.
const MOST_CHARS: usize = 5_000;

/// The page that `from` and `lines` ask for; `next_from` is there while more follows.
pub fn page(args: &Arguments, path: &str, text: &str) -> Result<Value, Fault> {
    let from = args.number("from", 1, 1..=usize::MAX)?;
    let most = args.number("lines", usize::MAX, 1..=usize::MAX)?;
    let total = text.lines().count();
    if from > total.max(1) {
        return Err(args.fault(format!("asks for line {from}, but {path} has {total} lines")));
    }
    let (mut shown, mut chars, mut count) = (String::new(), 0, 0);
    for line in text.lines().skip(from - 1).take(most) {
        let length = line.chars().count() + 1;
        if count > 0 && chars + length > MOST_CHARS {
            break;
        }
        shown.push_str(&head(line, MOST_CHARS));
        shown.push('\n');
        (chars, count) = (chars + length, count + 1);
        if length > MOST_CHARS {
            shown.push_str("… the rest of this line is left out …\n");
            break;
        }
    }
    let mut page = json!({"path": path, "text": shown, "from": from, "lines": count, "lines_total": total});
    if let (true, Value::Object(fields)) = (from - 1 + count < total, &mut page) {
        fields.insert("next_from".to_owned(), json!(from + count));
    }
    Ok(page)
}

/// The first characters of a text.
pub fn head(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

/// The last characters of a text.
pub fn tail(text: &str, most: usize) -> String {
    let skip = text.chars().count().saturating_sub(most);
    text.chars().skip(skip).collect()
}
