//! Records as they are read: every kind on record has its type, and what is not known or not as it should be harms nothing.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods
)]

use house::records::history::{Death, Event, Line};
use house::records::ledger::{AskLine, Booked, Entry};
use house::records::memory::{Data, Fed, FeedLine, Record};
use house::records::{self, view::field};
use house::standing::Known;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../guardian/tests/golden").join(name)
}

fn read(name: &str) -> Vec<Value> {
    let records: Vec<Value> = records::of(&golden(name)).collect();
    let lines = fs::read_to_string(golden(name)).unwrap();
    let whole: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(records, whole, "{name}: no more and no less is read than what stands there");
    records
}

/// What a value of every type is read as by a view of any field.
fn of_every_type() -> [Value; 7] {
    [json!(null), json!(true), json!(7), json!(-1.5), json!("text"), json!(["a", 1]), json!({"b": 1})]
}

#[test]
fn every_kind_in_the_golden_files_has_its_type() {
    for record in read("memory.jsonl") {
        let other = |data| matches!(data, Data::Other(kind) if !["note", "snapshot"].contains(&kind));
        assert!(!other(Record(&record).data()), "{record}");
    }
    let mut others = Vec::new();
    for event in read("history.jsonl") {
        if let Event::Other(what) = Event::of(&event) {
            others.push(what.to_owned());
        }
        assert!(!Line(&event).at().is_empty() && !Line(&event).what().is_empty());
    }
    others.sort();
    others.dedup();
    assert_eq!(others, ["eclipse"], "of a later guardian");
    for death in read("deaths.jsonl") {
        let death = Death(&death);
        let told = [death.ended(), death.cause(), death.blame()];
        assert!(death.life() > 0 && told.iter().all(|told| !told.is_empty()));
    }
}

#[test]
fn a_record_of_a_later_creature_stays_as_it_is() {
    let [thought, premonition, heartbeat, note, action] = read("memory_newer.jsonl").try_into().unwrap();
    let Data::Thought(of) = Record(&thought).data() else { panic!("{thought}") };
    assert_eq!((of.monologue(), of.usage().input_tokens()), ("I have moods now.", 3));
    assert_eq!(of.0["mood"]["valence"], 0.5, "what no view names is in it still");
    assert!(matches!(Record(&premonition).data(), Data::Other("premonition")));
    assert_eq!(Record(&premonition).raw_data(), premonition.get("data"));
    let Data::Heartbeat(beat) = Record(&heartbeat).data() else { panic!("{heartbeat}") };
    assert_eq!((beat.wake(), beat.why(), Record(&heartbeat).life()), (Some(2), None, Some(u64::MAX)));
    assert!(matches!(Record(&note).data(), Data::Other("note")));
    assert!(Record(&action).action().unwrap().is_ok());
}

#[test]
fn a_field_of_another_type_is_empty_and_no_error() {
    for value in of_every_type() {
        let of = json!({"at": value, "life": value, "kind": value, "data": value, "event": value, "what": value, "id": value});
        let record = Record(&of);
        assert_eq!(record.at(), value.as_str().unwrap_or_default());
        assert_eq!(record.life(), value.as_u64());
        assert!(matches!(record.data(), Data::Other(kind) if kind == record.kind()));
        assert!(record.number().is_none() && record.thought().is_none());
        assert!(matches!(Event::of(&of), Event::Other(_)));
        assert!(matches!(Entry(&of).booked(), Booked::Other(_)));
        assert!(matches!(FeedLine(&of).told(), Fed::Other(_)));
        assert_eq!(AskLine(&of).id().is_some(), value.is_u64() || value.is_string());
        assert_eq!(field::<bool>(&of, "at"), value == json!(true));
        assert_eq!(field::<f64>(&of, "at"), value.as_f64().unwrap_or_default());
        assert_eq!(field::<Vec<&str>>(&of, "at").len(), usize::from(value.is_array()));
        assert_eq!(field::<Option<&Value>>(&of, "at"), (!value.is_null()).then_some(&value));
        for kind in ["thought", "action", "message", "self_change", "dream", "agenda", "heartbeat", "death"] {
            let of = json!({"kind": kind, "data": value});
            match Record(&of).data() {
                Data::Thought(of) => {
                    assert_eq!((of.monologue(), of.wake(), of.is_garbled()), ("", None, false))
                }
                Data::Action(of) => assert!(!of.is_ok() && of.result().is_none()),
                Data::Message(of) => assert_eq!((of.from(), of.thread()), ("", "main")),
                Data::SelfChange(of) => assert!(!of.ok() && of.error().is_empty()),
                Data::Dream(of) => assert!(of.name().is_none()),
                Data::Agenda(of) => assert!(of.change().is_none()),
                Data::Heartbeat(of) => assert!(of.why().is_none()),
                Data::Death(of) => assert_eq!((of.life(), of.lived_s()), (0, 0.0)),
                Data::Observation(_) | Data::Other(_) => panic!("{of}"),
            }
        }
    }
    assert!(
        matches!(Record(&json!({"kind": "thought"})).data(), Data::Other("")),
        "without data it is of no kind"
    );
}

