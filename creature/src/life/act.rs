//! Acts: runs the calls of a thought, notices what is repeated, and remembers what came of each.

mod beside;
mod jobs;

use crate::fault::Fault;
use crate::heartbeat::Stage;
use crate::life::carried::Reasons;
use crate::life::wake::events;
use crate::life::{Leaving, Life};
use crate::store::caller::Caller;
use crate::store::feed::Event;
use crate::tools::catalogue;
use crate::tools::marks::Changes;
use crate::tools::{CallOutcome, ToolContext};
use ground::checklist;
use ground::papers::{self, Paper};
use ground::text;
use mind::thought::ToolCall;
use serde_json::{Value, json};
use std::time::Duration;

/// Characters of arguments that stay in a record.
pub(crate) const MOST_ARGS: usize = 4_000;

/// The calls of one thought.
pub(crate) struct Turn<'a> {
    /// The thought's number.
    pub number: u64,
    pub caller: &'a Caller,
    /// Reasons the wake thinks for.
    pub reasons: &'a Reasons,
}

impl Life {
    /// Runs one call and remembers what came of it; true when the life is to end.
    pub(crate) async fn act(
        &mut self,
        call: &ToolCall,
        turn: &Turn<'_>,
        leaving: &mut impl Leaving,
    ) -> Result<bool, Fault> {
        let caller = turn.caller;
        self.heart.stage(Stage::Acting, patience(&call.tool));
        // The same answer to another word of the owner's is no repeat.
        let speaks = answers(call) && (caller.owner || self.minds.are_instinct());
        let blocked = self.acts.repeats.blocked(&key(call), self.told.clock.now());
        if let Some(why) = blocked.filter(|_| !speaks) {
            let why = format!("{} was not run: {why}", call.tool);
            let hint = "do something else; if it matters, note why it does not work";
            self.acted(call, turn, CallOutcome::failed(why, hint))?;
            return Ok(false);
        }
        if let Some(why) = &call.refused {
            self.acted(call, turn, CallOutcome::failed(why, "nothing of it was done"))?;
            return Ok(false);
        }
        if let Some(talk) = self.minds.now.talk() {
            talk.began(&call.id);
        }
        if catalogue::marks(&call.tool).is_some_and(|marks| marks.ends) {
            self.toolbox.rests = self.rest_ends(caller);
        }
        let own = self.knows_checklist(call);
        let done = self.called(call, turn, leaving).await?;
        let left = done.is_none();
        let done = done.unwrap_or_else(|| {
            let why = format!("{} was stopped: this life was asked to leave", call.tool);
            CallOutcome::failed(why, "try again in the next life")
        });
        self.knew_checklist(own);
        if call.tool == "purpose.rewrite" && done.result.get("ok") == Some(&Value::Bool(true)) {
            // Its own change is no news to it.
            self.cursors.papers.purpose = papers::read(&self.told.house.purpose()).mark();
        }
        let done = self.noted(call, done);
        self.counted(call, caller, &done.result);
        self.acts.progress |= works(call) && done.result.get("ok") == Some(&Value::Bool(true));
        self.acted(call, turn, done)?;
        Ok(left)
    }

    /// Makes one call; none where the life was asked to leave meanwhile.
    pub(crate) async fn called(
        &mut self,
        call: &ToolCall,
        turn: &Turn<'_>,
        leaving: &mut impl Leaving,
    ) -> Result<Option<CallOutcome>, Fault> {
        if self.is_long(call) {
            return self.beside(call, turn, leaving).await;
        }
        let facts = self.facts();
        let (belt, store, caller) = (&mut self.toolbox, &mut self.store, turn.caller.clone());
        let mut tools = ToolContext { belt, store, caller, facts };
        let calling = CallOutcome::guarded(&call.tool, tools.call(call));
        Ok(tokio::select! {
            biased;
            () = leaving.asked() => None,
            done = self.watch.own_act(calling) => Some(done),
        })
    }

    /// The checklist as it is, where this call may change it and a thought was shown it in this state.
    pub(crate) fn knows_checklist(&self, call: &ToolCall) -> Option<Paper> {
        let writes = || Value::Object(call.args.clone()).to_string().contains("HEARTBEAT.md");
        if changes(call) != Changes::Papers && !writes() {
            return None;
        }
        let paper = papers::read(&self.told.house.checklist());
        [&self.cursors.papers.checklist, &self.papers.checklist].contains(&&paper.mark()).then_some(paper)
    }

    /// Takes the creature's own change of a checklist it knew (`before`) for known; a recurring line it wrote is
    /// due after its span, not at once.
    pub(crate) fn knew_checklist(&mut self, before: Option<Paper>) {
        let Some(before) = before else { return };
        let after = papers::read(&self.told.house.checklist());
        if after == before {
            return;
        }
        self.cursors.papers.checklist = after.mark();
        let (known, now_s) = (checklist::items(&before.text), self.told.clock.now().as_second());
        for item in checklist::items(&after.text).into_iter().filter(|item| !known.contains(item)) {
            let Some(every_s) = item.every_s else { continue };
            self.cursors.papers.items.entry(item.line).or_insert(now_s.saturating_add(every_s));
        }
    }

