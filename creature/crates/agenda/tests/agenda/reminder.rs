//! Reminders against a walk from minute to minute, over clocks put forward and back, short months and long sleeps.

use agenda::reminder::{ReminderChange, Schedule};
use agenda::{Agenda, Change, Refusal, Rules, When};
use jiff::civil::{DateTime, Time, time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan};
use proptest::prelude::*;
use serde_json::Value;

/// Zones and a day near which their clocks do something odd.
const ZONES: [(&str, &str); 8] = [
    ("UTC", "2024-02-27"),
    ("Europe/Berlin", "2026-03-28"),
    ("Europe/Berlin", "2026-10-24"),
    ("America/New_York", "2026-03-07"),
    ("America/New_York", "2026-10-31"),
    // Half an hour forward, and clocks put forward at midnight.
    ("Australia/Lord_Howe", "2026-10-03"),
    ("America/Asuncion", "2023-09-30"),
    // A day that never was.
    ("Pacific/Apia", "2011-12-28"),
];

const MINUTE: SignedDuration = SignedDuration::from_mins(1);

fn zone(name: &str) -> TimeZone {
    TimeZone::get(name).unwrap()
}

/// The moments at which clocks there show this hour of each day, found by walking: what a clock skipped comes as late
/// as it was put forward, what it shows twice counts the first time.
fn shown(wanted: Time, from: Timestamp, minutes: i64, zone: &TimeZone) -> Vec<(DateTime, Timestamp)> {
    let mut found: Vec<(DateTime, Timestamp)> = Vec::new();
    // Begun a day earlier, so that what was shown before is known.
    let mut at = from - SignedDuration::from_hours(26);
    let mut skipped: Vec<(DateTime, Timestamp)> = Vec::new();
    while at < from + MINUTE * i32::try_from(minutes).unwrap() {
        let (before, here) = (zone.to_datetime(at - MINUTE), zone.to_datetime(at));
        // Clocks put forward: each wanted hour between comes as much later as it lies after the last that was shown.
        let mut missing = before.checked_add(1.minute()).unwrap();
        let mut late = at;
        while missing < here {
            if missing.time() == wanted {
                skipped.push((missing, late));
            }
            missing = missing.checked_add(1.minute()).unwrap();
            late += MINUTE;
        }
        if here.time() == wanted && !found.iter().any(|(day, _)| *day == here) {
            found.push((here, at));
        }
        at += MINUTE;
    }
    found.extend(skipped);
    found.sort_by_key(|(_, at)| *at);
    found
}

/// All times of a schedule after `from`, found by walking.
fn walked(schedule: &Schedule, from: Timestamp, minutes: i64, zone: &TimeZone) -> Vec<Timestamp> {
    let on = |time: Time| shown(time, from, minutes, zone);
    let mut all: Vec<Timestamp> = match schedule {
        Schedule::Daily { time } => on(*time).into_iter().map(|(_, at)| at).collect(),
        Schedule::Weekly { days, time } => on(*time)
            .into_iter()
            .filter(|(day, _)| days.contains(&day.weekday().to_monday_one_offset()))
            .map(|(_, at)| at)
            .collect(),
        Schedule::Monthly { day, time } => on(*time)
            .into_iter()
            .filter(|(shown, _)| {
                let last = shown.date().tomorrow().unwrap().day() == 1;
                shown.day() == *day || (last && shown.day() < *day)
            })
            .map(|(_, at)| at)
            .collect(),
        Schedule::Every { every_s, from: opens, to } => {
            let mut all = Vec::new();
            let closes = shown(*to, from, minutes + 2_000, zone);
            for (day, opened) in on(*opens) {
                let last = if to < opens { day.date().tomorrow().unwrap() } else { day.date() };
                let closed = closes.iter().find(|(day, _)| day.date() == last).map(|(_, at)| *at);
                let mut at = opened;
                while closed.is_some_and(|closed| at <= closed) {
                    all.push(at);
                    at += SignedDuration::from_secs(i64::try_from(*every_s).unwrap());
                }
            }
            all
        }
        _ => Vec::new(),
    };
    all.sort();
    all.dedup();
    let end = from + MINUTE * i32::try_from(minutes).unwrap();
    all.retain(|at| *at > from && *at < end);
    all
}

