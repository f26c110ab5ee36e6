//! Tells of events on the home channel: deaths, falls, money, models, the morning report; and of acts, where they are wanted.

use crate::channel::Chat;
use crate::outbox::Kind;
use crate::places;
use crate::switchboard::{Saying, Shared, Switchboard};
use anyhow::Result;
use console::notices::sources::Sources;
use console::notices::state::{State, What};
use house::bounds::{self, brief};
use house::{House, clock, files};
use std::path::PathBuf;

/// Time in which what comes goes as one, and least time between two tellings of acts.
const GATHER_MS: u64 = 5_000;
const ACTS_MS: u64 = 20_000;
const HOUR_MS: u64 = 3_600_000;
/// Characters of a line on an act.
const ACT_CHARS: usize = 2_000;
const MOST_BYTES: u64 = 64 << 10;

pub struct Telling {
    path: PathBuf,
    state: State,
    sources: Sources,
    warn_percent: f64,
}

impl Telling {
    pub fn open(house: &House, warn_percent: f64) -> Self {
        let path = places::notices(house);
        let (state, sources) = (State::load(&path), Sources::default());
        Self { path, state, sources, warn_percent }
    }

    /// Tells what is due.
    pub fn look(&mut self, shared: &Shared) -> Result<()> {
        let mut all = shared.borrow_mut();
        let house = all.house.clone();
        let mut owes = self.sources.look(&house, self.warn_percent, &mut self.state);
        // Asks have messages of their own.
        self.state.waiting.retain(|notice| notice.what != What::Ask);
        owes |= self.report(&house, &mut all)?;
        let home = all.home();
        let per_hour = home
            .as_ref()
            .and_then(|(name, _)| all.lines.get(name))
            .map_or(0, |line| line.settings.messages_per_hour);
        let sending =
            if home.is_some() { self.state.take(clock::wall_ms(), GATHER_MS, per_hour) } else { None };
        if owes || sending.is_some() {
            self.state.save(&self.path)?;
        }
        if let (Some(sending), Some((channel, chat))) = (sending, home) {
            let text = sending.text(|notice| &notice.text);
            let at = clock::stamp();
            say(&mut all, &channel, &chat, Kind::Notice, &[&at, &text], &text)?;
            self.state.ended(&sending, None);
            self.state.save(&self.path)?;
        }
        acts(&mut all)
    }

    /// Sends the newest morning report, where it is a new one; the first that is found is old.
    fn report(&mut self, house: &House, all: &mut Switchboard) -> Result<bool> {
        let newest = newest(house);
        if newest.is_none() || newest == self.state.reported {
            return Ok(false);
        }
        let Some(day) = newest else { return Ok(false) };
        let is_first = self.state.reported.is_none();
        let is_later = self.state.reported.as_ref().is_none_or(|told| *told < day);
        if let (Some((channel, chat)), false, true) = (all.home(), is_first, is_later) {
            let bytes = files::read_most(&house.report(&day), MOST_BYTES)?.unwrap_or_default();
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let of = ["report", day.as_str()];
            let saying = Saying {
                channel: &channel,
                chat: &chat,
                kind: Kind::Notice,
                of: &of,
                text: &text,
                is_plain: false,
            };
            all.say(&saying)?;
        }
        self.state.reported = Some(day);
        Ok(true)
    }
}

/// The day of the newest morning report.
fn newest(house: &House) -> Option<String> {
    let names = std::fs::read_dir(house.reports()).ok()?.flatten();
    let days = names.filter_map(|entry| entry.file_name().to_str()?.strip_suffix(".md").map(str::to_owned));
    days.filter(|day| day.len() == "2026-01-31".len()).max()
}

/// Tells what was done, at even distances within the messages that an hour may have.
fn acts(all: &mut Switchboard) -> Result<()> {
    let now = clock::wall_ms();
    let is_due = |acts_ms: u64, per_hour: u32| {
        let every = (HOUR_MS / u64::from(per_hour.max(1))).max(ACTS_MS);
        now < acts_ms || now - acts_ms >= every
    };
    let due: Vec<(String, Chat, String)> = all
        .lines
        .values_mut()
        .filter(|line| !line.acts.is_empty() && is_due(line.acts_ms, line.settings.messages_per_hour))
        .filter_map(|line| {
            let chat = line.state.owner.as_ref()?.chat.clone();
            line.acts_ms = now;
            let lines: Vec<String> =
                std::mem::take(&mut line.acts).iter().map(|act| brief(act, ACT_CHARS)).collect();
            Some((line.name.clone(), chat, lines.join("\n")))
        })
        .collect();
    for (channel, chat, text) in due {
        let at = clock::stamp();
        say(all, &channel, &chat, Kind::Acts, &[&at], &bounds::brief(&text, MOST_BYTES as usize))?;
    }
    Ok(())
}

fn say(all: &mut Switchboard, channel: &str, chat: &Chat, kind: Kind, of: &[&str], text: &str) -> Result<()> {
    all.say(&Saying { channel, chat, kind, of, text, is_plain: true }).map(drop)
}
