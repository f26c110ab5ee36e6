//! The owner's window: events go into the scrollback, status and prompt stand live below it.
//!
//! A single loop waits for the keyboard, for changed files and for a command's output. Nothing the creature does waits
//! for it; it can be killed at any time and loses nothing.

pub mod child;
pub mod markdown;
pub mod prompt;
pub mod screen;
pub mod sources;
pub mod typed;
pub mod typing;
pub mod view;

mod keys;
mod orders;
mod signals;

use crate::asks;
use crate::commands::options;
use crate::feed::shown::{Verbosity, shown};
use crate::feed::{earlier, is_ask};
use crate::say::{Reply, Word};
use anyhow::{Context, Result, bail};
use child::{Running, Shows};
use house::moments::{self, Place};
use house::records::memory::{Message, Record};
use house::terminal::{self, Row, typed as as_typed};
use house::{House, settings, window};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use prompt::Prompt;
use ratatui_crossterm::crossterm::event;
use screen::Screen;
use serde_json::Value;
use signals::Signals;
use sources::{Changed, Handed, Sources, Told};
use std::collections::HashMap;
use std::fs::File;
use std::os::fd::{AsFd, FromRawFd};
use std::time::Duration;
use typed::typed_here;
use typing::Typing;
use view::View;

/// Time until files are looked at though nothing told of a change, and least time between two looks at the status.
const SLOW_MS: u16 = 2_000;
const BETWEEN_MS: u16 = 100;
const SECOND_MS: u16 = 1_000;
/// Text at the prompt until something was typed.
const TYPE_HERE: &str = "type here: a word to it, or /help";
/// A record wakes every window while its writer still waits for the disk: it shall not wait for a processor too.
const WRITER_FIRST: Duration = Duration::from_millis(20);

/// The window and all it holds.
pub struct Window {
    house: House,
    screen: Screen,
    view: View,
    sources: Sources,
    prompt: Prompt,
    typing: Typing,
    verbosity: Verbosity,
    /// Words said here that are not answered yet.
    words: Vec<Word>,
    running: Option<Running>,
    /// Digests of the asks whose exact bytes were shown here.
    shown: HashMap<String, String>,
    /// The rollback whose changes were shown last; typed again it is ordered.
    shown_rollback: Option<String>,
    /// Message on the last key or line.
    said: String,
    /// The plain yes or no whose hint stands there.
    hinted: Option<String>,
    /// No key was pressed here yet: what to type is told.
    is_new: bool,
    /// Nothing was said here yet: acts of a first life are counted instead of shown.
    greets: bool,
    held_back: u64,
    handed: Option<Handed>,
    /// The last key was Esc on an empty line.
    escaped: bool,
    leaves: bool,
}

/// Opens the window and stays until it is left; returns the exit status.
pub fn open(house: House, wanted: &options::Window) -> Result<u8> {
    if !window::takes_a_window() {
        bail!(
            "a window needs a terminal of its own; what happens is shown anywhere by `{}`",
            as_typed("feed")
        );
    }
    let signals = Signals::listen()?;
    let handed = wanted.live.map(|_| Handed::new(handed_pipe()));
    let verbosity = wanted
        .verbosity
        .clone()
        .unwrap_or_else(|| settings::shown(&house).window)
        .parse()
        .unwrap_or_default();
    let (sources, passed) = Sources::open(&house, wanted.live, verbosity);
    let mut view = View::new(Place::here(), terminal::colour(true));
    if wanted.live.is_some() {
        view.goes_on(moments::now());
    }
    let mut window = Window {
        house,
        screen: Screen::open()?,
        view,
        sources,
        prompt: Prompt::default(),
        typing: Typing::default(),
        verbosity,
        words: vec![],
        running: None,
        shown: HashMap::new(),
        shown_rollback: None,
        said: String::new(),
        hinted: None,
        is_new: true,
        greets: true,
        held_back: 0,
        handed,
        escaped: false,
        leaves: false,
    };
    window.passed(passed)?;
    window.run(signals)?;
    Ok(0)
}

/// The pipe that the guardian passes as descriptor 3.
fn handed_pipe() -> File {
    // SAFETY: who passes --live passes this descriptor too, and nothing else here uses it.
    #[allow(unsafe_code)]
    let pipe = unsafe { File::from_raw_fd(3) };
    // Commands that run beside the window do not hold it open.
    let _ = nix::fcntl::fcntl(&pipe, nix::fcntl::FcntlArg::F_SETFD(nix::fcntl::FdFlag::FD_CLOEXEC));
    pipe
}