fn schedule() -> impl Strategy<Value = Schedule> {
    let hour = || {
        prop_oneof![
            (0..24_i8, 0..60_i8).prop_map(|(hour, minute)| time(hour, minute, 0, 0)),
            (0..4_i8, 0..60_i8).prop_map(|(hour, minute)| time(hour, minute, 0, 0)),
        ]
    };
    prop_oneof![
        hour().prop_map(|time| Schedule::Daily { time }),
        (prop::collection::vec(1..=7_i8, 1..4), hour())
            .prop_map(|(days, time)| Schedule::Weekly { days, time }),
        (1..=31_i8, hour()).prop_map(|(day, time)| Schedule::Monthly { day, time }),
        (1..600_u64, hour(), hour())
            .prop_filter("windows of two days do not touch", |(_, from, to)| from != to
                && (to > from || from.duration_since(*to) > SignedDuration::from_hours(1)))
            .prop_map(|(minutes, from, to)| Schedule::Every { every_s: minutes * 60, from, to }),
    ]
}

#[test]
fn a_window_that_ends_as_it_begins_is_that_moment() {
    let (zone, nine) = (zone("UTC"), time(9, 0, 0, 0));
    let schedule = Schedule::Every { every_s: 3_600, from: nine, to: nine };
    let at = |text: &str| text.parse::<Timestamp>().unwrap();
    assert_eq!(schedule.next(at("2026-03-02T09:00:00Z"), &zone), Some(at("2026-03-03T09:00:00Z")));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(50))]

    #[test]
    fn each_next_time_is_the_one_a_walk_finds(
        schedule in schedule(), place in 0..ZONES.len(), offset in 0..4_000_i64,
    ) {
        let (name, day) = ZONES[place];
        let zone = zone(name);
        let from: Timestamp = format!("{day}T00:00:00Z").parse().unwrap();
        let from = from + SignedDuration::from_mins(offset);
        let minutes = if matches!(schedule, Schedule::Monthly { .. }) { 50_000 } else { 9 * 1_440 };
        let walked = walked(&schedule, from, minutes, &zone);
        let mut at = from;
        for expected in walked.iter().take(200) {
            let next = schedule.next(at, &zone);
            prop_assert_eq!(next, Some(*expected), "after {} in {}", at, name);
            at = *expected;
        }
    }
}

struct Kept {
    agenda: Agenda,
    rules: Rules,
}

impl Kept {
    fn in_zone(name: &str) -> Self {
        Self { agenda: Agenda::default(), rules: Rules { time_zone: zone(name), ..Rules::default() } }
    }

    fn make(&mut self, change: ReminderChange, now: &str) -> Result<Value, Refusal> {
        let when = When { now: now.parse().unwrap(), thread: "shop", owner: false, rules: &self.rules };
        self.agenda.apply(&Change::Reminder(change), when)
    }

    fn add(&mut self, when: &str, now: &str) -> Result<Value, Refusal> {
        let schedule = Schedule::read(when, now.parse().unwrap(), &self.rules.time_zone).expect(when);
        let text = "water the plants".to_owned();
        self.make(ReminderChange::Add { text, prompt: None, schedule, zone: None }, now)
    }

    /// Fires what is due; for when each was meant.
    fn fire(&mut self, now: &str) -> Vec<String> {
        let at = now.parse().unwrap();
        let due: Vec<_> = self.agenda.reminders.due(at).into_iter().cloned().collect();
        for due in &due {
            assert_eq!((due.about.as_str(), due.thread.as_str()), ("water the plants", "shop"));
            self.make(ReminderChange::Fired { id: due.id.clone(), at }, now).unwrap();
        }
        due.iter().map(|due| due.next.unwrap().to_string()).collect()
    }

    fn next(&self) -> String {
        self.agenda.next_at(Timestamp::UNIX_EPOCH).map_or(String::new(), |next| next.to_string())
    }
}

