//! A terminal that is driven as an owner drives one: keys go in, the screen is read as it stands there.

use super::looked_for;
use nix::pty::{Winsize, openpty};
use nix::sys::termios::{self, LocalFlags};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What a program asks to learn where the cursor is.
const WHERE: &[u8] = b"\x1b[6n";

pub struct Driven {
    pub child: Child,
    ours: File,
    seen: Arc<Mutex<Seen>>,
    reader: JoinHandle<()>,
}

/// Lines of scrollback that the parser itself keeps.
const SCROLLBACK: usize = 50_000;

struct Seen {
    parser: vt100::Parser,
    raw: Vec<u8>,
    /// When it came: how long after the start, and where in `raw` it ends.
    came: Vec<(Duration, usize)>,
    since: Instant,
    /// How much of `raw` the parser has read, and how much was looked through for sequences.
    read: usize,
    looked: usize,
    /// Whether what scrolls is the upper part of the screen alone. Terminals keep what that pushes off the top as they
    /// keep all else; the parser does not.
    is_upper: bool,
    /// Lines that left the screen, oldest first, and how many of them the parser keeps.
    above: Vec<String>,
    kept: usize,
}

/// Starts a command at a terminal of its own, in the foreground of its own session; and the terminal's other end.
pub fn at_terminal(mut command: Command, columns: u16, rows: u16) -> (Child, File) {
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    let pty = openpty(Some(&size), None).unwrap();
    // Held open by another child, the terminal would not be gone when this is dropped.
    nix::fcntl::fcntl(&pty.master, nix::fcntl::FcntlArg::F_SETFD(nix::fcntl::FdFlag::FD_CLOEXEC)).unwrap();
    command.stdin(pty.slave.try_clone().unwrap());
    command.stdout(pty.slave.try_clone().unwrap()).stderr(pty.slave);
    // SAFETY: between fork and exec only system calls are made.
    #[allow(unsafe_code)]
    unsafe {
        command.pre_exec(|| {
            nix::unistd::setsid()?;
            match nix::libc::ioctl(0, nix::libc::TIOCSCTTY, 0) {
                -1 => Err(std::io::Error::last_os_error()),
                _ => Ok(()),
            }
        });
    }
    (command.spawn().unwrap(), pty.master.into())
}

impl Driven {
    /// A command at a terminal of its own, in the foreground of its own session.
    pub fn start(command: Command, columns: u16, rows: u16) -> Self {
        Self::start_as(command, "xterm-256color", columns, rows)
    }

    /// The same, at a terminal of another kind.
    pub fn start_as(mut command: Command, kind: &str, columns: u16, rows: u16) -> Self {
        command.env("TERM", kind).env_remove("RUST_LOG");
        let (child, ours) = at_terminal(command, columns, rows);
        let seen = Arc::new(Mutex::new(Seen::new(columns, rows)));
        let (mut from, mut answers, to) =
            (ours.try_clone().unwrap(), ours.try_clone().unwrap(), seen.clone());
        let reader = std::thread::spawn(move || {
            let mut bytes = [0; 65_536];
            while let Ok(read @ 1..) = from.read(&mut bytes) {
                let mut seen = to.lock().unwrap();
                seen.raw.extend_from_slice(&bytes[..read]);
                let came = (seen.since.elapsed(), seen.raw.len());
                seen.came.push(came);
                for (row, column) in seen.read_on() {
                    // In one piece, or keys might come between.
                    let _ = answers.write_all(format!("\x1b[{};{}R", row + 1, column + 1).as_bytes());
                }
            }
        });
        Self { child, ours, seen, reader }
    }

    pub fn keys(&self, keys: &str) {
        (&self.ours).write_all(keys.as_bytes()).unwrap();
    }

    /// Types a line and sends it.
    pub fn line(&self, line: &str) {
        self.keys(&format!("{line}\r"));
    }

    pub fn resize(&self, columns: u16, rows: u16) {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        self.seen.lock().unwrap().parser.screen_mut().set_size(rows, columns);
        // SAFETY: the kernel reads no more than the structure holds.
        #[allow(unsafe_code)]
        let done = unsafe { nix::libc::ioctl(self.ours.as_raw_fd(), nix::libc::TIOCSWINSZ, &raw const size) };
        assert_eq!(done, 0);
    }

    /// The screen, a line each row, without blanks at their ends.
    pub fn screen(&self) -> String {
        let contents = self.seen.lock().unwrap().parser.screen().contents();
        contents.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
    }

    /// All there is to scroll back to, and the screen below it.
    pub fn whole(&self) -> String {
        let above = self.seen.lock().unwrap().above.join("\n");
        above + "\n" + &self.screen()
    }

