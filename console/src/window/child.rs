//! A command that runs beside the window, as a program of its own: its output as lines, bounded, and its end.

use crate::window::typed::Order;
use anyhow::{Context, Result};
use house::House;
use house::bounds::brief;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// Most lines of a command that are shown, and most bytes of one.
const MOST_LINES: usize = 2_000;
const MOST_BYTES: usize = 64 << 10;
/// Characters of its name.
const NAME_CHARS: usize = 40;
/// Bytes read at once, and at one look.
const BLOCK: usize = 16 << 10;
const LOOK_BYTES: usize = 256 << 10;

/// Our own program's name.
const CONSOLE: &str = "console";

/// A command under way; it is ended when this is dropped.
pub struct Running {
    child: Child,
    out: File,
    rest: Vec<u8>,
    lines: usize,
    pub name: String,
    pub of_guardian: bool,
    pub shows: Option<Shows>,
}

/// Content shown by a command, so that it may be done when it is typed again.
pub enum Shows {
    /// The exact bytes of the ask of this id, which have this digest.
    Ask(String, String),
    /// The changes of a rollback to this version.
    Rollback(String),
}

/// Output of a command since the last look.
pub struct Came {
    pub lines: Vec<String>,
    /// Its exit status once it has ended; `None` within where it was ended.
    pub ended: Option<Option<i32>>,
}

/// A program that lies where ours was started from. Once cargo has replaced ours, Linux names that place with ` (deleted)`
/// behind it (proc_pid_exe(5)), and there lies the new one.
fn beside(name: &str) -> Result<PathBuf> {
    let own = std::env::current_exe().context("failed to find our own program")?;
    let there = own.with_file_name(name);
    // Until cargo has put the new one there, the old one still runs from where Linux keeps it.
    Ok(if name == CONSOLE && !there.is_file() { "/proc/self/exe".into() } else { there })
}

impl Running {
    /// Starts the program that answers an order; it is told how wide the window is, and gets no terminal.
    pub fn start(house: &House, order: &Order, columns: usize) -> Result<Self> {
        let program = beside(if order.of_guardian { "guardian" } else { CONSOLE })?;
        let (out, theirs) = std::io::pipe().context("failed to make a pipe")?;
        let out = File::from(OwnedFd::from(out));
        fcntl(&out, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).context("failed to read without waiting")?;
        let mut command = Command::new(&program);
        command.args(&order.args).current_dir(house.root()).stdin(Stdio::null());
        command.env("COLUMNS", columns.to_string()).env(house::terminal::IN_WINDOW, "1");
        command.stdout(theirs.try_clone().context("failed to share a pipe")?).stderr(theirs);
        #[allow(clippy::disallowed_methods)]
        let child = command.spawn().with_context(|| {
            format!("failed to run {}; `cargo build --workspace` makes it", program.display())
        })?;
        // What is said of it has few lines, and its end must find room there.
        let name = brief(&order.args.join(" "), NAME_CHARS);
        let of_guardian = order.of_guardian;
        Ok(Self { child, out, rest: Vec::new(), lines: 0, name, of_guardian, shows: None })
    }

    /// Waits until it has ended: its exit status, and its lines.
    pub fn whole(&mut self) -> Result<(Option<i32>, Vec<String>)> {
        let mut lines = Vec::new();
        loop {
            let mut asked = [PollFd::new(self.out(), PollFlags::POLLIN)];
            let _ = poll(&mut asked, PollTimeout::NONE);
            let came = self.look()?;
            lines.extend(came.lines);
            if let Some(ended) = came.ended {
                return Ok((ended, lines));
            }
        }
    }

    pub fn out(&self) -> BorrowedFd<'_> {
        self.out.as_fd()
    }

    pub fn end(&mut self) {
        let _ = self.child.kill();
    }

    pub fn look(&mut self) -> Result<Came> {
        let is_over = read(&mut self.out, &mut self.rest)?;
        let mut lines = Vec::new();
        while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            lines.push(String::from_utf8_lossy(&line).trim_end().to_owned());
        }
        if (is_over && !self.rest.is_empty()) || self.rest.len() > MOST_BYTES {
            lines.push(String::from_utf8_lossy(&std::mem::take(&mut self.rest)).into_owned());
        }
        self.lines += lines.len();
        if self.lines > MOST_LINES {
            lines.truncate(lines.len().saturating_sub(self.lines - MOST_LINES));
            lines.push(format!("… only the first {MOST_LINES} lines are shown"));
            self.end();
            let ended = self.child.wait().ok().map(|status| status.code());
            return Ok(Came { lines, ended: Some(ended.flatten()) });
        }
        let ended = is_over.then(|| self.child.wait().ok().and_then(|status| status.code()));
        Ok(Came { lines, ended })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
        let _ = self.child.wait();
    }
}

/// Reads the bytes that are there, without waiting and within a bound; true at the end.
pub fn read(from: &mut File, to: &mut Vec<u8>) -> Result<bool> {
    let mut block = [0; BLOCK];
    for _ in 0..LOOK_BYTES / BLOCK {
        match from.read(&mut block) {
            Ok(0) => return Ok(true),
            Ok(bytes) => to.extend_from_slice(block.get(..bytes).unwrap_or_default()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error).context("failed to read from a pipe"),
        }
    }
    Ok(false)
}
