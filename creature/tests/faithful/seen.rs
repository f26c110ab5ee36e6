//! What a mind is shown by one request, in the same shape for every wire.

use super::Wire;
use serde_json::Value;
use std::collections::BTreeMap;

/// A part of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Shown {
    Text(String),
    Thinking(String),
    /// Name as it was said (with dots where a `Say` had them).
    Call {
        id: String,
        name: String,
        args: Value,
    },
    Result {
        id: String,
        name: String,
        text: String,
        failed: bool,
    },
    Other(Value),
}

/// One message: `system` (news), `user` or `assistant`.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    pub role: String,
    pub parts: Vec<Shown>,
}

/// What one request shows.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The first request is 1.
    pub number: usize,
    pub wire: Wire,
    pub model: String,
    pub system: String,
    /// Names as on the wire, and schemas.
    pub tools: BTreeMap<String, Value>,
    pub messages: Vec<Message>,
    /// No tools were sent: a JSON thought is asked.
    pub json_mode: bool,
    /// The request says it is the creature's own work.
    pub autonomous: bool,
    pub body: Value,
}

impl Seen {
    /// The schema of a tool, by its name with dots or as on the wire.
    pub fn tool(&self, name: &str) -> Option<&Value> {
        self.tools.get(&super::say::wire_name(name))
    }

    /// What came of the calls of the last thought, in their order: name and text.
    pub fn last_results(&self) -> Vec<(String, String)> {
        let after = self.messages.iter().rposition(|message| message.role == "assistant");
        let Some(thought) = after else { return Vec::new() };
        let later = self.messages.iter().skip(thought + 1).flat_map(|message| &message.parts);
        let results = later.clone().filter_map(|part| match part {
            Shown::Result { name, text, .. } => Some((name.clone(), text.clone())),
            _ => None,
        });
        let results: Vec<_> = results.collect();
        if !self.json_mode || !results.is_empty() {
            return results;
        }
        let texts: Vec<&str> = later.filter_map(text_of).collect();
        by_name(&called(&self.messages[thought]), &texts.join("\n"))
    }

    /// The newest words of the owner's or the house's.
    pub fn last_said(&self) -> String {
        let theirs = self.messages.iter().rev().filter(|message| message.role != "assistant");
        let said = |message: &Message| {
            let texts: Vec<&str> = message.parts.iter().filter_map(text_of).collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        };
        theirs.into_iter().find_map(said).unwrap_or_default()
    }

    /// Everything that can be read, system and results included.
    pub fn all_text(&self) -> String {
        let mut all = vec![self.system.as_str()];
        for part in self.messages.iter().flat_map(|message| &message.parts) {
            match part {
                Shown::Text(text) | Shown::Thinking(text) | Shown::Result { text, .. } => all.push(text),
                Shown::Call { .. } | Shown::Other(_) => {}
            }
        }
        all.join("\n")
    }

    /// Thoughts of this conversation before this one.
    pub fn thoughts(&self) -> usize {
        self.messages.iter().filter(|message| message.role == "assistant").count()
    }

    /// All calls of the conversation with what came of them, oldest first: name, arguments, text.
    pub fn history(&self) -> Vec<(String, Value, Option<String>)> {
        let parts: Vec<&Shown> = self.messages.iter().flat_map(|message| &message.parts).collect();
        let mut history = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            let Shown::Call { id, name, args } = part else { continue };
            let result = parts.iter().skip(at).find_map(|part| match part {
                Shown::Result { id: of, text, .. } if of == id => Some(text.clone()),
                _ => None,
            });
            history.push((name.clone(), args.clone(), result));
        }
        history
    }
}

fn text_of(part: &Shown) -> Option<&str> {
    match part {
        Shown::Text(text) => Some(text),
        _ => None,
    }
}

/// Names of the tools a JSON thought called.
fn called(message: &Message) -> Vec<String> {
    let text: String = message.parts.iter().filter_map(text_of).collect();
    let thought: Value = serde_json::from_str(&text).unwrap_or_default();
    let calls = thought["tool_calls"].as_array().cloned().unwrap_or_default();
    calls.iter().filter_map(|call| Some(call["tool"].as_str()?.to_owned())).collect()
}

/// A text of several results, cut where the names of the calls stand; whole for each where they do not.
fn by_name(names: &[String], text: &str) -> Vec<(String, String)> {
    let mut starts = Vec::new();
    let mut from = 0;
    for name in names {
        // The heading of a result; its text may say the name again.
        let Some(at) =
            text[from..].find(&format!("## {name}\n")).or_else(|| text[from..].find(name.as_str()))
        else {
            return names.iter().map(|name| (name.clone(), text.to_owned())).collect();
        };
        starts.push(from + at);
        from += at + name.len();
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let cut = names.iter().zip(starts.iter().zip(ends));
    cut.map(|(name, (start, end))| (name.clone(), text[*start..end].to_owned())).collect()
}
