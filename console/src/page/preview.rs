//! What an ask would do, readable: a sentence, to whom, and the fields of its body; its exact bytes are shown beside. Pure.
//!
//! Invariant: a body is told by its fields only where these are all of it.

use house::bounds::brief;
use house::records::text;
use serde_json::Value;

/// Fields that are told, characters of one, and of a name.
const MOST_FIELDS: usize = 12;
const FIELD_CHARS: usize = 1_200;
const NAME_CHARS: usize = 80;

/// An act as a person reads it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Preview {
    pub title: String,
    pub fields: Vec<(String, String)>,
    /// Whether there is more than these fields say.
    pub is_cut: bool,
}

/// Reads what is stored of an act.
pub fn of(act: &Value) -> Preview {
    if text(act, "kind") == "purpose" {
        let mut preview = Preview { title: "Rewrite PURPOSE.md".into(), ..Preview::default() };
        preview.field("New text", text(act, "text"));
        return preview;
    }
    let [service, method, path, url] = ["service", "method", "path", "url"].map(|name| text(act, name));
    let verb = match method {
        "GET" | "HEAD" => "Read from",
        "DELETE" => "Delete at",
        "PUT" | "PATCH" => "Change at",
        _ => "Send to",
    };
    let by = if text(act, "kind") == "janee" { " (by Janee)" } else { "" };
    let mut preview =
        Preview { title: format!("{verb} {}{by}", brief(service, NAME_CHARS)), ..Preview::default() };
    preview.field("Where", &format!("{method} {}", if url.is_empty() { path } else { url }));
    preview.body(&content_type(act), text(act, "body"));
    preview
}

/// What its headers say the body is.
fn content_type(act: &Value) -> String {
    let headers = act.get("headers").and_then(Value::as_array).into_iter().flatten();
    let mut pairs = headers.filter_map(|pair| Some((pair.get(0)?.as_str()?, pair.get(1)?.as_str()?)));
    let found = pairs.find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    found.map(|(_, value)| value.to_ascii_lowercase()).unwrap_or_default()
}

impl Preview {
    fn field(&mut self, name: &str, value: &str) {
        let value = value.trim();
        if value.is_empty() {
            return;
        }
        if self.fields.len() >= MOST_FIELDS {
            self.is_cut = true;
            return;
        }
        let shown = brief(value, FIELD_CHARS);
        self.is_cut |= shown.len() < value.len();
        self.fields.push((named(name), shown));
    }

    fn body(&mut self, content_type: &str, body: &str) {
        if body.is_empty() {
            return;
        }
        let json = serde_json::from_str::<Value>(body).ok();
        // Its fields are all of it only where they make the same text again: a name that stands there twice would not.
        let json = json.filter(|json| {
            (json.is_object() || json.is_array()) && json.to_string().as_str() == compact(body).as_str()
        });
        if let Some(json) = json {
            return self.value("", &json);
        }
        if content_type.starts_with("application/x-www-form-urlencoded") {
            for (name, value) in form_urlencoded::parse(body.as_bytes()) {
                self.field(&name, &value);
            }
            return;
        }
        self.field("Text", body);
    }

    /// The texts and numbers of a value, each under the names that lead to it.
    fn value(&mut self, path: &str, value: &Value) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    let path = if path.is_empty() { name.clone() } else { format!("{path} {name}") };
                    self.value(&path, value);
                }
            }
            Value::Array(list) if list.iter().all(|one| !one.is_object() && !one.is_array()) => {
                self.field(path, &list.iter().map(plain).collect::<Vec<_>>().join(", "));
            }
            Value::Array(list) => {
                for (number, one) in list.iter().enumerate().take(MOST_FIELDS + 1) {
                    self.value(&format!("{path} {}", number + 1), one);
                }
            }
            Value::Null => {}
            Value::Bool(_) | Value::Number(_) | Value::String(_) => self.field(path, &plain(value)),
        }
    }
}

/// JSON without what may stand between its parts.
fn compact(json: &str) -> String {
    let (mut out, mut is_text, mut is_escaped) = (String::with_capacity(json.len()), false, false);
    for letter in json.chars() {
        let ends = letter == '"' && !is_escaped;
        is_escaped = is_text && letter == '\\' && !is_escaped;
        is_text ^= ends;
        if is_text || !letter.is_ascii_whitespace() {
            out.push(letter);
        }
    }
    out
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// `reply_to` as `Reply to`.
fn named(name: &str) -> String {
    let name = brief(name.trim(), NAME_CHARS).replace(['_', '-'], " ");
    let mut letters = name.chars();
    let first = letters.next().map(|first| first.to_uppercase().collect::<String>());
    first.unwrap_or_else(|| "Value".into()) + letters.as_str()
}
