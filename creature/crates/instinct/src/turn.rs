//! Thought in the making: the moment, the state, and what is said and called so far. Pure.

use super::pace::Pace;
use super::state::{Job, Made, Origin, State};
use super::text::{clip, hash, word};
use ground::checklist::{self, Named};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use mind::moment::Moment;
use mind::thought::{Thought, ToolCall};
use serde_json::{Value, json};

/// Calls of one thought; more work waits for the next round.
const MOST_CALLS: usize = 8;
const LONGEST_MONOLOGUE: usize = 2000;

/// Last round that instinct asks for, 0 first.
const LAST_ROUND: u32 = 7;

pub struct Turn<'a> {
    pub moment: &'a Moment,
    pub pace: Pace,
    /// Seconds since 1970; 0 where `now` cannot be read.
    pub now_s: i64,
    /// Date and minute of now by the owner's clock, for papers.
    pub date: String,
    pub state: &'a mut State,
    /// The thread of talk that is answered.
    pub thread: String,
    /// The checklist as it is to be written; none where it is to stay.
    pub checklist: Option<String>,
    /// The first word to the owner, said before anything else is done and beside it.
    pub greeting: Option<Value>,
    /// This thought found nothing to say and nothing to do.
    pub idle: bool,
    says: Vec<String>,
    intent: String,
    calls: Vec<ToolCall>,
}

impl<'a> Turn<'a> {
    pub fn new(moment: &'a Moment, pace: Pace, state: &'a mut State) -> Self {
        let now = moment.now.parse::<Timestamp>().ok();
        let date = now.map(|now| zone(moment).to_datetime(now).strftime("%Y-%m-%d %H:%M").to_string());
        Turn {
            moment,
            pace,
            now_s: now.map_or(0, |now| now.as_second()),
            date: date.unwrap_or_else(|| "undated".to_owned()),
            state,
            thread: moment.thread.clone(),
            checklist: None,
            greeting: None,
            idle: false,
            says: Vec::new(),
            intent: String::new(),
            calls: Vec::new(),
        }
    }

    pub fn say(&mut self, sentence: impl Into<String>) {
        self.says.push(sentence.into());
    }

    /// Sets the intent unless there is one: drives come in order of rank.
    pub fn intend(&mut self, intent: impl Into<String>) {
        if self.intent.is_empty() {
            self.intent = intent.into();
        }
    }

    /// Intends something and says it.
    pub fn does(&mut self, intent: impl Into<String>, sentence: impl Into<String>) {
        self.intend(intent);
        self.say(sentence);
    }

    /// The tools called so far.
    pub fn tools(&self) -> impl Iterator<Item = &str> {
        self.calls.iter().map(|call| call.tool.as_str())
    }

    pub fn call(&mut self, tool: &str, args: Value) {
        let Value::Object(args) = args else { return };
        let tool = tool.to_owned();
        self.calls.push(ToolCall { tool, args, ..ToolCall::default() });
    }

    /// Makes a call whose result is read in the next round.
    pub fn ask(&mut self, origin: Origin, tool: &str, args: Value, about: &str) {
        let job = self.job(origin, tool, &args, about);
        self.state.jobs.push(job);
        self.call(tool, args);
    }

    /// The job by which the result of a call made now is found.
    pub fn job(&self, origin: Origin, tool: &str, args: &Value, about: &str) -> Job {
        Job {
            origin,
            tool: tool.to_owned(),
            args: hash(&args.to_string()),
            about: about.to_owned(),
            asked_at: self.moment.now.clone(),
            thread: self.thread.clone(),
        }
    }

    pub fn now(&self) -> Timestamp {
        Timestamp::from_second(self.now_s).unwrap_or_default()
    }

    /// The owner's time zone.
    pub fn zone(&self) -> TimeZone {
        zone(self.moment)
    }

    /// The day of the owner's calendar.
    pub fn today(&self) -> Date {
        self.zone().to_datetime(self.now()).date()
    }

    /// Returns the sources that the purpose and the checklist name to be followed.
    pub fn followed(&self) -> Vec<Named> {
        checklist::named(&self.moment.purpose, &self.moment.checklist)
    }

    /// Notes that this was made for the owner: `cancel that` takes it back.
    pub fn made(&mut self, kind: &str, what: &str) {
        self.state.last = Some(Made { kind: kind.to_owned(), what: what.to_owned(), at_s: self.now_s });
    }

    /// Counts how many more calls fit into this thought.
    pub fn room(&self) -> usize {
        MOST_CALLS.saturating_sub(self.calls.len())
    }

    /// Whether nothing was said and nothing is to be done yet.
    pub fn is_empty(&self) -> bool {
        self.says.is_empty() && !self.acts()
    }

    /// Answers the owner on the thread at hand, by a record of memory that the feed shows.
    pub fn tell_owner(&mut self, text: &str) {
        let thread = self.thread.clone();
        self.tell(text, &thread);
    }