#[test]
fn what_is_paid_and_the_day_it_counts_to_are_read_alike_everywhere() {
    let of = json!({"at": "2031-03-02T00:00:01.000Z", "event": "settle", "day": "2031-03-01", "cost_micro_usd": 5, "decision": "by usage"});
    assert_eq!(
        (Entry(&of).paid(), Entry(&of).day(), Entry(&of).booked()),
        (Some(5), "2031-03-01", Booked::Settle)
    );
    let of =
        json!({"at": "2031-03-02T00:00:01.000Z", "event": "settle", "decision": "never left", "count": 0});
    assert_eq!(
        (Entry(&of).day(), Entry(&of).booked(), Entry(&of).times()),
        ("2031-03-02", Booked::Unsent, 1)
    );
    assert_eq!(Entry(&json!({"event": "reserve", "cost_micro_usd": 5})).paid(), None);
    assert_eq!(Entry(&json!({"day": "ääääää"})).day(), "äääää", "a day that is none is cut between letters");
}

#[test]
fn why_it_woke_is_known_however_long_the_wake_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let house = house::House::new(folder.path());
    let (feed, before) = (house.events(), house.events().with_file_name("feed.before.jsonl"));
    fs::create_dir_all(feed.parent().unwrap()).unwrap();
    let line = |second: u32, event: &str, data: Value| json!({"at": format!("2031-03-01T08:{:02}:{:02}.000Z", second / 60, second % 60), "life": 1, "event": event, "data": data});
    let woke =
        line(0, "wakeup", json!({"wake": 7, "why": ["a word of the owner's", "news"], "priority": "owner"}));
    let acts = |number: u32| -> String {
        let act = |at| {
            line(at, "action", json!({"tool": "web.search", "summary": "x".repeat(400)})).to_string() + "\n"
        };
        (1..number).map(act).collect()
    };
    // Once in the same file far behind its end, once in the one before it.
    for (in_before, in_feed) in
        [(String::new(), format!("{woke}\n{}", acts(600))), (format!("{woke}\n"), acts(300))]
    {
        fs::write(&before, in_before).unwrap();
        fs::write(&feed, &in_feed).unwrap();
        let mut known = Known::read(&house);
        assert_eq!(known.why, ["a word of the owner's", "news"]);
        assert_eq!((known.wake, known.is_for_owner), (Some(7), true));
        fs::write(
            &feed,
            in_feed.clone()
                + &line(700, "sleep", json!({"rest_ms": 60_000, "why": "done"})).to_string()
                + "\n",
        )
        .unwrap();
        known.read_events(&house);
        assert_eq!(known.rests_until, "2031-03-01T08:12:40Z".parse().ok(), "its rest is told");
        assert_eq!(
            (known.wake, known.why_rests.as_str()),
            (Some(7), "done"),
            "and what it was for stays known"
        );
        fs::write(&feed, in_feed + &line(800, "wakeup", json!({"wake": 8, "why": []})).to_string() + "\n")
            .unwrap();
        known.read_events(&house);
        assert_eq!(
            (known.wake, known.why.len(), known.rests_until),
            (Some(8), 0, None),
            "until it wakes again"
        );
        fs::remove_file(&feed).unwrap();
        known.read_events(&house);
        assert_eq!((known.wake, known.woke), (None, None), "nothing is known where there is no feed");
    }
}
