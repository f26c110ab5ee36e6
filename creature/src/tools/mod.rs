//! The toolbox: what tools act with, lent the store for a call, and how a call is run. One file per family; `catalogue` has a row for each.
//!
//! Invariant: a result is an object with `ok`; a mind reads it in words, whole up to one cap, and what is longer is kept beside it.
//! Invariant: in safe mode only talking tools run; in a rehearsal nothing outward does.

mod agenda;
mod arguments;
pub mod asked;
pub mod catalogue;
mod directives;
mod feeds;
mod files;
mod knowledge;
pub mod left;
mod listing;
mod new_packages;
mod outline;
mod owner;
mod page;
mod papers;
mod past;
pub mod permission;
mod remember;
mod reminders;
mod repo_edit;
mod repo_look;
mod repo_map;
mod repo_run;
mod search;
mod service;
pub mod show;
mod skills;
mod spawn;
mod spill;
mod tree;
pub(crate) mod wake;
mod web;
mod weekly;
mod x;

use crate::config::{FileSettings, Permission, SelfEditSettings};
use crate::digest::Facts;
use crate::dream;
use crate::fault::Fault;
use crate::guardian_post;
use crate::store::Store;
use crate::store::caller::Caller;
use ::agenda::Change;
use ::agenda::requests::RequestChange;
use arguments::Arguments;
use catalogue::{Run, Scope, Tool};
use hands::{Broker, Held};
use mind::thought::ToolCall;
use patch::Limits;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// What a mind is shown of one result unless its window says otherwise, in characters: 10,000 tokens.
const MOST_SHOWN: usize = 35_000;

/// What came of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    /// As it is remembered: `{"ok":true,…}` or `{"ok":false,"error":…,"hint":…}`, at most 6,000 characters.
    pub result: Value,
    /// As a mind reads it.
    pub shown: String,
}

impl Done {
    /// What came of a call that was not run.
    pub fn failed(error: impl Into<String>, hint: impl Into<String>) -> Self {
        let result = failure(error, hint);
        Self { shown: show::shown(&result, &Map::new(), false, MOST_SHOWN), result }
    }
}

/// What a life has to act with, and what tools ask of it. One per life; it owns nothing that is kept.
pub struct Toolbox {
    /// Only talking: memory and notes.
    pub safe: bool,
    /// Nothing outward happens: no network, no commands, no requests to the guardian.
    pub rehearsal: bool,
    /// Set by a self-edit that passed: the life asks for rebirth and ends politely once it is blessed.
    pub rebirth: Option<Rebirth>,
    /// Deadlines of a self-edit's steps.
    pub limits: Limits,
    /// Longest wait for the guardian's answer.
    pub patience: Duration,
    /// The one way out of the house; none where no broker runs.
    pub broker: Option<Broker>,
    /// Set by `complete_run`: the wake ends with this thought.
    pub completed: bool,
    /// When tools may be used, by name or family, where the owner said.
    pub permissions: BTreeMap<String, Permission>,
    /// Where the file tools work.
    pub files: FileSettings,
    /// Characters that a mind is shown of one result at most; by the window of its model.
    pub most_shown: usize,
    spills: Arc<AtomicU32>,
    /// Tools of the owner's request that were used, while this works beside the life's own.
    used: Option<Vec<String>>,
}

/// The toolbox in use: lent the store for a call, in a caller's name. Tools run one after another.
pub struct Lent<'a> {
    pub belt: &'a mut Toolbox,
    pub store: &'a mut Store,
    pub caller: Caller,
    /// What a snapshot says of this life beside its records.
    pub facts: Facts,
}

/// A self-edit that passed rehearsal and waits to be born.
#[derive(Clone, Debug, PartialEq)]
pub struct Rebirth {
    pub summary: String,
}

impl Toolbox {
    pub fn new(safe: bool, rehearsal: bool) -> Self {
        Self {
            safe,
            rehearsal,
            rebirth: None,
            limits: Limits::from(&SelfEditSettings::default()),
            patience: guardian_post::PATIENCE,
            broker: None,
            completed: false,
            permissions: BTreeMap::new(),
            files: FileSettings::default(),
            most_shown: MOST_SHOWN,
            spills: Arc::default(),
            used: None,
        }
    }

    /// Another one for a call that runs while this one is used.
    pub fn beside(&self) -> Self {
        Self {
            rebirth: self.rebirth.clone(),
            broker: self.broker.clone(),
            permissions: self.permissions.clone(),
            files: self.files.clone(),
            spills: Arc::clone(&self.spills),
            used: Some(Vec::new()),
            ..*self
        }
    }

    /// Takes over what came of such a call; the tools of the owner's request that it used.
    pub fn take_over(&mut self, other: Self) -> Vec<String> {
        self.rebirth = other.rebirth.or(self.rebirth.take());
        other.used.unwrap_or_default()
    }
}

