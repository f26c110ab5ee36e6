//! The notices: a stage of the console's program that tells the owner of what happens; what it says is only shown.

use crate::act::around::Around;
use crate::act::daemons::jobs::CONSOLE;
use anyhow::{Context, Result};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::unistd::{Pid, pipe2};
use processes::trusted::{self, Trusted};
use std::fs::File;
use std::io::Read;

/// Most bytes taken from it at a look, and of a line that has not ended.
const LOOK_BYTES: usize = 16 << 10;
const MOST_LINE_BYTES: usize = 256 << 10;

/// Output of the daemon, and its line that has not ended.
#[derive(Default)]
pub struct Notices {
    says: Option<File>,
    line: Vec<u8>,
}

impl Notices {
    pub fn start(&mut self, around: &mut Around) -> Result<Pid> {
        let (says, to) = pipe2(OFlag::O_CLOEXEC).context("failed to make a pipe")?;
        fcntl(&says, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).context("failed to set up a pipe")?;
        let extra = vec![("FERAL_NOTICES", serde_json::to_string(&around.settings.notices)?)];
        let (program, args) = (CONSOLE.program(), vec!["notices".to_owned()]);
        let log = Some(File::from(to));
        let pid = trusted::start(&around.house, Trusted { program, args, extra, log, ..Trusted::default() })?;
        self.says = Some(File::from(says));
        Ok(pid)
    }

    /// The lines it has said since the last look, a bounded number of them.
    pub fn lines(&mut self) -> Vec<String> {
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
