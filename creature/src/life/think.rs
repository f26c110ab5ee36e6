//! Thinks: a thought is remembered before what it says is done, and so is one that failed.

use crate::clock::hour;
use crate::fault::Fault;
use crate::life::act::args;
use crate::life::passed::{Rest, Sensed, Shown};
use crate::life::{Life, own};
use crate::store::caller::Caller;
use crate::store::feed::Event;
use agenda::Change;
use agenda::requests::RequestChange;
use agenda::stack::Category;
use agenda::standing::Standing;
use ground::{checklist, text};
use mind::thought::Thought;
use mind::{Down, Why};
use serde_json::{Value, json};
use std::time::Duration;

/// Characters of a monologue that stay in a record.
const MOST_MONOLOGUE: usize = 8_000;

/// Characters of an error that go into an event, and that are remembered.
const MOST_CHARS: usize = 300;
const MOST_ERROR: usize = 1_000;

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

    /// Writes a snapshot where enough thoughts were had since the last, never in safe mode; a failure is observed and
    /// survived.
    pub(super) fn keep_snapshot_if_due(&mut self) -> Result<(), Fault> {
        let due = self.settings.own.number("thoughts_between_snapshots");
        let since = self.cursors.counts.thoughts.saturating_sub(self.cursors.counts.snapshot_at);
        if self.told.safe || since < due {
            return Ok(());
        }
        self.cursors.counts.summed_up();
        let facts = self.facts();
        match self.store.keep_snapshot(&facts, None) {
            Ok(_) => Ok(()),
            Err(fault) => self.store.observe("snapshot", &fault.error),
        }
    }

    /// Remembers a reply that could not be read, and rests for it.
    pub(crate) fn garbled(
        &mut self,
        error: &str,
        text: &str,
        usage: &Value,
        owner: bool,
    ) -> Result<Rest, Fault> {
        let error = text::shorten(error, MOST_CHARS);
        tracing::warn!("garbled reply: {error}");
        let rest_s = self.access.garbled(&error, self.told.clock.now());
        let recovery = format!("it is asked again in {rest_s} s");
        self.store
            .feed
            .tell(Event::Error, json!({"about": "garbled reply", "text": error, "recovery": recovery}));
        let (mind, number) = (self.minds.now.name(), self.cursors.counts.next_thought());
        self.store.record(
            "thought",
            json!({
                "mind": mind, "thought": number, "garbled": true, "error": error,
                "text": text::shorten(text, 4_000), "usage": usage, "owner": owner,
            }),
        )?;
        self.unfinished.failed();
        Ok(Rest { lasts: self.clamped(rest_s), setback: true, ..Rest::default() })
    }

    /// Leaves a mind that is down alone for a while, and tells of it once.
    pub(crate) fn down(&mut self, down: &Down, owner: bool) -> Result<Rest, Fault> {
        self.unfinished.failed();
        if down.why == Why::Budget && !owner {
            return self.spent(down);
        }
        let (rest_s, until, tell) = self.access.down(down, self.told.clock.now());
        if tell {
            self.tell_of_down(down, rest_s)?;
        }
        tracing::warn!(
            "the mind is down, next try in {rest_s} s: {}",
            text::shorten(&down.error, MOST_CHARS)
        );
        self.heart.next_try(Some(format!("{until:.0}")));
        Ok(Rest { lasts: Duration::from_secs(rest_s), setback: true, ..Rest::default() })
    }

    /// Takes a refusal of a call of its own for want of money: it asks again when there is room, after an hour at most.
    /// That is told once, and is no failure of the model.
    pub(crate) fn spent(&mut self, down: &Down) -> Result<Rest, Fault> {
        let now = self.told.clock.now();
        let (rest_s, until, is_new) = self.access.spent(down, now);
        tracing::info!("its own money is spent; it asks again in {rest_s} s");
        if is_new {
            let text = format!("its own money is spent: {}", text::shorten(&down.error, MOST_ERROR));
            let again = hour(until, now, &self.store.rules.time_zone);
            self.tell_of_error("budget", text, format!("it asks again at {again}"), down, rest_s)?;
        }
        self.heart.spent(format!("{until:.0}"));
        Ok(Rest { lasts: Duration::from_secs(rest_s), setback: true, ..Rest::default() })
    }

    fn tell_of_down(&mut self, down: &Down, rest_s: u64) -> Result<(), Fault> {
        let error = text::shorten(&down.error, MOST_ERROR);
        let (about, text) = match down.why {
            Why::Budget => ("budget", format!("the money is spent: {error}")),
            _ => ("model", format!("{} is down: {error}", self.minds.now.name())),
        };
        let recovery = format!("it is asked again in {rest_s} s, or at a word of the owner's");
        self.tell_of_error(about, text, recovery, down, rest_s)
    }

    /// Tells feed and memory why the mind is not asked for so long.
    fn tell_of_error(
        &mut self,
        about: &str,
        text: String,
        recovery: String,
        down: &Down,
        rest_s: u64,
    ) -> Result<(), Fault> {
        self.store.feed.tell(Event::Error, json!({"about": about, "text": text, "recovery": recovery}));
        self.store
            .record("observation", json!({"about": about, "text": text, "hint": down.hint, "rest_s": rest_s}))
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
