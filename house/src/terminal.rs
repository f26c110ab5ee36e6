//! The only way to the terminal: every printed line passes here, made harmless and as wide as the terminal.
//!
//! Invariant: nothing is printed anywhere else, so no text of the creature's reaches a terminal unescaped.
//! Invariant: a failed write is ignored: a closed terminal is no error.

pub use crate::called::{IN_WINDOW, STARTS, hinted, typed};
pub use crate::window::Log;
pub use ground::terminal::{error, is_one, line, size, width};

use crate::moments::{self, Place};
use crate::outlet::{Outlet, Stream};
use crate::printable;
use ground::terminal::{USUAL, handed_over, is_handed_over, print_spelled};
use jiff::Timestamp;
use jiff::civil::Date;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigHandler, Signal, signal};
use serde_json::{Value, json};
use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;

/// Below this width times, tags and names get no columns of their own.
const NARROW: usize = 60;
/// Columns for exact bytes where the output is no terminal.
const EXACTLY: usize = 64;
/// Width of a tag's column, and of a field's name.
const TAG: usize = 9;
const FIELD: usize = 10;
/// Columns that a text needs to stand beside a name.
const LEAST_BESIDE: usize = 30;

/// A dated line: a word for what happened, and the details.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// `None` where the record has no readable time.
    pub at: Option<Timestamp>,
    pub tag: String,
    /// ANSI colour code of the tag.
    pub paint: &'static str,
    pub text: String,
}

impl Row {
    pub fn now(tag: &str, paint: &'static str, text: &str) -> Self {
        Self { at: Some(moments::now()), tag: tag.to_owned(), paint, text: text.to_owned() }
    }
}

/// A row as it is laid out for a terminal: each part made harmless, none of them painted.
pub struct Laid {
    /// The line before it where a new day begins.
    pub day: Option<String>,
    pub time: String,
    pub tag: String,
    /// Columns before every line of the text but the first.
    pub indent: usize,
    pub text: Vec<String>,
}

/// The screen that shows rows.
pub struct Screen {
    /// Width of the terminal; `None` where the output is none.
    columns: Option<usize>,
    colour: bool,
    place: Place,
    /// The day shown last: no line says it again.
    pub day: Option<Date>,
    /// Whether an animation frame stands on the last line.
    framed: bool,
    /// The frame shown last.
    shown: String,
}

impl Screen {
    /// The standard output.
    pub fn open() -> Self {
        let terminal = is_one();
        Self::new(terminal.then_some(USUAL), colour(terminal), Place::here())
    }

    pub fn new(columns: Option<usize>, colour: bool, place: Place) -> Self {
        Self { columns, colour, place, day: None, framed: false, shown: String::new() }
    }

    /// This screen, where another process may have left a frame on the last line.
    pub fn beside(&mut self) -> &mut Self {
        self.framed = self.is_terminal();
        self
    }

    pub fn is_terminal(&self) -> bool {
        self.columns.is_some()
    }

    /// A row as lines: at a terminal wrapped, with a line before it where a new day begins; elsewhere one dated line.
    pub fn lines(&mut self, row: &Row) -> Vec<String> {
        let Some(columns) = self.columns else {
            let time = row.at.map_or_else(|| "---------- --:--:--".into(), |at| self.place.whole(at));
            return vec![format!(
                "{time} {:<TAG$} {}",
                printable::flat(&row.tag),
                printable::flat(&row.text)
            )];
        };
        let laid = self.laid(row, columns);
        let mut lines: Vec<String> = laid.day.iter().map(|day| self.painted("90", day)).collect();
        let head = format!("{} {} ", self.painted("90", &laid.time), self.painted(row.paint, &laid.tag));
        for (number, line) in laid.text.into_iter().enumerate() {
            match number {
                0 => lines.push(format!("{head}{line}")),
                _ => lines.push(format!("{:1$}{line}", "", laid.indent).trim_end().to_owned()),
            }
        }
        lines
    }

