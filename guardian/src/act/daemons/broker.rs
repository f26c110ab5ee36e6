//! The broker: its door, tokens, troubles and asks, and the files it is configured by; the rest is a row in the table of daemons.
//!
//! Invariant: the broker's end is never blamed on the creature, and the sweep after a life spares it.
//! Invariant: the guardian keeps the listening socket open, so connections wait while the broker is away.

use crate::act::around::Around;
use crate::act::daemons::jobs::BROKER;
use crate::act::tokens::Tokens;
use anyhow::{Context, Result};
use house::bounds::{TOLD_CHARS, brief};
use house::clock::Millis;
use house::files::{self, Mark};
use house::printable;
use house::terminal::typed;
use house::{House, asks, records};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::wait::WaitStatus;
use nix::unistd::Pid;
use processes::exits::describe;
use processes::trusted::{self, Trusted};
use serde_json::json;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::net::TcpListener;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use walls::network::Network;

/// Asks announced one by one at a look; of more only their number is told.
const ASKS_TOLD: usize = 20;

pub struct Broker {
    /// The socket on which the creature reaches the broker.
    pub listener: TcpListener,
    pub port: u16,
    /// The socket on which the owner's channels reach the broker: in this machine's own network, where a walled life is not.
    /// Made when a channel is named.
    of_channels: Option<TcpListener>,
    /// Path of the broker's program, whether it is there or not.
    pub program: PathBuf,
    /// Locked while the broker lives, which alone inherits it.
    lock: File,
    pub tokens: Tokens,
    /// Watches the files the broker is configured by.
    pub watch: Watch,
    /// The owner's settings changed while a job was running: they are checked after it.
    pub unjudged: bool,
    /// Whether its program was found, and without trouble.
    pub found: bool,
    pub asks_mark: Option<Mark>,
    /// Ids of the asks that wait; each of them has been announced.
    pub asks: BTreeSet<String>,
    pub restarts: u64,
    /// Trouble with the broker, in a line for people; else empty.
    pub trouble: String,
}

