//! Every tool the creature has, in one plain `match`; one file per family.
//!
//! Invariant: a result is an object with `ok`; a mind reads it in words, whole up to one cap, and what is longer is kept beside it.
//! Invariant: in safe mode only talking tools run; in a rehearsal nothing outward does.

mod agenda;
mod arguments;
pub mod asked;
mod beside;
pub mod catalogue;
mod directives;
mod feeds;
mod files;
mod knowledge;
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
mod web;
mod weekly;
mod x;

use crate::books::Books;
use crate::clock::Clock;
use crate::config::{FileSettings, Permission, SelfEditSettings};
use crate::desk::Desk;
use crate::digest::Facts;
use crate::dream;
use crate::fault::Fault;
use crate::feed::Feed;
use crate::guardian_post;
use crate::mind::thought::ToolCall;
use crate::paths::House;
use crate::subsessions;
use ::agenda::Change;
use ::agenda::requests::RequestChange;
use ::agenda::sessions::Sessions;
use arguments::Arguments;
use catalogue::{Scope, Tool};
use hands::{Broker, Held};
use memory::{Log, Record};
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

/// What tools act with. One per life; tools run one after another.
pub struct Toolbox {
    pub house: House,
    pub memory: Log,
    pub books: Books,
    pub life: u64,
    /// Only talking: memory and notes.
    pub safe: bool,
    /// Nothing outward happens: no network, no commands, no requests to the guardian.
    pub rehearsal: bool,
    /// For snapshots; the life keeps it up to date.
    pub facts: Facts,
    /// Set by a self-edit that passed: the life asks for rebirth and ends politely once it is blessed.
    pub rebirth: Option<Rebirth>,
    /// Deadlines of a self-edit's steps.
    pub limits: Limits,
    /// Longest wait for the guardian's answer.
    pub patience: Duration,
    /// The one way out of the house; none where no broker runs.
    pub broker: Option<Broker>,
    pub clock: Clock,
    pub desk: Desk,
    pub feed: Feed,
    /// The owner's own request is worked on; else the creature acts by itself.
    pub owner: bool,
    /// The thread of talk this is done for; `main` where there is only one.
    pub thread: String,
    /// Set by `complete_run`: the wake ends with this thought.
    pub completed: bool,
    /// When tools may be used, by name or family, where the owner said.
    pub permissions: BTreeMap<String, Permission>,
    /// Where the file tools work.
    pub files: FileSettings,
    /// What runs apart.
    pub sessions: Sessions,
    /// The sub-session that acts now; none for the life's own thoughts.
    pub session: Option<String>,
    /// Characters that a mind is shown of one result at most; by the window of its model.
    pub most_shown: usize,
    spills: Arc<AtomicU32>,
    /// Tools of the owner's request that were used, while this works beside the life's own.
    used: Option<Vec<String>>,
}

/// A self-edit that passed rehearsal and waits to be born.
#[derive(Clone, Debug, PartialEq)]
pub struct Rebirth {
    pub summary: String,
}

impl Toolbox {
    pub fn new(house: House, memory: Log, life: u64, safe: bool, rehearsal: bool) -> Self {
        let clock = Clock::default();
        let (desk, odd) = Desk::load(&house);
        let (sessions, lost) = subsessions::load(&house);
        odd.iter().chain(&lost).for_each(|said| tracing::warn!("{said}"));
        Self {
            feed: Feed::new(house.feed(), clock.clone(), life),
            desk,
            clock,
            owner: false,
            completed: false,
            permissions: BTreeMap::new(),
            files: FileSettings::default(),
            thread: "main".to_owned(),
            sessions,
            session: None,
            books: Books::new(&house),
            house,
            memory,
            life,
            safe,
            rehearsal,
            facts: Facts { life, ..Facts::default() },
            rebirth: None,
            limits: Limits::from(&SelfEditSettings::default()),
            patience: guardian_post::PATIENCE,
            broker: None,
            most_shown: MOST_SHOWN,
            spills: Arc::default(),
            used: None,
        }
    }

