//! Checks of records of things done that the guardian can see: a file written to the workspace, a birth. Pure.
//!
//! Invariant: only things that nothing later can have undone are looked for.

use crate::decide::conduct::Invariant;
use house::records::text;
use serde_json::Value;
use std::path::{Component, Path};

/// Folder of the files that are looked for.
const WORKSPACE: &str = ".self/workspace/";
/// Beginnings of names of tools that leave files as they are.
const LEAVES_FILES: [&str; 10] = [
    "agenda.",
    "complete_run",
    "files.list",
    "files.read",
    "files.search",
    "goal.",
    "knowledge.search",
    "notes.",
    "owner.",
    "rest",
];

/// Records that are still to be checked.
#[derive(Debug, Default)]
pub struct Done {
    /// The file that was written last, with nothing done since that may have moved it.
    written: Option<String>,
    /// This life is born of an edit of its predecessor's.
    is_born: bool,
}

impl Done {
    pub fn of(is_born: bool) -> Self {
        Self { written: None, is_born }
    }

    /// Reads a record; returns the invariant that it shows kept or broken at once.
    pub fn recorded(&mut self, kind: &str, data: &Value) -> Option<(Invariant, bool, String)> {
        let is_ok = |of: &Value| of.get("ok") == Some(&Value::Bool(true));
        match kind {
            "action" => {
                let (tool, result) = (text(data, "tool"), data.get("result").unwrap_or(&Value::Null));
                let path = result.get("path").and_then(Value::as_str).filter(|path| is_below(path));
                match (tool, is_ok(result), path) {
                    ("files.write", true, Some(path)) => self.written = Some(path.to_owned()),
                    _ if LEAVES_FILES.iter().any(|begins| tool.starts_with(begins)) => {}
                    _ => self.written = None,
                }
                None
            }
            // A sub-session has hands of its own.
            "agenda" if text(data, "about") == "session" => {
                self.written = None;
                None
            }
            "self_change" if text(data, "stage") == "born" && is_ok(data) => {
                let told =
                    format!("it says that it was born of \"{}\", and it was not", text(data, "summary"));
                Some((Invariant::Done, self.is_born, told))
            }
            _ => None,
        }
    }

    /// The file that must be there when a turn is over, from the root of the house.
    pub fn take(&mut self) -> Option<String> {
        self.written.take()
    }

    pub fn forget(&mut self) {
        self.written = None;
    }
}

/// Whether it is a plain path below the workspace.
fn is_below(path: &str) -> bool {
    path.len() < 1_024
        && path.starts_with(WORKSPACE)
        && Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
}