impl Broker {
    /// Finds the broker's program, ends a former guardian's broker, and makes the broker's folder private.
    pub fn open(house: &House, network: &Network) -> Result<Self> {
        fs::create_dir_all(house.broker()).and_then(|()| {
            let closed = fs::Permissions::from_mode(0o700);
            fs::set_permissions(house.broker(), closed)
        })?;
        let path = house.broker_lock();
        let lock = files::open_lock(&path);
        let lock = lock.with_context(|| format!("failed to open {}", path.display()))?;
        for _ in 0..300 {
            if fs2::FileExt::try_lock_exclusive(&lock).is_ok() {
                break;
            }
            trusted::end_holders(&path, BROKER.name);
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let listener = network.listener.try_clone().context("failed to keep the door open")?;
        listener.set_nonblocking(true)?;
        Ok(Self {
            listener,
            port: network.port,
            of_channels: None,
            program: BROKER.program(),
            lock,
            tokens: Tokens::default(),
            watch: Watch::new(house),
            unjudged: false,
            found: false,
            asks_mark: None,
            asks: BTreeSet::new(),
            restarts: 0,
            trouble: String::new(),
        })
    }

    /// Whether somebody waits at the door: of a build, cargo that has to fetch something.
    pub fn is_called(&self) -> bool {
        let mut door = [PollFd::new(self.listener.as_fd(), PollFlags::POLLIN)];
        poll(&mut door, PollTimeout::ZERO).is_ok_and(|ready| ready > 0)
    }

    /// The port of the door for channels, which is open from then on.
    pub fn door_of_channels(&mut self) -> Result<u16> {
        let door = match self.of_channels.take() {
            Some(door) => door,
            None => TcpListener::bind("127.0.0.1:0").context("failed to open a door for the channels")?,
        };
        let port = door.local_addr()?.port();
        self.of_channels = Some(door);
        Ok(port)
    }

    pub fn start(&mut self, around: &mut Around) -> Result<Pid> {
        let fetched = around.state.fetched.iter().map(|fetched| ("FERAL_FETCHED", fetched.clone()));
        if around.settings.has_channels {
            self.door_of_channels()?;
        }
        let channels = self.of_channels.iter().map(|_| ("FERAL_CHANNELS_FD", "5".into()));
        let start = Trusted {
            program: self.program.clone(),
            args: vec!["--house".into(), around.house.root().display().to_string()],
            extra: fetched.chain(channels).chain([("FERAL_BROKER_FD", "3".into())]).collect(),
            log: Some(files::append(&around.house.broker_log())?),
            third: Some(self.listener.as_raw_fd()),
            fourth: Some(self.lock.as_raw_fd()),
            fifth: self.of_channels.as_ref().map(AsRawFd::as_raw_fd),
            ..Trusted::default()
        };
        match trusted::start(&around.house, start) {
            Ok(pid) => {
                // A later guardian finds the process by this number, should it outlive this guardian.
                let _ = files::overwrite(&self.lock, pid.to_string().as_bytes());
                self.trouble.clear();
                Ok(pid)
            }
            Err(error) => {
                self.trouble = format!("{error:#}");
                Err(error)
            }
        }
    }

    /// `asked`: it was to end.
    pub fn ended(&mut self, around: &mut Around, status: WaitStatus, asked: bool) {
        self.restarts += 1;
        if asked {
            return;
        }
        let cause = describe(status);
        let said = files::tail(&around.house.broker_log(), 1_024);
        let said = printable::spelled(said.lines().last().unwrap_or_default());
        self.trouble = format!("the broker ended ({cause}) and is started again");
        around.report.once(&format!("{}; {said}", self.trouble));
        records::tell(&around.house, "broker_ended", json!({"cause": cause, "said": said}));
    }

    /// Announces the asks that are new since the last look: each that waits is told to the owner once.
    pub fn look_at_asks(&mut self, around: &mut Around) {
        let mark = files::mark(&around.house.asks());
        if mark == self.asks_mark {
            return;
        }
        self.asks_mark = mark;
        let waiting = asks::waiting(&around.house);
        let new = waiting.iter().filter(|ask| !self.asks.contains(&ask.id));
        for ask in new.clone().take(ASKS_TOLD) {
            around.report.ask(&ask.id, &ask.line());
        }
        if let Some(more) = new.count().checked_sub(ASKS_TOLD).filter(|more| *more > 0) {
            around.report.warn(&format!("{more} more wait for your yes or no: {}", typed("asks")));
        }
        let asks = waiting.into_iter().map(|ask| ask.id).collect();
        around.is_news |= self.asks != asks;
        self.asks = asks;
    }

    /// Starts a process that checks the owner's settings.
    pub fn check(&self, house: &House) -> Result<Pid> {
        let path = house.broker_check_log();
        let log = files::create(&path).with_context(|| format!("failed to create {}", path.display()))?;
        let args = vec!["--check".into(), "--house".into(), house.root().display().to_string()];
        let program = self.program.clone();
        trusted::start(house, Trusted { program, args, log: Some(log), ..Trusted::default() })
    }
}

/// The last line `broker --check` printed.
pub fn checked(house: &House) -> String {
    let text = files::tail(&house.broker_check_log(), 4_096);
    brief(text.trim().lines().last().unwrap_or("it does not say why").trim(), TOLD_CHARS)
}

/// A file unchanged for this long counts as saved completely.
const SAVED_MS: Millis = 100;

/// Watches `owner.toml` and `.env`.
pub struct Watch {
    taken: [Option<Mark>; 2],
    /// Marks of files that are changing, and since when; a save may still be under way.
    changing: Option<([Option<Mark>; 2], Millis)>,
}

impl Watch {
    pub fn new(house: &House) -> Self {
        Self { taken: marks(house), changing: None }
    }

    /// Whether the files have changed and then stayed the same for `SAVED_MS`; true once for each change.
    pub fn changed(&mut self, house: &House, now: Millis) -> bool {
        let marks = marks(house);
        let since = self.changing.filter(|(seen, _)| *seen == marks).map_or(now, |(_, since)| since);
        self.changing = (marks != self.taken).then_some((marks, since));
        let saved = self.changing.is_some() && now.saturating_sub(since) >= SAVED_MS;
        if saved {
            *self = Self { taken: marks, changing: None };
        }
        saved
    }

    /// When to look again at files that are changing.
    pub fn due(&self) -> Option<Millis> {
        self.changing.map(|(_, since)| since + SAVED_MS)
    }
}

fn marks(house: &House) -> [Option<Mark>; 2] {
    [files::mark_of_any(&house.owner_settings()), files::mark_of_any(&house.secrets())]
}