    /// Runs one call.
    pub async fn call(&mut self, call: &ToolCall) -> Done {
        let result = match catalogue::find(&call.tool) {
            Ok(tool) => self.allowed(tool, call).await,
            Err(fault) => Err(fault),
        };
        let result = match result {
            Ok(Value::Object(fields)) => {
                // What it read or wrote itself is known to it as it is.
                let path = fields.get("path").and_then(Value::as_str);
                path.into_iter().for_each(|path| dream::looked(&self.house, path));
                object(fields)
            }
            Ok(other) => object(Map::from_iter([("result".to_owned(), other)])),
            Err(fault) => failure(fault.error, fault.hint),
        };
        let result = match &self.broker {
            Some(broker) => hide(result, broker.token()),
            None => result,
        };
        let id = format!("{}-{}", self.life, self.spills.fetch_add(1, Ordering::Relaxed) + 1);
        let (kept, whole) = spill::fit(&self.house, &id, &call.tool, self.most_shown, result.clone());
        let shown = show::shown(&result, &whole, call.tool == "repo.read", self.most_shown);
        Done { result: kept, shown }
    }

    async fn allowed(&mut self, tool: &'static Tool, call: &ToolCall) -> Result<Value, Fault> {
        let args = Arguments::of(call, tool)?;
        if self.safe && tool.scope != Scope::Talk {
            let error = format!("{} is locked: this life runs in safe mode", tool.name);
            return Err(Fault::new(
                error,
                "memory.* and notes.* work; the owner can look at what killed the last lives",
            ));
        }
        if self.rehearsal && tool.scope == Scope::Outward {
            return Ok(json!({"rehearsal": true, "note": "nothing was done: this is a rehearsal"}));
        }
        let owners = permission::permit(self, tool.name)?;
        // On the heap: a self-edit's future is large, and all that wait for a call would hold it on their stacks.
        let result = Box::pin(self.dispatch(&args)).await?;
        if owners && result.get("ok") != Some(&Value::Bool(false)) {
            self.used(tool.name)?;
        }
        Ok(result)
    }

    /// Notes that a tool of the owner's did what the owner asked for.
    fn used(&mut self, tool: &str) -> Result<(), Fault> {
        if let Some(used) = &mut self.used {
            used.push(tool.to_owned());
            return Ok(());
        }
        self.change(&Change::Request(RequestChange::Used { tool: tool.to_owned() })).map(drop)
    }

