//! Context of tools: the toolbox of a life, the store lent to it for a call, and the outcome of a call.

use super::marks::{Marks, MarksByName};
use super::show;
use super::wake::Rests;
use crate::config::{FileSettings, Permission};
use crate::digest::Facts;
use crate::fault::Fault;
use crate::jobs::{Job, Jobs, Left};
use crate::models::Models;
use crate::panic::caught;
use crate::senses::guardian::Standing;
use crate::store::Store;
use crate::store::caller::Caller;
use crate::watches::Shared;
use agenda::Change;
use agenda::requests::RequestChange;
use hands::{Broker, Deferred};
use mind::ModelSettings;
use patch::Limits;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// Characters of one result that a mind is shown, about 10,000 tokens, unless its model's window says otherwise.
pub(super) const MOST_SHOWN: usize = 35_000;

/// Outcome of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallOutcome {
    /// Result as it is remembered, long parts shortened: `{"ok":true,…}` or `{"ok":false,"error":…,"hint":…}`.
    pub result: Value,
    /// Result in words, as a mind reads it.
    pub shown: String,
    /// Payment of a model for it, where one was asked.
    pub usage: Option<Value>,
}

impl CallOutcome {
    /// Returns the outcome of a call that was not run.
    pub fn failed(error: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::of(failure(error, hint))
    }

    /// Returns the outcome of a call that has this result.
    pub fn of(result: Value) -> Self {
        Self { shown: show::shown(&result, &Map::new(), false, MOST_SHOWN), result, usage: None }
    }

    /// Runs a call; a panic in it becomes a failed result.
    pub async fn guarded(tool: &str, call: impl Future<Output = CallOutcome>) -> CallOutcome {
        caught(tool, call).await.unwrap_or_else(|fault| CallOutcome::failed(fault.error, fault.hint))
    }
}

/// Toolbox of a life: things that its tools act with, and what they ask of the life. Nothing in it outlives the life.
pub struct Toolbox {
    /// Safe mode: only tools of scope `Talk` run.
    pub safe: bool,
    /// A rehearsal, in which nothing outward happens: no network, no commands, no requests to the guardian.
    pub rehearsal: bool,
    /// The owner's settings could not be read yet: what they forbid is unknown, and nothing outward happens.
    pub settings_unread: bool,
    /// Deadlines of a self-edit's steps.
    pub limits: Limits,
    /// Longest wait for the guardian's answer.
    pub patience: Duration,
    /// The one way out of the house; none where no broker runs.
    pub broker: Option<Broker>,
    /// Bounds and ends of a rest that the thought under way chooses.
    pub rests: Rests,
    /// Watches of the life.
    pub watches: Shared,
    /// The marks of each tool.
    pub(super) marks: MarksByName,
    /// The models that a sub-session may be given.
    pub models: Models,
    /// Permissions of tools, as the owner set them, by name (`x.post`) or family (`x.*`).
    pub permissions: BTreeMap<String, Permission>,
    /// Settings of the file tools: where they work, and how much they show.
    pub files: FileSettings,
    /// Settings of how a model is asked.
    pub model: ModelSettings,
    /// Characters that a mind is shown of one result at most; by the window of its model.
    pub most_shown: usize,
    /// Calls so far in this life; the number is part of the names of files that long results are kept in.
    pub(super) spills: Arc<AtomicU32>,
    /// Calls that run beside the life.
    pub(crate) jobs: Jobs,
    /// The job this call is; only in a toolbox made by `beside`.
    pub(crate) job: Option<Arc<Job>>,
    /// Things that the call under way leaves to the life, which takes them with its outcome.
    pub left: Left,
}

/// The toolbox in use: lent the store for a call, in a caller's name. Tools run one after another.
pub struct ToolContext<'a> {
    pub belt: &'a mut Toolbox,
    pub store: &'a mut Store,
    pub caller: Caller,
    /// Facts of this life that a snapshot tells beside its records.
    pub facts: Facts,
}

