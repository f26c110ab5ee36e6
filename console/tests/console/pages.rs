//! The owner's pages on a house: mind, goals and budget, on records as they are kept, on none, and on damaged ones.

use crate::asks::{asked, ledger};
use serde_json::{Value, json};
use trials::{House, SOUND, said};

const DAY: &str = "2026-01-02";

pub fn at(minute: u32, data: Value) -> Value {
    let mut event = json!({"at": format!("{DAY}T03:{minute:02}:00.000Z"), "life": 6});
    event.as_object_mut().unwrap().extend(data.as_object().unwrap().clone());
    event
}

pub fn record(minute: u32, kind: &str, data: Value) -> Value {
    at(minute, json!({"kind": kind, "data": data}))
}

pub fn lines(house: &House, path: &str, records: &[Value]) {
    house.write(path, &records.iter().map(|record| format!("{record}\n")).collect::<String>());
}

/// What a command prints, in a time zone five hours ahead.
#[track_caller]
pub fn page(house: &House, args: &[&str]) -> String {
    let output = house.command(args).env("TZ", "XYZ-5").env_remove("RUST_LOG").output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", said(&output));
    said(&output)
}

#[track_caller]
pub fn document(house: &House, args: &[&str]) -> Value {
    let output = house.command(args).env_remove("RUST_LOG").output().unwrap();
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{args:?}: {error}: {}", said(&output)))
}

/// Each part stands in the text, behind the one before it.
#[track_caller]
pub fn in_order(text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else { panic!("{part:?} is not next in: {text}") };
        rest = after;
    }
}

pub fn thought(minute: u32, number: u64, said: &str, tools: &[&str]) -> Value {
    let calls: Vec<Value> = tools.iter().map(|tool| json!({"tool": tool, "args": {}})).collect();
    record(
        minute,
        "thought",
        json!({"mind": "anthropic/some-model", "thought": number, "wake": 12, "round": 0, "monologue": said, "intent": "look",
            "tool_calls": calls, "sleep_s": 90, "usage": {"input_tokens": 1000, "output_tokens": 20}, "owner": true}),
    )
}

fn act(minute: u32, number: u64, tool: &str, result: Value) -> Value {
    record(
        minute,
        "action",
        json!({"thought": number, "tool": tool, "args": {"path": "a.md"}, "result": result}),
    )
}

pub fn lived_in() -> House {
    let house = House::new(SOUND);
    let memory = [
        thought(1, 37, "the thought before", &["notes.append"]),
        act(2, 37, "notes.append", json!({"ok": true, "path": "self/notes/herons.md"})),
        record(3, "message", json!({"from": "owner", "text": "how are the herons?", "thread": "main"})),
        record(
            4,
            "thought",
            json!({"mind": "anthropic/some-model", "thought": 38, "garbled": true, "error": "no JSON"}),
        ),
        thought(5, 38, "They nest.\nI look them up.", &["web.fetch_text", "repo.read"]),
        act(6, 38, "web.fetch_text", json!({"ok": true, "text": "a page"})),
        act(7, 38, "repo.read", json!({"ok": false, "error": "nowhere.rs does not exist"})),
        thought(9, 39, "the thought after", &[]),
    ];
    lines(&house, ".self/memory.jsonl", &memory);
    house.write(".self/inbox.jsonl", "how are the herons?\n");
    let old: Vec<Value> =
        (1..=36).map(|number| thought(0, number, &format!("an old one, {number}"), &[])).collect();
    lines(&house, ".self/memory-20260102T030030.000Z.jsonl", &old);
    let beat = |wake, why: &str| record(0, "heartbeat", json!({"wake": wake, "thoughts": 1, "why": [why]}));
    lines(
        &house,
        ".self/mind/bookkeeping.before.jsonl",
        &[beat(11, "another"), beat(12, "a word of the owner's")],
    );
    let said =
        |text: &str| json!({"entry": "said", "text": text, "life": 6, "at_s": 1_767_323_000, "shown": {}});
    let given = |at_s: i64, tools: &[&str]| {
        let calls: Vec<Value> = tools.iter().map(|tool| json!({"id": "c", "tool": tool})).collect();
        json!({"entry": "thought", "raw": {}, "calls": calls, "tokens": 9, "at_s": at_s})
    };
    // 03:05:00 of that day, and what was put to another thought before.
    let moment_s = 1_767_323_100;
    let conversation = [
        json!({"entry": "head", "head": {}}),
        said("an earlier situation"),
        given(moment_s - 240, &["notes.append"]),
        said("The owner says: how are the herons?"),
        // The time at which the model was asked; it took a minute.
        given(moment_s - 60, &["web.fetch_text", "repo.read", "one.too_many"]),
    ];
    lines(&house, ".self/mind/conversations/talk-main.jsonl", &conversation);
    let other = [
        said("put to another"),
        given(moment_s - 300, &["web.fetch_text", "repo.read"]),
        said("as well"),
        given(moment_s - 50, &[]),
    ];
    lines(&house, ".self/mind/conversations/work.jsonl", &other);
    spent(&house);
    means_to(&house);
    house
}