    /// The parts of a row, wrapped for so many columns.
    pub fn laid(&mut self, row: &Row, columns: usize) -> Laid {
        let tag = printable::flat(&row.tag);
        let day = row.at.filter(|at| self.day != Some(self.place.day(*at))).map(|at| {
            self.day = Some(self.place.day(at));
            format!("-- {}", self.place.day_told(at))
        });
        let time = row.at.map_or_else(|| "--:--:--".into(), |at| self.place.time(at));
        let narrow = columns < NARROW;
        let (time, tag) = match narrow {
            true => (time.get(..5).unwrap_or_default().to_owned(), tag),
            false => (time, format!("{tag:<TAG$}")),
        };
        let head = time.len() + printable::columns(&tag) + 2;
        let indent = if narrow { 2 } else { head };
        let text = printable::spelled(&printable::plain_spaces(&row.text));
        let text =
            printable::wrapped(text.trim(), columns.saturating_sub(head), columns.saturating_sub(indent));
        Laid { day, time, tag, indent, text }
    }

    fn painted(&self, paint: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{paint}m{text}\x1b[0m") } else { text.to_owned() }
    }

    pub fn show(&mut self, row: &Row) {
        let told = || json!({"at": row.at.map(|at| at.to_string()), "tag": row.tag, "paint": row.paint, "text": row.text});
        if handed_over(told) {
            return;
        }
        self.columns = self.columns.map(|_| width());
        let clear = if std::mem::take(&mut self.framed) { "\r\x1b[2K" } else { "" };
        let mut out = Outlet::new(Stream::Output);
        for (number, line) in self.lines(row).into_iter().enumerate() {
            let _ = writeln!(out, "{}{line}", if number == 0 { clear } else { "" });
        }
    }

    /// Shows a line that the next output replaces: the first wording that fits, else the last one cut off.
    pub fn frame(&mut self, wordings: &[&str]) {
        if handed_over(|| json!({"frame": wordings.last()})) {
            return;
        }
        let room = width().saturating_sub(1);
        let fits = wordings.iter().find(|text| printable::columns(text) <= room).or(wordings.last());
        let line: String = printable::flat(fits.copied().unwrap_or_default()).chars().take(room).collect();
        if self.framed && self.shown == line {
            return;
        }
        let mut out = Outlet::new(Stream::Output);
        let _ = write!(out, "\r\x1b[2K{line}").and_then(|()| out.flush());
        (self.framed, self.shown) = (true, line);
    }

    /// Prints an empty line.
    pub fn gap(&mut self) {
        self.clear_frame();
        if is_handed_over() {
            return;
        }
        let _ = writeln!(Outlet::new(Stream::Output));
    }

    pub fn clear_frame(&mut self) {
        if handed_over(|| json!({"frame": ""})) {
            return;
        }
        if std::mem::take(&mut self.framed) {
            let mut out = Outlet::new(Stream::Output);
            let _ = write!(out, "\r\x1b[2K").and_then(|()| out.flush());
        }
    }
}

/// Whether to use colour: at a terminal, unless `NO_COLOR` is set or the terminal is a dumb one.
pub fn colour(terminal: bool) -> bool {
    terminal
        && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Prints what was said, whole: a pipe gets its lines as they are; at a terminal they are wrapped, and those after the
/// first indented, so that none looks like one of the guardian's.
pub fn words(text: &str) {
    let text = printable::spelled(&printable::plain_spaces(text.trim()));
    let text = if is_one() { text.replace('\n', "\n    ") } else { text };
    print_spelled(Stream::Output, &text, "");
}

/// Prints a line that belongs to the one above, so many steps to the right.
pub fn below(steps: usize, text: &str) {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line(&format!("{:width$}{flat}", "", width = 2 * steps));
}

/// Prints a line in a colour (an ANSI code) where there are any.
pub fn painted(paint: &str, text: &str) {
    let paint = if colour(is_one()) { paint } else { "" };
    print_spelled(Stream::Output, &printable::harmless(text), paint);
}

/// Prints a name in its column, and the text about it; before it, where there is no room for columns.
pub fn field(name: &str, text: &str) {
    match is_one() {
        true => beside("1", name, FIELD, text),
        false if told_width().is_some_and(|width| width < NARROW) => {
            let (name, mark) = if name.is_empty() { (" ", "") } else { (name, ":") };
            line(format!("{name}{mark} {}", text.replace('\n', " ")).trim_end());
        }
        false => line(&format!("{name:<FIELD$} {}", text.replace('\n', " "))),
    }
}

/// Prints a name in its column and in a colour, and the text about it, at a terminal wrapped beside it; below a name that
/// is longer than its column.
pub fn beside(paint: &str, name: &str, wide: usize, text: &str) {
    let room = if is_one() { width().saturating_sub(wide + 1) } else { usize::MAX };
    let is_long = printable::columns(name) > wide;
    if is_handed_over() || room < LEAST_BESIDE || is_long && !is_one() {
        return line(&format!("{name:<wide$} {}", text.replace('\n', " ")));
    }
    let (begin, end) = match colour(is_one()) {
        true => (format!("\x1b[{paint}m"), "\x1b[0m"),
        false => (String::new(), ""),
    };
    let (mut name, mut out) = (printable::spelled(name), Outlet::new(Stream::Output));
    if is_long {
        let _ = writeln!(out, "{begin}{name}{end}");
        name.clear();
    }
    for line in printable::wrapped(&printable::flat(text), room, room) {
        let pad = wide.saturating_sub(printable::columns(&name));
        let _ = writeln!(out, "{begin}{name}{end}{:pad$} {line}", "");
        name.clear();
    }
}

/// Prints exact bytes: each line behind a `|`, cut to the width; `|>` continues the line above.
pub fn exactly(text: &str) {
    let columns = if is_one() { Some(width()) } else { told_width() };
    let room = columns.map_or(EXACTLY, |columns| columns.saturating_sub(5).max(8));
    let mut out = Outlet::new(Stream::Output);
    for line in printable::exactly(text).lines() {
        for (number, piece) in cut(line, room).into_iter().enumerate() {
            let _ = writeln!(out, "   |{}{piece}", if number == 0 { ' ' } else { '>' });
        }
    }
}

/// The width of the window, or of the chat, that reads what is printed.
fn told_width() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.parse().ok()
}

/// Pieces of at most `room` columns; nothing is left out, not even spaces.
fn cut(line: &str, room: usize) -> Vec<String> {
    let (mut pieces, mut piece, mut used) = (Vec::new(), String::new(), 0);
    for letter in line.chars() {
        let wide = printable::columns(letter.encode_utf8(&mut [0; 4]));
        if used + wide > room {
            pieces.push(std::mem::take(&mut piece));
            used = 0;
        }
        used += wide;
        piece.push(letter);
    }
    pieces.push(piece);
    pieces
}

/// Prints a document for programs.
pub fn json(document: &Value) {
    write(&format!("{}\n", printable::json(document)));
}

/// As `json`, on one line.
pub fn json_line(document: &Value) {
    write(&format!("{}\n", printable::json_line(document)));
}

/// Prints text from our own source, which needs no escaping.
pub fn own(text: &'static str) {
    write(text);
}

/// The standard output, for a document whose writer has spelled and escaped what others wrote.
pub fn document() -> impl Write {
    std::io::stdout().lock()
}

fn write(text: &str) {
    let mut out = Outlet::new(Stream::Output);
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// The standard output, for a child process to print to as well.
pub fn shared() -> std::io::Result<File> {
    Ok(std::io::stdout().as_fd().try_clone_to_owned()?.into())
}

/// Ends this process at once and quietly when the reader closes the pipe.
pub fn end_with_reader() {
    extern "C" fn leave(_: std::ffi::c_int) {
        // SAFETY: `_exit` may be called within a signal handler.
        #[allow(unsafe_code)]
        unsafe {
            libc::_exit(0)
        }
    }
    // SAFETY: the handler uses no state of this process.
    #[allow(unsafe_code)]
    let _ = unsafe { signal(Signal::SIGPIPE, SigHandler::Handler(leave)) };
}

/// Waits; returns whether the reader is still there.
pub fn wait(milliseconds: u16) -> bool {
    let out = std::io::stdout();
    // No events are asked for: that the pipe is closed is reported always.
    let mut reader = [PollFd::new(out.as_fd(), PollFlags::empty())];
    let _ = poll(&mut reader, PollTimeout::from(milliseconds));
    let gone = PollFlags::POLLERR | PollFlags::POLLHUP | PollFlags::POLLNVAL;
    !reader.iter().any(|reader| reader.revents().is_some_and(|told| told.intersects(gone)))
}
