//! The outbox: never more messages an hour than allowed, nothing urgent ever lost, chatter refused with the reason.

use agenda::directive::{DirectiveChange, Wish, Wished};
use agenda::outbox::{Delivery, Kind, OutboxChange, Week};
use agenda::{Agenda, Change, Refusal, Rules, When};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn begin() -> Timestamp {
    "2026-03-25T09:30:00Z".parse().unwrap()
}

fn minute(minutes: i64) -> Timestamp {
    begin() + SignedDuration::from_mins(minutes)
}

struct Kept {
    agenda: Agenda,
    rules: Rules,
    now: Timestamp,
}

impl Kept {
    fn new() -> Self {
        let time_zone = TimeZone::get("Europe/Berlin").unwrap();
        Self { agenda: Agenda::default(), rules: Rules { time_zone, ..Rules::default() }, now: begin() }
    }

    fn make(&mut self, change: Change) -> Result<serde_json::Value, Refusal> {
        let when = When { now: self.now, thread: "main", owner: true, rules: &self.rules };
        self.agenda.apply(&change, when)
    }

    fn say(&mut self, kind: Kind, text: &str) -> Result<serde_json::Value, Refusal> {
        self.make(Change::Outbox(OutboxChange::Say { kind, text: text.to_owned() }))
    }

    /// Sends what may go.
    fn post(&mut self) -> Vec<Delivery> {
        let due = self.agenda.outbox.due(&self.agenda.directives, &self.rules, self.now);
        for delivery in &due {
            self.make(Change::Outbox(OutboxChange::Delivered { ids: delivery.ids.clone() })).unwrap();
        }
        due
    }

    fn quiet(&mut self, topic: Option<&str>) {
        let change = match topic {
            Some(topic) => DirectiveChange::Set {
                wish: Wish::Quiet { topic: topic.to_owned() },
                text: "quiet".to_owned(),
                until: None,
            },
            None => DirectiveChange::Lift { wished: Wished::Quiet },
        };
        // Refused where nothing is quiet.
        let _ = self.make(Change::Directive(change));
    }
}

#[test]
fn chatter_is_refused_with_the_reason() {
    let table = [
        (Kind::Milestone, ""),
        (Kind::Milestone, "Hello!"),
        (Kind::Milestone, "Just checking in!"),
        (Kind::Milestone, "Good morning, just checking in, all good here."),
        (Kind::Broken, "Nothing new. Still here."),
        (Kind::Revenue, "No updates today"),
        (Kind::Other, "I had a very interesting thought about swifts today."),
        (Kind::Answer, "Yes, I shall do it."),
    ];
    let mut kept = Kept::new();
    for (kind, text) in table {
        let refused = kept.say(kind, text).unwrap_err();
        assert!(!refused.error.is_empty() && refused.hint.len() > 20, "{text}: {refused:?}");
    }
    assert!(kept.say(Kind::Milestone, &"far too long ".repeat(100)).is_err());
    for text in ["Earned $12", "disk full", "Still here after the crash: the shop lost two of its orders."] {
        assert_eq!(kept.say(Kind::Broken, text).unwrap()["goes"], "now", "{text}");
        kept.post();
    }
    assert!(kept.say(Kind::Revenue, "earned $12").unwrap_err().error.contains("same"));
    kept.now = minute(25 * 60);
    kept.say(Kind::Revenue, "earned $12").unwrap();
    assert_eq!(Kind::named("weekly_summary"), Kind::WeeklySummary);
    assert_eq!(Kind::named("Weekly summary"), Kind::WeeklySummary);
    assert_eq!(Kind::named("gossip"), Kind::Other);
}

#[test]
fn what_finds_no_room_is_gathered_and_goes_when_there_is() {
    let mut kept = Kept::new();
    for at in 0..8 {
        kept.now = minute(at);
        let said = kept.say(Kind::Milestone, &format!("chapter {at} is done")).unwrap();
        assert_eq!(said["goes"] == "now", at < 5, "{said}");
        assert_eq!(kept.post().len(), usize::from(at < 5));
    }
    kept.now = minute(20);
    kept.say(Kind::Approval, "may I buy the domain for 12 USD?").unwrap();
    kept.now = minute(59);
    assert!(kept.post().is_empty());
    assert_eq!(kept.agenda.outbox.next_at(kept.now), Some(minute(60)));
    kept.now = minute(60);
    let gathered = kept.post();
    assert_eq!((gathered.len(), gathered[0].kind), (1, Kind::Approval));
    let text = &gathered[0].text;
    assert!(text.starts_with("4 messages gathered:\n- approval: may I buy"), "{text}");
    assert!(text.contains("chapter 5") && text.contains("chapter 7"), "{text}");
    assert!(kept.agenda.outbox.waiting.is_empty());
}

#[test]
fn what_the_owner_does_not_want_to_hear_is_kept_for_later() {
    let mut kept = Kept::new();
    kept.quiet(Some("money"));
    assert_ne!(kept.say(Kind::Broken, "the disk is full").unwrap()["goes"], "now");
    assert_eq!(kept.say(Kind::Revenue, "earned $12").unwrap()["goes"], "now");
    assert_eq!(kept.post()[0].text, "earned $12");
    kept.now = minute(600);
    assert!(kept.post().is_empty());
    kept.quiet(None);
    assert_eq!(kept.post()[0].text, "the disk is full");
}

