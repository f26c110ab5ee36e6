//! Examining itself: which span is meant, what is asked, what records come to, and lives that answer from that.

use crate::broker::{self, loopback};
use crate::house::{Script, TempHouse, thought};
use crate::lived::Lived;
use crate::yard::Yard;
use agenda::span;
use creature::clock::Clock;
use creature::examine::{Sums, sentences, worth_looking_at};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use memory::Record;
use serde_json::{Value, json};

fn zone(name: &str) -> TimeZone {
    TimeZone::get(name).unwrap()
}

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

#[test]
fn spans_as_people_say_them() {
    // A Monday, a quarter past nine in Berlin.
    let (now, berlin) = (time("2026-11-23T08:15:00Z"), zone("Europe/Berlin"));
    let until_now = "2026-11-23T08:15:00Z";
    for (said, since, until) in [
        ("2h", "2026-11-23T06:15:00Z", until_now),
        ("30m", "2026-11-23T07:45:00Z", until_now),
        ("the last two hours", "2026-11-23T06:15:00Z", until_now),
        ("in the past hour", "2026-11-23T07:15:00Z", until_now),
        ("2 hours ago", "2026-11-23T06:15:00Z", until_now),
        ("1w", "2026-11-16T08:15:00Z", until_now),
        ("today", "2026-11-22T23:00:00Z", until_now),
        ("this morning", "2026-11-23T04:00:00Z", until_now),
        ("yesterday", "2026-11-21T23:00:00Z", "2026-11-22T23:00:00Z"),
        ("Since yesterday", "2026-11-21T23:00:00Z", until_now),
        ("yesterday afternoon", "2026-11-22T11:00:00Z", "2026-11-22T17:00:00Z"),
        ("last night", "2026-11-22T17:00:00Z", "2026-11-23T07:00:00Z"),
        ("overnight", "2026-11-22T17:00:00Z", "2026-11-23T07:00:00Z"),
        ("since last night", "2026-11-22T17:00:00Z", until_now),
        ("9am", "2026-11-23T08:00:00Z", until_now),
        ("since 9", "2026-11-23T08:00:00Z", until_now),
        ("since 10", "2026-11-22T09:00:00Z", until_now),
        ("noon", "2026-11-22T11:00:00Z", until_now),
        ("since yesterday at 18:00", "2026-11-22T17:00:00Z", until_now),
        ("monday", "2026-11-22T23:00:00Z", until_now),
        ("on friday", "2026-11-19T23:00:00Z", "2026-11-20T23:00:00Z"),
        ("since fri 6pm", "2026-11-20T17:00:00Z", until_now),
        ("friday evening", "2026-11-20T17:00:00Z", "2026-11-20T23:00:00Z"),
        ("this week", "2026-11-22T23:00:00Z", until_now),
        ("last week", "2026-11-15T23:00:00Z", "2026-11-22T23:00:00Z"),
        ("this month", "2026-10-31T23:00:00Z", until_now),
        ("last month", "2026-09-30T22:00:00Z", "2026-10-31T23:00:00Z"),
        ("2026-11-20", "2026-11-19T23:00:00Z", "2026-11-20T23:00:00Z"),
        ("since 2026-11-20", "2026-11-19T23:00:00Z", until_now),
        ("2026-11-20 09:00", "2026-11-20T08:00:00Z", until_now),
        ("2026-11-20T09:00", "2026-11-20T08:00:00Z", until_now),
        ("2026-11-20T09:00:00Z", "2026-11-20T09:00:00Z", until_now),
        ("2026-11-20T09:00:00+05:30", "2026-11-20T03:30:00Z", until_now),
    ] {
        let found = span::read(said, now, &berlin).unwrap_or_else(|| panic!("{said} is not understood"));
        assert_eq!((found.since, found.until), (time(since), time(until)), "{said}");
    }
    for said in
        ["", "soon", "tomorrow", "2026-11-24", "the blue one", "25:00", "since", "last", "0h", "tonight"]
    {
        assert_eq!(span::read(said, now, &berlin), None, "{said}");
    }
}

