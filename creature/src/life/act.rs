//! Acts: what a call may do and change, a call begun beside the life, and what of it is noted and remembered.

use crate::digest::Facts;
use crate::fault::Fault;
use crate::jobs::Job;
use crate::life::passed::Reasons;
use crate::paths::House;
use crate::senses::cursors::KnownPapers;
use crate::store::Store;
use crate::store::caller::Caller;
use crate::tools::marks::{Changes, Mark, Marks};
use crate::tools::tool_context::with;
use crate::tools::{CallOutcome, ToolContext, Toolbox, catalogue};
use agenda::repeat::Repeats;
use ground::checklist;
use ground::papers::{self, Paper};
use ground::text::{self, shorten};
use jiff::Timestamp;
use mind::thought::ToolCall;
use serde_json::{Value, json};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// Characters of arguments that stay in a record, and of an act's summary.
pub(crate) const MOST_ARGS: usize = 4_000;
const MOST_SUMMARY: usize = 160;

/// A call that runs as a job.
pub(crate) type Running = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The calls of one thought.
pub(crate) struct Turn<'a> {
    /// The thought's number.
    pub number: u64,
    pub caller: &'a Caller,
    pub reasons: &'a Reasons,
}

impl Turn<'_> {
    /// The owner's thread whose work is under way.
    pub fn works_for(&self) -> Option<&str> {
        self.caller.owner.then_some(self.caller.thread.as_str())
    }
}

/// Begins a call as a job of its own.
pub(crate) fn begin(
    belt: &Toolbox,
    store: &Store,
    facts: Facts,
    call: &ToolCall,
    caller: &Caller,
) -> Result<(Arc<Job>, Running), Fault> {
    let what = shorten(&format!("{} {}", call.tool, Value::Object(call.args.clone())), 200);
    let (jobs, life) = (belt.jobs.clone(), store.life);
    let mut store = store.beside()?;
    let job = jobs.begin(life, what, caller.clone());
    let mut belt = belt.beside(&job);
    let (own, name, running) = (call.clone(), caller.clone(), Arc::clone(&job));
    let running = async move {
        let mut tools = ToolContext { belt: &mut belt, store: &mut store, caller: name, facts };
        let done = tokio::select! {
            biased;
            why = running.stopped() => Err(why),
            done = CallOutcome::guarded(&own.tool, tools.call(&own)) => Ok(done),
        };
        let done = done.unwrap_or_else(|why| tools.came(&own.tool, running.cut(&why)));
        jobs.finish(&running, done, belt.left);
    };
    Ok((job, Box::pin(running)))
}

/// The checklist as it is, where this call may change it and a thought was shown it in one of these states.
pub(crate) fn knows_checklist(house: &House, shown: [&String; 2], call: &ToolCall) -> Option<Paper> {
    let writes = || Value::Object(call.args.clone()).to_string().contains("HEARTBEAT.md");
    if changes(call) != Changes::Papers && !writes() {
        return None;
    }
    let paper = papers::read(&house.checklist());
    shown.contains(&&paper.mark()).then_some(paper)
}

/// Takes the creature's own change of a checklist it knew (`before`) for known; a recurring line it wrote is
/// due after its span, not at once.
pub(crate) fn knew_checklist(known: &mut KnownPapers, before: Option<Paper>, house: &House, now: Timestamp) {
    let Some(before) = before else { return };
    let after = papers::read(&house.checklist());
    if after == before {
        return;
    }
    known.checklist = after.mark();
    let (lines, now_s) = (checklist::items(&before.text), now.as_second());
    for item in checklist::items(&after.text).into_iter().filter(|item| !lines.contains(item)) {
        let Some(every_s) = item.every_s else { continue };
        known.items.entry(item.line).or_insert(now_s.saturating_add(every_s));
    }
}

/// The result, with a warning where the same call came to the same too often.
pub(crate) fn noted(
    repeats: &mut Repeats,
    call: &ToolCall,
    mut done: CallOutcome,
    now: Timestamp,
) -> CallOutcome {
    let mut same = done.result.clone();
    if let Value::Object(fields) = &mut same {
        fields.shift_remove("took_ms");
    }
    let warning = match catalogue::has(&call.tool, Mark::Ends) {
        true => None,
        false => repeats.note(&key(call), &same.to_string(), changes(call) == Changes::House, now),
    };
    if let Some(warning) = &warning {
        done.shown += &format!("\nwarning: {warning}");
    }
    CallOutcome { result: with(done.result, json!({"warning": warning})), ..done }
}

/// Whether a call runs beside the life: it waits for something outside.
pub(crate) fn is_long(call: &ToolCall) -> bool {
    catalogue::has(&call.tool, Mark::Beside)
}

/// Returns the result of a call in a line.
pub(crate) fn summary(call: &ToolCall, result: &Value) -> String {
    let told = |names: &[&str]| {
        let said = names.iter().find_map(|name| result.get(*name)?.as_str()).filter(|said| !said.is_empty());
        said.map(str::to_owned)
    };
    let came = match result.get("ok") == Some(&Value::Bool(true)) {
        true => told(&["note", "path", "id"]).unwrap_or_else(|| "done".to_owned()),
        false => format!("failed: {}", told(&["error"]).unwrap_or_else(|| "no reason given".to_owned())),
    };
    let line = format!("{}: {came}", call.tool).replace(char::is_control, " ");
    shorten(&line, MOST_SUMMARY)
}

/// Whether a call answers the owner.
pub(crate) fn answers(call: &ToolCall) -> bool {
    let kind = call.args.get("kind").and_then(Value::as_str).unwrap_or_default();
    catalogue::marks(&call.tool).is_some_and(|marks| marks.answers.contains(&kind))
}

/// Whether a call does more than look or talk.
pub(crate) fn works(call: &ToolCall) -> bool {
    let marks = catalogue::marks(&call.tool);
    let works = |marks: &Marks| {
        let leaves = marks.product.is_some() || marks.changes != Changes::Nothing;
        (leaves || marks.has(Mark::Slow) || marks.has(Mark::Spawns)) && marks.answers.is_empty()
    };
    marks.is_some_and(works)
}

/// A call as it is compared with others.
pub(crate) fn key(call: &ToolCall) -> String {
    format!("{} {}", call.tool, Value::Object(call.args.clone()))
}

/// Returns what a call may change, by the marks of its tool.
pub(crate) fn changes(call: &ToolCall) -> Changes {
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
    let minutes = if catalogue::has(tool, Mark::Slow) { 45 } else { 5 };
    Duration::from_secs(minutes * 60)
}
