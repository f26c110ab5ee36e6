//! Pulse: concerns come due, once after a sleep, are changed and closed, and stay few.

use agenda::pulse::PulseChange;
use agenda::{Agenda, Change, Refusal, Rules, When};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

fn minute(minutes: i64) -> Timestamp {
    "2026-03-25T09:30:00Z".parse::<Timestamp>().unwrap() + SignedDuration::from_mins(minutes)
}

fn make(agenda: &mut Agenda, change: PulseChange, now: Timestamp) -> Result<Value, Refusal> {
    let when = When { now, thread: "shop", owner: false, rules: &Rules::default() };
    agenda.apply(&Change::Pulse(change), when)
}

fn add(text: &str) -> PulseChange {
    PulseChange::Add { text: text.to_owned(), every_s: None, mode: None }
}

fn reviewed(id: &str) -> PulseChange {
    PulseChange::Reviewed { id: id.to_owned() }
}

#[test]
fn a_concern_is_reviewed_every_hour_for_its_thread() {
    let mut agenda = Agenda::default();
    assert_eq!(make(&mut agenda, add("is the shop up?"), minute(0)).unwrap()["id"], "pulse-1");
    assert!(agenda.pulse.due(minute(59)).is_empty());
    assert_eq!(agenda.next_at(minute(0)), Some(minute(60)));
    assert_eq!(agenda.pulse.due(minute(60))[0].thread, "shop");
    make(&mut agenda, reviewed("pulse-1"), minute(400)).unwrap();
    assert!(agenda.pulse.due(minute(459)).is_empty(), "what was slept over is made up for once");
    assert_eq!(agenda.pulse.due(minute(460)).len(), 1);
}

#[test]
fn a_concern_is_changed_and_closed() {
    let mut agenda = Agenda::default();
    make(&mut agenda, add("one"), minute(0)).unwrap();
    assert!(make(&mut agenda, add("one"), minute(0)).unwrap_err().error.contains("pulse-1"));
    let update = |text: Option<&str>, every_s| PulseChange::Update {
        id: "pulse-1".to_owned(),
        text: text.map(str::to_owned),
        every_s,
    };
    make(&mut agenda, reviewed("pulse-1"), minute(10)).unwrap();
    make(&mut agenda, update(None, Some(0)), minute(11)).unwrap();
    assert_eq!(agenda.pulse.list[0].next, minute(70), "zero is as good as left out");
    make(&mut agenda, update(Some("two"), Some(600)), minute(12)).unwrap();
    assert_eq!((agenda.pulse.list[0].about.as_str(), agenda.pulse.list[0].next), ("two", minute(20)));
    assert_eq!(agenda.pulse.chars(), 3);
    assert!(make(&mut agenda, update(None, Some(1)), minute(12)).is_err());
    assert!(make(&mut agenda, update(Some(" "), None), minute(12)).is_err());
    let close = || PulseChange::Close { id: "pulse-1".to_owned(), why: "sold".to_owned() };
    make(&mut agenda, close(), minute(30)).unwrap();
    assert!(agenda.pulse.due(minute(999)).is_empty() && agenda.next_at(minute(30)).is_none());
    assert!(make(&mut agenda, close(), minute(31)).unwrap_err().hint.contains("pulse.list"));
    assert!(make(&mut agenda, reviewed("pulse-1"), minute(31)).is_err());
    assert_eq!((agenda.pulse.purge(minute(30)), agenda.pulse.purge(minute(31))), (0, 1));
}

#[test]
fn concerns_stay_few() {
    let mut agenda = Agenda::default();
    for at in 0..150 {
        assert_eq!(make(&mut agenda, add(&format!("concern {at}")), minute(at)).is_ok(), at < 100);
    }
    for at in 0..1_000 {
        let id = agenda.pulse.open().next().unwrap().id.clone();
        make(&mut agenda, PulseChange::Close { id, why: String::new() }, minute(at)).unwrap();
        make(&mut agenda, add(&format!("later concern {at}")), minute(at)).unwrap();
        assert!(agenda.pulse.list.len() <= 1_000 && agenda.pulse.open().count() == 100);
    }
    assert!(make(&mut agenda, add(&"long ".repeat(200)), minute(0)).is_err());
}
