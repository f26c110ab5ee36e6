//! `owner.message`, and the delivery of what goes to the owner unasked, when there is reason and room for it.
//!
//! Invariant: a message is remembered under its id before it is struck off the outbox: a death between the two
//! neither loses nor repeats it.

use super::arguments::Arguments;
use super::tool_context::{ToolContext, with};
use crate::examine::examine;
use crate::fault::Fault;
use crate::store::caller::Caller;
use crate::store::{Store, TOLD_BACK};
use agenda::Change;
use agenda::outbox::{Delivery, Kind, OutboxChange, Week};
use agenda::reminder::Schedule;
use agenda::requests::{RequestChange, Wait};
use agenda::span;
use ground::text::shorten;
use jiff::{SignedDuration, Timestamp};
use memory::Record;
use mind::moment::Word;
use serde_json::{Value, json};

/// Time after an answer for which the owner is still listening.
const LISTENING: SignedDuration = SignedDuration::from_hours(1);

pub fn message(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    // A message without a kind is an answer to the owner; a thought of its own says to which request.
    let unnamed = args.maybe_text("kind").is_none() && args.maybe_text("request").is_none();
    if unnamed && !tools.caller.owner {
        let open: Vec<&str> = tools.store.agenda.requests.open().map(|one| one.id.as_str()).collect();
        let hint = format!(
            "give it a kind (asked_for, revenue, approval, milestone, broken, weekly_summary), or as `request` the one it \
             answers ({})",
            if open.is_empty() { "none is open".to_owned() } else { open.join(", ") }
        );
        return Err(Fault::new("a thought of your own does not say what this message is", hint));
    }
    let kind = args.maybe_text("kind").map_or(Kind::Answer, Kind::named);
    let text = args.text("text");
    if kind == Kind::Answer {
        return answered(tools, args, text);
    }
    let said = tools.change(&Change::Outbox(OutboxChange::Say { kind, text: text.to_owned() }))?;
    Ok(with(said, json!({"delivered": tools.store.deliver(&tools.caller)?})))
}

/// An answer as `owner.message` gives it: what it is for, whether that was all, and what the request waits for.
fn answered(tools: &mut ToolContext<'_>, args: &Arguments, text: &str) -> Result<Value, Fault> {
    let (now, zone) = (tools.store.clock.now(), tools.store.rules.time_zone.clone());
    let until = match args.said("until") {
        None => None,
        Some(said) => match Schedule::read(said, now, &zone).and_then(|when| when.next(now, &zone)) {
            None => return Err(args.fault("takes a time as `until`, as in 2026-12-01 09:00 or in 20 min")),
            at => at,
        },
    };
    let what = args.said("waits_for");
    let wait = match (what, until) {
        (None, None) => None,
        (what, until) => Some(Wait::new(what.unwrap_or("the time"), until, now)),
    };
    let done = args.maybe_flag("done").or(wait.as_ref().map(|_| false));
    if wait.is_some() && done == Some(true) {
        return Err(args.fault("waits for nothing where `done` is true"));
    }
    let id = args.said("request").map(str::to_owned);
    let open = || tools.store.agenda.requests.open();
    let data = match &id {
        None => json!({"text": text}),
        // Refused before the owner hears it: what is sent once more is heard twice.
        Some(id) => match open().find(|one| one.id == *id) {
            Some(one) => json!({"text": text, "thread": one.thread}),
            None => {
                let open: Vec<&str> = open().map(|one| one.id.as_str()).collect();
                let hint = format!(
                    "open: {}; without `request` it answers the words that wait",
                    if open.is_empty() { "none".to_owned() } else { open.join(", ") }
                );
                return Err(Fault::new(format!("{} is no open request", shorten(id, 80)), hint));
            }
        },
    };
    answer(tools, data, Answer { done, id, wait })
}

/// Answer to the owner, as it bears on the request it is for.
#[derive(Default)]
pub struct Answer {
    /// Whether that was all.
    pub done: Option<bool>,
    /// The request; none where the thread says it.
    pub id: Option<String>,
    pub wait: Option<Wait>,
}

/// Answers the owner's words on the thread `data` names, else on the caller's. Refused where it says nothing, or where no
/// words of the owner's wait for an answer.
pub fn answer(tools: &mut ToolContext<'_>, mut data: Value, answer: Answer) -> Result<Value, Fault> {
    let said = data.get("text").and_then(Value::as_str).unwrap_or_default().trim().to_owned();
    if said.is_empty() {
        let hint = "say what came of it in `text`, or name the result";
        return Err(Fault::new("an answer without words was not sent", hint));
    }
    let thread = match data.get("thread").and_then(Value::as_str).filter(|thread| !thread.is_empty()) {
        Some(thread) => thread.chars().take(64).collect(),
        None => tools.caller.thread.clone(),
    };
    let open = tools.store.agenda.requests.open().any(|one| one.thread == thread);
    let asked = tools.caller.owner && thread == tools.caller.thread;
    if !asked && !open && !tools.store.listening(&thread) {
        let error = format!("no words of your owner's wait for an answer on `{thread}`");
        let hint = "owner.message with a kind (asked_for, revenue, approval, milestone, broken, weekly_summary) tells what matters; \
            keep the rest in memory or notes";
        return Err(Fault::new(error, hint));
    }
    if let Value::Object(fields) = &mut data {
        // A mind cannot make this a message of the owner's: those come from the inbox alone.
        fields.shift_remove("about");
        fields.insert("from".to_owned(), json!("creature"));
        fields.insert("kind".to_owned(), json!("answer"));
        fields.insert("thread".to_owned(), json!(thread));
        fields.entry("at").or_insert_with(|| json!(tools.store.clock.text()));
        if answer.done == Some(false) {
            fields.insert("done".to_owned(), json!(false));
        }
    }
    tools.store.record("message", data)?;
    let result = json!({"kind": "message"});
    // Instinct in a mind's place answers other words than those that wait for the mind.
    if open && !tools.caller.stands_in {
        let (caller, Answer { done, id, wait }) = (tools.caller.clone().on(&thread), answer);
        let said = shorten(&said, 300);
        let told = tools
            .store
            .change(&caller, &Change::Request(RequestChange::Answered { done, id, said, wait }))?;
        let still = told.get("open").filter(|open| open.as_array().is_some_and(|open| !open.is_empty()));
        return Ok(with(result, json!({"still_open": still})));
    }
    Ok(result)
}

