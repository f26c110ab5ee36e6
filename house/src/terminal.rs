//! The one door to whoever reads: every line that is printed passes here, harmless and as wide as the terminal.
//!
//! Invariant: nowhere else is anything printed, so that no word of the creature's comes to a terminal but by this door.
//! Invariant: what cannot be written is passed over: a closed terminal is no fault.

use crate::moments::{self, Place};
use crate::printable;
use jiff::Timestamp;
use jiff::civil::Date;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigHandler, Signal, signal};
use serde_json::Value;
use std::fs::File;
use std::io::{IsTerminal, Write};
use std::os::fd::AsFd;

/// A terminal narrower than this has no columns of their own for times and tags.
const NARROW: usize = 60;
/// What a terminal that does not say is taken for.
const USUAL: usize = 80;
/// Columns of exact bytes where no terminal says how wide it is.
const EXACTLY: usize = 64;
/// Width of a tag's column.
const TAG: usize = 9;

/// A line with its time: what happened, in a word and at length.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Nothing where it has none that can be read.
    pub at: Option<Timestamp>,
    pub tag: &'static str,
    /// The colour of the tag, as terminals number them.
    pub paint: &'static str,
    pub text: String,
}

impl Row {
    pub fn now(tag: &'static str, paint: &'static str, text: &str) -> Self {
        Self { at: Some(moments::now()), tag, paint, text: text.to_owned() }
    }
}

/// Where rows are shown, and the day that was shown last.
pub struct Screen {
    /// Columns of the terminal; nothing where it is none.
    columns: Option<usize>,
    colour: bool,
    place: Place,
    day: Option<Date>,
    /// A frame stands on the last line.
    framed: bool,
}

impl Screen {
    /// The standard output as it is.
    pub fn open() -> Self {
        let terminal = is_one();
        Self::new(terminal.then_some(USUAL), colour(terminal), Place::here())
    }

    pub fn new(columns: Option<usize>, colour: bool, place: Place) -> Self {
        Self { columns, colour, place, day: None, framed: false }
    }

    /// The same screen, where another process may have left a frame on the last line.
    pub fn beside(&mut self) -> &mut Self {
        self.framed = self.is_terminal();
        self
    }

    pub fn is_terminal(&self) -> bool {
        self.columns.is_some()
    }

    /// Lines of a row: at a terminal wrapped, with a line before it where the day is another; elsewhere one, dated.
    pub fn lines(&mut self, row: &Row) -> Vec<String> {
        let Some(columns) = self.columns else {
            let time = row.at.map_or_else(|| "---------- --:--:--".into(), |at| self.place.whole(at));
            return vec![format!("{time} {:<TAG$} {}", row.tag, printable::flat(&row.text))];
        };
        let mut lines = Vec::new();
        if let Some(at) = row.at.filter(|at| self.day != Some(self.place.day(*at))) {
            self.day = Some(self.place.day(at));
            lines.push(self.painted("90", &format!("-- {}", self.place.day_told(at))));
        }
        let time = row.at.map_or_else(|| "--:--:--".into(), |at| self.place.time(at));
        let narrow = columns < NARROW;
        let (time, tag) = match narrow {
            true => (time.get(..5).unwrap_or_default().to_owned(), row.tag.to_owned()),
            false => (time, format!("{:<TAG$}", row.tag)),
        };
        let head = time.len() + tag.len() + 2;
        let indent = if narrow { 2 } else { head };
        let text = printable::spelled(&printable::plain_spaces(&row.text));
        let text =
            printable::wrapped(text.trim(), columns.saturating_sub(head), columns.saturating_sub(indent));
        let head = format!("{} {} ", self.painted("90", &time), self.painted(row.paint, &tag));
        for (number, line) in text.into_iter().enumerate() {
            match number {
                0 => lines.push(format!("{head}{line}")),
                _ => lines.push(format!("{:indent$}{line}", "").trim_end().to_owned()),
            }
        }
        lines
    }

