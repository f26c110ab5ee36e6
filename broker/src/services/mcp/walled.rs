//! Runs the program of an MCP server behind walls: a stage of this binary, which puts them up and becomes the program.
//!
//! Invariant: the program sees the system, its own home and the folders the owner named; never the house's keys, the
//! broker's folder or another home.

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use walls::spec::{Access, Ceilings, Rule, View};
use walls::{Choice, Place, STAGE, Walls, inherit, launch};

/// The first argument by which this binary knows that it is to put walls up around a server's program.
pub const WALLED: &str = "walled";
const CEILINGS: Ceilings = Ceilings { processes: 512, memory_mib: 4_096, open_files: 4_096, file_mib: 1_024 };

/// The place of a server's program, as an argument.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Within {
    /// Its own folder: home and working directory.
    pub home: PathBuf,
    pub name: String,
    pub read: Vec<PathBuf>,
    pub write: Vec<PathBuf>,
    /// Never shown, whatever lies around it.
    pub hidden: Vec<PathBuf>,
    /// It reaches what this machine does, else nothing.
    pub open_network: bool,
    /// Fails where a wall cannot be put up.
    pub required: bool,
}

impl Place for Within {
    fn root(&self) -> &Path {
        &self.home
    }

    fn name(&self) -> String {
        format!("feral-mcp-{}", self.name)
    }

    fn rules(&self) -> Vec<Rule> {
        let rule = |access| move |path: &PathBuf| Rule { access, path: path.clone() };
        let own = Rule { access: Access::Write, path: self.home.clone() };
        let read = self.read.iter().map(rule(Access::Run));
        let write = self.write.iter().map(rule(Access::Write));
        processes::place::system().chain(read).chain(write).chain([own]).collect()
    }

    fn view(&self) -> View {
        let shown = std::iter::once(&self.home).chain(&self.read).chain(&self.write);
        View { hidden: self.hidden.clone(), shown: shown.cloned().collect(), emptied: vec![] }
    }
}

/// Runs the stage that the arguments name, for `main`; none where the first argument names no stage.
pub fn stage(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let first = arguments.next()?;
    if first == STAGE {
        return Some(launch::launch(arguments, |failed| eprintln!("broker: {failed}")));
    }
    (first == WALLED).then(|| {
        let error = match become_program(arguments) {
            Ok(error) => error,
            Err(error) => error,
        };
        eprintln!("broker: {error:#}");
        ExitCode::from(launch::FAILED)
    })
}

/// Returns only if it fails.
fn become_program(mut arguments: impl Iterator<Item = OsString>) -> Result<anyhow::Error> {
    let within = arguments.next().context("no place is named")?;
    let within: Within =
        serde_json::from_slice(within.as_encoded_bytes()).context("the place is not readable")?;
    let program = PathBuf::from(arguments.next().context("no program is named")?);
    let (open_network, required) = (within.open_network, within.required);
    let mut granted = within.read.iter().chain(&within.write);
    let holds = |folder: &&PathBuf| within.hidden.iter().any(|hidden| hidden.starts_with(folder));
    let holder = granted.find(holds).cloned();
    let launcher = std::env::current_exe().context("this program is not found")?;
    let choice = if required { Choice::Required } else { Choice::On };
    let walls = Walls::find(Box::new(within), choice, CEILINGS, launcher, false)?;
    let mut spec = walls.spec(None);
    if open_network {
        (spec.net, spec.open) = (None, true);
    } else {
        ensure!(
            spec.net.is_some(),
            "this machine gives no network of its own, and network = \"none\" asks for one"
        );
    }
    // Landlock takes nothing out of a folder that it grants; only the view does.
    if let Some(holder) = holder.filter(|_| spec.view.is_none()) {
        bail!("{} holds the house's keys, and no wall hides them here", holder.display());
    }
    let mut command = walls.command(&spec, Some(&program))?;
    command.args(arguments);
    inherit(&mut command, walls.descriptors());
    #[allow(clippy::disallowed_methods, reason = "this process becomes the program")]
    let error = command.exec();
    Ok(anyhow::Error::from(error).context(format!("failed to start {}", program.display())))
}
