//! Thinks: a thought is remembered before what it says is done, and so is one that failed.

mod failed;

use crate::fault::Fault;
use crate::life::{Life, own};
use crate::life::act::args;
use crate::life::sense::{Sensed, Shown};
use crate::store::caller::Caller;
use agenda::Change;
use agenda::requests::RequestChange;
use agenda::stack::Category;
use agenda::standing::Standing;
use ground::{checklist, text};
use mind::thought::Thought;
use serde_json::{Value, json};

/// Characters of a monologue that stay in a record.
const MOST_MONOLOGUE: usize = 8_000;

impl Life {
    /// Whether this thought leaves no record: a look of instinct's that is unrecorded and found nothing, or the end of a
    /// wake's work without a word.
    pub(super) fn is_unrecorded(&self, thought: &Thought, sensed: &Sensed) -> bool {
        let told = sensed.reasons.unrecorded || sensed.round > 0;
        told && thought.idle && self.born.is_proven() && self.cursors.owner.words.is_empty()
    }

    /// Remembers a thought, marks what it was shown as seen, and returns its number.
    pub(super) fn remembered(
        &mut self,
        sensed: Sensed,
        thought: &Thought,
        usage: Value,
    ) -> Result<u64, Fault> {
        let caller = &sensed.caller;
        let number = self.cursors.counts.next_thought();
        let calls: Vec<Value> = thought
            .tool_calls
            .iter()
            .map(|call| json!({"tool": call.tool, "args": args(call, 400)}))
            .collect();
        tracing::info!("thought {number}: {}", text::shorten(&thought.intent, 200));
        let state = sensed.moment.standing.filter(|_| sensed.round == 0);
        let mut record = json!({
            "mind": self.minds.now.name(), "thought": number, "wake": self.cursors.counts.wakes, "round": sensed.round,
            "monologue": text::shorten(&thought.monologue, MOST_MONOLOGUE),
            "intent": text::shorten(&thought.intent, MOST_MONOLOGUE),
            "tool_calls": calls, "sleep_s": thought.sleep_s, "usage": usage,
            "owner": caller.owner,
        });
        if let (Value::Object(fields), Some(state)) = (&mut record, state) {
            fields.insert("state".to_owned(), kept(state));
        }
        if !caller.owner {
            if !own::is_apart(&self.store) {
                self.own.paid(&record);
            }
            if self.minds.can_read() {
                self.own.asked_for(&mut self.store, &sensed.reasons.why);
            }
        }
        if let Some(id) = sensed.request.filter(|_| caller.owner) {
            self.store.made(caller, &Change::Request(RequestChange::Taken { id }));
        }
        self.store.record("thought", record)?;
        self.cursors.counts.thoughts = number;
        self.heart.thought();
        self.seen(sensed.shown, caller);
        self.cursors.owner.shown(&caller.thread);
        let over = self.access.answered(caller.owner);
        match self.access.spent_until(self.told.clock.now()) {
            Some(until) => self.heart.spent(format!("{until:.0}")),
            None => self.heart.next_try(None),
        }
        if let Some(was_spent) = over {
            let (about, text) = match was_spent {
                true => ("budget", "there is money again".to_owned()),
                false => ("model", format!("{} answers again", self.minds.now.name())),
            };
            self.store.record("observation", json!({"about": about, "text": text}))?;
        }
        // Saved before acting: a tool that kills this life must not make the next one hear of old deaths.
        self.save()?;
        Ok(number)
    }

    /// Notes that a thought was completed: what it was shown is not told again. After one that answers
    /// the owner all else is still to be told.
    pub(super) fn seen(&mut self, shown: Shown, caller: &Caller) {
        let now = self.told.clock.now();
        self.access.thought();
        self.born.thought(now);
        if caller.owner {
            self.unfinished.had_jobs(&caller.thread);
            return;
        }
        self.papers.purpose_changed = false;
        self.papers.draft_seen = Some(now);
        self.cursors.events.take_news(&shown.events);
        self.cursors.papers.checklist = std::mem::take(&mut self.papers.checklist);
        match shown.line {
            Some(line) if line.category == Category::Own => {
                if let Some(kind) = self.own.began(&mut self.store, &line.id) {
                    self.scanned.given(kind, &self.told.house.scanned());
                }
            }
            Some(line) => _ = self.store.made(&self.caller, &line.looked()),
            None => {}
        }
        let now_s = self.told.clock.now().as_second();
        let items = checklist::open(&self.checklist().text, self.minds.can_read());
        self.cursors.papers.items.retain(|line, _| items.iter().any(|item| item.line == *line));
        for item in items {
            let Some(every_s) = item.every_s else { continue };
            let next_s = self.cursors.papers.items.entry(item.line).or_insert(now_s);
            if *next_s <= now_s {
                *next_s = now_s.saturating_add(every_s);
            }
        }
    }
}

/// The state as it is kept with a thought: without the text, which the conversation has.
fn kept(state: Standing) -> Value {
    let mut kept = json!(state);
    if let Value::Object(fields) = &mut kept {
        fields.shift_remove("text");
    }
    kept
}