    async fn dispatch(&mut self, args: &Arguments) -> Result<Value, Fault> {
        match args.tool() {
            "complete_run" | "rest" => {
                self.completed |= args.tool() == "complete_run";
                Ok(Value::Object(args.given().clone()))
            }
            "memory.append" => remember::append(self, args),
            "memory.snapshot" => remember::snapshot(self, args),
            "owner.message" => owner::message(self, args),
            "reminder.add" => reminders::add(self, args),
            "reminder.list" => reminders::list(self),
            "pulse.list" => reminders::concerns(self),
            "directive.set" => directives::set(self, args),
            "directive.list" => directives::list(self),
            "notes.read" => papers::read(self, args),
            "notes.write" => papers::write(self, args),
            "notes.append" => papers::append(self, args),
            "records" => past::records(self, args),
            "history" => past::history(self, args),
            "self.examine" => past::examine(self, args),
            "knowledge.write" => knowledge::write(self, args),
            "knowledge.search" => knowledge::search(self, args),
            "fact.add" => knowledge::add_fact(self, args),
            "skill.write" => skills::write(self, args),
            "skill.load" => skills::load(self, args),
            "skill.list" => skills::list(self),
            "dream.now" => knowledge::dream_now(self),
            "dream.undo" => knowledge::dream_undo(self, args),
            "purpose.rewrite" => papers::rewrite_purpose(self, args).await,
            "goal.add" | "goal.extend" | "goal.checkpoint" | "opportunity.add" | "task.add" | "task.done"
            | "gap.note" | "presence.note" | "agenda.close" | "pulse.add" | "pulse.update"
            | "pulse.close" | "reminder.cancel" | "directive.end" => agenda::change(self, args),
            "agenda.approve" => agenda::approve(self, args),
            "opportunity.move" => agenda::opportunity_move(self, args),
            "agenda.list" => agenda::list(self, args),
            "files.read" => files::read(self, args),
            "files.list" => listing::list(self, args),
            "files.search" => search::workspace(self, args),
            "files.write" => files::write(self, args),
            "files.create_workspace" => files::create_workspace(self, args),
            tool if tool.starts_with("repo.") => self.repository(args).await,
            "web.fetch_text" => web::fetch_text(self, args).await,
            "web.search" => web::search(self, args).await,
            "feed.read" => feeds::read(self, args).await,
            "x.post" => x::post(self, args).await,
            "x.reply" => x::reply(self, args).await,
            "x.search" => x::search(self, args).await,
            "x.get_mentions" => x::get_mentions(self, args).await,
            "service.list" => service::list(self).await,
            "service.execute" => service::execute(self, args).await,
            "janee.list" => service::janee_list(self).await,
            "janee.execute" => service::janee_execute(self, args).await,
            "spawn" => spawn::spawn(self, args),
            "sessions.list" => spawn::list(self, args),
            "sessions.cancel" => spawn::cancel(self, args),
            other => Err(unbuilt(other)),
        }
    }

    /// What looks at the creature's source, and what changes it.
    async fn repository(&mut self, args: &Arguments) -> Result<Value, Fault> {
        match args.tool() {
            "repo.status" => repo_look::status(self),
            "repo.diff" => repo_look::diff(self, args),
            "repo.map" => repo_map::map(self, args),
            "repo.outline" => repo_map::outline(self, args),
            "repo.search" => search::repo(self, args),
            "repo.read" => repo_look::read(self, args),
            "repo.edit" => repo_edit::edit(self, args).await,
            "repo.apply_patch" => repo_edit::apply_patch(self, args).await,
            "repo.commit" => repo_edit::commit(self, args).await,
            "repo.drop" => repo_edit::drop_draft(self, args),
            "repo.reset_hard" => repo_edit::reset_hard(self, args).await,
            "repo.check" => repo_run::check(self).await,
            "repo.test" => repo_run::test(self, args).await,
            "repo.install_deps" => repo_run::install_deps(self).await,
            "repo.run" => repo_run::run(self, args).await,
            other => Err(unbuilt(other)),
        }
    }

    fn way_out(&self) -> Result<&Broker, Fault> {
        self.broker.as_ref().ok_or_else(|| {
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

    /// Appends one record to memory, synced.
    pub(crate) fn record(&mut self, kind: &str, data: Value) -> Result<(), Fault> {
        let record = self.at_present(kind, data);
        self.memory.append(&record).map_err(|cause| unwritten(kind, &cause))
    }

    /// The same to the bookkeeping.
    pub(crate) fn book(&mut self, kind: &str, data: Value) -> Result<(), Fault> {
        let record = self.at_present(kind, data);
        self.books.append(&record).map_err(|cause| unwritten(kind, &cause))
    }

    fn at_present(&self, kind: &str, data: Value) -> Record {
        Record { at: self.clock.text(), life: self.life, kind: kind.to_owned(), data }
    }
}

fn unbuilt(tool: &str) -> Fault {
    Fault::new(format!("{tool} is listed but not built"), "mend tools/mod.rs")
}

fn unwritten(kind: &str, cause: &memory::Error) -> Fault {
    Fault::caused(format!("append a {kind} record"), cause, "is the disk full? nothing else was done")
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