#[test]
fn a_day_is_a_day_when_clocks_change() {
    let mut kept = Kept::in_zone("Europe/Berlin");
    kept.add("daily 02:30", "2026-03-27T12:00:00Z").unwrap();
    assert_eq!(kept.next(), "2026-03-28T01:30:00Z");
    assert_eq!(kept.fire("2026-03-28T01:30:00Z").len(), 1);
    assert_eq!(kept.next(), "2026-03-29T01:30:00Z", "02:30 is skipped and comes as 03:30");
    kept.fire("2026-03-29T01:30:00Z");
    assert_eq!(kept.next(), "2026-03-30T00:30:00Z");
    let mut kept = Kept::in_zone("Europe/Berlin");
    kept.add("daily 02:30", "2026-10-24T12:00:00Z").unwrap();
    assert_eq!(kept.next(), "2026-10-25T00:30:00Z", "the first of two");
    kept.fire("2026-10-25T00:30:00Z");
    assert_eq!(kept.next(), "2026-10-26T01:30:00Z", "not the second");
}

#[test]
fn what_was_missed_fires_once() {
    let mut kept = Kept::in_zone("UTC");
    kept.add("every 10 min", "2026-05-01T21:00:00Z").unwrap();
    kept.add("in 20 min", "2026-05-01T21:00:00Z").unwrap();
    assert_eq!(kept.fire("2026-05-01T23:00:00Z"), ["2026-05-01T21:20:00Z"]);
    assert_eq!(kept.fire("2026-05-04T09:05:00Z"), ["2026-05-02T08:00:00Z"]);
    assert_eq!(kept.fire("2026-05-04T09:05:00Z"), Vec::<String>::new());
    assert_eq!(kept.next(), "2026-05-04T09:10:00Z");
    assert_eq!(kept.fire("2026-05-04T20:00:01Z").len(), 1);
    assert_eq!(kept.next(), "2026-05-05T08:00:00Z", "outside of its window it is silent");
    assert_eq!(kept.agenda.reminders.open().count(), 1, "once is once");
}

#[test]
fn a_clock_put_back_fires_nothing_twice() {
    let mut kept = Kept::in_zone("UTC");
    kept.add("daily 09:00", "2026-05-01T08:00:00Z").unwrap();
    kept.fire("2026-05-01T09:00:00Z");
    assert!(kept.fire("2026-05-01T08:30:00Z").is_empty() && kept.fire("2026-05-01T09:00:00Z").is_empty());
}

#[test]
fn the_31st_is_the_last_day_of_a_short_month() {
    let mut kept = Kept::in_zone("UTC");
    kept.add("monthly 31 09:00", "2028-01-31T10:00:00Z").unwrap();
    for at in ["2028-02-29T09:00:00Z", "2028-03-31T09:00:00Z", "2028-04-30T09:00:00Z"] {
        assert_eq!(kept.next(), at);
        kept.fire(at);
    }
}

