//! Permission: which tools may be used now, by the owner's settings and by whose request is worked on.
//!
//! Invariant: by itself the creature installs nothing, and changes what it is (PURPOSE.md, its prompts) only while
//! the broker says that this life has read no untrusted text of late; a broker that does not say it counts as no.

use super::asked;
use super::marks::{Mark, Marks, MarksByName};
use super::tool_context::{ToolContext, fault};
use crate::config::Permission;
use crate::fault::Fault;
use agenda::requests::RequestChange;
use agenda::{Change, yes};
use mind::moment::Word;
use serde_json::Value;
use std::collections::BTreeMap;

/// The tool whose name stands for any change of the creature's identity: a request for it allows them all.
const IDENTITY: &str = "purpose.rewrite";

/// Files that are the creature's identity, beside PURPOSE.md.
const PROMPTS: &str = "creature/prompts/";

/// Refuses a tool that may not be used now. True where it may be used only because the owner asked for it.
pub(super) fn permit(tools: &ToolContext<'_>, name: &str) -> Result<bool, Fault> {
    match permission(&tools.belt.permissions, name, tools.belt.marks(name)) {
        Permission::Always => Ok(false),
        Permission::Owner if tools.owner_asks_for(name) => Ok(true),
        Permission::Owner => {
            let hint = format!(
                "it is for what your owner asked for in plain words, and no open request asks for it: ask with \
                 owner.message, kind approval, naming {name} (a yes to that allows it), or go on without"
            );
            Err(Fault::new(format!("{name} may not be used by yourself"), hint))
        }
        Permission::Never => {
            let hint = "your owner's settings say so ([permissions] in owner.toml); go on without";
            Err(Fault::new(format!("{name} may not be used here"), hint))
        }
    }
}

/// Says when a tool may be used: as set for its name, else for its family, else by its marks.
fn permission(said: &BTreeMap<String, Permission>, name: &str, marks: Option<&Marks>) -> Permission {
    let family = name.split_once('.').map(|(family, _)| format!("{family}.*"));
    let found = said.get(name).or_else(|| family.and_then(|family| said.get(&family))).copied();
    found.unwrap_or(if marks.is_some_and(|marks| marks.has(Mark::Owners)) {
        Permission::Owner
    } else {
        Permission::Always
    })
}

/// Refuses changes of identity files that the owner did not ask for, where this life has read untrusted text.
pub(super) async fn identity(tools: &ToolContext<'_>, files: &[String]) -> Result<(), Fault> {
    let own = files.iter().find(|file| *file == "PURPOSE.md" || file.starts_with(PROMPTS));
    let (Some(file), false, Some(broker)) = (own, tools.owner_asks_for(IDENTITY), &tools.belt.broker) else {
        return Ok(());
    };
    let status = broker.status().await.map_err(fault)?;
    if status.get("tainted") == Some(&Value::Bool(false)) {
        return Ok(());
    }
    let hint = "what others wrote may speak through you: ask your owner, or wait until the taint is over";
    Err(Fault::new(format!("{file} is who you are, and this life has read untrusted text"), hint))
}

impl ToolContext<'_> {
    /// Opens a request for the owner's words; it allows the tools they ask for, or the one tool that their yes allows.
    pub(crate) fn requested(&mut self, word: &Word, id: &str) -> Result<String, Fault> {
        let said = &self.belt.permissions;
        let owners = |(name, marks): &&(&str, Marks)| {
            *name == IDENTITY || permission(said, name, Some(marks)) == Permission::Owner
        };
        let of = self.belt.marks.iter().filter(owners).map(|(name, _)| *name);
        let mut tools = asked::tools(&word.text, of.clone());
        if yes::understand(&word.text).is_some_and(|yes| yes.ids.is_empty()) {
            let named = asked::named(&self.store.asked_last(word), of);
            tools.extend(Some(named).filter(|named| named.len() == 1).into_iter().flatten());
        }
        let heard = RequestChange::Heard { text: word.text.clone(), tools, word: id.to_owned() };
        let made = self.change(&Change::Request(heard))?;
        Ok(made.get("id").and_then(Value::as_str).unwrap_or_default().to_owned())
    }

    /// Whether an open request of the owner's asks for this tool. While the owner is answered, only those on that
    /// thread count, else those on any; for sub-sessions spawned of the creature's own accord none does.
    pub(super) fn owner_asks_for(&self, tool: &str) -> bool {
        let thread = self.caller.owner.then_some(self.caller.thread.as_str());
        (self.caller.owner || self.caller.session.is_none())
            && self.store.agenda.requests.asks_for(tool, thread, self.store.clock.now())
    }
}

/// A sentence on entries of the owner's permissions that name no tool; none where all do.
pub fn unknown(permissions: &BTreeMap<String, Permission>, marks: MarksByName) -> Option<String> {
    let names = || marks.iter().map(|(name, _)| *name);
    let known = |name: &str| {
        let family = name.strip_suffix('*').filter(|family| family.ends_with('.'));
        names().any(|tool| tool == name || family.is_some_and(|family| tool.starts_with(family)))
    };
    let unknown: Vec<&str> = permissions.keys().map(String::as_str).filter(|name| !known(name)).collect();
    let first = unknown.first()?;
    // Tools of the same family, else those of the same name in another.
    let (family, own) = first.split_once('.').unwrap_or((first, first));
    let of = |part: &str| names().filter(|name| name.split('.').any(|at| at == part)).collect();
    let near: Vec<&str> =
        Some(of(family)).filter(|near: &Vec<_>| !near.is_empty()).unwrap_or_else(|| of(own));
    let near = if near.is_empty() { String::new() } else { format!("; there are {}", near.join(", ")) };
    Some(format!("owner.toml [permissions]: there is no tool {}{near}", unknown.join(", ")))
}
