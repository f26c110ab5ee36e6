//! The process that tells the owner of what happens, a stage of the console's program: started, heard, started again.
//!
//! Invariant: no failure here stops the guardian, and the sweep after a life spares it. What it says is only shown.

use crate::act::console_process;
use crate::act::executor::Executor;
use crate::act::report::Report;
use crate::processes::trusted::{self, Trusted};
use anyhow::{Context, Result};
use house::House;
use house::bounds::{TOLD_CHARS, brief};
use house::clock::Millis;
use house::settings::notices::Notices;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::unistd::{Pid, pipe2};
use serde_json::Value;
use std::fs::File;
use std::io::Read;

/// Least time between two starts of one that ends by itself.
const AGAIN_MS: Millis = 60_000;
/// Most bytes taken from it at a look, and of a line that has not ended.
const LOOK_BYTES: usize = 16 << 10;
const MOST_LINE_BYTES: usize = 256 << 10;

/// What tells the owner of what happens, where there is anything to tell it by.
pub struct NoticesProcess {
    pub pid: Option<Pid>,
    /// Whether the owner's settings and this environment leave it anything to do.
    wanted: bool,
    /// When it may be started next.
    due: Millis,
    /// What it says, and the line that has not ended.
    says: Option<File>,
    line: Vec<u8>,
}

impl NoticesProcess {
    pub fn new(settings: &Notices) -> Self {
        Self { pid: None, wanted: settings.wanted(), due: 0, says: None, line: Vec::new() }
    }

    /// Starts it anew with other settings: the one that runs is ended.
    pub fn change(&mut self, settings: &Notices) {
        self.wanted = settings.wanted();
        self.due = 0;
        self.pid.into_iter().for_each(trusted::terminate);
    }

    fn start(&mut self, house: &House, settings: &Notices) -> Result<()> {
        let program = console_process::program()?;
        if !program.is_file() {
            return Ok(());
        }
        let (says, to) = pipe2(OFlag::O_CLOEXEC).context("failed to make a pipe")?;
        fcntl(&says, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).context("failed to set up a pipe")?;
        let extra = vec![("FERAL_NOTICES", serde_json::to_string(settings)?)];
        let args = vec!["notices".to_owned()];
        let log = Some(File::from(to));
        self.pid = Some(trusted::start(house, Trusted { program, args, extra, log, ..Trusted::default() })?);
        self.says = Some(File::from(says));
        Ok(())
    }

    /// The lines it has said since the last look, a bounded number of them.
    fn lines(&mut self) -> Vec<String> {
        let mut block = [0; LOOK_BYTES];
        let read = self.says.as_mut().and_then(|says| says.read(&mut block).ok()).unwrap_or(0);
        self.line.extend(block.get(..read).unwrap_or_default());
        let mut lines = Vec::new();
        while let Some(end) = self.line.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.line.drain(..=end).collect();
            lines.push(String::from_utf8_lossy(&line).trim().to_owned());
        }
        if self.line.len() > MOST_LINE_BYTES {
            self.line = Vec::new();
        }
        lines
    }
}

impl Report {
    /// The morning report, whole at a terminal; elsewhere a line of the log for each of its lines.
    fn morning(&mut self, text: &str) {
        if self.screen.is_terminal() {
            self.screen.gap();
            self.tell("report", "1;36", text);
            self.screen.gap();
        } else {
            text.lines().for_each(|line| tracing::info!("report: {line}"));
        }
    }

    /// A line of the process that tells the owner.
    fn notices(&mut self, line: &str) {
        let told: Value = serde_json::from_str(line).unwrap_or_default();
        let text = told.get("text").and_then(Value::as_str);
        match (told.get("row").and_then(Value::as_str), text) {
            (Some("report"), Some(text)) => self.morning(text),
            (_, Some(text)) => self.warn(&brief(text, TOLD_CHARS)),
            (_, None) => self.warn(&format!("notices: {}", brief(line, TOLD_CHARS))),
        }
    }
}

impl Executor {
    /// At each look: shows what it says, and starts it where it is wanted and does not run.
    pub fn tend_notices(&mut self) {
        for line in self.notices.lines() {
            self.report.notices(&line);
        }
        let now = self.clock.now();
        let notices = &mut self.notices;
        if !notices.wanted || notices.pid.is_some() || now < notices.due {
            return;
        }
        notices.due = now + AGAIN_MS;
        if let Err(error) = notices.start(&self.house, &self.settings.notices) {
            tracing::warn!("nobody is told of what happens: {error:#}");
        }
    }

    pub fn notices_ended(&mut self, pid: Pid) {
        self.notices.pid.take_if(|notices| *notices == pid);
    }
}
