//! What a scripted mind answers with: thinking, words, calls, how it stops, and what goes wrong on the way.

use super::rules::is_name;
use serde_json::{Value, json};

/// Stands in a text for half of a surrogate pair, which no text of Rust can hold.
pub const HALF: char = '\u{f8ff}';

/// One part of an answer, in its order.
#[derive(Clone, Debug)]
pub enum Part {
    Thinking(String),
    Text(String),
    /// Name with dots, arguments.
    Call(String, Value),
    /// Name with dots, and the arguments as text that is no JSON.
    Broken(String, String),
    /// A block of a type nobody has heard of.
    Unknown(Value),
}

/// What goes wrong; the request was a good one.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    Status(u16, String),
    /// The connection ends after so many bytes of the body.
    Cut(usize),
    /// Nothing comes after so many bytes of the body, until the client hangs up.
    Silence(usize),
    /// Only pings come after so many bytes of the body, until the client hangs up.
    Pings(usize),
}

/// One answer.
#[derive(Clone, Debug, Default)]
pub struct Say {
    pub parts: Vec<Part>,
    /// In Anthropic's words: `end_turn`, `tool_use`, `max_tokens`, `refusal`, …
    pub stop: Option<String>,
    pub fault: Option<Fault>,
    /// All calls have the id of the first.
    pub same_ids: bool,
    pub without_ids: bool,
    /// Whole JSON though a stream was asked.
    pub whole: bool,
    pub sleep_s: Option<u64>,
    /// The text goes as it is, also where a JSON thought is asked.
    pub plain: bool,
}

impl Say {
    pub fn new() -> Say {
        Say::default()
    }

    pub fn thinks(self, text: &str) -> Say {
        self.part(Part::Thinking(text.to_owned()))
    }

    pub fn says(self, text: &str) -> Say {
        self.part(Part::Text(text.to_owned()))
    }

    /// Text that is written as it is, also where a JSON thought is asked.
    pub fn plainly(self, text: &str) -> Say {
        Say { plain: true, ..self.says(text) }
    }

    /// `name` with dots, as in `repo.read`.
    pub fn calls(self, name: &str, args: Value) -> Say {
        self.part(Part::Call(name.to_owned(), args))
    }

    /// A call whose arguments are no JSON.
    pub fn broken_arguments(self, name: &str, text: &str) -> Say {
        self.part(Part::Broken(name.to_owned(), text.to_owned()))
    }

    /// The call `rest`; in a JSON thought its `sleep_s`.
    pub fn rests(self, sleep_s: u64) -> Say {
        Say { sleep_s: Some(sleep_s), ..self }
    }

    pub fn stop(self, reason: &str) -> Say {
        Say { stop: Some(reason.to_owned()), ..self }
    }

    pub fn unknown_block(self, block: Value) -> Say {
        self.part(Part::Unknown(block))
    }

    /// Words with a lone surrogate in them.
    pub fn lone_surrogate(self) -> Say {
        self.says(&format!("half a smile: {HALF} is all there is"))
    }

    pub fn duplicate_ids(self) -> Say {
        Say { same_ids: true, ..self }
    }

    pub fn no_ids(self) -> Say {
        Say { without_ids: true, ..self }
    }

    pub fn whole(self) -> Say {
        Say { whole: true, ..self }
    }

    pub fn status(self, status: u16, body: &str) -> Say {
        Say { fault: Some(Fault::Status(status, body.to_owned())), ..self }
    }

    pub fn cut_after(self, bytes: usize) -> Say {
        Say { fault: Some(Fault::Cut(bytes)), ..self }
    }

    pub fn silent_after(self, bytes: usize) -> Say {
        Say { fault: Some(Fault::Silence(bytes)), ..self }
    }

    pub fn pings_after(self, bytes: usize) -> Say {
        Say { fault: Some(Fault::Pings(bytes)), ..self }
    }

    fn part(mut self, part: Part) -> Say {
        self.parts.push(part);
        self
    }

    /// Whether a client has to change it before it can go back.
    pub fn is_loose(&self) -> bool {
        let odd = |part: &Part| match part {
            Part::Text(text) => text.contains(HALF),
            Part::Call(name, args) => !is_name(&wire_name(name)) || args.to_string().contains(HALF),
            Part::Broken(name, text) => !is_name(&wire_name(name)) || text.contains(HALF),
            Part::Thinking(_) | Part::Unknown(_) => false,
        };
        self.same_ids || self.without_ids || self.parts.iter().any(odd)
    }

    pub fn thinking(&self) -> String {
        let thinking = self.parts.iter().filter_map(|part| match part {
            Part::Thinking(text) => Some(text.as_str()),
            _ => None,
        });
        thinking.collect::<Vec<_>>().join("\n")
    }

    /// The words alone.
    pub fn text(&self) -> String {
        let text = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        });
        text.collect::<Vec<_>>().join("\n")
    }

    /// For a wire with tools: a rest becomes a call.
    pub fn native(mut self) -> Say {
        if let Some(sleep_s) = self.sleep_s.take() {
            self.parts.push(Part::Call("rest".to_owned(), json!({"sleep_s": sleep_s})));
        }
        self
    }

    /// For a request without tools: calls, rest and words become one JSON thought; `args_json` where free objects are not had.
    pub fn into_thought(mut self, args_as_text: bool) -> Say {
        if self.plain || matches!(self.fault, Some(Fault::Status(..))) {
            return self;
        }
        let (mut calls, mut rest) = (Vec::new(), self.sleep_s);
        for part in &self.parts {
            let (tool, args) = match part {
                Part::Call(tool, args) if tool == "rest" => {
                    rest = args["sleep_s"].as_u64().or(rest);
                    continue;
                }
                Part::Call(tool, args) => (tool, args.clone()),
                Part::Broken(tool, text) => (tool, json!(text)),
                _ => continue,
            };
            calls.push(match args_as_text {
                true => {
                    let args = args.as_str().map_or_else(|| args.to_string(), str::to_owned);
                    json!({"tool": tool, "args_json": args})
                }
                false => json!({"tool": tool, "args": args}),
            });
        }
        let unsaid = if calls.is_empty() { 60 } else { 0 };
        let thought = json!({
            "monologue": self.text(), "intent": "", "tool_calls": calls, "sleep_s": rest.unwrap_or(unsaid),
        });
        self.parts.retain(|part| matches!(part, Part::Thinking(_)));
        self.sleep_s = None;
        self.says(&thought.to_string())
    }
}

/// A tool's name as the wires take it.
pub fn wire_name(name: &str) -> String {
    name.replace('.', "_")
}