#[test]
fn a_span_over_a_changed_clock_has_its_hours() {
    let berlin = zone("Europe/Berlin");
    let length_h = |said: &str, now: &str| {
        let found = span::read(said, time(now), &berlin).unwrap();
        found.until.duration_since(found.since).as_hours()
    };
    // Put back on 25 October 2026, put forward on 28 March 2027.
    assert_eq!(length_h("yesterday", "2026-10-26T10:00:00Z"), 25);
    assert_eq!(length_h("last night", "2026-10-25T10:00:00Z"), 15);
    assert_eq!(length_h("yesterday", "2027-03-29T10:00:00Z"), 23);
    assert_eq!(length_h("last night", "2027-03-28T10:00:00Z"), 13);
    assert_eq!(length_h("24h", "2027-03-28T10:00:00Z"), 24);
    // An hour that no clock showed is as much later.
    let gap = span::read("2:30am", time("2027-03-28T10:00:00Z"), &berlin).unwrap();
    assert_eq!(gap.since, time("2027-03-28T01:30:00Z"));
    // The same words at the same moment are another night elsewhere.
    let tokyo = span::read("last night", time("2026-11-23T08:15:00Z"), &zone("Asia/Tokyo")).unwrap();
    assert_eq!((tokyo.since, tokyo.until), (time("2026-11-22T09:00:00Z"), time("2026-11-22T23:00:00Z")));
}

/// A life's records of some minutes, summed up.
#[derive(Default)]
struct Told(Sums);

impl Told {
    fn add(&mut self, second: i64, kind: &str, data: Value) {
        let at = time("2026-11-22T20:00:00Z") + jiff::SignedDuration::from_secs(second);
        self.0.add(at, &Record { at: at.to_string(), life: 3, kind: kind.to_owned(), data });
    }

    fn thought(&mut self, second: i64, number: u64, owner: bool, usage: Value) {
        let data = json!({"thought": number, "wake": number, "round": 0, "mind": "m", "owner": owner, "usage": usage});
        self.add(second, "thought", data);
    }

    fn action(&mut self, second: i64, number: u64, tool: &str, error: Option<&str>) {
        let result = error.map_or(json!({"ok": true}), |error| json!({"ok": false, "error": error}));
        self.add(second, "action", json!({"thought": number, "tool": tool, "args": {}, "result": result}));
    }
}

#[test]
fn money_is_told_by_who_it_was_spent_for_and_unknown_where_no_price_is() {
    let mut told = Told::default();
    told.thought(0, 1, false, json!({"cost_usd": 0.30}));
    told.thought(10, 2, true, json!({"cost_usd": 0.05}));
    told.thought(20, 3, true, json!({"input_tokens": 5}));
    told.add(30, "agenda", json!({"about": "session", "session": "s-1", "usage": {"cost_usd": 0.10}}));
    told.add(40, "dream", json!({"done": [], "usage": {"cost_usd": 0.02}}));
    told.add(50, "dream", json!({"name": "n", "parts": []}));
    told.add(60, "thought", json!({"thought": 4, "mind": "old", "usage": {"cost_usd": 0.01}}));
    told.thought(70, 5, false, Value::Null);
    let text = sentences(&told.0, &Vec::new());
    assert!(
        text.ends_with(
            "It cost 0.48 USD, and 1 thought with no known price: own wakes 0.30 USD (2 thoughts); the owner's words \
             0.05 USD, and 1 thought with no known price (2 thoughts); sub-sessions 0.10 USD (1 thought); dreams \
             0.02 USD (1 thought); older thoughts, not told apart 0.01 USD (1 thought)."
        ),
        "{text}"
    );
    let mut free = Told::default();
    free.thought(0, 1, false, Value::Null);
    assert!(sentences(&free.0, &Vec::new()).ends_with("It cost nothing."));
    let nothing = sentences(&Sums::default(), &Vec::new());
    assert_eq!(nothing, "I have no record of that time: I did not wake.");
}

#[test]
fn what_is_worth_looking_at_is_ranked_has_numbers_and_dates_and_is_five_at_most() {
    let mut told = Told::default();
    assert_eq!(worth_looking_at(&told.0, &TimeZone::UTC), Vec::<String>::new(), "nothing is made up");
    for number in 0..4 {
        let second = i64::try_from(number).unwrap() * 600;
        told.thought(second, number, false, json!({"cost_usd": 0.40}));
        told.action(second + 41, number, "repo.test", None);
        told.action(second + 43, number, "web.fetch_text", Some(&format!("status 50{number} of a.example")));
        told.action(second + 44, number, "repo.read", Some(&format!("no file number {number}{number}")));
    }
    told.thought(3_000, 9, true, json!({"cost_usd": 0.01}));
    told.add(3_100, "thought", json!({"thought": 10, "wake": 10, "mind": "instinct", "usage": null, "owner": true,
        "monologue": "instinct: The owner says: \"water the plants\". I cannot understand that and say what I can do."}));
    told.add(
        3_200,
        "death",
        json!({"from_commit": "abc", "told": "The guardian put creature/ back from commit abc"}),
    );
    let offers = worth_looking_at(&told.0, &zone("Europe/Berlin"));
    let begins = [
        "a self-edit fell at Sun 2026-11-22 21:53: The guardian put creature/ back",
        "repo.read failed 4 times alike, Sun 2026-11-22 21:00 to Sun 2026-11-22 21:30: no file number #",
        "1 of the owner's words were not understood, the last at Sun 2026-11-22 21:51: \"water the plants\"",
        "own wakes cost 1.60 USD of 1.61 USD: 4 thoughts at 0.40 USD each",
        "repo.test took 164 s in 4 calls, the longest 41 s at Sun 2026-11-22 21:",
    ];
    assert_eq!(offers.len(), begins.len(), "{offers:#?}");
    for (offer, begin) in offers.iter().zip(begins) {
        assert!(offer.starts_with(begin), "{offer} does not begin with {begin}");
    }
}