impl Toolbox {
    /// A second toolbox, for a call that runs as this job while this one is in use.
    pub fn beside(&self, job: &Arc<Job>) -> Self {
        Self {
            jobs: self.jobs.clone(),
            job: Some(Arc::clone(job)),
            broker: self.broker.clone(),
            models: self.models.clone(),
            permissions: self.permissions.clone(),
            files: self.files.clone(),
            model: self.model.clone(),
            rests: self.rests.clone(),
            watches: self.watches.clone(),
            spills: Arc::clone(&self.spills),
            left: Left::default(),
            ..*self
        }
    }

    /// The marks of the tool of this name, if there is one.
    pub(super) fn marks(&self, name: &str) -> Option<&'static Marks> {
        self.marks.iter().find(|(known, _)| *known == name).map(|(_, marks)| marks)
    }
}

impl ToolContext<'_> {
    /// Notes that a tool which needs the owner's request did what was asked for.
    pub(super) fn used(&mut self, tool: &str) -> Result<(), Fault> {
        if self.belt.job.is_some() {
            self.belt.left.used.push(tool.to_owned());
            return Ok(());
        }
        self.change(&Change::Request(RequestChange::Used { tool: tool.to_owned() })).map(drop)
    }

    pub(super) fn way_out(&self) -> Result<&Broker, Fault> {
        if self.belt.broker.is_some() && Standing::is_before_broker(&self.store.house.guardian()) {
            let hint = "in the first minutes of a house it may still be built; within the house all works";
            return Err(Fault::new("there is no way out yet: the broker has not begun", hint));
        }
        self.belt.broker.as_ref().ok_or_else(|| {
            let hint = "the guardian starts a broker and gives its address as FERAL_BROKER; within the house all works";
            Fault::new("there is no way out: this life has no broker", hint)
        })
    }

    /// The service of this name as the broker shows it now; none where it has no such service.
    pub(super) async fn service(&self, name: &str) -> Result<Option<Value>, Fault> {
        let status = self.way_out()?.status().await.map_err(fault)?;
        let services = status.get("services").and_then(Value::as_array);
        let named = |service: &&Value| service.get("name").and_then(Value::as_str) == Some(name);
        Ok(services.into_iter().flatten().find(named).cloned())
    }

    /// Makes a change of the agenda; a refused one changes nothing.
    pub fn change(&mut self, change: &Change) -> Result<Value, Fault> {
        self.store.change(&self.caller, change)
    }
}

/// The answer with more fields; those of null are left out.
pub fn with(mut answer: Value, more: Value) -> Value {
    if let (Value::Object(fields), Value::Object(more)) = (&mut answer, more) {
        fields.extend(more.into_iter().filter(|(_, value)| !value.is_null()));
    }
    answer
}

/// A failed result: what failed, and what to do next.
pub fn failure(error: impl Into<String>, hint: impl Into<String>) -> Value {
    json!({"ok": false, "error": error.into(), "hint": hint.into()})
}

pub(super) fn fault(error: hands::Error) -> Fault {
    let after_s = error.after_s;
    let fault = match error.status {
        Some(status) if !error.message.contains(&status.to_string()) => {
            Fault::new(format!("{} (status {status})", error.message), error.hint)
        }
        _ => Fault::new(error.message, error.hint),
    };
    Fault { after_s, ..fault }
}

/// An act that waits for the owner, or is kept as a draft, is no failure: the creature goes on.
pub(super) fn waits(error: hands::Error) -> Result<Value, Fault> {
    match &error.deferred {
        Some(Deferred::Draft(path)) => Ok(json!({"drafted": path, "path": path, "note": error.message})),
        Some(Deferred::Asked(id)) => {
            let note = "it waits for your owner, who decides; go on with something else, and do not ask again: \
                the outcome will be told to you";
            Ok(json!({"asked": id, "why": error.message, "note": note}))
        }
        None => Err(fault(error)),
    }
}
