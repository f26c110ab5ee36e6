//! A terminal that a window has: whether one can stand there, how the terminal stood before, and where rows go meanwhile.

pub use ground::terminal::{hand_over, is_handed_over};

use crate::outlet::{Outlet, Stream};
use crate::{printable, terminal};
use ground::terminal::{handed_over, row_of};
use nix::sys::termios::{self, SetArg, Termios};
use std::io::{IsTerminal, Write};

/// Whether a window can stand here: standard input and output are a terminal that obeys, and it is ours to read.
pub fn takes_a_window() -> bool {
    let input = std::io::stdin();
    let obeys = std::env::var("TERM").is_ok_and(|term| !term.is_empty() && term != "dumb");
    let is_ours = || nix::unistd::tcgetpgrp(&input).is_ok_and(|group| group == nix::unistd::getpgrp());
    obeys && terminal::is_one() && input.is_terminal() && is_ours()
}

/// Modes of the terminal before a window took it; a window that is killed leaves its own behind.
pub struct Modes(Termios);

impl Modes {
    pub fn now() -> Option<Self> {
        termios::tcgetattr(std::io::stdin()).ok().map(Self)
    }

    /// Lines, echo and Ctrl-C as they were, and what else a window sets: usable again, whatever became of it.
    pub fn restore(&self) {
        let _ = termios::tcsetattr(std::io::stdin(), SetArg::TCSANOW, &self.0);
        // The whole screen scrolls again (which moves the cursor), nothing is painted, pastes are as typed, the cursor
        // shows; what is left of the window's lines goes.
        terminal::own("\x1b7\x1b[r\x1b8\x1b[0m\x1b[?2004l\x1b[?25h\r\x1b[J");
    }
}

/// Writes log lines, made harmless, to standard error.
pub struct Log;

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        if handed_over(|| row_of("log", &text)) {
            return Ok(bytes.len());
        }
        let text = printable::harmless(text.trim_end_matches('\n'));
        Outlet::new(Stream::Error).write_all(format!("{text}\n").as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