    pub fn cursor(&self) -> (u16, u16) {
        self.seen.lock().unwrap().parser.screen().cursor_position()
    }

    /// The line the cursor is in.
    pub fn line_at_cursor(&self) -> String {
        let (row, _) = self.cursor();
        self.screen().lines().nth(row.into()).unwrap_or_default().to_owned()
    }

    /// Every byte that came.
    pub fn raw(&self) -> Vec<u8> {
        self.seen.lock().unwrap().raw.clone()
    }

    /// When the bytes came: how long after the start, and where each piece ends.
    pub fn came(&self) -> Vec<(Duration, usize)> {
        self.seen.lock().unwrap().came.clone()
    }

    /// The screen once this is so.
    #[track_caller]
    pub fn until(&self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        let found = looked_for(|| Some(self.screen()).filter(|screen| is_so(screen)));
        found.unwrap_or_else(|| panic!("waited in vain for {what}:\n{}", self.screen()))
    }

    #[track_caller]
    pub fn shows(&self, part: &str) -> String {
        self.until(part, |screen| screen.contains(part))
    }

    /// The screen once an empty prompt waits for a key.
    #[track_caller]
    pub fn prompts(&self) -> String {
        self.until("the prompt", |_| {
            self.line_at_cursor() == ">" || self.line_at_cursor().contains("type here")
        })
    }

    /// Whether lines are edited and echoed, as a shell has it.
    pub fn is_usable(&self) -> bool {
        let modes = termios::tcgetattr(&self.ours).unwrap();
        modes.local_flags.contains(LocalFlags::ICANON | LocalFlags::ECHO | LocalFlags::ISIG)
    }

    pub fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    /// Its exit status, once all it said has been read; a second later where something it left holds the terminal open.
    pub fn wait(&mut self) -> i32 {
        let status = looked_for(|| self.child.try_wait().unwrap()).expect("it ends");
        let ended = Instant::now();
        while !self.reader.is_finished() && ended.elapsed() < Duration::from_secs(1) {
            std::thread::sleep(Duration::from_millis(2));
        }
        status.code().unwrap_or(-1)
    }
}

impl Seen {
    fn new(columns: u16, rows: u16) -> Self {
        let parser = vt100::Parser::new(rows, columns, SCROLLBACK);
        let (read, looked, is_upper, kept) = (0, 0, false, 0);
        let (raw, came, above, since) = (Vec::new(), Vec::new(), Vec::new(), Instant::now());
        Self { parser, raw, came, since, read, looked, is_upper, above, kept }
    }

    /// Parses what came; the cursor's place at each question for it.
    fn read_on(&mut self) -> Vec<(u16, u16)> {
        let mut places = Vec::new();
        while let Some(at) = self.raw[self.looked..].iter().position(|byte| *byte == 0x1b) {
            let from = self.looked + at;
            let is_end = |byte: &u8| byte.is_ascii_alphabetic() || *byte == 0x1b;
            let Some(length) = self.raw[from + 1..].iter().position(is_end) else {
                // The rest of it is still to come.
                self.looked = from;
                self.parse(from);
                return places;
            };
            self.looked = from + length + 2;
            let sequence = self.raw[from..self.looked].to_vec();
            match sequence.split_last() {
                _ if sequence == WHERE => {
                    self.parse(self.looked);
                    places.push(self.parser.screen().cursor_position());
                }
                Some((b'r', region)) => {
                    let rows = self.parser.screen().size().0;
                    self.is_upper =
                        region.starts_with(b"\x1b[1;") && !region.ends_with(format!(";{rows}").as_bytes());
                }
                Some((b'S', count)) if self.is_upper => {
                    self.parse(from);
                    let count = String::from_utf8_lossy(&count[2..]).parse().unwrap_or(1);
                    let columns = self.parser.screen().size().1;
                    let rows = self.parser.screen().rows(0, columns).take(count);
                    self.above.extend(rows.map(|row| row.trim_end().to_owned()).collect::<Vec<_>>());
                }
                Some((0x1b, _)) => self.looked -= 1,
                _ => {}
            }
        }
        self.looked = self.raw.len();
        self.parse(self.looked);
        places
    }

    fn parse(&mut self, until: usize) {
        self.parser.process(&self.raw[self.read..until]);
        self.read = until;
        let screen = self.parser.screen_mut();
        screen.set_scrollback(usize::MAX);
        let (there, columns) = (screen.scrollback(), screen.size().1);
        for row in self.kept..there {
            screen.set_scrollback(there - row);
            let text = screen.rows(0, columns).next().unwrap_or_default();
            self.above.push(text.trim_end().to_owned());
        }
        screen.set_scrollback(0);
        self.kept = there;
    }
}

impl Drop for Driven {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