/// What was spent, by ledger and budget.
fn spent(house: &House) {
    let settled = |minute, class: &str, model: &str, cost: u64| {
        at(
            minute,
            json!({"event": "settle", "service": "anthropic", "day": DAY, "class": class, "note": model, "cost_micro_usd": cost, "call": "c"}),
        )
    };
    house.write(
        ".self/ledger.jsonl",
        &ledger(&[
            settled(0, "autonomous", "small-model", 1_000),
            settled(4, "owner", "some-model", 20_000),
            settled(5, "owner", "some-model", 30_000),
            settled(9, "owner", "some-model", 500_000),
        ]),
    );
    let budget = json!({"at": format!("{DAY}T03:09:00.000Z"), "day": DAY, "reserved_usd": 0.3, "reserved_today_usd": 0.2,
        "autonomous_reserved_usd": 0.01, "mind": "anthropic: some-model",
        "caps": [{"span": "day", "spent_usd": 0.5, "cap_usd": 5.0, "autonomous_usd": 0.1, "autonomous_cap_usd": 0.75},
            {"span": "week", "spent_usd": 2.0, "cap_usd": 20.0, "autonomous_usd": 1.0, "autonomous_cap_usd": 3.0}],
        "models": [{"model": "some-model", "upstream": "api.example:443", "state": "up", "since": format!("{DAY}T01:00:00Z")}]});
    house.write(".self/budget.json", &budget.to_string());
}

/// An agenda with items of most kinds.
fn means_to(house: &House) {
    let steps = json!([{"text": "read", "status": "done"}, {"text": "count the nests", "status": "failed", "attempts": 2, "reason": "fog"}]);
    let agenda = json!({
        "goals": {"list": [
            {"id": "goal-3", "title": "herons", "status": "open", "checkpoints": steps, "owner": true},
            {"id": "goal-4", "title": "a greenhouse", "status": "awaiting", "cost_usd": 20.0},
            {"id": "goal-2", "title": "settle in", "status": "done", "reason": "it did"},
        ]},
        "opportunities": {"earned_usd": 12.5, "list": [
            {"id": "opportunity-6", "title": "sell eggs", "stage": "collect", "amount_usd": 8.0, "earned_usd": 3.0, "ended_at": null}]},
        "tasks": {"list": [
            {"id": "task-8", "text": "water them", "at": "2030-01-01T00:00:00Z", "ended_at": null},
            {"id": "task-7", "text": "sweep", "at": "2026-01-01T00:00:00Z", "ended_at": null}]},
        "directives": {"list": [{"id": "directive-9", "text": "quiet until noon", "until": "2026-01-01T12:00:00Z", "ended": null},
            {"id": "directive-10", "text": "focus on herons", "until": null, "ended": null}]},
        "reminders": {"list": [{"id": "reminder-5", "text": "feed the herons", "next": "2029-01-02T09:00:00Z", "finished": null}]},
    });
    house.write(".self/mind/agenda.json", &agenda.to_string());
}