#[test]
fn sums_stay_small_whatever_they_are_shown() {
    let mut told = Told::default();
    for number in 0..4_000_u64 {
        let second = i64::try_from(number).unwrap();
        told.action(second, number, &format!("tool.{number}"), Some(&"error ".repeat(1_000)));
        told.add(second, "thought", json!({"thought": number, "mind": format!("mind {number}")}));
        told.add(second, "heartbeat", json!({"why": [format!("why{number}")]}));
        told.add(second, "death", json!({"told": "dead ".repeat(500)}));
        told.add(second, "agenda", json!({"session": format!("s{number}"), "usage": {"cost_usd": -1e308}}));
    }
    assert!(format!("{:?}", told.0).len() < 200_000, "{}", format!("{:?}", told.0).len());
    assert_eq!(told.0.calls(), (4_000, 4_000));
    let text = sentences(&told.0, &Vec::new());
    assert!(text.len() < 4_000 && text.contains("It cost nothing."), "{text}");
}

#[tokio::test]
async fn a_span_is_summed_up_over_memory_moved_aside_and_the_bookkeeping() {
    let mut yard = Yard::new();
    let now = time("2026-11-23T08:00:00Z");
    yard.store.clock = Clock::told(move || now);
    yard.store.rules.time_zone = zone("Europe/Berlin");
    let line = |at: &str, kind: &str, data: Value| {
        format!("{}\n", json!({"at": at, "life": 1, "kind": kind, "data": data}))
    };
    let thought = |at: &str, number: u64| {
        line(
            at,
            "thought",
            json!({"thought": number, "wake": 1, "round": 0, "mind": "strong", "owner": false, "usage": {"cost_usd": 0.2}}),
        )
    };
    let read = |at: &str| {
        line(
            at,
            "action",
            json!({"thought": 2, "tool": "repo.read", "args": {"path": "x"}, "result": {"ok": false, "error": "no such file"}}),
        )
    };
    yard.put(
        ".self/memory-20261122T200000Z.jsonl",
        &(thought("2026-11-22T12:00:00Z", 1)
            + &thought("2026-11-22T19:00:00Z", 2)
            + &read("2026-11-22T19:00:12Z")),
    );
    yard.put(
        ".self/memory.jsonl",
        &(thought("2026-11-23T01:00:00Z", 3) + "garbage\n" + &thought("2026-11-23T07:30:00Z", 4)),
    );
    let beats = ["2026-11-22T18:59:00Z", "2026-11-23T00:59:00Z"];
    let beats: String = beats
        .iter()
        .map(|at| line(at, "heartbeat", json!({"wake": 1, "why": ["ready: goal-1 x"]})))
        .collect();
    yard.put(".self/mind/bookkeeping.jsonl", &beats);
    let night = yard.shown("self.examine", json!({"since": "last night"})).await;
    for said in [
        "span: Sun 2026-11-22 18:00 to Mon 2026-11-23 08:00 CET\n",
        "wakes: 2, with a thought for: ready 2\n",
        "thoughts: strong 2\n",
        "cost: 0.40 USD\n",
        "calls: 1, 1 failed\n",
        "1 times, last Sun 2026-11-22 20:00: repo.read: no such file\n",
        "12 s at Sun 2026-11-22 20:00: repo.read {\"path\":\"x\"}\n",
        "1 lines of memory cannot be read\n",
    ] {
        assert!(night.contains(said), "{said}: {night}");
    }
    let day = yard.shown("self.examine", json!({"since": "yesterday", "until": "8am"})).await;
    assert!(
        day.contains("cost: 0.60 USD\n")
            && day.contains("span: Sun 2026-11-22 00:00 to Mon 2026-11-23 08:00 CET"),
        "{day}"
    );
    let wrong = yard.shown("self.examine", json!({"since": "the blue one"})).await;
    assert!(wrong.starts_with("failed") && wrong.contains("last night"), "{wrong}");
    let backwards = yard.shown("self.examine", json!({"since": "today", "until": "yesterday"})).await;
    assert!(backwards.contains("ends before it begins"), "{backwards}");
}

