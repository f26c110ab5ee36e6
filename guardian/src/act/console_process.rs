//! The owner's console, a program beside the guardian's: runs the owner's commands, and the feed at a terminal.
//!
//! Invariant: no failure here stops the guardian, and the sweep after a life spares the feed.

use crate::act::build;
use crate::act::executor::Executor;
use crate::processes::trusted::{self, Trusted};
use anyhow::{Context, Result};
use house::clock::Millis;
use house::{House, files, terminal};
use nix::sys::wait::WaitStatus;
use nix::unistd::Pid;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

/// Name of the console's program, in the guardian's own folder.
pub const NAME: &str = "console";
/// Least time between two starts of a feed that ends by itself.
const AGAIN_MS: Millis = 60_000;

/// The feed at the guardian's terminal.
pub struct ConsoleProcess {
    pub feed: Option<Pid>,
    /// When the feed was started last (0: not yet); `None` until it is wanted.
    wanted: Option<Millis>,
    /// Length of memory when the guardian started: the feed shows what was appended since.
    from: u64,
}

impl ConsoleProcess {
    pub fn new(house: &House) -> Self {
        let from = std::fs::metadata(house.memory()).map_or(0, |meta| meta.len());
        Self { feed: None, wanted: None, from }
    }
}

fn program() -> Result<PathBuf> {
    Ok(std::env::current_exe().context("failed to find our own program")?.with_file_name(NAME))
}

/// Replaces this process by the console, which is built first where the guardian runs from the house's own `target/`.
pub fn hand_over(house: Option<&House>, arguments: &[OsString]) -> Result<u8> {
    let program = program()?;
    if let Some((house, (profile, target))) = house.and_then(|house| Some((house, build::made_into(house)?)))
        && (std::env::var_os("CARGO").is_some() || !program.is_file())
    {
        bring_up_to_date(house, &profile, target, program.is_file())?;
    }
    #[allow(clippy::disallowed_methods)]
    let error = Command::new(&program).args(arguments).exec();
    Err(error)
        .with_context(|| format!("failed to run {}; `cargo build -p {NAME}` makes it", program.display()))
}

fn bring_up_to_date(house: &House, profile: &str, target: PathBuf, there: bool) -> Result<()> {
    let path = house.console_build_log();
    // Before the guardian's first start there is no folder for logs.
    let log = std::fs::create_dir_all(house.logs()).and_then(|()| files::create(&path));
    let log = log.with_context(|| format!("failed to create {}", path.display()))?;
    if !there {
        terminal::error("building the console, once; see .self/log/console-build.log");
    }
    let args = ["build", "--package", NAME, "--profile", profile, "--target-dir"].map(str::to_owned);
    let args = args.into_iter().chain([target.display().to_string()]).collect();
    let start = Trusted { program: build::cargo(), args, log: Some(log), ..Trusted::default() };
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
    pub fn show_feed(&mut self) {
        self.console.wanted = Some(0);
        self.tend_console();
    }

    /// Starts the feed if it is wanted and does not run.
    pub fn tend_console(&mut self) {
        let (now, console) = (self.clock.now(), &mut self.console);
        let due = console.wanted.is_some_and(|last| last == 0 || now > last + AGAIN_MS);
        let Some(program) =
            program().ok().filter(|program| due && console.feed.is_none() && program.is_file())
        else {
            return;
        };
        console.wanted = Some(now);
        let args = ["feed", "--live", &console.from.to_string()].map(str::to_owned).to_vec();
        let started = terminal::shared().map_err(anyhow::Error::from).and_then(|out| {
            trusted::start(&self.house, Trusted { program, args, log: Some(out), ..Trusted::default() })
        });
        match started {
            Ok(pid) => console.feed = Some(pid),
            Err(error) => tracing::warn!("no feed is shown: {error:#}"),
        }
    }

    pub fn console_ended(&mut self, pid: Pid) {
        self.console.feed.take_if(|feed| *feed == pid);
    }
}
