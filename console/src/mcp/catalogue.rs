//! The catalogue of known servers: a table that is data, and what of this machine each needs.

use super::block::Block;
use anyhow::{Context, Result, bail, ensure};
use house::settings::mcp::Mcp;
use house::settings::words::suggest;
use house::terminal::{self, typed};
use processes::programs;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const TABLE: &str = include_str!("catalogue.toml");
/// Columns of a name in the list.
const NAME: usize = 20;
/// Ending of `words` where there may be several.
const SEVERAL: char = '…';

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalogue {
    /// Ways to install a program, by its name.
    needs: BTreeMap<String, String>,
    pub servers: BTreeMap<String, Known>,
}

/// A known server; `catalogue.toml` says what each field is.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Known {
    pub does: String,
    pub sets: Vec<String>,
    pub words: String,
    pub folders: String,
    pub fetched: bool,
    pub needs: Vec<String>,
    pub note: String,
    pub untried: String,
    /// Settings that it gets.
    #[serde(flatten)]
    pub server: Mcp,
}

impl Catalogue {
    pub fn read() -> Result<Self> {
        toml_edit::de::from_str(TABLE).context("the catalogue of MCP servers cannot be read")
    }

    pub fn known(&self, name: &str) -> Result<&Known> {
        self.servers.get(name).with_context(|| {
            let names: Vec<&str> = self.servers.keys().map(String::as_str).collect();
            let own = typed(&format!("mcp add {name} -- COMMAND"));
            format!(
                "no known server is called {name}: {}. One of your own: {own}, or --url URL",
                suggest(name, &names)
            )
        })
    }

    /// Fails where a program is missing, and says what installs it.
    pub fn there(&self, programs: &[String]) -> Result<()> {
        let missing: BTreeSet<String> =
            programs.iter().filter(|program| !is_there(program)).cloned().collect();
        if missing.is_empty() {
            return Ok(());
        }
        let told = missing.iter().map(|program| match self.needs.get(program) {
            Some(how) => format!("{program} is not on this machine: {how}"),
            None => format!("{program} is no program on this machine"),
        });
        bail!("{}", told.collect::<Vec<_>>().join("; "))
    }

    /// Prints what there is.
    pub fn list(&self) {
        terminal::line(
            "Known servers; each is tried, and you see the exact lines, before anything is written:",
        );
        for (name, known) in &self.servers {
            let words = if known.words.is_empty() { String::new() } else { format!(" {}", known.words) };
            let lacks = known.needs.iter().filter(|program| !is_there(program)).cloned().collect::<Vec<_>>();
            let lacks =
                if lacks.is_empty() { String::new() } else { format!(" (needs {})", lacks.join(", ")) };
            terminal::beside("1", &format!("  {name}{words}"), NAME, &format!("{}{lacks}", known.does));
        }
        terminal::line("");
        terminal::line(&format!("one of them: {}", typed("mcp add files /srv/notes")));
        terminal::line(&format!("your own: {}, or --url URL", typed("mcp add NAME -- COMMAND ARGUMENTS")));
    }
}

impl Known {
    /// Fails where one of the values that it wants is not given.
    pub fn wants(&self, name: &str, given: &BTreeMap<String, String>) -> Result<()> {
        let missing: Vec<String> = self
            .sets
            .iter()
            .filter(|name| !given.contains_key(*name))
            .map(|name| format!("--set {name}=VALUE"))
            .collect();
        ensure!(missing.is_empty(), "{name} wants {}", missing.join(" "));
        Ok(())
    }

    /// The block in `owner.toml` for this server, with the words behind its name; `folder` makes a folder of one.
    pub fn block(
        &self,
        name: &str,
        words: &[String],
        folder: impl Fn(&str) -> Result<String>,
    ) -> Result<Block> {
        let (least, most) = match self.words.as_str() {
            "" => (0, 0),
            several if several.ends_with(SEVERAL) => (1, usize::MAX),
            _ => (1, 1),
        };
        if words.len() < least {
            bail!("{name} wants {}; as in {}", self.words, typed(&format!("mcp add {name} /srv/notes")));
        }
        if let Some(over) = words.get(most..).and_then(<[String]>::first) {
            bail!("`{over}` is too much for {name}");
        }
        let words = match self.folders.as_str() {
            "" => words.to_vec(),
            _ => words.iter().map(|word| folder(word)).collect::<Result<Vec<_>>>()?,
        };
        // What this machine has otherwise is not there to be read.
        let is_there = |folder: &&String| {
            !Path::new(folder.as_str()).is_absolute() || Path::new(folder.as_str()).is_dir()
        };
        let granted = |how: &str, always: &[String]| -> Vec<String> {
            let named = words.iter().filter(|_| self.folders == how);
            named.chain(always.iter().filter(is_there)).cloned().collect()
        };
        let server = Mcp {
            command: self.server.command.iter().chain(&words).cloned().collect(),
            read: granted("read", &self.server.read),
            write: granted("write", &self.server.write),
            rules: vec![],
            ..self.server.clone()
        };
        Ok(Block { name: name.to_owned(), server })
    }
}

fn is_there(program: &str) -> bool {
    if program.contains('/') {
        return Path::new(program).is_file();
    }
    std::env::split_paths(&programs::path()).any(|folder| folder.join(program).is_file())
}