/// Sources that woke the loop.
#[derive(Default)]
struct Woken {
    by_command: bool,
    by_guardian: bool,
    is_gone: bool,
}

impl Window {
    fn run(&mut self, signals: Signals) -> Result<()> {
        let ended = self.turns(signals);
        self.typing.end(&self.house);
        ended
    }

    fn turns(&mut self, mut signals: Signals) -> Result<()> {
        let (mut owes_a_look, mut last_ms, mut slow_ms) = (true, 0, 0);
        while !self.leaves && !signals.end() {
            let now_ms = house::clock::wall_ms();
            let slowly = now_ms.abs_diff(slow_ms) >= SLOW_MS.into();
            if slowly || (owes_a_look && now_ms.abs_diff(last_ms) >= BETWEEN_MS.into()) {
                (owes_a_look, last_ms) = (false, now_ms);
                slow_ms = if slowly { now_ms } else { slow_ms };
                self.look(slowly)?;
            }
            let more = self.feed()?;
            self.draw()?;
            let timeout = match (more, owes_a_look) {
                (true, _) => 0,
                (false, true) => BETWEEN_MS,
                // How long an answer takes is counted there.
                (false, false) if self.sources.known.answers_since().is_some() => SECOND_MS,
                (false, false) => SLOW_MS,
            };
            let woken = self.wait(&signals, timeout)?;
            if woken.is_gone {
                return Ok(());
            }
            if signals.came_back() {
                self.screen.come_back()?;
            }
            self.screen.resized()?;
            let mut changed = self.sources.drain();
            if changed == Changed::Feed {
                std::thread::sleep(WRITER_FIRST);
                // What came meanwhile is read along with it.
                changed = changed.max(self.sources.drain());
            }
            owes_a_look |= changed != Changed::Nothing;
            if changed == Changed::Feed {
                last_ms = 0;
            }
            if woken.by_guardian {
                self.hear_guardian()?;
            }
            if woken.by_command {
                self.hear_command()?;
            }
            // Keys that came with the answer to where the cursor is were read already: nothing tells of them.
            while event::poll(Duration::ZERO)? {
                self.key(event::read()?)?;
                self.typing.key(&self.house, &self.prompt.text(), moments::now());
            }
        }
        Ok(())
    }

