//! The scripted owner: what is said, saved, published and posted in a week, hour by hour.

use crate::world::time;
use crate::world::{Event, PURPOSE};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::time::Duration;

/// A week from Tuesday to Tuesday in Berlin; on its Sunday the clocks are put back.
pub const FROM: &str = "2026-10-20T06:00:00Z";
pub const TO: &str = "2026-10-27T06:00:00Z";

/// While the owner wants it quiet.
pub const PAUSED: (&str, &str) = ("2026-10-24T08:00:00Z", "2026-10-24T14:00:00Z");

/// The machine sleeps from here on for nine hours.
pub const SUSPENDED: (&str, &str) = ("2026-10-22T21:00:00Z", "2026-10-23T06:00:00Z");

/// The checklist has an open item.
pub const LISTED: (&str, &str) = ("2026-10-21T16:00:00Z", "2026-10-21T18:00:00Z");

/// The owner wants a tool used.
pub fn wish(tool: &str, args: &Value) -> Event {
    Event::Says(format!("use {tool} {args}"))
}

fn says(text: &str) -> Event {
    Event::Says(text.to_owned())
}

fn remind(text: &str, when: &str) -> Event {
    wish("reminder.add", &json!({"text": text, "when": when}))
}

/// The goals of the first morning, in the order they are given; the third cannot be reached.
pub fn goals() -> Vec<Event> {
    let goal = |title: &str, steps: &[&str]| wish("goal.add", &json!({"title": title, "checkpoints": steps}));
    vec![
        goal("a field guide to small tools", &["outline it", "draft it", "publish it"]),
        goal("a page on flat files", &["collect examples", "write it"]),
        goal("a bridge to nowhere", &["fail at it"]),
        goal("a list of makers", &["find ten", "ask them", "print it"]),
    ]
}

/// The reminders of that morning.
pub fn standing() -> Vec<Event> {
    vec![
        remind("stretch", "daily 08:30"),
        remind("water the plants", "weekly sun 02:30"),
        remind("the night train", "2026-10-23 02:15"),
        remind("drink", "every 3 h 09:00-18:00"),
    ]
}

pub fn week() -> Vec<(&'static str, Event)> {
    let mut plan: Vec<(&'static str, Event)> =
        goals().into_iter().map(|goal| ("2026-10-20T06:01:00Z", goal)).collect();
    plan.extend(standing().into_iter().map(|word| ("2026-10-20T06:10:00Z", word)));
    plan.extend([
        ("2026-10-20T06:11:00Z", wish("pulse.add", &json!({"text": "worry about the roof"}))),
        (
            "2026-10-20T07:00:00Z",
            wish("opportunity.add", &json!({"title": "a talk on small tools", "amount_usd": 40})),
        ),
        (
            "2026-10-20T07:00:30Z",
            wish("opportunity.add", &json!({"title": "a large contract", "amount_usd": 900})),
        ),
        ("2026-10-20T07:30:00Z", wish("gap.note", &json!({"what": "reading PDF files"}))),
        (
            "2026-10-20T08:00:00Z",
            wish("presence.note", &json!({"place": "forum", "last": "hello", "every_days": 1})),
        ),
        (
            "2026-10-20T09:00:00Z",
            wish("task.add", &json!({"text": "tidy the notes", "in_s": 3600, "every_s": 43_200})),
        ),
        ("2026-10-20T10:00:00Z", wish("spawn", &graph())),
        ("2026-10-20T12:00:00Z", Event::Publishes("Small tools that last")),
        ("2026-10-20T15:00:00Z", says("how are you?")),
        ("2026-10-21T08:00:00Z", says("focus on revenue this week")),
        ("2026-10-21T08:05:00Z", wish("opportunity.add", &json!({"title": "a workshop", "amount_usd": 80}))),
        (
            "2026-10-21T08:06:00Z",
            wish("goal.add", &json!({"title": "a letter home", "checkpoints": ["write it"]})),
        ),
        ("2026-10-21T10:00:00Z", says("check my mail every 10 minutes for 2 hours")),
        ("2026-10-21T11:00:00Z", Event::Mails("an invitation")),
        (LISTED.0, Event::Saves("self/HEARTBEAT.md", "- [ ] think of a name\n".to_owned())),
        (LISTED.1, Event::Saves("self/HEARTBEAT.md", "- [x] think of a name\n".to_owned())),
        (
            "2026-10-22T07:01:00Z",
            wish("owner.message", &json!({"kind": "revenue", "text": "Just checking in."})),
        ),
        ("2026-10-22T12:00:00Z", Event::Publishes("Flat files, again")),
        (SUSPENDED.0, Event::Suspends(Duration::from_secs(9 * 3_600))),
        ("2026-10-23T09:00:00Z", Event::Saves("PURPOSE.md", PURPOSE.replace("curious", "patient"))),
        ("2026-10-23T12:00:00Z", says("don't message me unless it's about money until sunday")),
        (
            "2026-10-23T12:05:00Z",
            wish("owner.message", &json!({"kind": "milestone", "text": "The guide has a cover."})),
        ),
        (PAUSED.0, says("pause")),
        ("2026-10-24T09:00:00Z", Event::Publishes("Something for later")),
        ("2026-10-24T10:00:00Z", says("are you there?")),
        (PAUSED.1, says("resume")),
        ("2026-10-26T12:00:00Z", says("what did you do?")),
    ]);
    plan.extend(LOUD.iter().enumerate().map(|(at, hour)| {
        let text = format!("Chapter {at} of the guide stands.");
        (*hour, wish("owner.message", &json!({"kind": "milestone", "text": text})))
    }));
    plan
}

/// More than an owner wants to read in an hour.
const LOUD: [&str; 9] = [
    "2026-10-22T07:10:00Z",
    "2026-10-22T07:12:00Z",
    "2026-10-22T07:14:00Z",
    "2026-10-22T07:16:00Z",
    "2026-10-22T07:18:00Z",
    "2026-10-22T07:20:00Z",
    "2026-10-22T07:22:00Z",
    "2026-10-22T07:24:00Z",
    "2026-10-22T07:26:00Z",
];

/// What the reminders come to: each text and every time it is told.
pub fn reminded() -> Vec<(String, Timestamp)> {
    let mut all = Vec::new();
    for day in 20..=26 {
        // Summer time ends on the 25th.
        let hour = |local: i32| if day < 25 { local - 2 } else { local - 1 };
        all.push(("stretch".to_owned(), time(&format!("2026-10-{day}T{:02}:30:00Z", hour(8)))));
        for local in [9, 12, 15, 18] {
            all.push(("drink".to_owned(), time(&format!("2026-10-{day}T{:02}:00:00Z", hour(local)))));
        }
    }
    // Shown twice that night, it is told the first time.
    all.push(("water the plants".to_owned(), time("2026-10-25T00:30:00Z")));
    all.push(("the night train".to_owned(), time("2026-10-23T00:15:00Z")));
    all.sort_by_key(|(_, at)| *at);
    all
}

/// Two roots, one that hangs on both, one that fails, and one that hangs on that.
fn graph() -> Value {
    json!({"graph": [
        {"name": "one", "objective": "look for makers"},
        {"name": "two", "objective": "count the tools"},
        {"name": "both", "objective": "compare the two", "depends_on": ["one", "two"]},
        {"name": "no", "objective": "do the impossible"},
        {"name": "lost", "objective": "build on the impossible result", "depends_on": ["no"]},
        {"name": "late", "objective": "look again later", "not_before": 7_200},
    ]})
}
