//! Generates the table of all settings (`docs/owner-toml.md`) from their declarations.

use super::Settings;
use super::key::{Key, Shape, WITHOUT_END};
use crate::makers::MAKERS;
use serde_json::Value;
use std::fmt::Write;

const HEAD: &str = "# owner.toml\n\n\
    Made from `house/src/settings/`; change it there, then: `RENEW=1 cargo test -p house the_table_is_as_the_schema_is`.\n\n\
    Every setting is optional unless it says *needed*. A secret never goes in here, only the *name* of the variable that\n\
    holds one. A mistake refuses the start, or leaves everything as it was; it is told with its line, its key and the\n\
    nearest name there is: [settings](settings.md) tells how, and when a change counts.\n";

/// The whole page.
pub fn page() -> String {
    let mut page = HEAD.to_owned();
    let (sections, above): (Vec<&Key>, Vec<&Key>) =
        Settings::KEYS.iter().partition(|key| key.shape.is_section());
    page.push_str("\n## Above the first section\n");
    rows(&mut page, above);
    for section in sections {
        section_of(&mut page, section.name, section);
    }
    page
}

/// Writes a section, and the sections below it.
fn section_of(page: &mut String, path: &str, key: &Key) {
    let (header, shape) = header(path, &key.shape);
    let _ = write!(page, "\n## `{header}`\n\n{}.\n", sentence(key.meaning));
    if let Shape::Kinds(by, kinds) = shape {
        let _ = writeln!(page, "\n| `{by}` | with |\n|---|---|");
        for (kind, keys) in *kinds {
            let optional = |key: &Key| if key.needed() { "" } else { " (may be left out)" };
            let keys = keys.iter().map(|key| format!("`{}`{}", key.name, optional(key)));
            let _ = writeln!(page, "| `{kind}` | {} |", keys.collect::<Vec<_>>().join(", "));
        }
    }
    let Shape::Table(keys) = shape else { return };
    let (below, here): (Vec<&Key>, Vec<&Key>) = keys.iter().partition(|key| is_below(key));
    rows(page, here);
    let path = header.trim_matches(['[', ']']);
    below.iter().for_each(|key| section_of(page, &format!("{path}.{}", key.name), key));
}

/// A section's header, and the shape of its content.
fn header<'k>(path: &str, shape: &'k Shape) -> (String, &'k Shape) {
    let shape = inner(shape);
    if let Shape::List(each) = shape {
        return (format!("[[{path}]]"), each);
    }
    if let Shape::Names(_, each @ (Shape::Table(_) | Shape::List(_))) = shape {
        return header(&format!("{path}.NAME"), each);
    }
    (format!("[{path}]"), shape)
}

/// Whether a key is shown as a section of its own.
fn is_below(key: &Key) -> bool {
    if let Shape::List(each) | Shape::Names(_, each) = &key.shape {
        return matches!(each, Shape::Table(_) | Shape::List(_));
    }
    matches!(key.shape, Shape::Table(_) | Shape::Kinds(..))
}

fn rows(page: &mut String, keys: Vec<&Key>) {
    if keys.is_empty() {
        return;
    }
    page.push_str("\n| setting | default | unit, meaning |\n|---|---|---|\n");
    for key in keys {
        let default = if key.needed() { "*needed*".to_owned() } else { shown(&(key.default)(key.name)) };
        let bounds = bounds(inner(&key.shape));
        let meaning = key.meaning.trim().replace('|', "\\|").replace("{makers}", &makers());
        let _ = writeln!(page, "| `{}` | {default} | {meaning}{bounds} |", key.name);
    }
}

/// Returns the text that replaces `{makers}` in a meaning.
fn makers() -> String {
    MAKERS.iter().map(|maker| format!("`{}`", maker.name)).collect::<Vec<_>>().join(", ")
}

fn bounds(shape: &Shape) -> String {
    match shape {
        Shape::Count(0, most) if *most >= u64::from(u32::MAX) => String::new(),
        Shape::Count(least, WITHOUT_END) => format!("; at least {least}"),
        Shape::Count(least, most) => format!("; {least} to {most}"),
        Shape::Clamped(least, most) => format!("; {least} to {most}, what is beyond is taken to the nearest"),
        Shape::Amount(least, most) if *most <= 100.0 => format!("; {least} to {most}"),
        Shape::Amount(..)
        | Shape::Flag
        | Shape::Word(_)
        | Shape::WordOr(..)
        | Shape::Text(_)
        | Shape::List(_)
        | Shape::Table(_)
        | Shape::Names(..)
        | Shape::Kinds(..)
        | Shape::Needed(_)
        | Shape::Any => String::new(),
    }
}

fn inner(shape: &Shape) -> &Shape {
    if let Shape::Needed(shape) = shape { shape } else { shape }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Number(number) if number.as_f64().is_some_and(|number| number.fract() == 0.0) => {
            format!("{}", number.as_f64().unwrap_or_default())
        }
        Value::Object(_) => String::new(),
        Value::Number(_) | Value::Bool(_) | Value::String(_) | Value::Array(_) => format!("`{value}`"),
    }
}

fn sentence(meaning: &str) -> String {
    let mut letters = meaning.trim().chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