    fn wait(&self, signals: &Signals, timeout: u16) -> Result<Woken> {
        let input = std::io::stdin();
        let others = [
            self.running.as_ref().map(Running::out),
            self.handed.as_ref().map(Handed::pipe),
            self.sources.changes(),
        ];
        let mut asked = vec![
            PollFd::new(input.as_fd(), PollFlags::POLLIN),
            PollFd::new(signals.pipe.as_fd(), PollFlags::POLLIN),
            PollFd::new(signals.sizes.as_fd(), PollFlags::POLLIN),
        ];
        let mut places = [None; 3];
        for (other, place) in others.into_iter().zip(&mut places) {
            if let Some(other) = other {
                *place = Some(asked.len());
                asked.push(PollFd::new(other, PollFlags::POLLIN));
            }
        }
        match poll(&mut asked, PollTimeout::from(timeout)) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(error).context("failed to wait for the keyboard"),
        }
        let told = |place: usize| asked.get(place).and_then(PollFd::revents).unwrap_or(PollFlags::empty());
        let some = |place: Option<usize>| place.is_some_and(|place| !told(place).is_empty());
        let [command, guardian, _] = places;
        Ok(Woken {
            by_command: some(command),
            by_guardian: some(guardian),
            is_gone: told(0).intersects(PollFlags::POLLHUP | PollFlags::POLLERR | PollFlags::POLLNVAL),
        })
    }

    /// Reads the small files that changed, and shows asks that are new.
    fn look(&mut self, slowly: bool) -> Result<()> {
        for ask in self.sources.look(slowly) {
            let told = format!("{} (/yes {} or /no {})", ask.line(), ask.id, ask.id);
            let body = asks::announced(&self.house, &ask);
            self.show(&Row::now("ask", "1;33", &told), &body)?;
        }
        Ok(())
    }

    /// Shows new records; whether there are more at once.
    fn feed(&mut self) -> Result<bool> {
        let seen = self.sources.records();
        self.passed(seen.passed)?;
        let mut lines = Vec::new();
        let (columns, _) = self.screen.size();
        for record in &seen.shown {
            // What it asks stands there as an ask.
            let Some((mut row, details)) = shown(record, self.verbosity).filter(|_| !is_ask(record)) else {
                continue;
            };
            if let Some(message) = Record(record).message() {
                match self.is_ours(record) {
                    Some(true) => (row.tag, row.paint) = ("answer".to_owned(), "1;32"),
                    Some(false) => continue,
                    None => {}
                }
                lines.extend(match message.is_creatures() {
                    true => self.view.words(&row, message.text(), columns),
                    false => self.view.row(&row, &[], columns),
                });
            } else if self.holds_back(record) {
                self.held_back += 1;
            } else {
                lines.extend(self.view.row(&row, &details, columns));
            }
        }
        if !lines.is_empty() {
            // What was said takes the place of its stream.
            let said = |record| Record(record).message().is_some_and(Message::is_creatures);
            if seen.shown.iter().any(said) {
                self.sources.known.thinking.clear();
                self.draw()?;
            }
            self.screen.insert(&lines)?;
        }
        Ok(seen.more)
    }

    /// Whether a record would push the greeting up: an act of the very first life, before a word was typed.
    fn holds_back(&self, record: &Value) -> bool {
        let record = Record(record);
        let is_act = self.verbosity == Verbosity::Minimal && record.action().is_some();
        self.greets && self.handed.is_some() && record.life() == Some(1) && is_act
    }

    /// Whether a message is the answer to a word said here; false for that word itself, which stands there already.
    fn is_ours(&mut self, record: &Value) -> Option<bool> {
        let message = Record(record).message()?;
        let is_word = message.is_owners() && self.words.iter().any(|word| word.at == message.at());
        let mut replies = self.words.iter_mut().map(|word| word.reply(record));
        let answered = replies.position(|reply| matches!(reply, Some(Reply::Answer { .. })));
        // Every word has to see every record.
        replies.for_each(drop);
        if let Some(answered) = answered {
            self.words.remove(answered);
            return Some(true);
        }
        is_word.then_some(false)
    }

    fn passed(&mut self, records: u64) -> Result<()> {
        if records == 0 {
            return Ok(());
        }
        self.show(&Row::now("feed", "90", &typed_here(&earlier(records))), &[])
    }

    fn show(&mut self, row: &Row, details: &[String]) -> Result<()> {
        let lines = self.view.row(row, details, self.screen.size().0);
        self.screen.insert(&lines)
    }

    fn draw(&mut self) -> Result<()> {
        let said = match &self.running {
            Some(running) if self.said.is_empty() => format!("/{} runs; Esc ends it", running.name),
            _ => self.said.clone(),
        };
        let known = &mut self.sources.known;
        known.said = self.words.last().and_then(|word| word.at.parse().ok());
        let hint = if self.is_new { TYPE_HERE } else { "" };
        let live = self.view.live(known, &self.prompt, (&said, hint), moments::now(), self.screen.size());
        self.screen.draw(live)
    }

    fn hear_guardian(&mut self) -> Result<()> {
        let Some(handed) = &mut self.handed else { return Ok(()) };
        let Some(told) = handed.read()? else {
            self.leaves = true;
            return Ok(());
        };
        for told in told {
            match told {
                // The window announces asks itself.
                Told::Row(row) if row.tag == house::asks::ASKS => {}
                Told::Row(row) => self.show(&Row { text: typed_here(&row.text), ..row }, &[])?,
                Told::Frame(frame) => self.sources.known.building = frame,
            }
        }
        Ok(())
    }

    fn hear_command(&mut self) -> Result<()> {
        let Some(running) = &mut self.running else { return Ok(()) };
        let came = running.look()?;
        let (columns, _) = self.screen.size();
        // What the guardian prints names its commands as a shell has them.
        let line = |line: &String| if running.of_guardian { typed_here(line) } else { line.clone() };
        let lines: Vec<_> =
            came.lines.iter().flat_map(|told| self.view.indented("0", &line(told), 2, columns)).collect();
        self.screen.insert(&lines)?;
        let Some(ended) = came.ended else { return Ok(()) };
        let Some(mut running) = self.running.take() else { return Ok(()) };
        self.said = match (ended, running.shows.take()) {
            (Some(0), Some(Shows::Rollback(to))) => {
                self.shown_rollback = Some(to);
                let order = running.name.replace(" --dry-run", "");
                format!("/{} is done: nothing was rolled back; /{order} again does it", running.name)
            }
            (Some(0), Some(Shows::Ask(id, digest))) => {
                let said = format!("exactly that is ask {id}: /yes {id} does it, /no {id} refuses");
                self.shown.insert(id, digest);
                said
            }
            (Some(0), None) => format!("/{} is done", running.name),
            (Some(status), _) => format!("/{} ended with status {status}", running.name),
            (None, _) => format!("/{} was ended", running.name),
        };
        Ok(())
    }
}