/// What stands between two marks in what a model was shown.
fn between<'a>(text: &'a str, from: &str, to: &str) -> Option<&'a str> {
    text.split_once(from)?.1.split_once(to).map(|(found, _)| found)
}

#[tokio::test]
async fn a_model_answers_what_the_night_cost_with_the_figures_it_was_shown() {
    loopback!();
    let script = Script::sighted(|shown| {
        let new = &shown.new;
        if let (Some(calls), Some(cost)) = (between(new, "\ncalls: ", "\n"), between(new, "\ncost: ", "\n")) {
            let text = format!("Last night: {calls} calls for {cost}.");
            return thought(
                "answer",
                json!([{"tool": "owner.message", "args": {"text": text, "done": true}}]),
                300,
            );
        }
        match new.contains("what did it cost?") {
            true => thought("look", json!([{"tool": "self.examine", "args": {"since": "last night"}}]), 0),
            false if new.contains("first thought of this life") || !shown.contains("repo.map") => thought(
                "work",
                json!([{"tool": "repo.map", "args": {}}, {"tool": "files.read", "args": {"path": "none"}}]),
                300,
            ),
            false => thought("rest", json!([]), 300),
        }
    });
    let house = TempHouse::with_model("openai", &script, 300);
    let mut offer = broker::offer("openai");
    offer["prices"] = json!({"input": 1_000.0, "cache_read": 100.0, "output": 2_000.0});
    script.offer(offer);
    let mut lived = Lived::born(&house, "2026-11-22T22:00:00Z", 1).await;
    lived.wake().await;
    let night = house.records();
    let spent: f64 = night.iter().filter_map(|record| record.data["usage"]["cost_usd"].as_f64()).sum();
    let calls = night.iter().filter(|record| record.kind == "action").count();
    let failed = night.iter().filter(|record| record.data["result"]["ok"] == false).count();
    assert!(spent > 0.0 && calls == 2 && failed > 0, "{spent} {calls} {failed}");
    lived.pass(std::time::Duration::from_secs(12 * 3_600));
    house.say("what did you do last night and what did it cost?");
    lived.wake().await;
    let told = house.records().into_iter().rev().find(|record| record.kind == "message").unwrap().data;
    assert_eq!(told["text"], format!("Last night: 2, {failed} failed calls for {spent:.2} USD."), "{told}");
}

#[tokio::test]
async fn without_a_model_the_question_is_answered_from_the_records() {
    let house = TempHouse::new();
    house.owner("[agenda]\ntime_zone = \"Europe/Berlin\"\n");
    let mut lived = Lived::born(&house, "2026-11-22T22:00:00Z", 1).await;
    house.say("note the pump was replaced");
    lived.wake().await;
    lived.pass(std::time::Duration::from_secs(10 * 3_600));
    for (said, span) in [
        (
            "what did you do last night and what did it cost?",
            "Sun 2026-11-22 18:00 to Mon 2026-11-23 08:00 CET: I answered you once",
        ),
        ("water the plants", "I do not understand \"water the plants\""),
        ("what have you done today?", "Mon 2026-11-23 00:00 to "),
    ] {
        house.say(said);
        lived.wake().await;
        let told =
            house.records().into_iter().rev().find(|record| record.data["from"] == "creature").unwrap().data;
        let told = told["text"].as_str().unwrap();
        assert!(told.starts_with(span), "{said}: {told}");
        if said.contains("cost") {
            assert!(told.contains("wrote into my papers") && told.contains("It cost nothing."), "{told}");
        }
    }
    let shown = {
        let mut yard = Yard::new();
        yard.put(".self/memory.jsonl", &std::fs::read_to_string(house.path(".self/memory.jsonl")).unwrap());
        yard.store.clock = Clock::told(|| time("2026-11-23T12:00:00Z"));
        yard.shown("self.examine", json!({})).await
    };
    assert!(
        shown.contains("1 of the owner's words were not understood")
            && shown.contains("\"water the plants\""),
        "{shown}"
    );
}
