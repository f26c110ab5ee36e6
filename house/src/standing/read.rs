//! Reads what is known of the house, each file within a cap; the creature's own feed from its end.

use super::{Known, TOLD_CHARS};
use crate::records::{self, text};
use crate::{House, asks, bounds, files, instance};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use std::path::Path;

/// Bytes read of the agenda, of the creature's own feed from its end, and of a thought from its end.
const AGENDA_BYTES: u64 = 4 << 20;
const EVENTS_BYTES: u64 = 64 << 10;
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
            asks: asks::waiting(house).into_iter().map(|ask| ask.id).collect(),
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

    /// What the creature's own feed says last of why it thinks, of its rest, of its pause, and of what failed.
    pub fn read_events(&mut self, house: &House) {
        let tail = files::tail(&house.events(), EVENTS_BYTES);
        let lines: Vec<Value> = tail.lines().filter_map(|line| records::parse(line.as_bytes())).collect();
        let newest = |names: &[&str]| lines.iter().rev().find(|line| names.contains(&text(line, "event")));
        let data = |line: &Value, name: &str| line.get("data").and_then(|data| data.get(name)).cloned();
        let words = |line: Option<&Value>, name: &str| {
            let said = line.and_then(|line| data(line, name));
            bounds::brief(said.as_ref().and_then(Value::as_str).unwrap_or_default(), TOLD_CHARS)
        };
        let woke = newest(&["wakeup"]);
        let why = woke.and_then(|line| data(line, "why"));
        let why = why.as_ref().and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let why: Vec<&str> = why.iter().filter_map(Value::as_str).collect();
        self.why = bounds::brief(&why.join("; "), TOLD_CHARS);
        self.woke = woke.and_then(|line| text(line, "at").parse().ok());
        self.is_for_owner = words(woke, "priority") == "owner";
        let sleep = newest(&["sleep"]);
        (self.why_rests, self.last) = (words(sleep, "why"), words(sleep, "last_action"));
        // Once it wakes that rest is over, however long it was to be.
        let rests = newest(&["sleep", "wakeup"]).filter(|line| text(line, "event") == "sleep");
        self.rests_until = rests.and_then(|line| {
            let rest_ms = data(line, "rest_ms")?.as_i64()?;
            let at: Timestamp = text(line, "at").parse().ok()?;
            at.checked_add(SignedDuration::from_millis(rest_ms)).ok()
        });
        let pause = newest(&["paused", "resumed"]).filter(|line| text(line, "event") == "paused");
        let told = pause.and_then(|line| line.get("data")).map(paused).unwrap_or_default();
        self.paused = bounds::brief(&told, TOLD_CHARS);
        self.failed = words(newest(&["error"]), "about");
    }
}

/// Why it pauses and what goes on afterwards, by what its feed says of it.
pub fn paused(data: &Value) -> String {
    match ["why", "what"].map(|name| text(data, name)) {
        [why, ""] => why.to_owned(),
        [why, what] => format!("{why}; afterwards: {what}"),
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
        let list = agenda.get(kind).and_then(|items| items.get("list")).and_then(Value::as_array);
        let items = list.map(Vec::as_slice).unwrap_or_default().iter();
        let items = items.filter(move |item| item.get(end).is_none_or(Value::is_null));
        let timed = items.filter_map(move |item| Some((text(item, at).parse().ok()?, text(item, "text"))));
        timed.map(|(at, what)| (at, bounds::brief(what, TOLD_CHARS))).collect::<Vec<_>>()
    };
    let all = open("tasks", "at", "ended_at").into_iter().chain(open("reminders", "next", "finished"));
    all.min_by_key(|(at, _)| *at)
}
