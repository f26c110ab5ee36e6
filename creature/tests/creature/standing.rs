//! The autonomous state of a moment: what is gathered of records, and that no moment makes it fail or tell a secret.

use crate::broker::loopback;
use crate::house::{Script, TempHouse, thought};
use crate::probation::context_caps::moment;
use agenda::stack::{Category, Line};
use agenda::standing::{Confidence, Mode, Standing};
use jiff::Timestamp;
use memory::Record;
use mind::moment::{Moment, Word};
use mind::standing::{gather, standing};
use proptest::prelude::*;
use serde_json::{Value, json};

const NOW: &str = "2026-03-02T12:00:00Z";

fn record(at: &str, kind: &str, data: Value) -> Record {
    Record { at: format!("2026-03-02T{at}:00.000Z"), life: 1, kind: kind.to_owned(), data }
}

fn says(at: &str, from: &str, text: &str) -> Record {
    record(at, "message", json!({"from": from, "text": text, "thread": "main"}))
}

fn acts(at: &str, tool: &str, error: &str) -> Record {
    let result = match error {
        "" => json!({"ok": true}),
        error => json!({"ok": false, "error": error, "hint": "mend it"}),
    };
    record(at, "action", json!({"tool": tool, "args": {}, "result": result}))
}

fn line(id: &str, ready_at: &str) -> Line {
    Line {
        category: Category::Goals,
        id: id.to_owned(),
        title: "a page on crabs".to_owned(),
        why: String::new(),
        next: "write its head".to_owned(),
        ready_at: ready_at.parse().unwrap(),
        changed_at: ready_at.parse().unwrap(),
    }
}

fn lived() -> Moment {
    Moment {
        now: NOW.to_owned(),
        records: vec![
            says("08:00", "owner", "My name is Ada. Please write a page on crabs. password: hunter2"),
            says("08:10", "creature", "I will write the page by noon. I did not post."),
            says("08:20", "owner", "focus on revenue this week"),
            acts("09:00", "web.search", "the network was away"),
            acts("09:30", "repo.test", "three tests failed with sk-abcdefghijklmnop"),
            acts("10:00", "web.search", ""),
            says("11:50", "owner", "Don't mention prices on it"),
        ],
        stack: vec![line("goal-3", "2026-03-02T11:00:00Z"), line("goal-4", "2026-03-02T13:00:00Z")],
        directives: vec!["directive-2 \"focus on revenue this week\", said today".to_owned()],
        ..Moment::default()
    }
}

#[test]
fn a_state_is_gathered_of_records_stack_and_directives() {
    let state = standing(&lived()).unwrap();
    for part in [
        "- 10 min ago: Don't mention prices on it",
        "- holds: directive-2",
        "you promised, 3 h ago: I will write the page by noon.",
        "who, 4 h ago: My name is Ada.",
        "4 h ago: Please write a page on crabs. (answered)",
        "- latest failure, 2 h ago: repo.test: three tests failed with [hidden]",
        "Hint: resume goal-3 a page on crabs: write its head",
    ] {
        assert!(state.text.contains(part), "{part} is not in\n{}", state.text);
    }
    assert!(!state.text.contains("hunter2") && !state.text.contains("I did not"), "{}", state.text);
    assert!(!state.text.contains("min ago: focus on revenue"), "it is told as what holds: {}", state.text);
    assert_eq!((state.mode, state.pending_items.len()), (Mode::Resume, 2));
}

#[test]
fn what_works_again_is_settled_and_a_stack_that_waits_cools_down() {
    let mut moment = lived();
    moment.stack.remove(0);
    let input = gather(&moment, NOW.parse().unwrap());
    let settled: Vec<(&str, bool)> =
        input.outcomes.iter().map(|done| (done.text.as_str(), done.resolved)).collect();
    assert_eq!(settled[0], ("web.search: the network was away", true));
    assert!(!settled[1].1 && settled[2] == ("web.search: done", true));
    let until: Timestamp = "2026-03-02T13:00:00Z".parse().unwrap();
    assert_eq!(input.cooling_until, Some(until));
    let down = json!({"about": "model", "text": "it is down", "rest_s": 7_200});
    moment.records.push(record("11:30", "observation", down));
    let until: Timestamp = "2026-03-02T13:30:00Z".parse().unwrap();
    assert_eq!(gather(&moment, NOW.parse().unwrap()).cooling_until, Some(until));
    moment.directives.push("directive-9 \"pause until tomorrow\", said now".to_owned());
    assert_eq!(standing(&moment).unwrap().mode, Mode::Pause);
}

