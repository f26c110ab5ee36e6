//! A world for instinct to live in: a clock, papers, records and tools that answer as told, all in memory.

use ground::paths::House;
use instinct::Instinct;
use instinct::Pace;
use jiff::Timestamp;
use memory::Record;
use mind::Outcome;
use mind::moment::{Moment, Word};
use mind::thought::{Thought, ToolCall};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A pace of the tests' own: the built one is the creature's to change.
pub const PACE: Pace = Pace {
    idle_rest_s: 40,
    source_backoff_s: 900,
    source_pace_s: 1800,
    draft_pace_s: 21_600,
    morning_hour: 8,
    idle_rest_bounds_s: (20, 240),
    source_backoff_bounds_s: (300, 7200),
};

/// More than any test here waits for.
const MOST_WAKES: u64 = 3_000;

pub const START_S: i64 = 1_780_000_000;

type Answers = Box<dyn Fn(&ToolCall) -> Option<Value>>;

pub struct World {
    pub house: House,
    pub mind: Instinct,
    pub moment: Moment,
    pub clock_s: i64,
    pub wakes: u64,
    /// What a tool answers; none is the answer of a tool that has nothing special to say.
    pub answers: Answers,
    /// Everything written into papers, by name.
    pub papers: BTreeMap<String, String>,
    pub calls: Vec<ToolCall>,
    _folder: Option<tempfile::TempDir>,
}

impl World {
    /// A world whose state lives in memory only: a synced write a thought would make hours of it slow.
    pub fn new() -> World {
        World::within(House::new("/dev/null/none"), None)
    }

    /// A world whose state is kept, for more than one life.
    pub fn kept() -> World {
        let folder = tempfile::tempdir().unwrap();
        World::within(House::new(folder.path()), Some(folder))
    }

    fn within(house: House, folder: Option<tempfile::TempDir>) -> World {
        let moment = Moment {
            life: 1,
            commit: "0123456789abcdef".to_owned(),
            purpose: "# Purpose\n\nSmall tools that last.\n".to_owned(),
            rest_s: (2, 300),
            ..Moment::default()
        };
        let mut world = World {
            mind: Instinct::load(&house, PACE),
            house,
            moment,
            clock_s: START_S,
            wakes: 0,
            answers: Box::new(|_| None),
            papers: BTreeMap::new(),
            calls: Vec::new(),
            _folder: folder,
        };
        world.record("message", json!({"from": "creature", "kind": "greeting", "text": "I live here"}));
        world
    }

    /// The same, where nobody was greeted yet.
    pub fn ungreeted(mut self) -> World {
        self.moment.records.clear();
        self
    }

    pub fn answering(mut self, answers: impl Fn(&ToolCall) -> Option<Value> + 'static) -> World {
        self.answers = Box::new(answers);
        self
    }

    pub fn says(mut self, text: &str) -> World {
        self.moment.words.push(Word { at: String::new(), text: text.to_owned(), thread: "main".to_owned() });
        self
    }

    pub fn checklist(mut self, text: &str) -> World {
        self.moment.checklist = text.to_owned();
        self
    }

    /// Ends this life and begins the next one, with this pace.
    pub fn reborn(&mut self, pace: Pace) {
        self.moment.life += 1;
        self.mind = Instinct::load(&self.house, pace);
    }

    pub fn record(&mut self, kind: &str, data: Value) {
        let at = self.now();
        self.moment.records.push(Record { at, life: self.moment.life, kind: kind.to_owned(), data });
        let over = self.moment.records.len().saturating_sub(200);
        self.moment.records.drain(..over);
    }

    pub fn now(&self) -> String {
        format!("{:.3}", Timestamp::from_second(self.clock_s).unwrap())
    }

    /// One wake as the loop does it: up to eight rounds, then the rest. Gives its thoughts.
    pub fn wake(&mut self) -> Vec<Thought> {
        self.wakes += 1;
        // An edit of instinct may break what a test waits for; hanging would cost that edit all its time.
        assert!(self.wakes < MOST_WAKES, "{MOST_WAKES} wakes and no end");
        self.record("heartbeat", json!({"wake": self.wakes}));
        let mut thoughts = Vec::new();
        for round in 0..8 {
            self.moment.round = round;
            let thought = self.think();
            let rest_s = thought.sleep_s;
            thoughts.push(thought);
            if rest_s > 0 || round == 7 {
                self.clock_s += rest_s.clamp(self.moment.rest_s.0, self.moment.rest_s.1) as i64;
                break;
            }
        }
        thoughts
    }

    /// One thought and its calls.
    pub fn think(&mut self) -> Thought {
        self.moment.now = self.now();
        let Outcome::Thought { thought, .. } = self.mind.think(&self.moment) else { panic!("no thought") };
        let number = self.moment.thoughts_before + 1;
        self.record(
            "thought",
            json!({
                "mind": "instinct", "thought": number, "wake": self.wakes, "round": self.moment.round,
                "monologue": thought.monologue, "tool_calls": thought.tool_calls, "sleep_s": thought.sleep_s,
            }),
        );
        self.moment.thoughts_before = number;
        self.moment.news.clear();
        self.moment.purpose_changed = false;
        for call in &thought.tool_calls {
            let result = self.act(call);
            self.record(
                "action",
                json!({
                    "thought": number, "tool": call.tool, "args": call.args, "result": result,
                }),
            );
        }
        thought
    }

    fn act(&mut self, call: &ToolCall) -> Value {
        self.calls.push(call.clone());
        let told = (self.answers)(call);
        if told.as_ref().is_some_and(|told| told["ok"] != json!(true)) {
            return told.unwrap_or_default();
        }
        let name = call.args.get("name").and_then(Value::as_str).unwrap_or("");
        let text = call.args.get("text").and_then(Value::as_str).unwrap_or("");
        match call.tool.as_str() {
            "memory.append" => self.moment.words.clear(),
            "notes.write" if name == "heartbeat" => self.moment.checklist = text.to_owned(),
            "notes.append" => self.papers.entry(name.to_owned()).or_default().push_str(text),
            _ => {}
        }
        told.unwrap_or_else(|| json!({"ok": true, "path": format!("self/{name}.md")}))
    }

    /// The calls of one tool, oldest first.
    pub fn called(&self, tool: &str) -> Vec<&ToolCall> {
        self.calls.iter().filter(|call| call.tool == tool).collect()
    }

    /// What the owner was told unasked, oldest first: its kind and its text.
    pub fn unasked(&self) -> Vec<(String, String)> {
        let word = |call: &ToolCall, key: &str| call.args[key].as_str().unwrap_or("").to_owned();
        self.called("owner.message").iter().map(|call| (word(call, "kind"), word(call, "text"))).collect()
    }

    /// What the owner was told, oldest first.
    pub fn told(&self) -> Vec<String> {
        let text = |call: &&ToolCall| call.args["data"]["text"].as_str().unwrap_or("").to_owned();
        self.called("memory.append").iter().map(text).collect()
    }
}

/// Everything said in some thoughts.
pub fn said(thoughts: &[Thought]) -> String {
    thoughts.iter().map(|thought| thought.monologue.clone() + "\n").collect()
}

pub fn failing(error: &str) -> Option<Value> {
    Some(json!({"ok": false, "error": error, "hint": "none"}))
}