#[test]
fn the_week_is_over_on_monday_morning_of_the_owners() {
    let mut kept = Kept::new();
    assert_eq!(kept.agenda.outbox.week(kept.now), Week::Unbegun);
    kept.make(Change::Outbox(OutboxChange::WeekBegan)).unwrap();
    let monday: Timestamp = "2026-03-30T07:00:00Z".parse().unwrap();
    assert_eq!(kept.agenda.next_at(kept.now), Some(monday), "nine o'clock of summer time");
    kept.now = monday - SignedDuration::from_secs(1);
    assert_eq!(kept.agenda.outbox.week(kept.now), Week::Running);
    kept.now = monday;
    assert_eq!(kept.agenda.outbox.week(kept.now), Week::Over);
    kept.say(Kind::WeeklySummary, "It was a week of three chapters.").unwrap();
    assert_eq!(kept.agenda.outbox.week(kept.now), Week::Running);
    assert_eq!(kept.agenda.outbox.weekly_at, Some("2026-04-06T07:00:00Z".parse().unwrap()));
}

#[derive(Clone, Debug)]
enum Step {
    Say(Kind, usize),
    Post,
    /// Handed out, then killed before it was told.
    Lost,
    Quiet(Option<&'static str>),
    Wait(i64),
}

fn step() -> impl Strategy<Value = Step> {
    let kinds = vec![Kind::Revenue, Kind::Approval, Kind::Milestone, Kind::Broken];
    prop_oneof![
        6 => (prop::sample::select(kinds), 20..900_usize).prop_map(|(kind, chars)| Step::Say(kind, chars)),
        4 => Just(Step::Post),
        1 => Just(Step::Lost),
        1 => prop::sample::select(vec![None, Some("money"), Some("broken"), Some("")]).prop_map(Step::Quiet),
        4 => (0..50_i64).prop_map(Step::Wait),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn within_the_hour_and_nothing_urgent_lost(
        steps in prop::collection::vec(step(), 1..300),
        most in 1..7_u32,
    ) {
        let mut kept = Kept::new();
        kept.rules.messages_per_hour = most;
        let (mut minutes, mut sent): (i64, Vec<i64>) = (0, Vec::new());
        // What the model holds to be on its way, and whether it may never be dropped.
        let mut owed: BTreeMap<String, (Kind, String)> = BTreeMap::new();
        let mut told = 0_usize;
        for (number, step) in steps.into_iter().enumerate() {
            match step {
                Step::Say(kind, chars) => {
                    let text = format!("number {number} {}", "x".repeat(chars));
                    if let Ok(said) = kept.say(kind, &text) {
                        owed.insert(said["id"].as_str().unwrap().to_owned(), (kind, text));
                    }
                }
                Step::Post => {
                    let quiet = kept.agenda.directives.quiet(kept.now).map(str::to_owned);
                    for delivery in kept.post() {
                        sent.push(minutes);
                        prop_assert!(delivery.text.chars().count() <= 4_200);
                        for id in &delivery.ids {
                            let (kind, text) = owed.remove(id).expect("told once, and only what was said");
                            prop_assert!(delivery.text.contains(&text), "told whole");
                            let wanted = match quiet.as_deref() {
                                None => true,
                                Some("money") => matches!(kind, Kind::Revenue | Kind::Approval),
                                Some(topic) => topic == "broken" && kind == Kind::Broken,
                            };
                            prop_assert!(wanted);
                            told += 1;
                        }
                    }
                }
                Step::Lost => drop(kept.agenda.outbox.due(&kept.agenda.directives, &kept.rules, kept.now)),
                Step::Quiet(topic) => kept.quiet(topic),
                Step::Wait(more) => minutes += more,
            }
            kept.now = minute(minutes);
            let last_hour = sent.iter().filter(|at| minutes - **at < 60).count();
            prop_assert!(last_hour <= most as usize, "{last_hour} within the hour");
            prop_assert!(kept.agenda.outbox.waiting.len() <= 200);
        }
        // In the end everything urgent goes out.
        kept.quiet(None);
        while !kept.agenda.outbox.waiting.is_empty() {
            let next = kept.agenda.outbox.next_at(kept.now);
            let due = kept.post();
            prop_assert!(!due.is_empty() || next.is_some_and(|next| next > kept.now));
            due.iter().flat_map(|delivery| &delivery.ids).for_each(|id| { owed.remove(id); told += 1; });
            kept.now += SignedDuration::from_mins(1);
        }
        prop_assert!(owed.values().all(|(kind, _)| !kind.urgent()), "lost: {owed:?}");
        prop_assert!(told > 0 || owed.is_empty());
    }
}

#[test]
fn with_urgent_ones_only_it_refuses_rather_than_drops() {
    let mut kept = Kept::new();
    let taken = (0..260).filter(|n| kept.say(Kind::Broken, &format!("wheel {n} broke")).is_ok()).count();
    assert_eq!((taken, kept.agenda.outbox.waiting.len()), (200, 200));
}