#[test]
fn a_few_words_say_when() {
    let now: Timestamp = "2026-03-25T09:30:00Z".parse().unwrap();
    let berlin = zone("Europe/Berlin");
    let at = |text: &str| Schedule::Once { at: text.parse().unwrap() };
    let (nine, eight, twenty) = (time(9, 0, 0, 0), time(8, 0, 0, 0), time(20, 0, 0, 0));
    let table = [
        ("2026-12-01 09:00", at("2026-12-01T08:00:00Z")),
        ("2026-12-01T09:00", at("2026-12-01T08:00:00Z")),
        ("2026-12-01T09:00:00Z", at("2026-12-01T09:00:00Z")),
        ("in 20 min", at("2026-03-25T09:50:00Z")),
        ("in an hour", at("2026-03-25T10:30:00Z")),
        ("tomorrow at 9am", at("2026-03-26T08:00:00Z")),
        ("18:00", at("2026-03-25T17:00:00Z")),
        ("friday noon", at("2026-03-27T11:00:00Z")),
        ("18:00:30", at("2026-03-25T17:00:30Z")),
        ("in 90 seconds", at("2026-03-25T09:31:30Z")),
        ("in half an hour", at("2026-03-25T10:00:00Z")),
        ("tomorrow", at("2026-03-26T08:00:00Z")),
        ("on monday at 9", at("2026-03-30T07:00:00Z")),
        ("at 9", at("2026-03-26T08:00:00Z")),
        ("every day at 9", Schedule::Daily { time: nine }),
        ("every morning", Schedule::Daily { time: nine }),
        ("every monday at 9am", Schedule::Weekly { days: vec![1], time: nine }),
        ("every weekday at 8", Schedule::Weekly { days: vec![1, 2, 3, 4, 5], time: eight }),
        ("every weekday", Schedule::Weekly { days: vec![1, 2, 3, 4, 5], time: nine }),
        ("each weekend at 9:00", Schedule::Weekly { days: vec![6, 7], time: nine }),
        ("every monday and thursday at 8pm", Schedule::Weekly { days: vec![1, 4], time: twenty }),
        ("on mondays at 9", Schedule::Weekly { days: vec![1], time: nine }),
        ("every monday at 8 in the evening", Schedule::Weekly { days: vec![1], time: twenty }),
        ("every morning at 8", Schedule::Daily { time: eight }),
        ("at four o'clock in the afternoon", at("2026-03-25T15:00:00Z")),
        ("tomorrow evening", at("2026-03-26T17:00:00Z")),
        ("tonight at 8", at("2026-03-25T19:00:00Z")),
        ("this afternoon", at("2026-03-25T13:00:00Z")),
        ("next monday at 9", at("2026-03-30T07:00:00Z")),
        ("tues at 9", at("2026-03-31T07:00:00Z")),
        ("at 3 at night", at("2026-03-26T02:00:00Z")),
        ("daily 09:00", Schedule::Daily { time: nine }),
        ("Daily at 9am", Schedule::Daily { time: nine }),
        ("weekly mon,thu 09:00", Schedule::Weekly { days: vec![1, 4], time: nine }),
        ("monthly 31 09:00", Schedule::Monthly { day: 31, time: nine }),
        ("every 45 min", Schedule::Every { every_s: 2_700, from: eight, to: twenty }),
        ("every 1h 30m", Schedule::Every { every_s: 5_400, from: eight, to: twenty }),
        (
            "every 2 hours 22:00-06:00",
            Schedule::Every { every_s: 7_200, from: time(22, 0, 0, 0), to: time(6, 0, 0, 0) },
        ),
    ];
    for (text, schedule) in table {
        assert_eq!(Schedule::read(text, now, &berlin), Some(schedule), "{text}");
    }
}

#[test]
fn words_that_name_no_certain_time_are_not_read() {
    let now: Timestamp = "2026-03-25T09:30:00Z".parse().unwrap();
    for text in [
        "",
        "soon",
        "daily",
        "weekly 09:00",
        "monthly 09:00",
        "every",
        "every blue moon",
        "in 5",
        "in 10:20:30",
        "at 9:5",
        "at 13pm",
        "in 2 months",
        "25:00",
        "9",
        "at 24",
        "at",
        "every so and so",
        "at 12 at night",
        "in the morning or so",
    ] {
        assert_eq!(Schedule::read(text, now, &zone("Europe/Berlin")), None, "{text}");
    }
}

