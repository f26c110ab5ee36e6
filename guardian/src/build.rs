//! One cargo build of the creature: its own step, its own deadline, its own kind of failure.
//!
//! Invariant: its output goes to files; nothing here waits for cargo.

use crate::child::{self, Start};
use crate::files;
use crate::house::House;
use crate::limits::LOG_TAIL_BYTES;
use anyhow::{Context, Result};
use nix::sys::wait::WaitStatus;
use nix::unistd::Pid;
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

pub struct Build {
    pub pid: Pid,
    /// Creature tree that is being built.
    pub tree: String,
    /// It proves the source beside a running creature.
    pub beside: bool,
    /// Kernel kills for want of memory when it began.
    pub memory_kills: u64,
    messages: BufReader<File>,
    pub crates: usize,
    executable: Option<PathBuf>,
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
    pub fn start(house: &House, lock: &File, tree: String, beside: bool) -> Result<Self> {
        let create = |path: PathBuf| {
            files::create(&path).with_context(|| format!("failed to create {}", path.display()))
        };
        let (stdout, stderr) = (create(house.build_messages())?, create(house.build_log())?);
        let messages = File::open(house.build_messages()).context("failed to follow cargo's messages")?;
        let mut args = cargo_args("build");
        args.push("--message-format=json-render-diagnostics".into());
        let start = Start { program: cargo(), args, extra: vec![], keys: None, stdout, stderr };
        let pid = child::start(house, lock, start)?;
        let memory_kills = crate::run::memory_kills();
        Ok(Self {
            pid,
            tree,
            beside,
            memory_kills,
            messages: BufReader::new(messages),
            crates: 0,
            executable: None,
        })
    }

    /// Reads what cargo has said since the last look.
    pub fn follow(&mut self) {
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = self.messages.read_until(b'\n', &mut line).unwrap_or(0);
            if read == 0 {
                return;
            }
            if line.last() != Some(&b'\n') {
                // Half a message: read it again when the rest is there.
                let _ = self.messages.seek_relative(-(read as i64));
                return;
            }
            let Ok(message) = serde_json::from_slice::<Value>(&line) else { continue };
            if message.get("reason").and_then(Value::as_str) == Some("compiler-artifact") {
                self.crates += 1;
                if let Some(path) = message.get("executable").and_then(Value::as_str) {
                    self.executable = Some(PathBuf::from(path));
                }
            }
        }
    }

    /// The binary it made, or the end of what it printed.
    pub fn finish(mut self, house: &House, status: WaitStatus) -> std::result::Result<PathBuf, String> {
        self.follow();
        match (status, self.executable.take()) {
            (WaitStatus::Exited(_, 0), Some(path)) => Ok(path),
            (WaitStatus::Exited(_, 0), None) => Err("cargo built no binary".into()),
            (status, _) => Err(evidence(house, status)),
        }
    }
}

/// How many packages the lock file names: the most a build can come to. Of a longer one the end is read.
pub fn packages(house: &House) -> usize {
    files::tail(&house.creature().join("Cargo.lock"), 2 << 20).matches("[[package]]").count()
}

fn evidence(house: &House, status: WaitStatus) -> String {
    let text = files::tail(&house.build_log(), 64 * 1024);
    // What matters is the first error; cargo's own summary comes last.
    let from = text.find("error").unwrap_or(text.len().saturating_sub(LOG_TAIL_BYTES as usize));
    let mut text: String = text.get(from..).unwrap_or(&text).chars().take(LOG_TAIL_BYTES as usize).collect();
    if text.trim().is_empty() {
        text = format!("cargo ended without a word: {status:?}");
    }
    text
}
