//! A life exported: the trace is one that Perfetto takes, the file stands alone, and no secret is in either.

use crate::life_index::{append, at, remembered, seen, storied, thought};
use console::life::{Part, Span, export, trace};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use trials::{House, said};

const KEY: &str = "s3cret/&value+of=mine";
const OTHER: &str = "sk-ant-REDACTED-0123456789abcdefghij";

fn traced(house: &House, part: Part) -> Value {
    let mut out = Vec::new();
    trace::write(&seen(house), &part, &mut out).unwrap();
    serde_json::from_slice(&out).unwrap()
}

fn page(house: &House, part: Part) -> String {
    let mut out = Vec::new();
    export::html(&seen(house), &part, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn number(event: &Value, name: &str) -> u64 {
    event[name].as_u64().unwrap_or_else(|| panic!("no {name} in {event}"))
}

#[test]
fn a_trace_has_its_lanes_and_each_arrow_its_two_ends() {
    let house = storied();
    let trace = traced(&house, Part::All);
    let events = trace["traceEvents"].as_array().unwrap();
    let of = |ph: &str| events.iter().filter(|event| event["ph"] == ph).collect::<Vec<_>>();
    let names: Vec<&str> = of("M").iter().filter_map(|event| event["args"]["name"].as_str()).collect();
    for lane in ["life", "money", "lives", "wakes", "thoughts", "acts", "self-edits", "asks", "words"] {
        assert!(names.contains(&lane), "{lane} is not in {names:?}");
    }
    let bars = of("X");
    for name in ["life 6", "life 7", "life 8", "wake 1", "wake 2", "thought 1", "dream"] {
        assert!(bars.iter().any(|event| event["name"] == name), "{name} is not in {bars:#?}");
    }
    for event in events.iter().filter(|event| event["ph"] != "M") {
        assert!(number(event, "ts") > 1_700_000_000_000_000 && number(event, "pid") > 0, "{event}");
    }
    // An arrow leaves the bar that fell and reaches the one that lived then.
    let (starts, ends) = (of("s"), of("f"));
    assert_eq!((starts.len(), ends.len()), (1, 1));
    assert_eq!((&starts[0]["id"], &starts[0]["tid"]), (&ends[0]["id"], &ends[0]["tid"]));
    assert!(number(starts[0], "ts") < number(ends[0], "ts"));
    let within = |event: &Value, name: &str| {
        let bar = bars.iter().find(|bar| bar["name"] == name).unwrap();
        let (ts, begin) = (number(event, "ts"), number(bar, "ts"));
        begin <= ts && ts <= begin + number(bar, "dur")
    };
    assert!(within(starts[0], "life 7") && within(ends[0], "life 8"));
    let spent: Vec<f64> = of("C").iter().map(|event| event["args"]["for words"].as_f64().unwrap()).collect();
    assert_eq!(spent, [0.02, 0.02]);
    // Bars of a lane follow one another.
    let mut lanes: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
    for bar in &bars {
        let begin = number(bar, "ts");
        lanes.entry(number(bar, "tid")).or_default().push((begin, begin + number(bar, "dur")));
    }
    for (lane, mut bars) in lanes {
        bars.sort_unstable();
        assert!(bars.windows(2).all(|two| two[0].1 <= two[1].0), "lane {lane}: {bars:?}");
    }
}

#[test]
fn a_part_holds_what_is_its_own() {
    let house = storied();
    append(
        &house,
        ".self/memory.jsonl",
        &[at(
            5_000,
            json!({"life": 8, "kind": "thought", "data": {"thought": 50, "wake": 90, "monologue": "of the next life"}}),
        )],
    );
    let life = page(&house, Part::Life(7));
    assert!(
        life.contains("<h1>Life 7</h1>")
            && life.contains("how are the herons?")
            && !life.contains("of the next life"),
        "{life}"
    );
    assert!(life.contains("href=\"#thought-1\"") && life.contains("id=\"thought-1\""), "{life}");
    assert!(
        !life.contains("href=\"/") && !life.contains("<script") && !life.contains("http://localhost"),
        "{life}"
    );
    let begin = jiff::Timestamp::from_second(1_770_076_800 + 4_500).unwrap();
    let late = Span { from: begin, to: begin + jiff::SignedDuration::from_hours(1) };
    let late = page(&house, Part::Span(late));
    assert!(late.contains("of the next life") && !late.contains("herons"), "{late}");
    let events = traced(&house, Part::Life(7)).to_string();
    assert!(events.contains("wake 2") && !events.contains("thought 50"), "{events}");
    let mut out = Vec::new();
    assert!(trace::write(&seen(&house), &Part::Life(99), &mut out).is_err());
}

#[test]
fn no_secret_and_no_place_on_the_machine_leaves() {
    let house = storied();
    house.write(".env", &format!("# mine\nexport MY_KEY=\"{KEY}\"\nSHORT=abc\nQUOTED='quoted value 77'\n"));
    let hex: String = KEY.bytes().map(|byte| format!("{byte:02x}")).collect();
    let percent = "s3cret%2F%26value%2Bof%3Dmine";
    let base64 = "czNjcmV0LyZ2YWx1ZStvZj1taW5l";
    let root = house.root.display().to_string();
    let private = "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY----- after";
    let text = format!("{KEY} {hex} {percent} {base64} {OTHER} quoted value 77 {root}/self {private}");
    let keyed =
        json!({"thought": 60, "tool": KEY, "args": {KEY: text}, "result": {"ok": false, "error": text}});
    append(
        &house,
        ".self/memory.jsonl",
        &[
            remembered(3_000, "message", json!({"from": "owner", "text": text})),
            remembered(
                3_001,
                "message",
                json!({"from": "owner", "text": format!("{} {KEY}", "word ".repeat(18))}),
            ),
            remembered(
                3_010,
                "thought",
                json!({"thought": 60, "wake": 60, "monologue": text, "intent": text}),
            ),
            remembered(3_020, "action", keyed),
            remembered(3_030, "self_change", json!({"ok": true, "stage": text, "summary": text})),
        ],
    );
    append(
        &house,
        ".self/history.jsonl",
        &[at(3_040, json!({"what": "commit", "by": "self", "commit": "3", "summary": text}))],
    );
    append(
        &house,
        ".self/mind/bookkeeping.jsonl",
        &[remembered(3_005, "heartbeat", json!({"wake": 60, "why": [text]}))],
    );
    for out in [page(&house, Part::All), traced(&house, Part::All).to_string()] {
        for secret in
            [KEY, &hex, percent, base64, OTHER, "quoted value 77", &root, "MIIabc", "s3cret", "ant-REDACTED"]
        {
            assert!(!out.contains(secret), "{secret} is in {out}");
        }
        assert!(out.contains("[key]") && out.contains("[house]/self") && out.contains("after"), "{out}");
    }
}

#[test]
fn hostile_text_is_text_in_the_file_and_the_trace_parses() {
    let house = storied();
    let text = "</td></title><script>alert(1)</script>\u{202e}\u{7}\"'";
    append(
        &house,
        ".self/memory.jsonl",
        &[
            remembered(3_000, "message", json!({"from": text, "text": text})),
            remembered(
                3_010,
                "thought",
                json!({"thought": 60, "wake": 60, "monologue": text, "intent": text}),
            ),
            remembered(
                3_020,
                "action",
                json!({"thought": 60, "tool": text, "args": {text: text}, "result": {"ok": false, "error": text}}),
            ),
            remembered(3_030, "observation", json!({"about": text, "text": text})),
            thought(3_040, 61, 61),
        ],
    );
    let page = page(&house, Part::All);
    assert!(!page.contains("<script") && !page.contains('\u{202e}') && !page.contains('\u{7}'), "{page}");
    assert!(page.contains("&lt;script&gt;alert(1)"), "{page}");
    let mut out = Vec::new();
    trace::write(&seen(&house), &Part::All, &mut out).unwrap();
    let out = String::from_utf8(out).unwrap();
    assert!(!out.contains('\u{202e}') && serde_json::from_str::<Value>(&out).is_ok(), "{out}");
}

#[test]
fn the_command_writes_to_the_standard_output() {
    let house = storied();
    let page = |args: &[&str]| {
        let output = house.command(args).env("TZ", "XYZ-5").output().unwrap();
        (output.status.code(), said(&output))
    };
    let (code, told) = page(&["export", "7"]);
    assert!(
        code == Some(0) && told.contains("<h1>Life 7</h1>") && told.contains("3 Feb 2026 05:16"),
        "{told}"
    );
    let (code, told) = page(&["export", "--trace", "--since", "2026-02-03"]);
    assert!(code == Some(0) && told.contains("\"traceEvents\""), "{told}");
    let (code, told) = page(&["export", "99"]);
    assert!(code == Some(1) && told.contains("no life 99 is on record"), "{told}");
    for wrong in [
        &["export", "x"][..],
        &["export", "7", "--since", "1d"],
        &["export", "--html", "--trace"],
        &["goals", "--html"],
    ] {
        assert_eq!(page(wrong).0, Some(2), "{wrong:?}");
    }
    // Nothing of it is kept.
    assert!(!house.root.join(".self/page").exists());
}