#[test]
fn a_death_is_the_latest_failure_in_the_words_it_was_told() {
    let mut moment = lived();
    moment.records.push(record("11:58", "death", json!({"told": "Life 6 ended: crashed"})));
    let state = standing(&moment).unwrap();
    assert!(
        state.text.contains("- latest failure, 2 min ago: death: Life 6 ended: crashed"),
        "{}",
        state.text
    );
}

#[test]
fn what_was_interrupted_is_resumed_until_it_acts_by_itself_again() {
    let mut moment = lived();
    let mut answer = acts("11:55", "memory.append", "");
    answer.data["owner"] = json!(true);
    moment.records.extend([says("11:55", "creature", "Of course."), answer]);
    assert_eq!(standing(&moment).unwrap().mode, Mode::Resume);
    moment.records.push(acts("11:58", "web.search", ""));
    assert_eq!(standing(&moment).unwrap().mode, Mode::Continue);
}

#[test]
fn where_it_fails_one_sentence_stands_in_its_place() {
    for now in ["", "yesterday", "2026-02-01T12:00:00Z"] {
        let moment = Moment { now: now.to_owned(), ..lived() };
        assert_eq!(standing(&moment), Some(Standing::fallback()), "{now}");
    }
    let fallback = Standing::fallback();
    assert!(fallback.text.matches('.').count() == 1 && fallback.confidence == Confidence::Low);
}

#[test]
fn a_thought_that_answers_the_owner_has_none() {
    assert_eq!(standing(&Moment { owner: true, ..lived() }), None);
    let word = Word { at: String::new(), text: "hello".to_owned(), thread: "main".to_owned() };
    assert_eq!(standing(&Moment { words: vec![word], ..lived() }), None);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_moment_has_a_state_within_its_cap(moment in moment(), is_now in any::<bool>()) {
        let mut moment = Moment { owner: false, words: Vec::new(), ..moment };
        if is_now {
            moment.now = NOW.to_owned();
            moment.records.iter_mut().for_each(|record| record.at = "2026-03-02T11:00:00Z".to_owned());
        }
        let key = "sk-abcdefghijklmnop";
        moment.records.extend([
            says("11:20", "owner", &format!("Use {key} today. I am {key}.")),
            says("11:30", "creature", &format!("I will keep {key} to myself.")),
            acts("11:40", &format!("x.post {key}"), &format!("{key} was refused")),
        ]);
        moment.directives.push(format!("use {key}"));
        moment.stack.insert(0, Line { title: key.to_owned(), ..line("goal-1", NOW) });
        let state = standing(&moment).unwrap();
        prop_assert!(state.text.chars().count() <= 1_500);
        let all = format!("{state:?}");
        prop_assert!(!all.contains("sk-abc"), "{all}");
        prop_assert_eq!(standing(&moment), Some(state));
    }
}

#[test]
fn what_it_does_by_itself_says_so_and_shows_the_state_and_an_answer_neither() {
    loopback!();
    let answer = json!([{"tool": "memory.append", "args": {"kind": "message", "data": {"from": "creature", "text": "hello"}}}]);
    let script = Script::new(vec![thought("look", json!([]), 300), thought("answer", answer, 300)]);
    let house = TempHouse::with_model("openai", &script, 300);
    let living = house.live(1);
    script.request(0);
    house.say("hello there");
    script.request(1);
    living.leave();
    let asked = script.broker.heard("/llm/openai/v1/chat/completions");
    let classes: Vec<Option<&str>> = asked.iter().take(2).map(|asked| asked.class.as_deref()).collect();
    assert_eq!(classes, [Some("autonomous"), None]);
    let title = "Where you stand with your owner and your work";
    assert!(script.situation(0).contains(title) && !script.situation(1).contains(title));
}

#[test]
fn an_unfinished_draft_is_told_first_wherever_it_acts_by_itself() {
    let draft =
        "a draft since 2026-03-02 11:02: 3 files, check fails: error[E0425] at src/life.rs:7:1".to_owned();
    let by_itself = Moment { now: NOW.to_owned(), draft: draft.clone(), ..Moment::default() };
    let text = standing(&by_itself).unwrap().text;
    assert!(text.contains(&format!("Your work:\n- {draft}\n")), "{text}");
    let without = standing(&Moment { draft: String::new(), ..by_itself.clone() }).unwrap().text;
    assert!(!without.contains("draft"), "{without}");
    assert!(
        standing(&Moment { owner: true, ..by_itself }).is_none(),
        "the owner is answered with full attention"
    );
}