    fn painted(&self, paint: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{paint}m{text}\x1b[0m") } else { text.to_owned() }
    }

    pub fn show(&mut self, row: &Row) {
        self.columns = self.columns.map(|_| width());
        let clear = if std::mem::take(&mut self.framed) { "\r\x1b[2K" } else { "" };
        let mut out = std::io::stdout().lock();
        for (number, line) in self.lines(row).into_iter().enumerate() {
            let _ = writeln!(out, "{}{line}", if number == 0 { clear } else { "" });
        }
    }

    /// A line that the next one takes the place of: the first that fits, or what there is room for of the last.
    pub fn frame(&mut self, wordings: &[&str]) {
        let room = width().saturating_sub(1);
        let fits = wordings.iter().find(|text| printable::columns(text) <= room).or(wordings.last());
        let line: String = printable::flat(fits.copied().unwrap_or_default()).chars().take(room).collect();
        let mut out = std::io::stdout().lock();
        let _ = write!(out, "\r\x1b[2K{line}").and_then(|()| out.flush());
        self.framed = true;
    }

    /// An empty line, so that what follows or went before stands by itself.
    pub fn gap(&mut self) {
        self.clear_frame();
        let _ = writeln!(std::io::stdout().lock());
    }

    pub fn clear_frame(&mut self) {
        if std::mem::take(&mut self.framed) {
            let mut out = std::io::stdout().lock();
            let _ = write!(out, "\r\x1b[2K").and_then(|()| out.flush());
        }
    }
}

/// Whether the standard output is a terminal.
pub fn is_one() -> bool {
    std::io::stdout().is_terminal()
}

/// Whether to paint: at a terminal, unless `NO_COLOR` or a dumb one says otherwise.
fn colour(terminal: bool) -> bool {
    terminal
        && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Prints a line, harmless; at a terminal wrapped at words.
pub fn line(text: &str) {
    let out = std::io::stdout();
    print(&mut out.lock(), out.is_terminal(), text);
}

/// Prints a line where errors go.
pub fn error(text: &str) {
    let out = std::io::stderr();
    print(&mut out.lock(), out.is_terminal(), text);
}

fn print(out: &mut dyn Write, is_terminal: bool, text: &str) {
    let text = printable::harmless(text);
    let columns = if is_terminal { width() } else { usize::MAX };
    for line in text.split('\n') {
        // What follows of a line is set in as far as the line itself, and a little more.
        let indent = if columns == usize::MAX { 0 } else { 4 + line.len() - line.trim_start().len() };
        for (number, line) in
            printable::wrapped(line, columns, columns.saturating_sub(indent)).iter().enumerate()
        {
            let indent = if number == 0 { 0 } else { indent };
            let _ = writeln!(out, "{:indent$}{line}", "");
        }
    }
}

/// A name in its column, and what is to be said of it.
pub fn field(name: &str, text: &str) {
    line(&format!("{name:<10} {}", text.replace('\n', " ")));
}

/// Exact bytes: every line of them behind a `|`, in pieces that no terminal breaks; `|>` goes on with the line above.
pub fn exactly(text: &str) {
    let out = std::io::stdout();
    let room = if out.is_terminal() { width().saturating_sub(5).max(8) } else { EXACTLY };
    let mut out = out.lock();
    for line in printable::exactly(text).lines() {
        for (number, piece) in cut(line, room).into_iter().enumerate() {
            let _ = writeln!(out, "   |{}{piece}", if number == 0 { ' ' } else { '>' });
        }
    }
}

/// Pieces of at most so many columns; nothing is left out, spaces neither.
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

/// A document for programs.
pub fn json(document: &Value) {
    write(&format!("{}\n", printable::json(document)));
}

/// The same on one line.
pub fn json_line(document: &Value) {
    write(&format!("{}\n", printable::json_line(document)));
}

/// Text that stands in our source, which nobody else can have a word in.
pub fn own(text: &'static str) {
    write(text);
}

fn write(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Columns of the terminal, as wide as it is now.
fn width() -> usize {
    // SAFETY: the kernel writes no more than the structure holds.
    #[allow(unsafe_code)]
    let size = unsafe {
        let mut size = std::mem::zeroed::<libc::winsize>();
        let done = libc::ioctl(libc::STDOUT_FILENO, libc::TIOCGWINSZ, &raw mut size);
        (done == 0).then_some(size)
    };
    size.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0).unwrap_or(USUAL)
}

/// Where we print, for a child to print to as well.
pub fn shared() -> std::io::Result<File> {
    Ok(std::io::stdout().as_fd().try_clone_to_owned()?.into())
}

/// A reader that closes the pipe early ends us at once and quietly, with nothing gone wrong.
pub fn end_with_reader() {
    extern "C" fn leave(_: std::ffi::c_int) {
        // SAFETY: of what may be done within a signal, this is the plainest.
        #[allow(unsafe_code)]
        unsafe {
            libc::_exit(0)
        }
    }
    // SAFETY: the handler touches nothing of ours.
    #[allow(unsafe_code)]
    let _ = unsafe { signal(Signal::SIGPIPE, SigHandler::Handler(leave)) };
}

/// Waits so long; whether the reader is still there.
pub fn wait(milliseconds: u16) -> bool {
    let out = std::io::stdout();
    // Only that it is closed is of interest, and that is always told.
    let mut reader = [PollFd::new(out.as_fd(), PollFlags::empty())];
    let _ = poll(&mut reader, PollTimeout::from(milliseconds));
    let gone = PollFlags::POLLERR | PollFlags::POLLHUP | PollFlags::POLLNVAL;
    !reader.iter().any(|reader| reader.revents().is_some_and(|told| told.intersects(gone)))
}

/// Log lines on their way to where errors go.
pub struct Log;

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let text = printable::harmless(String::from_utf8_lossy(bytes).trim_end_matches('\n'));
        std::io::stderr().lock().write_all(format!("{text}\n").as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A command as the owner types it.
pub fn typed(command: &str) -> String {
    format!("cargo run -p guardian -- {command}")
}
