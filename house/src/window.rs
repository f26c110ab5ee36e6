//! A terminal that a window has: whether one can stand there, how the terminal stood before, and where rows go meanwhile.

use crate::outlet::{Outlet, Stream};
use crate::{bounds, moments, printable, terminal};
use nix::sys::termios::{self, SetArg, Termios};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

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

/// Most bytes of a row that is handed over: a pipe takes or refuses these as one.
const HANDED_BYTES: usize = 4_095;

/// Pipe for this process's rows while another process has the terminal.
static WINDOW: Mutex<Option<File>> = Mutex::new(None);

/// Hands every row to this pipe from here on, as a line of JSON; `None`: prints them again. The pipe must not wait.
pub fn hand_over(to: Option<File>) {
    *WINDOW.lock().unwrap_or_else(PoisonError::into_inner) = to;
}

/// Whether rows go to a window. A window that reads no more is handed no more rows.
pub fn is_handed_over() -> bool {
    WINDOW.lock().unwrap_or_else(PoisonError::into_inner).is_some()
}

pub(crate) fn row_of(tag: &str, text: &str) -> Value {
    json!({"at": moments::now().to_string(), "tag": tag, "paint": "90", "text": text})
}

/// Hands a row over where a window has the terminal; false where it is to be printed.
pub(crate) fn handed_over(told: impl FnOnce() -> Value) -> bool {
    let mut window = WINDOW.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(pipe) = window.as_mut() else { return false };
    let line = bounds::fitted(told(), HANDED_BYTES, Value::to_string);
    let is_taken = loop {
        match pipe.write(format!("{line}\n").as_bytes()) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            written => break written.is_ok_and(|bytes| bytes == line.len() + 1),
        }
    };
    if !is_taken {
        *window = None;
    }
    is_taken
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
