//! One cargo build of the creature: its own step, its own deadline, its own kind of failure.
//!
//! Invariant: its output goes to files; nothing here waits for cargo.

use crate::child::{self, Door, Kind, Start};
use crate::house::House;
use crate::limits::{LOG_TAIL_BYTES, Millis};
use crate::lines::{Lines, Next};
use crate::walls::Walls;
use crate::{files, records};
use anyhow::{Context, Result};
use nix::sys::wait::WaitStatus;
use nix::unistd::Pid;
use serde_json::Value;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// Longest message of cargo's that is taken for one: what a compiler says at length, the creature may have made it say.
const MOST_MESSAGE_BYTES: usize = 4 << 20;
/// What a look at its messages reads, in bytes.
const LOOK_BYTES: u64 = 4 << 20;

pub struct Build {
    pub pid: Pid,
    /// Creature tree that is being built.
    pub tree: String,
    /// It proves the source beside a running creature.
    pub beside: bool,
    pub since: Millis,
    /// Kernel kills for want of memory when it began.
    pub memory_kills: u64,
    messages: Lines,
    pub crates: usize,
    executable: Option<PathBuf>,
    /// The folder it builds into, held open: while it is, no other folder can have its number.
    folder: Option<File>,
}

/// How a build failed.
pub struct Failed {
    /// What cargo said from its first error on.
    pub output: String,
    /// The folder it built into is not there any more, or is another one: somebody deleted it meanwhile.
    pub folder_gone: bool,
}

/// Arguments every cargo call of the guardian shares: from the root, so that the creature's own cargo settings are inert.
pub fn cargo_args(verb: &str) -> Vec<String> {
    [verb, "--manifest-path", "creature/Cargo.toml", "--target-dir", "target/creature"]
        .map(str::to_owned)
        .to_vec()
}

pub fn cargo() -> PathBuf {
    std::env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from)
}

impl Build {
    /// `broker`: how cargo reaches its registries.
    pub fn start(
        house: &House,
        lock: &File,
        walls: &Walls,
        broker: Option<Door>,
        tree: String,
        beside: bool,
        now: Millis,
    ) -> Result<Self> {
        let create = |path: PathBuf| {
            files::create(&path).with_context(|| format!("failed to create {}", path.display()))
        };
        let (stdout, stderr) = (create(house.build_messages())?, create(house.build_log())?);
        let messages = File::open(house.build_messages()).context("failed to follow cargo's messages")?;
        let mut args = cargo_args("build");
        args.push("--message-format=json-render-diagnostics".into());
        // Not to have it is cargo's to complain of.
        let _ = std::fs::create_dir_all(house.built());
        let folder = File::open(house.built()).ok();
        let start =
            Start { kind: Kind::Build, program: cargo(), args, extra: vec![], walls, broker, stdout, stderr };
        let pid = child::start(house, lock, start)?;
        let memory_kills = crate::ends::memory_kills();
        Ok(Self {
            pid,
            tree,
            beside,
            since: now,
            memory_kills,
            messages: Lines::new(messages, MOST_MESSAGE_BYTES),
            crates: 0,
            executable: None,
            folder,
        })
    }

    fn folder_gone(&self, house: &House) -> bool {
        let Some(Ok(then)) = self.folder.as_ref().map(File::metadata) else { return false };
        let now = std::fs::metadata(house.built());
        !now.is_ok_and(|now| (now.dev(), now.ino()) == (then.dev(), then.ino()))
    }

    /// Reads what cargo has said since the last look, a bounded part of it.
    pub fn follow(&mut self) {
        self.read(LOOK_BYTES);
    }

    fn read(&mut self, most_bytes: u64) {
        self.messages.allow(most_bytes);
        loop {
            let message = match self.messages.next_line() {
                Next::Line(line) => records::parse(line),
                Next::Long => None,
                Next::End => return,
            };
            let Some(message) = message else { continue };
            if records::text(&message, "reason") == "compiler-artifact" {
                self.crates += 1;
                if let Some(path) = message.get("executable").and_then(Value::as_str) {
                    self.executable = Some(PathBuf::from(path));
                }
            }
        }
    }

    /// The binary it made, or what went wrong.
    pub fn finish(mut self, house: &House, status: WaitStatus) -> std::result::Result<PathBuf, Failed> {
        self.read(u64::MAX);
        let output = match (status, self.executable.take()) {
            // Where it lies is said by processes of the creature's.
            (WaitStatus::Exited(_, 0), Some(path)) if path.starts_with(house.target()) => return Ok(path),
            (WaitStatus::Exited(_, 0), Some(path)) => {
                format!("cargo named a binary outside the build folder: {}", path.display())
            }
            (WaitStatus::Exited(_, 0), None) => "cargo built no binary".into(),
            (status, _) => errors(house, status),
        };
        Err(Failed { output, folder_gone: self.folder_gone(house) })
    }
}

/// How many packages the lock file names: the most a build can come to. Of a longer one the end is read.
pub fn packages(house: &House) -> usize {
    files::tail(&house.creature().join("Cargo.lock"), 2 << 20).matches("[[package]]").count()
}

fn errors(house: &House, status: WaitStatus) -> String {
    let text = files::tail(&house.build_log(), 64 * 1024);
    // What matters is the first error; cargo's own summary comes last, and crates have names like `thiserror`.
    let from = if text.starts_with("error") { Some(0) } else { text.find("\nerror").map(|at| at + 1) };
    let from =
        from.unwrap_or_else(|| text.floor_char_boundary(text.len().saturating_sub(LOG_TAIL_BYTES as usize)));
    let text = text.get(from..).unwrap_or_default();
    if text.trim().is_empty() { format!("cargo ended without a word: {status:?}") } else { text.to_owned() }
}
