//! Reads the state of the house, each file within a cap; the creature's own feed from its end.

use super::{Known, TOLD_CHARS};
use crate::records::memory::{Fed, FeedLine};
use crate::records::{self, text, view::field};
use crate::{House, asks, bounds, files, instance};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use std::path::Path;

/// Bytes read of the agenda, of the creature's own feed from its end, most of it where its last wake is further back, and of
/// a thought from its end.
const AGENDA_BYTES: u64 = 4 << 20;
const EVENTS_BYTES: u64 = 64 << 10;
const FEED_BYTES: u64 = 1 << 20;
const THINKING_BYTES: u64 = 4 << 10;

impl Known {
    /// All of it, read once.
    pub fn read(house: &House) -> Self {
        let told = match instance::holder(house) {
            // What an earlier guardian said is not told as if this one had said it.
            Some(pid) => pid.and_then(|pid| instance::published(house, pid)),
            None => instance::last_published(house),
        };
        let mut known = Self {
            runs: instance::holder(house).is_some(),
            told: told.unwrap_or_default(),
            beat: small(&house.heartbeat()).unwrap_or_default(),
            budget: small(&house.budget()).unwrap_or_default(),
            asks: asks::unanswered(house).into_iter().map(|ask| ask.id).collect(),
            due: due(house),
            ..Self::default()
        };
        known.read_thinking(house);
        known.read_events(house);
        known
    }

    pub fn read_thinking(&mut self, house: &House) {
        self.thinking = files::tail(&house.thinking(), THINKING_BYTES);
    }

    /// Reads from the end of the creature's own feed why it thinks, its rest, its pause and its last failure. Keeps the
    /// known facts of a wake that began further back; where there are none, reads more of the feed.
    pub fn read_events(&mut self, house: &House) {
        let is_wakeup = |line: &Value| FeedLine(line).event() == "wakeup";
        let mut lines: Vec<Value> = records::newest(&house.events(), EVENTS_BYTES).collect();
        let goes_on = !lines.is_empty() && !lines.iter().any(is_wakeup);
        if goes_on && self.woke.is_none() {
            let paths = records::with_before(house.events());
            lines = paths.iter().flat_map(|path| records::newest(path, FEED_BYTES)).collect();
        } else if !goes_on {
            let none = Self::default();
            (self.wake, self.woke, self.why, self.is_for_owner) = (none.wake, none.woke, none.why, false);
            (self.why_rests, self.last, self.rests_until) = (none.why_rests, none.last, none.rests_until);
            (self.paused, self.failed) = (none.paused, none.failed);
        }
        let told = |said: &str| bounds::brief(said, TOLD_CHARS);
        for line in &lines {
            let at: Option<Timestamp> = FeedLine(line).at().parse().ok();
            match FeedLine(line).told() {
                Fed::Wakeup(beat) => {
                    (self.wake, self.woke, self.is_for_owner) = (beat.wake(), at, beat.priority() == "owner");
                    self.why = beat.why().unwrap_or_default().into_iter().map(told).collect();
                    // Once it wakes that rest is over, however long it was to be.
                    self.rests_until = None;
                }
                Fed::Sleep(sleep) => {
                    (self.why_rests, self.last) = (told(sleep.why()), told(sleep.last_action()));
                    let rest = sleep.rest_ms().map(SignedDuration::from_millis);
                    self.rests_until = at.zip(rest).and_then(|(at, rest)| at.checked_add(rest).ok());
                }
                Fed::Paused(paused) => self.paused = told(&paused.told()),
                Fed::Resumed(_) => self.paused.clear(),
                Fed::Failed(failed) => self.failed = told(failed.about()),
                Fed::Other(_) => {}
            }
        }
    }
}

/// A small file that one JSON value fills; `None` where it is not there or half written.
pub fn small(path: &Path) -> Option<Value> {
    bounds::read(&files::read_small(path).ok()??)
}

/// The task or reminder that is due first.
pub fn due(house: &House) -> Option<(Timestamp, String)> {
    let agenda = bounds::read(&files::read_most(&house.agenda(), AGENDA_BYTES).ok()??)?;
    let open = |kind: &str, at: &'static str, end: &'static str| {
        let list: &[Value] = agenda.get(kind).map(|items| field(items, "list")).unwrap_or_default();
        let items = list.iter().filter(move |item| item.get(end).is_none_or(Value::is_null));
        let timed = items.filter_map(move |item| Some((text(item, at).parse().ok()?, text(item, "text"))));
        timed.map(|(at, what)| (at, bounds::brief(what, TOLD_CHARS))).collect::<Vec<_>>()
    };
    let all = open("tasks", "at", "ended_at").into_iter().chain(open("reminders", "next", "finished"));
    all.min_by_key(|(at, _)| *at)
}
