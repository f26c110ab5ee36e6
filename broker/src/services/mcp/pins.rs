//! Tools as they were first seen, on disk, so that one that changes is noticed; and changes that wait for the owner.

use super::tool::Tool;
use crate::approvals::act::Pin;
use crate::approvals::outcome::{Answer, Outcome, not_sent};
use crate::ground::files;
use house::House;
use house::mutex::lock;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;

/// Most bytes of the file, and of the tools of one server.
const MOST_BYTES: u64 = 256 << 20;
const MOST_OF_SERVER: usize = 4 << 20;

/// A tool as it was first seen or last agreed to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pinned {
    pub tool: Tool,
    /// A later form, which waits for the owner's yes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<Tool>,
}

impl Pinned {
    /// The tool as it was seen last.
    pub fn latest(&self) -> &Tool {
        self.changed.as_ref().unwrap_or(&self.tool)
    }
}

type All = BTreeMap<String, BTreeMap<String, Pinned>>;

pub struct Pins {
    path: PathBuf,
    held: Mutex<Result<All, String>>,
}

impl Pins {
    pub fn open(house: &House) -> Self {
        let path = house.broker().join("mcp.json");
        let read = || -> anyhow::Result<All> {
            let bytes = house::files::read_most(&path, MOST_BYTES)?;
            Ok(bytes.map(|bytes| serde_json::from_slice(&bytes)).transpose()?.unwrap_or_default())
        };
        let all = read().map_err(|error| {
            format!(
                "{} cannot be read, so no tool of an MCP server is called; where it is moved away, all tools are seen \
                 anew: {error:#}",
                path.display()
            )
        });
        Self { held: Mutex::new(all), path }
    }

    /// The tools of a server as pinned, by name.
    pub fn of(&self, server: &str) -> BTreeMap<String, Pinned> {
        lock(&self.held).as_ref().ok().and_then(|all| all.get(server).cloned()).unwrap_or_default()
    }

    /// Counts the tools of a server, and names those of which a later form waits for the owner.
    pub fn told(&self, server: &str) -> (usize, Vec<String>) {
        let held = lock(&self.held);
        let Some(pinned) = held.as_ref().ok().and_then(|all| all.get(server)) else { return (0, vec![]) };
        let changed = pinned.iter().filter(|(_, known)| known.changed.is_some());
        (pinned.len(), changed.map(|(name, _)| name.clone()).collect())
    }

    /// Forgets the tools of servers that the owner names no more: one that is named again is seen anew.
    pub fn keep(&self, is_named: impl Fn(&str) -> bool) {
        if let Err(why) = self.change(|all| all.retain(|server, _| is_named(server))) {
            tracing::warn!("{why}");
        }
    }

    /// Compares a server's tools with what was seen before: new ones are pinned, changed ones noted.
    pub fn see(&self, server: &str, tools: &[Tool]) -> Result<(), String> {
        let known = self.of(server);
        let is_known = |tool: &Tool| {
            known.get(&tool.name).is_some_and(|known| known.tool == *tool && known.changed.is_none())
        };
        let others: Vec<&Tool> = tools.iter().filter(|tool| !is_known(tool)).collect();
        if others.is_empty() && self.is_sound()? {
            return Ok(());
        }
        // None is forgotten, or a server could change a tool by leaving it out once: so it may not name ever new ones.
        let bytes = known.values().map(|known| &known.tool).chain(others.iter().copied()).map(Tool::bytes);
        if bytes.sum::<usize>() > MOST_OF_SERVER {
            return Err(format!("{server} has described tools in more than {MOST_OF_SERVER} bytes"));
        }
        self.change(|all| {
            let pinned = all.entry(server.to_owned()).or_default();
            for tool in others {
                let fresh = || Pinned { tool: tool.clone(), changed: None };
                let known = pinned.entry(tool.name.clone()).or_insert_with(fresh);
                let same = known.tool.fingerprint() == tool.fingerprint();
                known.changed = Some(tool.clone()).filter(|_| !same);
            }
        })
    }

    /// Whether the file could be read; an error says why not.
    fn is_sound(&self) -> Result<bool, String> {
        lock(&self.held).as_ref().map(|_| true).map_err(Clone::clone)
    }

    /// Takes the changed form that the owner agreed to; false if it is another by now.
    fn accept(&self, server: &str, tool: &str, fingerprint: &str) -> Result<bool, String> {
        let mut taken = false;
        self.change(|all| {
            let Some(known) = all.get_mut(server).and_then(|pinned| pinned.get_mut(tool)) else { return };
            if let Some(changed) = known.changed.take_if(|changed| changed.fingerprint() == fingerprint) {
                (known.tool, taken) = (changed, true);
            }
        })?;
        Ok(taken)
    }

    /// Takes the form of a tool that the owner agreed to, if it is still that.
    pub fn agree(&self, pin: &Pin) -> Outcome {
        match self.accept(&pin.server, &pin.tool, &pin.fingerprint) {
            Ok(true) => {
                let body = format!("{} of {} may be called as it is now", pin.tool, pin.server);
                Outcome::Answered(Answer { status: 200, body, ..Answer::default() })
            }
            Ok(false) => {
                not_sent("it is described in yet another way by now", "call it, and your owner is asked anew")
            }
            Err(why) => not_sent(why, "is the disk full?"),
        }
    }

    fn change(&self, change: impl FnOnce(&mut All)) -> Result<(), String> {
        let mut held = lock(&self.held);
        let all = held.as_mut().map_err(|why| why.clone())?;
        let before = all.clone();
        change(all);
        if *all == before {
            return Ok(());
        }
        let written = serde_json::to_vec(all).map_err(anyhow::Error::from);
        let fits = |bytes: Vec<u8>| match bytes.len() as u64 <= MOST_BYTES {
            true => Ok(bytes),
            false => Err(anyhow::anyhow!("they come to more than {MOST_BYTES} bytes")),
        };
        written.and_then(fits).and_then(|bytes| files::replace(&self.path, &bytes)).map_err(|error| {
            *all = before;
            format!("the tools of an MCP server cannot be noted, so none is called: {error:#}")
        })
    }
}