#[test]
fn a_mind_is_one_page_by_priority_with_times_of_the_owners() {
    let house = lived_in();
    asked(&house, "12", "three of them");
    let event = |minute, event: &str, data: Value| at(minute, json!({"event": event, "data": data}));
    let events =
        [event(8, "wakeup", json!({"wake": 12, "why": ["a word of the owner's", "an event waits"]}))];
    lines(&house, ".self/mind/feed.before.jsonl", &events);
    lines(&house, ".self/mind/feed.jsonl", &[event(9, "sleep", json!({"rest_ms": 90_000}))]);
    let told = page(&house, &["mind"]);
    in_order(
        &told,
        &[
            "status     no guardian is running here",
            "1 ask waits for your yes or no",
            "budget     $0.50 of $5.00 today, $2.00 of $20.00 this week",
            "no broker runs: this is how it stood at 2026-01-02 08:09:00",
            "last wake  2026-01-02 08:08:00: a word of the owner's; an event waits",
            "next wake  none: nobody lives here now",
            "orders",
            "directive-10 focus on herons (your order)",
            "means to",
            "goal-3 herons (yours); next: count the nests",
            "opportunity-6 sell eggs (8.00 USD, at collect); next: collect",
            "task-7 sweep",
            "goal-4 a greenhouse; next: your yes to 20.00 USD, by the word `approve goal-4`",
            "task-8 water them",
            "reminder-5 feed the herons; 2029-01-02 14:00:00, in ",
            "revenue    $12.50 earned, $5.00 executed and not received, $0.00 hoped for",
            "2026-01-02 08:06:00 web.fetch_text ok",
            "2026-01-02 08:07:00 repo.read failed: nowhere.rs does not exist",
        ],
    );
    assert!(
        !told.contains("quiet until noon") && !told.contains("settle in") && !told.contains("missing"),
        "{told}"
    );
    let json = document(&house, &["mind", "--json"]);
    assert_eq!((&json["stack"][0]["id"], &json["due"][0]["id"]), (&json!("goal-3"), &json!("reminder-5")));
    assert_eq!((&json["revenue"]["earned_usd"], &json["budget"]["day"]), (&json!(12.5), &json!(DAY)));
    assert_eq!((&json["status"]["asks_waiting"], &json["missing"]), (&json!(1), &json!([])));
}

#[test]
fn a_living_mind_says_what_it_does_and_when_it_wakes() {
    // Rests for an hour from a moment ago on, and means to be reminded just then.
    let rests = r#"
now=$(date -u +%s); until=$(date -u -d @$((now+3600)) +%Y-%m-%dT%H:%M:%SZ)
printf '{"at":"%s","life":%s,"event":"wakeup","data":{"wake":3,"why":["it is time"]}}\n' "$(date -u +%Y-%m-%dT%H:%M:%S.000Z)" "$FERAL_LIFE" > .self/mind/feed.jsonl
printf '{"at":"%s","life":%s,"event":"sleep","data":{"rest_ms":3600000}}\n' "$(date -u -d @$now +%Y-%m-%dT%H:%M:%S.000Z)" "$FERAL_LIFE" >> .self/mind/feed.jsonl
printf '{"reminders":{"list":[{"id":"reminder-5","text":"feed the herons","next":"%s","finished":null}]}}' "$until" > .self/mind/agenda.json
think alive; live
"#;
    let house = House::new(rests);
    let guardian = house.start();
    house.until("it rests", || !house.thoughts().is_empty() && house.status()["phase"] == "settled");
    house.until("it says so", || page(&house, &["mind"]).contains("rests until "));
    let told = page(&house, &["mind"]);
    in_order(
        &told,
        &[
            "rests until ",
            " (shell)",
            "last wake  ",
            ": it is time",
            "next wake  ",
            "reminder-5 feed the herons",
        ],
    );
    // A heartbeat that a shell writes is empty for a moment, whichever command reads it.
    house.until("its stage", || document(&house, &["mind", "--json"])["status"]["stage"] == "resting");
    // Found: that it waits for a word which is being typed stood in the window alone.
    let mut events = house.read(".self/mind/feed.jsonl");
    events +=
        r#"{"at":"2026-01-02T03:04:05.000Z","life":1,"event":"paused","data":{"why":"you are typing"}}"#;
    house.write(".self/mind/feed.jsonl", &(events + "\n"));
    assert!(page(&house, &["mind"]).contains("paused: you are typing"));
    guardian.stop();
    assert!(
        page(&house, &["mind"]).contains("nobody lives here now"),
        "what was told before is not told as if it were now"
    );
}

#[test]
fn goals_are_told_with_their_steps_and_one_is_told_whole() {
    let house = lived_in();
    let told = page(&house, &["goals"]);
    in_order(
        &told,
        &[
            "goals      2 open, 1 ended",
            "goal-3 herons; next: count the nests (yours)",
            "[x] read",
            "[!] count the nests (tried 2 times: fog)",
            "? goal-4 a greenhouse; next: your yes to 20.00 USD",
            "done: goal-2 settle in (it did)",
            "ways       1 open",
            "tasks      2 open",
            "orders     1 open, 1 ended",
            "reminders  1 open",
        ],
    );
    let one = page(&house, &["goals", "goal-4"]);
    in_order(&one, &["title: a greenhouse", "cost_usd: 20.0", "say --thread main \"approve goal-4\""]);
    assert_eq!(document(&house, &["goals", "goal-3", "--json"])["whole"]["checkpoints"][1]["reason"], "fog");
    assert_eq!(document(&house, &["goals", "--json"])["items"].as_array().unwrap().len(), 9);
    let output = house.ask(&["goals", "goal-99"]);
    assert!(
        output.status.code() == Some(1) && said(&output).contains("there are goal-3, goal-4"),
        "{}",
        said(&output)
    );
}

