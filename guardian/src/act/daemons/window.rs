//! The window at the guardian's terminal, or the feed where no window can stand: both are the console's.
//!
//! Invariant: no failure here stops the guardian, and the sweep after a life spares the window.
//! Invariant: while the window lives the guardian prints nothing; once it is dead the terminal is as it was before.

use crate::act::around::Around;
use crate::act::daemons::jobs::CONSOLE;
use anyhow::{Context, Result};
use house::{House, outlet, terminal, window};
use nix::fcntl::OFlag;
use nix::sys::wait::WaitStatus;
use nix::unistd::{Pid, pipe2};
use processes::trusted::{self, Trusted};
use std::fs::File;
use std::os::fd::AsRawFd;

pub struct Window {
    /// Whether the first facts were told: from then on memory is shown.
    pub wanted: bool,
    /// Length of memory when the guardian started: lines appended since are shown.
    from: u64,
    /// Modes of the terminal before the window; `None`: lines, as where no terminal is.
    before: Option<window::Modes>,
}

impl Window {
    /// `plain`: the owner wants lines, no window.
    pub fn new(house: &House, plain: bool) -> Self {
        let from = std::fs::metadata(house.memory()).map_or(0, |meta| meta.len());
        let before = (!plain && window::takes_a_window()).then(window::Modes::now).flatten();
        Self { wanted: false, from, before }
    }

    /// Whether a window stands at this terminal, or is to.
    pub fn stands(&self) -> bool {
        self.before.is_some()
    }

    /// Whether the one that runs takes no rows any more.
    pub fn is_silent(&self) -> bool {
        self.stands() && !window::is_handed_over()
    }

    /// Gives the terminal back to the guardian.
    pub fn take_terminal_back(&mut self) {
        if let Some(before) = &self.before {
            before.restore();
        }
        window::hand_over(None);
    }

    pub fn start(&mut self, around: &mut Around) -> Result<Pid> {
        let started = self.attach(&around.house);
        if started.is_err() {
            self.take_terminal_back();
        }
        started
    }

    fn attach(&self, house: &House) -> Result<Pid> {
        let (program, from, log) = (CONSOLE.program(), self.from.to_string(), Some(terminal::shared()?));
        // What was printed before stands before what it prints.
        outlet::settle();
        if self.before.is_none() {
            let args = ["feed", "--live", &from].map(str::to_owned).to_vec();
            return trusted::start(house, Trusted { program, args, log, ..Trusted::default() });
        }
        let (rows, ours) = pipe2(OFlag::O_CLOEXEC | OFlag::O_NONBLOCK).context("failed to make a pipe")?;
        let args = ["window", "--live", &from].map(str::to_owned).to_vec();
        let third = Some(rows.as_raw_fd());
        let start = Trusted { program, args, log, third, has_terminal: true, ..Trusted::default() };
        let pid = trusted::start(house, start)?;
        window::hand_over(Some(File::from(ours)));
        Ok(pid)
    }

    /// True where lines take its place at once: a window that fails by itself would fail again.
    pub fn ended(&mut self, around: &mut Around, status: WaitStatus) -> bool {
        self.take_terminal_back();
        let fails = matches!(status, WaitStatus::Exited(_, 1..)) && self.before.take().is_some();
        if fails {
            around.report.warn("the window cannot stand at this terminal; what happens is shown as lines");
        }
        fails
    }
}
