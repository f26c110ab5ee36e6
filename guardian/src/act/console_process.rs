//! The owner's console, a program beside the guardian's: runs the owner's commands, and the window at a terminal.
//!
//! Invariant: no failure here stops the guardian, and the sweep after a life spares the window.
//! Invariant: while the window lives the guardian prints nothing; once it is dead the terminal is as it was before.

use crate::act::build;
use crate::act::executor::Executor;
use crate::act::made::Made;
use crate::processes::trusted::{self, Trusted};
use anyhow::{Context, Result};
use house::clock::Millis;
use house::{House, files, outlet, terminal, window};
use nix::fcntl::OFlag;
use nix::sys::wait::WaitStatus;
use nix::unistd::{Pid, pipe2};
use std::ffi::OsString;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

/// Name of the console's program, in the guardian's own folder.
pub const NAME: &str = "console";
/// Least time between two starts of a window that ends by itself.
const AGAIN_MS: Millis = 10_000;

/// The window at the guardian's terminal, or the feed where no window can stand.
pub struct ConsoleProcess {
    pub shown: Option<Pid>,
    /// When it was started last (0: not yet); `None` until it is wanted.
    wanted: Option<Millis>,
    /// Length of memory when the guardian started: what was appended since is shown.
    from: u64,
    /// How the terminal stood before the window; `None`: lines, as where no terminal is.
    before: Option<window::Modes>,
}

impl ConsoleProcess {
    /// `plain`: the owner wants lines, no window.
    pub fn new(house: &House, plain: bool) -> Self {
        let from = std::fs::metadata(house.memory()).map_or(0, |meta| meta.len());
        let before = (!plain && window::takes_a_window()).then(window::Modes::now).flatten();
        Self { shown: None, wanted: None, from, before }
    }

    /// Whether a window stands at this terminal, or is to.
    pub fn has_window(&self) -> bool {
        self.before.is_some()
    }

    /// The terminal is the guardian's again.
    pub fn take_terminal_back(&mut self) {
        if let Some(before) = &self.before {
            before.restore();
        }
        window::hand_over(None);
    }
}

/// Path of the console's program, in the guardian's own folder.
pub fn program() -> Result<PathBuf> {
    Ok(std::env::current_exe().context("failed to find our own program")?.with_file_name(NAME))
}

/// Replaces this process by the console, which is built first where the guardian runs from the house's own `target/`.
pub fn hand_over(house: Option<&House>, arguments: &[OsString]) -> Result<u8> {
    let program = program()?;
    if let Some((house, made)) = house.and_then(|house| Some((house, Made::me(house)?)))
        && (std::env::var_os("CARGO").is_some() || !program.is_file())
    {
        bring_up_to_date(house, &made, program.is_file())?;
    }
    #[allow(clippy::disallowed_methods)]
    let error = Command::new(&program).args(arguments).exec();
    Err(error)
        .with_context(|| format!("failed to run {}; `cargo build -p {NAME}` makes it", program.display()))
}

fn bring_up_to_date(house: &House, made: &Made, there: bool) -> Result<()> {
    let path = house.console_build_log();
    // Before the guardian's first start there is no folder for logs.
    let log = std::fs::create_dir_all(house.logs()).and_then(|()| files::create(&path));
    let log = log.with_context(|| format!("failed to create {}", path.display()))?;
    if !there {
        terminal::error("building the console, once; see .self/log/console-build.log");
    }
    let start =
        Trusted { program: build::cargo(), args: made.args(NAME), log: Some(log), ..Trusted::default() };
    let built = trusted::start(house, start).map(|pid| trusted::wait(pid, || true));
    match built {
        Ok(Some(WaitStatus::Exited(_, 0))) => {}
        _ if there => terminal::error(
            "the console does not build, the one that is there is used; see .self/log/console-build.log",
        ),
        Ok(_) => anyhow::bail!("the console does not build; see .self/log/console-build.log"),
        Err(error) => return Err(error),
    }
    Ok(())
}

impl Executor {
    /// Shows memory at the terminal from here on.
    pub fn show_memory(&mut self) {
        self.console.wanted = Some(0);
        self.tend_console();
    }

    /// Starts the window if it is wanted and does not run; ends one that takes no rows any more.
    pub fn tend_console(&mut self) {
        let (now, console) = (self.clock.now(), &mut self.console);
        if let Some(stuck) = console.shown.filter(|_| console.before.is_some() && !window::is_handed_over()) {
            trusted::kill(stuck);
        }
        let due = console.wanted.is_some_and(|last| last == 0 || now > last + AGAIN_MS);
        let Some(program) =
            program().ok().filter(|program| due && console.shown.is_none() && program.is_file())
        else {
            return;
        };
        console.wanted = Some(now);
        match console.start(&self.house, program) {
            Ok(pid) => console.shown = Some(pid),
            Err(error) => {
                console.take_terminal_back();
                tracing::warn!("neither window nor feed is shown: {error:#}");
            }
        }
    }

    pub fn console_ended(&mut self, pid: Pid, status: WaitStatus) {
        if self.console.shown.take_if(|shown| *shown == pid).is_none() {
            return;
        }
        self.console.take_terminal_back();
        // A window that fails by itself would fail again: this terminal gets lines.
        if matches!(status, WaitStatus::Exited(_, 1..)) && self.console.before.take().is_some() {
            self.report.warn("the window cannot stand at this terminal; what happens is shown as lines");
            self.console.wanted = Some(0);
        }
    }
}

impl ConsoleProcess {
    fn start(&self, house: &House, program: PathBuf) -> Result<Pid> {
        let from = self.from.to_string();
        // What was printed before stands before what it prints.
        outlet::settle();
        if self.before.is_none() {
            let args = ["feed", "--live", &from].map(str::to_owned).to_vec();
            let log = Some(terminal::shared()?);
            return trusted::start(house, Trusted { program, args, log, ..Trusted::default() });
        }
        let (rows, ours) = pipe2(OFlag::O_CLOEXEC | OFlag::O_NONBLOCK).context("failed to make a pipe")?;
        let args = ["window", "--live", &from].map(str::to_owned).to_vec();
        let (log, third) = (Some(terminal::shared()?), Some(rows.as_raw_fd()));
        let start = Trusted { program, args, log, third, has_terminal: true, ..Trusted::default() };
        let pid = trusted::start(house, start)?;
        window::hand_over(Some(File::from(ours)));
        Ok(pid)
    }
}
