//! Reminders: once, daily, weekly, monthly or every so often within a window, correct across time zones and sleep.
//!
//! Invariant: a reminder missed several times fires once; its next time is always later than its last.

mod schedule;

pub use schedule::Schedule;

use crate::items::{self, Item, ItemKind, Items};
use crate::text;
use crate::{Agenda, Refusal, When};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Characters of a reminder's text, and of its prompt.
const MOST_TEXT: usize = 500;
const MOST_PROMPT: usize = 2_000;

/// All reminders, the oldest first.
pub type Reminders = Items<Reminder>;

/// Reminder, due once or by a schedule.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reminder {
    /// The objective of a sub-session that is spawned when the reminder is due.
    pub prompt: Option<String>,
    #[serde(deserialize_with = "items::lenient")]
    pub schedule: Schedule,
    /// Time zone its hours are meant in, as in `Europe/Berlin`.
    pub zone: String,
    pub next: Option<Timestamp>,
    pub last: Option<Timestamp>,
}

impl ItemKind for Reminder {
    const NAME: &'static str = "reminder";
    const FIELDS: &'static [(&'static str, &'static str)] = &[("about", "text"), ("ended_at", "finished")];
    const LISTED_BY: &'static str = "reminder.list";
    const REPEATS: bool = true;

    fn due_at(reminder: &Item<Reminder>) -> Option<Timestamp> {
        reminder.next
    }
}

impl Reminder {
    /// Says when it comes next, as people say it by the owner's clock; none where it never does.
    pub fn said(&self, now: Timestamp, usual: &TimeZone) -> Option<String> {
        Some(said(&self.schedule, self.next?, &self.zone, now, usual))
    }
}

/// Says when a schedule comes, with its zone where that is not the `usual` one.
fn said(schedule: &Schedule, next: Timestamp, zone: &str, now: Timestamp, usual: &TimeZone) -> String {
    let hours = TimeZone::get(zone).unwrap_or_else(|_| usual.clone());
    let said = schedule.said(next, now, &hours);
    if usual.iana_name().unwrap_or("UTC") == zone { said } else { format!("{said} ({zone})") }
}

/// A change of the reminders.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "do")]
pub enum ReminderChange {
    /// Without `zone` the hours are those of the owner's time zone.
    Add {
        text: String,
        prompt: Option<String>,
        schedule: Schedule,
        zone: Option<String>,
    },
    Cancel {
        id: String,
    },
    /// The reminder was delivered at this time.
    Fired {
        id: String,
        at: Timestamp,
    },
}

pub(crate) fn apply(agenda: &mut Agenda, change: &ReminderChange, when: When) -> Result<Value, Refusal> {
    let now = when.now;
    match change {
        ReminderChange::Add { text, prompt, schedule, zone } => {
            let (text, prompt) = checked(text, prompt.as_deref())?;
            schedule.check()?;
            let usual = when.rules.time_zone.iana_name().unwrap_or("UTC").to_owned();
            let zone = zone.clone().unwrap_or(usual);
            let hours = TimeZone::get(&zone).map_err(|_| {
                let error = format!("find the time zone `{}`", text::clip(&zone, 40));
                Refusal::new(error, "name one as in Europe/Berlin, or leave it out")
            })?;
            let clock =
                |at: Timestamp| at.to_zoned(hours.clone()).strftime("%Y-%m-%d %H:%M:%S %Q").to_string();
            let next = schedule.next(now, &hours).ok_or_else(|| {
                let hint = format!("it is {} now; give a later time", clock(now));
                Refusal::new("remind of what is past", hint)
            })?;
            let said = said(schedule, next, &zone, now, &when.rules.time_zone);
            // A life that did not see the first answer asks again: one reminder is enough.
            let same = |old: &&Item<Reminder>| {
                (&old.about, &old.prompt, &old.schedule, &old.zone) == (&text, &prompt, schedule, &zone)
                    && old.thread == when.thread
            };
            if let Some(old) = agenda.reminders.open().find(same) {
                return Ok(json!({"id": old.id, "next": clock(next), "said": said, "already": true}));
            }
            let told = clock(next);
            let of = Reminder { prompt, schedule: schedule.clone(), zone, next: Some(next), last: None };
            let reminder = agenda.reminders.add(&mut agenda.next, text, of, when)?;
            Ok(json!({"id": reminder.id, "next": told, "said": said}))
        }
        ReminderChange::Cancel { id } => agenda.reminders.close(id, "", when),
        ReminderChange::Fired { id, at } => {
            let reminder = agenda.reminders.find(id)?;
            // Where the zone is no longer known, the owner's takes its place.
            let hours = TimeZone::get(&reminder.zone).unwrap_or_else(|_| when.rules.time_zone.clone());
            let after = reminder.next.map_or(*at, |next| next.max(*at));
            reminder.last = Some(*at);
            reminder.next = reminder.schedule.next(after, &hours);
            if reminder.next.is_none() {
                reminder.ended_at = Some(*at);
            }
            Ok(json!({"id": id, "next": reminder.next}))
        }
    }
}

fn checked(text: &str, prompt: Option<&str>) -> Result<(String, Option<String>), Refusal> {
    let (text, prompt) = (text.trim(), prompt.map(str::trim).filter(|prompt| !prompt.is_empty()));
    if text.is_empty() || text.chars().count() > MOST_TEXT {
        return Err(Refusal::new("keep that reminder", format!("its text has 1 to {MOST_TEXT} characters")));
    }
    if prompt.is_some_and(|prompt| prompt.chars().count() > MOST_PROMPT) {
        return Err(Refusal::new("keep that prompt", format!("it has at most {MOST_PROMPT} characters")));
    }
    Ok((text.to_owned(), prompt.map(str::to_owned)))
}
