//! The replies a server gave out, so that it knows an assistant's turn that was changed.

use super::say::{HALF, wire_name};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};

/// What may be wrong with a turn that comes back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amiss {
    /// Its words or calls were never given, or in another order.
    NeverGiven,
    /// Of its thinking only a part is there.
    ThinkingInPart,
    /// It has no thinking, though an older turn has.
    ThinkingGone,
}

/// All replies given out, by what they say without their thinking.
#[derive(Default)]
pub struct Given {
    exact: HashMap<String, Vec<Vec<String>>>,
    /// Where the reply had no ids, the same ones, odd names or broken text: compared without those.
    loose: HashMap<String, Vec<Vec<String>>>,
    names: BTreeMap<String, String>,
}

impl Given {
    /// `parts` without thinking, as they would come back; `seals` are the marks of its thinking.
    pub fn keep(&mut self, parts: &[Value], seals: Vec<String>, is_loose: bool) {
        if is_loose {
            self.loose.entry(key(parts, true)).or_default().push(seals.clone());
        }
        self.exact.entry(key(parts, false)).or_default().push(seals);
    }

    /// `older` becomes true with the first turn that kept its thinking.
    pub fn check(&self, parts: &[Value], seals: &[String], older: &mut bool) -> Result<(), Amiss> {
        let exact = self.exact.get(&key(parts, false)).into_iter().flatten();
        let loose = self.loose.get(&key(parts, true)).into_iter().flatten();
        let mut all = exact.chain(loose).peekable();
        if all.peek().is_none() {
            return Err(Amiss::NeverGiven);
        }
        let all: Vec<&Vec<String>> = all.collect();
        if all.iter().any(|known| known.as_slice() == seals) {
            *older |= !seals.is_empty();
            return Ok(());
        }
        match seals.is_empty() {
            false => Err(Amiss::ThinkingInPart),
            true if *older => Err(Amiss::ThinkingGone),
            true => Ok(()),
        }
    }

    /// Whether a turn had thinking when it was given.
    pub fn thought(&self, parts: &[Value]) -> bool {
        let exact = self.exact.get(&key(parts, false)).into_iter().flatten();
        exact.chain(self.loose.get(&key(parts, true)).into_iter().flatten()).any(|seals| !seals.is_empty())
    }

    /// Keeps how a name was said, with its dots.
    pub fn name(&mut self, name: &str) {
        self.names.insert(wire_name(name), name.to_owned());
    }

    /// A name as it was said; as on the wire where it never was.
    pub fn said(&self, name: &str) -> String {
        self.names.get(name).cloned().unwrap_or_else(|| name.to_owned())
    }
}

/// Arguments as an object, whether they came as one or as its text; what is neither goes back empty.
pub fn arguments(given: &Value) -> Value {
    match given {
        Value::Object(_) => given.clone(),
        Value::String(text) => {
            serde_json::from_str(text).map_or_else(|_| json!({}), |inner: Value| arguments(&inner))
        }
        _ => json!({}),
    }
}

/// A part as thinking is bound to it: without what a client must mend (the exact turn is compared elsewhere).
pub fn mended(part: &Value) -> String {
    key(std::slice::from_ref(part), true)
}

fn key(parts: &[Value], is_loose: bool) -> String {
    let mut parts = Value::Array(parts.to_vec());
    ordered(&mut parts, is_loose);
    let text = parts.to_string();
    // One after the other: looking for one character is fast, also where nothing is optimised.
    let without = |text: String, odd: char| if text.contains(odd) { text.replace(odd, "") } else { text };
    if is_loose { without(without(text, HALF), '\u{fffd}') } else { text }
}

/// Keys in their order, so that equal means equal; without ids where it is loose.
fn ordered(value: &mut Value, is_loose: bool) {
    match value {
        Value::Object(object) => {
            if is_loose {
                for id in ["id", "call_id", "tool_use_id", "name"] {
                    object.remove(id);
                }
            }
            let mut entries: Vec<_> = std::mem::take(object).into_iter().collect();
            entries.sort_by(|one, other| one.0.cmp(&other.0));
            for (name, mut inner) in entries {
                ordered(&mut inner, is_loose);
                object.insert(name, inner);
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|inner| ordered(inner, is_loose)),
        _ => {}
    }
}
