//! What a mind is told, it is told once, and only what is for it: records, checklists, handovers, the price of a cache.

use ground::paths::House;
use memory::Record;
use mind::context::{Caps, choose};
use mind::conversation::{Conversation, Entry, Head};
use mind::handover::{kept, untold};
use mind::moment::Moment;
use mind::rhythm::Rhythm;
use model::{Answer, Turn};
use serde_json::{Value, json};

use creature::tools::catalogue::LIST;

fn record(at: &str, kind: &str, data: Value) -> Record {
    Record { at: at.to_owned(), life: 1, kind: kind.to_owned(), data }
}

/// Found: records printed every thought twice, "X → X".
#[test]
fn a_thought_that_names_no_intent_is_said_once() {
    let at = "2026-03-02T08:00:00Z";
    let said = |monologue: &str, intent: &str| {
        memory::kinds::said(&record(at, "thought", json!({"monologue": monologue, "intent": intent})), 200)
    };
    assert_eq!(said("I read on.", "I read on."), "I read on.");
    assert_eq!(said("I read on.\nAnd on.", "I read on."), "I read on.\nAnd on.");
    assert_eq!(said("A long line that is cut", "A long line that…"), "A long line that is cut");
    assert_eq!(said("I read on.", "count herons"), "I read on. → count herons");
    assert_eq!(said("I read on.", ""), "I read on.");
}

/// Found: the checklist's grammar of instinct stood in the first message of every conversation with a model.
#[test]
fn a_model_is_shown_no_comments_of_the_checklist() {
    let text = "# Heartbeat\n\nOne at a time.\n\n<!--\nInstinct knows only these:\n  - [ ] read <url>\n-->\n\n- [ ] map\n<!-- open";
    let shown = choose(&Moment { checklist: text.to_owned(), ..Moment::default() }, &Caps::default(), &LIST)
        .checklist;
    assert_eq!(shown, "# Heartbeat\n\nOne at a time.\n\n- [ ] map");
}

/// Found: each open item of the checklist was "from -009999-01-02T01:59:59Z".
#[test]
fn what_was_always_ready_has_no_date() {
    let line = |ready_at| agenda::stack::Line {
        changed_at: jiff::Timestamp::UNIX_EPOCH,
        id: "checklist-1".to_owned(),
        category: agenda::stack::Category::Tasks,
        title: "map".to_owned(),
        why: "it is open".to_owned(),
        next: "do it".to_owned(),
        ready_at,
    };
    let stack = vec![line(jiff::Timestamp::MIN), line(jiff::Timestamp::from_second(1_772_438_400).unwrap())];
    let shown = choose(&Moment { stack, ..Moment::default() }, &Caps::default(), &LIST).stack;
    assert!(!shown.contains("9999") && shown.contains("from 2026-03-02T08:00:00Z"), "{shown}");
}

/// A conversation of ten calls, each with a long result.
fn long() -> Vec<Turn> {
    let mut turns = vec![Turn::Said { text: "Count the herons.".to_owned() }];
    for at in 0..10 {
        let id = format!("call-{at}");
        let call = json!([{"type": "text", "text": format!("I look into {at}.txt")},
            {"type": "tool_use", "id": id, "name": "files_read", "input": {"path": format!("{at}.txt")}}]);
        turns.push(Turn::Thought { raw: call });
        let text = format!("{at} herons stood in the reed\n").repeat(60);
        turns.push(Turn::Results { results: vec![Answer { id, text, failed: false }] });
    }
    turns
}

