//! Tasks the creature scheduled for itself, each with its time.

use crate::items::{self, Item, ItemKind, Items, LONGEST_REASON, LONGEST_TITLE, Tries};
use crate::{Agenda, Refusal, When};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Shortest and longest time between two turns of a recurring task, in seconds.
pub const EVERY_S: (i64, i64) = (60, 366 * 86_400);

/// All tasks, the oldest first.
pub type Tasks = Items<Task>;

/// Something to do at its time, once or again and again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Task {
    /// Time its turn is due; a retry after a failure comes later and does not move the turn.
    pub at: Timestamp,
    pub every_s: Option<i64>,
    #[serde(flatten)]
    pub tries: Tries,
}

impl ItemKind for Task {
    const NAME: &'static str = "task";

    fn due_at(task: &Item<Task>) -> Option<Timestamp> {
        Some(task.of.due_at())
    }
}

/// A change of the tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "do")]
pub enum TaskChange {
    Add {
        text: String,
        at: Timestamp,
        every_s: Option<i64>,
    },
    /// The task was done, or tried and failed for the reason in `failed`.
    Done {
        id: String,
        failed: Option<String>,
    },
    /// The task is not wanted any more.
    Close {
        id: String,
        reason: String,
    },
}

impl Task {
    /// Returns the time the task is to be tried: at its turn, or later after a failure.
    pub fn due_at(&self) -> Timestamp {
        self.tries.again_at().map_or(self.at, |again| again.max(self.at))
    }

    /// Returns its next turn after `now`; missed turns are not made up for.
    fn turn_after(&self, now: Timestamp, every_s: i64) -> Timestamp {
        let late_s = now.as_second().saturating_sub(self.at.as_second()).max(0);
        items::later(self.at, every_s.saturating_mul((late_s / every_s.max(1)).saturating_add(1)))
    }
}

impl Item<Task> {
    /// Notes the end of a try. A failure is tried again; done or failed too often, it ends or waits for its next turn.
    fn turned(&mut self, failed: Option<&str>, now: Timestamp) {
        self.changed_at = now;
        match failed {
            Some(why) if !self.tries.fail(why, now) => return,
            Some(_) => {}
            None => self.tries.succeed(),
        }
        match self.every_s {
            None => self.end(failed.unwrap_or("done"), now),
            Some(every_s) => {
                self.at = self.turn_after(now, every_s);
                self.tries.forgive();
            }
        }
    }
}

pub(crate) fn apply(agenda: &mut Agenda, change: &TaskChange, when: When) -> Result<Value, Refusal> {
    match change {
        TaskChange::Add { text, at, every_s } => {
            let text = items::needed(text, "the text", LONGEST_TITLE)?;
            if every_s.is_some_and(|every_s| !(EVERY_S.0..=EVERY_S.1).contains(&every_s)) {
                let hint = format!("it is from {} to {} seconds", EVERY_S.0, EVERY_S.1);
                return Err(Refusal::new("every_s is out of bounds", hint));
            }
            let of = Task { at: *at, every_s: *every_s, ..Task::default() };
            let task = agenda.tasks.add(&mut agenda.next, text, of, when)?;
            Ok(json!({"id": task.id, "at": at}))
        }
        TaskChange::Done { id, failed } => {
            let task = agenda.tasks.find(id)?;
            if let Some(why) = failed {
                items::needed(why, "the reason", LONGEST_REASON)?;
            }
            task.turned(failed.as_deref(), when.now);
            let next = task.is_open().then_some(task.due_at());
            Ok(json!({"id": id, "next_at": next, "attempts": task.tries.attempts}))
        }
        TaskChange::Close { id, reason } => agenda.tasks.close(id, reason, when),
    }
}