    /// The result, with a warning where the same call came to the same too often.
    fn noted(&mut self, call: &ToolCall, mut done: CallOutcome) -> CallOutcome {
        let mut same = done.result.clone();
        if let Value::Object(fields) = &mut same {
            fields.shift_remove("took_ms");
        }
        let now = self.told.clock.now();
        let warning = match catalogue::marks(&call.tool).is_some_and(|marks| marks.ends) {
            true => None,
            false => {
                self.acts.repeats.note(&key(call), &same.to_string(), changes(call) == Changes::House, now)
            }
        };
        if let (Some(warning), Value::Object(fields)) = (warning, &mut done.result) {
            done.shown += &format!("\nwarning: {warning}");
            fields.insert("warning".to_owned(), json!(warning));
        }
        done
    }

    /// Remembers what came of a call.
    pub(crate) fn acted(&mut self, call: &ToolCall, turn: &Turn<'_>, done: CallOutcome) -> Result<(), Fault> {
        let Turn { number, caller, .. } = *turn;
        self.heart.stage(Stage::Remembering, Duration::from_secs(60));
        let CallOutcome { result, shown, usage } = done;
        let ok = result.get("ok") == Some(&Value::Bool(true));
        // Instinct in the mind's place answers other words than those that wait for the mind.
        if ok && answers(call) && !self.toolbox.stands_in {
            // Instinct answers several threads in one thought, and names them.
            let named = call.args.get("data").and_then(|data| data.get("thread")).and_then(Value::as_str);
            let thread = named.unwrap_or(&caller.thread);
            self.cursors.owner.answered(thread);
        }
        if ok && changes(call) == Changes::Memory {
            self.cursors.counts.summed_up();
        }
        if !ok {
            let error = result.get("error").and_then(Value::as_str).unwrap_or("no reason given");
            tracing::warn!("{} failed: {}", call.tool, text::shorten(error, 300));
        }
        self.acts.last = events::summary(call, &result);
        self.store.feed.tell(
            Event::Action,
            json!({
                "thought": number, "tool": call.tool, "args": args(call, 300), "ok": ok,
                "summary": self.acts.last,
            }),
        );
        // An answer is in memory already, as a message.
        if !(ok && answers(call)) {
            let mut record = json!({
                "thought": number, "tool": call.tool, "args": args(call, MOST_ARGS), "result": result,
                "owner": caller.owner,
            });
            if let Some(usage) = usage {
                if let Value::Object(fields) = &mut record {
                    fields.insert("usage".to_owned(), usage);
                }
                self.paid_for_look(&record, !caller.owner);
            }
            self.store.record("action", record)?;
        }
        if let Some(talk) = self.minds.now.talk() {
            talk.done(&call.id, &shown, !ok);
        }
        Ok(())
    }
}

/// Whether a call answers the owner.
fn answers(call: &ToolCall) -> bool {
    let kind = call.args.get("kind").and_then(Value::as_str).unwrap_or_default();
    catalogue::marks(&call.tool).is_some_and(|marks| marks.answers.contains(&kind))
}

/// Whether a call does more than look or talk.
fn works(call: &ToolCall) -> bool {
    let marks = catalogue::marks(&call.tool);
    let works = |marks: &crate::tools::marks::Marks| {
        let leaves = marks.product.is_some() || marks.changes != Changes::Nothing;
        (leaves || marks.is_slow || marks.spawns) && marks.answers.is_empty()
    };
    marks.is_some_and(works)
}

/// A call as it is compared with others.
fn key(call: &ToolCall) -> String {
    format!("{} {}", call.tool, Value::Object(call.args.clone()))
}

/// Returns what a call may change, by the marks of its tool.
fn changes(call: &ToolCall) -> Changes {
    catalogue::marks(&call.tool).map_or(Changes::Nothing, |marks| marks.changes)
}

/// Arguments as they are remembered: as they are, or as text shortened to `most` characters, with their bytes.
pub(crate) fn args(call: &ToolCall, most: usize) -> Value {
    let text = Value::Object(call.args.clone()).to_string();
    if text.chars().count() <= most {
        return Value::Object(call.args.clone());
    }
    json!({"shortened": text::shorten(&text, most), "bytes": text.len()})
}

/// Returns how long a call may take before the loop counts as hung; tools keep tighter deadlines themselves.
pub(crate) fn patience(tool: &str) -> Duration {
    let minutes = if catalogue::marks(tool).is_some_and(|marks| marks.is_slow) { 45 } else { 5 };
    Duration::from_secs(minutes * 60)
}