impl Store {
    /// Sums up the week when it is over, and sends what may go out now; how many messages went.
    pub fn post(&mut self, caller: &Caller) -> Result<usize, Fault> {
        match self.agenda.outbox.week(self.clock.now()) {
            Week::Running => {}
            Week::Unbegun => drop(self.change(caller, &Change::Outbox(OutboxChange::WeekBegan))?),
            Week::Over => self.sum_up(caller)?,
        }
        self.deliver(caller)
    }

    /// Sends what the outbox gives out.
    fn deliver(&mut self, caller: &Caller) -> Result<usize, Fault> {
        let mut due = self.due();
        if due.is_empty() {
            return Ok(0);
        }
        // A life may have ended after it recorded these messages and before it struck them off.
        let told: Vec<String> = self.messages().iter().flat_map(|record| ids(&record.data)).collect();
        let again: Vec<String> =
            due.iter().flat_map(|due| &due.ids).filter(|id| told.contains(id)).cloned().collect();
        if !again.is_empty() {
            self.change(caller, &Change::Outbox(OutboxChange::Delivered { ids: again }))?;
            due = self.due();
        }
        for Delivery { ids, kind, text, thread } in &due {
            let (kind, at) = (kind.name(), self.clock.text());
            let said = json!({"from": "creature", "kind": kind, "text": text, "thread": thread, "ids": ids, "at": at});
            self.record("message", said)?;
            self.change(caller, &Change::Outbox(OutboxChange::Delivered { ids: ids.clone() }))?;
        }
        Ok(due.len())
    }

    fn due(&self) -> Vec<Delivery> {
        let agenda = &self.agenda;
        agenda.outbox.due(&agenda.directives, &self.rules, self.clock.now())
    }

    fn sum_up(&mut self, caller: &Caller) -> Result<(), Fault> {
        let (now, zone) = (self.clock.now(), &self.rules.time_zone);
        let did = span::read("1w", now, zone).map(|week| examine(&self.house, &self.agenda, week, zone));
        let did = match did {
            Some(Err(fault)) => format!("What I did cannot be told: {}.", fault.error),
            did => did.and_then(Result::ok).map_or(String::new(), |week| week.sentences(zone)),
        };
        let text = super::weekly::text(&self.agenda, &did, now);
        let said = Change::Outbox(OutboxChange::Say { kind: Kind::WeeklySummary, text });
        if let Err(refused) = self.change(&caller.clone().on("main"), &said) {
            tracing::warn!("failed to sum up the week: {}", refused.error);
            self.change(caller, &Change::Outbox(OutboxChange::WeekBegan))?;
        }
        Ok(())
    }

    /// Whether the owner waits for an answer on this thread, or had one within the hour.
    fn listening(&self, thread: &str) -> bool {
        let messages = self.messages();
        let mine = |record: &&Record| thread_of(&record.data) == thread;
        let said = |record: &Record, key: &str, what: &str| {
            record.data.get(key).and_then(Value::as_str) == Some(what)
        };
        let mut after = None;
        for record in messages.iter().rev().filter(mine) {
            if said(record, "from", "owner") {
                let answered: Option<Timestamp> = after.and_then(|record: &Record| record.at.parse().ok());
                return answered.is_none_or(|at| self.clock.now().duration_since(at) <= LISTENING);
            }
            // Records of an older self have no kind: all its messages but reminders were answers.
            let unkind = record.data.get("kind").is_none() && record.data.get("reminder").is_none();
            if unkind || said(record, "kind", "answer") {
                after = Some(record);
            }
        }
        false
    }
    /// The last message on a word's thread, if it asked for a yes and was sent before the word; else empty.
    pub(crate) fn asked_last(&self, word: &Word) -> String {
        let messages = self.messages();
        let mine = |record: &&Record| {
            thread_of(&record.data) == word.thread && record.data.get("from") == Some(&json!("creature"))
        };
        let Some(last) = messages.iter().rfind(mine) else { return String::new() };
        let (told, said) = (last.at.parse::<Timestamp>(), word.at.parse::<Timestamp>());
        let after = told.is_ok_and(|told| said.is_ok_and(|said| told < said));
        let asked = last.data.get("kind") == Some(&json!(Kind::Approval.name()));
        let text = last.data.get("text").and_then(Value::as_str).filter(|_| after && asked);
        text.unwrap_or_default().to_owned()
    }

    /// The latest messages from and to the owner, oldest first.
    fn messages(&self) -> Vec<Record> {
        let records = self.newest(TOLD_BACK);
        records.into_iter().filter(|record| record.kind == "message").collect()
    }
}

fn thread_of(data: &Value) -> &str {
    data.get("thread").and_then(Value::as_str).unwrap_or("main")
}

fn ids(data: &Value) -> Vec<String> {
    data.get("ids").and_then(|ids| serde_json::from_value(ids.clone()).ok()).unwrap_or_default()
}
