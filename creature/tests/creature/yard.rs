//! A throwaway house with a toolbox in it, for calling tools as a life does.

use crate::broker::{StandIn, TOKEN};
use creature::clock::Clock;
use creature::digest::Facts;
use creature::paths::House;
use creature::store::Store;
use creature::store::caller::Caller;
use creature::tools::catalogue::LIST;
use creature::tools::{CallOutcome, ToolContext, Toolbox};
use memory::{Log, Record};
use mind::thought::ToolCall;
use serde_json::{Map, Value};
use std::path::Path;
use tempfile::TempDir;

pub struct Yard {
    dir: TempDir,
    pub store: Store,
    pub tools: Toolbox,
    pub caller: Caller,
    pub facts: Facts,
}

impl Yard {
    pub fn new() -> Self {
        Self::with(false, false)
    }

    pub fn with(safe: bool, rehearsal: bool) -> Self {
        let dir = TempDir::new().unwrap();
        std::fs::write(dir.path().join("PURPOSE.md"), "Be curious.\n").unwrap();
        let house = House::new(dir.path());
        let (log, _) = Log::open(&house.memory()).unwrap();
        let store = Store::open(house, log, 7, Clock::default());
        let facts = Facts { life: 7, tools: &LIST, ..Facts::default() };
        Self { dir, store, tools: Toolbox::new(safe, rehearsal), caller: Caller::own(), facts }
    }

    /// One whose toolbox has this broker, as a life has it.
    pub fn behind(broker: &StandIn) -> Self {
        let mut yard = Self::new();
        yard.tools.broker = Some(broker.client());
        yard.store.memory.hide(TOKEN);
        yard
    }

    /// The toolbox as a call has it.
    pub fn lent(&mut self) -> ToolContext<'_> {
        let (caller, facts) = (self.caller.clone(), self.facts.clone());
        ToolContext { belt: &mut self.tools, store: &mut self.store, caller, facts }
    }

    pub fn root(&self) -> &Path {
        self.dir.path()
    }

    pub fn put(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.root().join(path)).unwrap()
    }

    /// What came of a call, as a mind reads it and as it is remembered.
    pub async fn done(&mut self, tool: &str, args: Map<String, Value>) -> CallOutcome {
        self.lent().call(&ToolCall { tool: tool.to_owned(), args, ..ToolCall::default() }).await
    }

    pub async fn shown(&mut self, tool: &str, args: Value) -> String {
        self.done(tool, args.as_object().cloned().unwrap_or_default()).await.shown
    }

    pub async fn call(&mut self, tool: &str, args: Value) -> Value {
        let args = match args {
            Value::Object(args) => args,
            _ => Map::new(),
        };
        self.done(tool, args).await.result
    }

    pub fn records(&self) -> Vec<Record> {
        memory::tail(&self.root().join(".self/memory.jsonl"), 1_000, 8 << 20).unwrap().records
    }

    pub fn booked(&self) -> Vec<Record> {
        memory::tail(&self.root().join(".self/mind/bookkeeping.jsonl"), 1_000, 8 << 20).unwrap().records
    }

    pub fn kinds(&self) -> Vec<String> {
        self.records().into_iter().map(|record| record.kind).collect()
    }

    /// Data of the last record of this kind.
    pub fn last(&self, kind: &str) -> Value {
        self.records().into_iter().rev().find(|record| record.kind == kind).map(|record| record.data).unwrap()
    }
}