impl Lent<'_> {
    /// Runs one call.
    pub async fn call(&mut self, call: &ToolCall) -> Done {
        let numbered = catalogue::marks(&call.tool).is_some_and(|marks| marks.is_numbered);
        let result = match catalogue::find(&call.tool) {
            Ok(tool) => self.allowed(tool, call).await,
            Err(fault) => Err(fault),
        };
        let result = match result {
            Ok(Value::Object(fields)) => {
                // What it read or wrote itself is known to it as it is.
                let path = fields.get("path").and_then(Value::as_str);
                path.into_iter().for_each(|path| dream::looked(&self.store.house, path));
                object(fields)
            }
            Ok(other) => object(Map::from_iter([("result".to_owned(), other)])),
            Err(fault) => failure(fault.error, fault.hint),
        };
        let result = match &self.belt.broker {
            Some(broker) => hide(result, broker.token()),
            None => result,
        };
        let id = format!("{}-{}", self.store.life, self.belt.spills.fetch_add(1, Ordering::Relaxed) + 1);
        let (kept, whole) =
            spill::fit(&self.store.house, &id, &call.tool, self.belt.most_shown, result.clone());
        let shown = show::shown(&result, &whole, numbered, self.belt.most_shown);
        Done { result: kept, shown }
    }

    async fn allowed(&mut self, tool: &'static Tool, call: &ToolCall) -> Result<Value, Fault> {
        let args = Arguments::of(call, tool)?;
        if self.belt.safe && tool.scope != Scope::Talk {
            let error = format!("{} is locked: this life runs in safe mode", tool.name);
            return Err(Fault::new(
                error,
                "memory.* and notes.* work; the owner can look at what killed the last lives",
            ));
        }
        if self.belt.rehearsal && tool.scope == Scope::Outward {
            return Ok(json!({"rehearsal": true, "note": "nothing was done: this is a rehearsal"}));
        }
        let owners = permission::permit(self, tool.name)?;
        let result = match tool.run {
            Run::Now(run) => run(self, &args)?,
            Run::Later(run) => run(self, &args).await?,
        };
        if owners && result.get("ok") != Some(&Value::Bool(false)) {
            self.used(tool.name)?;
        }
        Ok(result)
    }

    /// Notes that a tool of the owner's did what the owner asked for.
    fn used(&mut self, tool: &str) -> Result<(), Fault> {
        if let Some(used) = &mut self.belt.used {
            used.push(tool.to_owned());
            return Ok(());
        }
        self.change(&Change::Request(RequestChange::Used { tool: tool.to_owned() })).map(drop)
    }

    fn way_out(&self) -> Result<&Broker, Fault> {
        self.belt.broker.as_ref().ok_or_else(|| {
            let hint = "the guardian starts a broker and gives its address as FERAL_BROKER; within the house all works";
            Fault::new("there is no way out: this life has no broker", hint)
        })
    }

    /// The service of this name as the broker shows it now; none where it has no such service.
    async fn service(&self, name: &str) -> Result<Option<Value>, Fault> {
        let status = self.way_out()?.status().await.map_err(fault)?;
        let services = status.get("services").and_then(Value::as_array);
        let named = |service: &&Value| service.get("name").and_then(Value::as_str) == Some(name);
        Ok(services.into_iter().flatten().find(named).cloned())
    }

    /// Makes a change of the agenda; refused, nothing is changed.
    pub fn change(&mut self, change: &Change) -> Result<Value, Fault> {
        self.store.change(&self.caller, change)
    }
}

/// A failed result: what failed, and what to do next.
pub fn failure(error: impl Into<String>, hint: impl Into<String>) -> Value {
    json!({"ok": false, "error": error.into(), "hint": hint.into()})
}

fn fault(error: hands::Error) -> Fault {
    match error.status {
        Some(status) if !error.message.contains(&status.to_string()) => {
            Fault::new(format!("{} (status {status})", error.message), error.hint)
        }
        _ => Fault::new(error.message, error.hint),
    }
}

/// An act that waits for the owner, or is kept as a draft, is no failure: the creature goes on.
fn waits(error: hands::Error) -> Result<Value, Fault> {
    match &error.held {
        Some(Held::Draft(path)) => Ok(json!({"drafted": path, "path": path, "note": error.message})),
        Some(Held::Asked(id)) => {
            let note = "it waits for your owner, who decides; go on with something else, and do not ask again: \
                the outcome will be told to you";
            Ok(json!({"asked": id, "why": error.message, "note": note}))
        }
        None => Err(fault(error)),
    }
}

/// The result without the token, wherever a command or a page said it.
fn hide(result: Value, token: &str) -> Value {
    let text = result.to_string();
    if token.is_empty() || !text.contains(token) {
        return result;
    }
    // A token is hexadecimal, so JSON stays JSON without it.
    serde_json::from_str(&text.replace(token, "[hidden]")).unwrap_or(Value::Null)
}

fn object(fields: Map<String, Value>) -> Value {
    let mut result = Map::from_iter([("ok".to_owned(), Value::Bool(true))]);
    result.extend(fields);
    Value::Object(result)
}
