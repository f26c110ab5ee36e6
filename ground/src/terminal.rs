//! Lines to a terminal, made harmless and as wide as it is, or handed over to the process that has it.
//!
//! Invariant: a failed write is ignored: a closed terminal is no error.

use crate::outlet::{Outlet, Stream};
use crate::{bounds, clock, printable};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

/// Width assumed where a terminal does not report one.
pub const USUAL: usize = 80;
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

/// A line as it is handed over.
pub fn row_of(tag: &str, text: &str) -> Value {
    json!({"at": clock::stamp(), "tag": tag, "paint": "90", "text": text})
}

/// Hands a row over where a window has the terminal; false where it is to be printed.
pub fn handed_over(told: impl FnOnce() -> Value) -> bool {
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

/// Whether the standard output is a terminal.
pub fn is_one() -> bool {
    std::io::stdout().is_terminal()
}

/// Prints a line, made harmless; at a terminal wrapped at words.
pub fn line(text: &str) {
    if handed_over(|| row_of("", text)) {
        return;
    }
    print_spelled(Stream::Output, &printable::harmless(text), "");
}

/// Prints a line to standard error.
pub fn error(text: &str) {
    if handed_over(|| row_of("warning", text)) {
        return;
    }
    print_spelled(Stream::Error, &printable::harmless(text), "");
}

/// Prints a text that is harmless already, in a colour (an ANSI code; empty: none).
pub fn print_spelled(stream: Stream, text: &str, paint: &str) {
    let is_terminal = match stream {
        Stream::Output => is_one(),
        Stream::Error => std::io::stderr().is_terminal(),
    };
    let mut out = Outlet::new(stream);
    let (begin, end) = match paint {
        "" => (String::new(), ""),
        paint => (format!("\x1b[{paint}m"), "\x1b[0m"),
    };
    let columns = if is_terminal { width() } else { usize::MAX };
    for line in text.split('\n') {
        // Wrapped lines are indented four columns more than the line they continue.
        let indent = if columns == usize::MAX { 0 } else { 4 + line.len() - line.trim_start().len() };
        for (number, line) in
            printable::wrapped(line, columns, columns.saturating_sub(indent)).iter().enumerate()
        {
            let indent = if number == 0 { 0 } else { indent };
            let _ = writeln!(out, "{:indent$}{begin}{line}{end}", "");
        }
    }
}

/// Width of the terminal now, or a usual one's where there is none.
pub fn width() -> usize {
    size().map_or(USUAL, |(columns, _)| columns.into())
}

/// Columns and rows of the terminal now.
pub fn size() -> Option<(u16, u16)> {
    // SAFETY: the kernel writes no more than the structure holds.
    #[allow(unsafe_code)]
    let size = unsafe {
        let mut size = std::mem::zeroed::<libc::winsize>();
        let done = libc::ioctl(libc::STDOUT_FILENO, libc::TIOCGWINSZ, &raw mut size);
        (done == 0).then_some(size)
    };
    size.map(|size| (size.ws_col, size.ws_row)).filter(|(columns, rows)| *columns > 0 && *rows > 0)
}
