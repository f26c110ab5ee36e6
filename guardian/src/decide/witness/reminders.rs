//! Checks whether reminders come when they are due, by the agenda and the messages told. Pure.
//!
//! Invariant: only a reminder that was seen to stand before it was due is watched; a clock that was set, or stood still,
//! makes all of them new.

use house::clock::Millis;
use serde_json::Value;
use std::collections::HashMap;

/// Time after a reminder is due until it is late, while the creature could have told it.
const LATE_MS: i64 = 120_000;
/// Time after which a reminder is late even for a creature that never rests.
const LATE_AT_WORK_MS: i64 = 60 * 60_000;
/// A wall clock that runs so far from the other was set.
const SET_MS: i64 = 10_000;
/// Reminders that are read, and told ones that are kept.
const MOST: usize = 1_000;

#[derive(Debug)]
struct Standing {
    next: i64,
    thread: String,
    has_prompt: bool,
    /// Number of rests when it was first seen late.
    late: Option<u64>,
}

/// The reminders of one life.
#[derive(Debug, Default)]
pub struct Reminders {
    /// Reminders by id; `None`: not watched.
    standing: HashMap<String, Option<Standing>>,
    /// Threads that reminders were told on, by id.
    told: HashMap<String, String>,
    /// The wall clock's distance to the other.
    distance: Option<i64>,
}

/// The time of a look, by both clocks, and how many rests were looked at.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    pub now: Millis,
    pub wall_ms: i64,
    pub rests: u64,
}

impl Reminders {
    pub fn told(&mut self, id: &str, thread: &str) {
        if self.told.len() >= MOST {
            self.told.clear();
        }
        self.told.insert(id.to_owned(), thread.to_owned());
    }

    /// Forgets all standing reminders.
    pub fn forget(&mut self) {
        self.standing.clear();
        self.distance = None;
    }

    /// Compares the agenda with the former one: whether each reminder due since then was told, with the evidence.
    pub fn look(&mut self, agenda: &Value, look: Look) -> Vec<(bool, String)> {
        let distance = look.wall_ms.saturating_sub(i64::try_from(look.now).unwrap_or(i64::MAX));
        if self.distance.is_some_and(|before| before.abs_diff(distance) > SET_MS as u64) {
            self.forget();
        }
        self.distance = Some(distance);
        let mut before = std::mem::take(&mut self.standing);
        let mut seen = Vec::new();
        let list = agenda.pointer("/reminders/list").and_then(Value::as_array);
        for reminder in list.into_iter().flatten().take(MOST) {
            let text = |name: &str| reminder.get(name).and_then(Value::as_str);
            let time = |name: &str| text(name).and_then(|at| at.parse::<jiff::Timestamp>().ok());
            let Some(id) = text("id") else { continue };
            let known = before.remove(id);
            let next =
                time("next").filter(|_| text("finished").is_none()).map(jiff::Timestamp::as_millisecond);
            let fired = time("last").map(jiff::Timestamp::as_millisecond);
            let mut watched = known.flatten();
            if let Some(was) = watched.take_if(|was| next != Some(was.next)) {
                // Struck off as told; what the owner took back was not.
                if was.next <= look.wall_ms && fired.is_some_and(|fired| fired >= was.next) {
                    seen.push(self.came(id, &was));
                }
            } else if watched.as_mut().is_some_and(|was| is_late(was, look)) {
                seen.push((false, format!("reminder {id} is due and was not told")));
                watched = None;
            }
            if watched.is_none()
                && let Some(next) = next
            {
                let thread = text("thread").filter(|thread| !thread.is_empty()).unwrap_or("main").to_owned();
                let has_prompt = text("prompt").is_some();
                // A time that has passed already says nothing: a life before may have died of it.
                let is_ahead = next > look.wall_ms;
                watched = is_ahead.then_some(Standing { next, thread, has_prompt, late: None });
            }
            self.standing.insert(id.to_owned(), watched);
        }
        seen
    }

    /// Whether a reminder that was struck off was told, and on its thread. One with a prompt is told when that ran.
    fn came(&mut self, id: &str, was: &Standing) -> (bool, String) {
        match self.told.remove(id) {
            _ if was.has_prompt => (true, String::new()),
            Some(thread) => (
                thread == was.thread,
                format!("reminder {id} was told on thread {thread}, not on {}", was.thread),
            ),
            None => (false, format!("reminder {id} was struck off and not told")),
        }
    }
}

/// Whether it is late though the creature had a rest or two since, or much time.
fn is_late(was: &mut Standing, look: Look) -> bool {
    let by = look.wall_ms.saturating_sub(was.next);
    if by < LATE_MS {
        return false;
    }
    let rests = *was.late.get_or_insert(look.rests);
    look.rests >= rests + 2 || by >= LATE_AT_WORK_MS
}