    /// Answers the owner on `thread`, whichever is worked on now.
    pub fn tell(&mut self, text: &str, thread: &str) {
        let text = match std::mem::take(&mut self.state.notice) {
            notice if notice.is_empty() => text.to_owned(),
            notice => format!("{notice}\n{text}"),
        };
        let data = json!({"from": "creature", "text": text, "at": self.moment.now, "thread": thread});
        self.call("memory.append", json!({"kind": "message", "data": data}));
    }

    /// Counts the answers of this thought on a thread, and the calls for it whose results are still to come.
    pub fn known_on(&self, thread: &str) -> usize {
        let tells =
            |call: &&ToolCall| call.args.get("data").is_some_and(|data| word(data, "thread") == thread);
        let waits = self.state.jobs.iter().filter(|job| job.thread == thread);
        self.calls.iter().filter(tells).count() + waits.count()
    }

    pub fn diary(&mut self, text: &str) {
        let (life, commit) = (self.moment.life, self.commit());
        let text = format!("\n## {}, life {life}, commit {commit}\n\n{text}\n", self.date);
        self.call("notes.append", json!({"name": "diary", "text": text}));
    }

    /// Says what was learned and keeps it in the diary.
    pub fn learn(&mut self, intent: &str, told: &str) {
        self.does(intent, format!("{told}."));
        self.diary(&format!("- {told}."));
    }

    /// The first seven digits of the commit this life runs.
    pub fn commit(&self) -> &'a str {
        let commit = &self.moment.commit;
        commit.get(..7).unwrap_or(commit)
    }

    /// True when a call is to be made or the checklist to be written.
    pub fn acts(&self) -> bool {
        !self.calls.is_empty() || self.checklist.is_some()
    }

    /// Whether fewer than two more calls fit into this thought.
    pub fn is_nearly_full(&self) -> bool {
        self.room() < 2
    }

    /// The result of a call made earlier, by the records; none where there is none.
    pub fn result(&self, job: &Job) -> Option<&'a Value> {
        let time = |at: &str| at.parse::<Timestamp>().ok();
        let asked = time(&job.asked_at);
        let found = self.moment.records.iter().rev().find(|record| {
            // Long arguments are recorded shortened, and match any.
            let args = |args: &Value| args.get("shortened").is_some() || hash(&args.to_string()) == job.args;
            record.kind == "action"
                && record.data.get("tool").and_then(Value::as_str) == Some(&job.tool)
                && record.data.get("args").is_some_and(args)
                && time(&record.at) >= asked
        });
        found.and_then(|record| record.data.get("result"))
    }

    /// Lists the times at which messages of this kind were sent, by the newest records, the last first.
    pub fn messages(&self, kind: &str) -> impl Iterator<Item = Timestamp> {
        let all = self.moment.records.iter().rev().filter(|record| record.kind == "message");
        let mine = all.filter(move |record| record.data.get("kind").and_then(Value::as_str) == Some(kind));
        mine.filter_map(|record| record.at.parse().ok())
    }

    /// Leaves only what may be done here: talking in safe mode, nothing outward in a rehearsal.
    fn confine(&mut self) {
        let (safe, before) = (self.moment.safe, self.calls.len());
        if !safe && !self.moment.rehearsal {
            return;
        }
        self.calls.retain(|call| {
            let talks = matches!(call.tool.as_str(), "memory.append" | "notes.append");
            talks || (!safe && call.tool.starts_with("notes."))
        });
        let why = if safe { "safe mode" } else { "a rehearsal" };
        let left_out = before - self.calls.len();
        self.say(format!("This is {why}: {left_out} calls left out."));
    }

    /// The thought, with `rest_s` where no other round follows.
    pub fn into_thought(mut self, rest_s: u64) -> Thought {
        if let Some(text) = self.checklist.take() {
            self.call("notes.write", json!({"name": "heartbeat", "text": text}));
        }
        if let Some(Value::Object(args)) = self.greeting.take() {
            let tool = "owner.message".to_owned();
            self.calls.insert(0, ToolCall { tool, args, ..ToolCall::default() });
        }
        self.confine();
        self.calls.truncate(MOST_CALLS);
        let again = !self.calls.is_empty() && self.moment.round < LAST_ROUND;
        let said = format!("instinct: {}", self.says.join(" "));
        self.intend("rest");
        Thought {
            monologue: clip(&said, LONGEST_MONOLOGUE),
            intent: clip(&self.intent, 200),
            tool_calls: self.calls,
            sleep_s: if again { 0 } else { rest_s },
            said: true,
            idle: self.idle,
            ..Thought::default()
        }
    }
}

fn zone(moment: &Moment) -> TimeZone {
    moment.time_zone.clone().unwrap_or(TimeZone::UTC)
}