#[test]
fn a_budget_is_told_by_caps_and_by_what_it_was_spent() {
    let house = lived_in();
    let told = page(&house, &["budget"]);
    in_order(
        &told,
        &[
            "this day   $0.50 of $5.00 spent, $0.20 reserved, $4.30 left",
            "on its own: $0.10 of $0.75 spent, $0.64 left",
            "this week  $2.00 of $20.00 spent, $0.30 reserved, $17.70 left",
            "some-model at api.example:443: up since",
            "by what    2026-01-02 (UTC)",
            "$0.5500 for your words: anthropic some-model, 3 calls",
            "$0.0010 on its own: anthropic small-model, 1 calls",
        ],
    );
    let json = document(&house, &["budget", "--json"]);
    assert_eq!((&json["by"][0]["usd"], &json["by"][0]["calls"]), (&json!(0.55), &json!(3)));
    assert_eq!(json["page"]["caps"][1]["span"], "week");
}

#[test]
fn a_house_where_nothing_happened_yet_says_so() {
    let house = House::new(SOUND);
    in_order(
        &page(&house, &["mind"]),
        &[
            "no guardian is running here",
            "last acts  none on record",
            "no agenda yet",
            "nothing is spent yet",
            "it remembers nothing yet",
        ],
    );
    assert!(page(&house, &["goals"]).contains("no goal, task or reminder"), "{}", page(&house, &["goals"]));
    in_order(&page(&house, &["budget"]), &["nothing is spent yet", "no call was paid for"]);
    let output = house.ask(&["why"]);
    assert!(
        output.status.code() == Some(1) && said(&output).contains("no thought is on record"),
        "{}",
        said(&output)
    );
    for command in ["mind", "goals", "budget"] {
        assert!(document(&house, &[command, "--json"]).is_object());
    }
    for wrong in [
        &["mind", "x"][..],
        &["budget", "x"],
        &["why", "1", "2"],
        &["goals", "--full"],
        &["mind", "--since", "1h"],
    ] {
        assert_eq!(house.ask(wrong).status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn what_is_damaged_or_no_file_is_named_and_the_rest_is_told() {
    let house = lived_in();
    house.write(".self/mind/agenda.json", "[".repeat(100_000).as_str());
    house.write(".self/budget.json", "{\"caps\":");
    let told = page(&house, &["mind"]);
    in_order(
        &told,
        &[
            "means to   nothing",
            "repo.read failed",
            "what it means to do cannot be read",
            "budget.json is damaged",
        ],
    );
    assert_eq!(house.ask(&["goals"]).status.code(), Some(1));
    assert_eq!(house.ask(&["goals", "--json"]).status.code(), Some(1));
    assert!(page(&house, &["budget"]).contains("damaged"));
    // A link to what is the owner's alone is not followed, a pipe not waited for.
    for path in [".self/budget.json", ".self/mind/agenda.json", ".self/memory.jsonl"] {
        std::fs::remove_file(house.path(path)).unwrap();
    }
    let secret = house.folder.path().join("secret");
    std::fs::write(&secret, r#"{"goals":{"list":[{"id":"goal-1","title":"hidden","status":"open"}]}}"#)
        .unwrap();
    std::os::unix::fs::symlink(&secret, house.path(".self/mind/agenda.json")).unwrap();
    nix::unistd::mkfifo(&house.path(".self/memory.jsonl"), nix::sys::stat::Mode::S_IRUSR).unwrap();
    nix::unistd::mkfifo(&house.path(".self/budget.json"), nix::sys::stat::Mode::S_IRUSR).unwrap();
    let told = page(&house, &["mind"]);
    assert!(!told.contains("hidden") && told.contains("cannot be read"), "{told}");
    assert_eq!(house.ask(&["why"]).status.code(), Some(0), "what was rotated away is still there");
}
