//! The toolbox: how the call of a tool is run. One file per family of tools; `catalogue` has a row for each tool.
//!
//! Invariant: a result is an object with `ok`. A mind reads it in words up to a cap; long parts are kept in files.
//! Invariant: in safe mode only tools of scope `Talk` run; in a rehearsal those of scope `Outward` do nothing.
//! Invariant: while the owner's settings are unread those of scope `Outward` are refused.

mod agenda;
mod arguments;
pub mod asked;
pub mod catalogue;
mod directives;
mod feeds;
mod files;
mod files_change;
mod job;
mod knowledge;
mod listing;
pub(crate) mod marks;
mod mcp;
mod new_packages;
mod outline;
mod owner;
mod page;
mod papers;
mod past;
pub mod permission;
pub mod product;
mod remember;
mod reminders;
mod repo_edit;
mod repo_look;
mod repo_map;
mod repo_run;
mod search;
mod see;
mod service;
pub mod show;
mod skills;
mod spawn;
mod spill;
pub mod tool;
pub(crate) mod tool_context;
mod tree;
pub(crate) mod wake;
mod watch;
mod web;
mod weekly;
mod x;

pub use tool_context::{CallOutcome, ToolContext, Toolbox};

use crate::config::{FileSettings, SelfEditSettings};
use crate::dream;
use crate::fault::Fault;
use crate::guardian_post;
use crate::jobs::{Jobs, Left};
use crate::models::Models;
use crate::watches::Shared;
use arguments::Arguments;
use marks::{Mark, Scope};
use mind::ModelSettings;
use mind::thought::ToolCall;
use patch::Limits;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tool::{Run, Tool};
use tool_context::{MOST_SHOWN, failure, with};

impl Toolbox {
    pub fn new(safe: bool, rehearsal: bool) -> Self {
        Self {
            safe,
            rehearsal,
            settings_unread: false,
            limits: Limits::from(&SelfEditSettings::default()),
            patience: guardian_post::PATIENCE,
            broker: None,
            rests: wake::Rests::default(),
            watches: Shared::load(std::path::Path::new("")),
            models: Models::default(),
            permissions: BTreeMap::new(),
            files: FileSettings::default(),
            model: ModelSettings::default(),
            most_shown: MOST_SHOWN,
            spills: Arc::default(),
            jobs: Jobs::default(),
            job: None,
            left: Left::default(),
            marks: &catalogue::MARKS,
        }
    }
}

impl ToolContext<'_> {
    /// Runs one call; a failure is told in its result.
    pub async fn call(&mut self, call: &ToolCall) -> CallOutcome {
        let result = match catalogue::find(&call.tool) {
            Ok(tool) => self.allowed(tool, call).await,
            Err(fault) => Err(fault),
        };
        let result = match result {
            Ok(Value::Object(fields)) => {
                // A paper that the creature itself read or wrote is no news to it.
                let path = fields.get("path").and_then(Value::as_str);
                path.into_iter().for_each(|path| dream::note_seen(&self.store.house, path));
                object(fields)
            }
            Ok(other) => object(Map::from_iter([("result".to_owned(), other)])),
            Err(fault) => with(failure(fault.error, fault.hint), json!({"after_s": fault.after_s})),
        };
        self.came(&call.tool, result)
    }

    /// Returns the outcome of a call, as it is remembered and as a mind reads it, without the token of this life.
    pub fn came(&self, tool: &str, result: Value) -> CallOutcome {
        let numbered = catalogue::has(tool, Mark::Numbered);
        let result = match &self.belt.broker {
            Some(broker) => hide(result, broker.token()),
            None => result,
        };
        let (result, usage) = paid(result);
        let id = format!("{}-{}", self.store.life, self.belt.spills.fetch_add(1, Ordering::Relaxed) + 1);
        let (kept, whole) = spill::fit(&self.store.house, &id, tool, self.belt.most_shown, result.clone());
        let shown = show::shown(&result, &whole, numbered, self.belt.most_shown);
        CallOutcome { result: kept, shown, usage }
    }

    async fn allowed(&mut self, tool: &'static Tool, call: &ToolCall) -> Result<Value, Fault> {
        let args = Arguments::of(call, tool.name, tool.args)?;
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
        if self.belt.settings_unread && tool.scope == Scope::Outward {
            let error = format!("{} is locked: your owner's settings cannot be read", tool.name);
            return Err(Fault::new(
                error,
                "what they forbid is unknown until the guardian writes .self/settings.json anew; tell your owner, \
                 and go on within the house",
            ));
        }
        let owners = permission::permit(self, tool.name)?;
        let result = match tool.run {
            Run::Now(run) => run(self, &args)?,
            Run::Async(run) => run(self, &args).await?,
        };
        if owners && result.get("ok") != Some(&Value::Bool(false)) {
            self.used(tool.name)?;
        }
        Ok(result)
    }
}

/// The result with the broker's token struck out, wherever a command or a page said it.
fn hide(result: Value, token: &str) -> Value {
    let text = result.to_string();
    if token.is_empty() || !text.contains(token) {
        return result;
    }
    // A token is hexadecimal, so JSON stays JSON without it.
    serde_json::from_str(&text.replace(token, "[hidden]")).unwrap_or(Value::Null)
}

/// The result without what a model was paid for it, which is kept beside.
fn paid(mut result: Value) -> (Value, Option<Value>) {
    let is_paid = result.get("usage").is_some_and(Value::is_object);
    let usage = result.as_object_mut().filter(|_| is_paid).and_then(|fields| fields.shift_remove("usage"));
    (result, usage)
}

fn object(fields: Map<String, Value>) -> Value {
    let mut result = Map::from_iter([("ok".to_owned(), Value::Bool(true))]);
    result.extend(fields);
    Value::Object(result)
}