/// Found by living with it: a reminder that recurs never said that it does, and its time was another clock's.
#[test]
fn a_reminder_says_when_it_comes_as_people_do() {
    let now = "2026-11-26T09:00:00Z";
    for (when, said) in [
        ("every monday at 8am", "every Monday at 08:00, first on Monday 30 November"),
        ("every weekday at 8", "every weekday at 08:00, first tomorrow"),
        ("weekly mon,thu 09:00", "every Monday and Thursday at 09:00, first on Monday 30 November"),
        ("daily 18:30", "every day at 18:30, first today"),
        ("monthly 31 09:00", "every month on day 31 at 09:00, first on Monday 30 November"),
        ("every 2 hours", "every 2 h from 08:00 to 20:00, first today"),
        ("tomorrow at 9", "tomorrow at 09:00"),
        ("in 90 seconds", "today at 10:01:30"),
        ("2026-12-24 18:00", "on Thursday 24 December at 18:00"),
        ("2027-01-02 09:00", "on Saturday 2 January 2027 at 09:00"),
    ] {
        let mut kept = Kept::in_zone("Europe/Berlin");
        assert_eq!(kept.add(when, now).unwrap()["said"], said, "{when}");
        let reminder = kept.agenda.reminders.open().next().unwrap();
        assert_eq!(reminder.said(now.parse().unwrap(), &zone("Europe/Berlin")).as_deref(), Some(said));
        let elsewhere = reminder.said(now.parse().unwrap(), &TimeZone::UTC).unwrap();
        assert_eq!(elsewhere, format!("{said} (Europe/Berlin)"), "another clock's hour names it");
    }
}

#[test]
fn what_cannot_be_kept_is_refused_with_a_hint() {
    let now = "2026-03-25T09:30:00Z";
    let mut kept = Kept::in_zone("UTC");
    assert!(kept.add("2020-01-01 09:00", now).unwrap_err().hint.contains("2026-03-25 09:30"));
    assert!(kept.add("monthly 32 09:00", now).is_err());
    assert!(kept.add("every 3 days", now).unwrap_err().hint.contains("weekly"));
    let add = |text: &str, zone: Option<&str>| ReminderChange::Add {
        text: text.to_owned(),
        prompt: None,
        schedule: Schedule::Daily { time: Time::midnight() },
        zone: zone.map(str::to_owned),
    };
    assert!(kept.make(add("water", Some("Mars/Olympus")), now).unwrap_err().error.contains("Mars"));
    assert!(kept.make(add(" ", None), now).is_err());
    assert!(kept.make(add("water", Some("Asia/Tokyo")), now).is_ok());
    assert_eq!(kept.next(), "2026-03-25T15:00:00Z");
    kept.make(ReminderChange::Cancel { id: "reminder-1".to_owned() }, now).unwrap();
    assert!(kept.make(ReminderChange::Cancel { id: "reminder-1".to_owned() }, now).is_err());
    for number in 0..1_100 {
        let _ = kept.make(add(&format!("water plant {number}"), None), now);
    }
    assert_eq!(kept.agenda.reminders.open().count(), 1_000);
    let newer: Schedule = serde_json::from_str(r#"{"kind":"lunar","phase":"full"}"#).unwrap();
    assert_eq!(newer, Schedule::Other, "a newer self's schedule is carried, not guessed");
    assert_eq!(newer.next(now.parse().unwrap(), &TimeZone::UTC), None);
}

#[test]
fn a_reminder_asked_for_again_is_the_same_until_it_is_over() {
    let (mut agenda, rules) = (Agenda::default(), Rules::default());
    let now: Timestamp = "2026-10-20T06:00:00Z".parse().unwrap();
    let schedule = Schedule::read("daily 09:00", now, &rules.time_zone).unwrap();
    let add = |text: &str| {
        let text = text.to_owned();
        Change::Reminder(ReminderChange::Add { text, prompt: None, schedule: schedule.clone(), zone: None })
    };
    let apply = |agenda: &mut Agenda, change: &Change, thread| {
        let when = When { now, thread, owner: true, rules: &rules };
        agenda.apply(change, when).unwrap()["id"].as_str().unwrap_or_default().to_owned()
    };
    let first = apply(&mut agenda, &add("stretch"), "main");
    assert_eq!(apply(&mut agenda, &add("stretch"), "main"), first);
    assert_ne!(apply(&mut agenda, &add("stretch"), "garden"), first);
    assert_ne!(apply(&mut agenda, &add("drink"), "main"), first);
    let cancel = Change::Reminder(ReminderChange::Cancel { id: first.clone() });
    apply(&mut agenda, &cancel, "main");
    assert_ne!(apply(&mut agenda, &add("stretch"), "main"), first);
    assert_eq!(agenda.reminders.open().count(), 3);
}