/// Found: asked to sum up 57,000 tokens, "Round 14: I read on." became the whole handover.
#[test]
fn a_summary_that_is_none_carries_the_extract_and_a_good_one_goes_alone() {
    let thin = kept("Round 14: I read on.", &long(), false, &LIST);
    assert!(thin.starts_with("Round 14") && thin.contains("- files.read ×10: 0.txt"), "{thin}");
    let good =
        format!("Goal\ncount herons\nDone\n{}\nNext\ntell", "read 0.txt to 9.txt: 45 herons\n".repeat(40));
    assert_eq!(kept(&good, &long(), false, &LIST), good);
    // Headings alone are no summary.
    assert!(kept("Goal\nDone\nNext", &long(), false, &LIST).contains("## What you did"));
    // The owner's own prompt may ask for another form.
    let prose = "The herons were counted file by file, and there were forty-five. ".repeat(20);
    assert_eq!(kept(&prose, &long(), true, &LIST), prose);
    assert!(kept(&prose, &long(), false, &LIST).contains("## What you did"));
}

/// Found: after a rebirth the same was told as what was done, as records and as a diff, 23,000 characters.
#[test]
fn records_of_a_conversation_that_is_handed_over_are_not_told_beside_it() {
    let dir = tempfile::TempDir::new().unwrap();
    let house = House::new(dir.path());
    let said =
        Entry::Said { text: "Count.".to_owned(), life: 1, at_s: 1_772_438_400, shown: Default::default() };
    let head = Head { thread: Some("main".to_owned()), ..Head::default() };
    let old = Conversation::begin(house.conversations().join("talk-main.jsonl"), head, vec![said]).unwrap();
    let at = ["2026-03-02T07:59:59Z", "2026-03-02T08:00:01Z"];
    let records = at.into_iter().flat_map(|at| {
        [
            record(at, "thought", json!({"monologue": "I count", "owner": true})),
            record(at, "thought", json!({"monologue": "my own", "owner": false})),
            record(at, "action", json!({"tool": "repo.edit", "owner": true})),
            record(at, "self_change", json!({"stage": "asked"})),
            record(at, "message", json!({"from": "owner", "text": "count"})),
        ]
    });
    let moment = Moment { records: records.collect(), ..Moment::default() };
    let left: Vec<(String, String)> =
        untold(&moment, &old).records.into_iter().map(|record| (record.at, record.kind)).collect();
    let left = |at: &str| left.iter().filter(|one| one.0 == at).map(|one| one.1.as_str()).collect::<Vec<_>>();
    assert_eq!(left(at[0]), ["thought", "thought", "action", "self_change", "message"]);
    assert_eq!(left(at[1]), ["thought", "message"], "its own thought of another conversation stays");
}

#[test]
fn a_cache_of_an_hour_is_bought_where_pauses_are_longer_than_the_short_one_and_no_longer_than_it() {
    let mut rhythm = Rhythm::default();
    let mut at = 1_000_000;
    let mut after = |pause_s: i64| {
        at += pause_s;
        rhythm.asked(at)
    };
    // A talk without pauses: what is read is held on for nothing.
    assert!(![0, 10, 200, 300].into_iter().any(&mut after));
    assert!(after(1_800), "half an hour");
    assert!(after(5), "the next thought of that wake");
    assert!(after(3_600));
    assert!(!after(7_200), "after two hours nothing is left of either");
    assert!(!after(5));
}

/// Found: "…33 left out…" stood in the middle of the reasons.
#[test]
fn of_many_reasons_whole_ones_are_told_and_how_many_more_there_are() {
    let told = |reasons: &[&str]| {
        let reasons = reasons.iter().map(|reason| (*reason).to_owned()).collect();
        choose(&Moment { reasons, ..Moment::default() }, &Caps::default(), &LIST).runtime
    };
    let long = format!("ready: goal-3 {}", "count the herons ".repeat(8));
    let few = told(&["an event waits", &long]);
    assert!(few.ends_with(&format!("Awake for: an event waits; {long}")), "{few}");
    let many = told(&["an event waits", &long, &long, &long, "the checklist changed"]);
    assert!(many.ends_with(&format!("Awake for: an event waits; {long}; {long}; and 2 more")), "{many}");
    let alone = told(&[&long.repeat(5)]);
    assert!(alone.contains("Awake for: ready: goal-3 count") && alone.ends_with('…'), "{alone}");
    for line in [few, many, alone] {
        assert!(!line.contains("left out") && line.chars().count() <= 500, "{line}");
    }
}
