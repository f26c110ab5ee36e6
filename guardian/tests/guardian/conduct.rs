//! Invariants of a life lived: what breaks them is put back where its predecessor kept them, and told where it did not.

use crate::world::{Nature, World};
use guardian::decide::conduct::{Invariant, Observed};
use guardian::decide::policy::Policy;
use guardian::decide::vocabulary::{Action, Cause, Event};
use guardian::decide::witness::{Claimed, Witness};
use serde_json::{Value, json};
use trials::House;

const MINUTE: u64 = 60_000;

fn observed(invariant: Invariant, kept: bool) -> Event {
    Event::Observed(Observed { mind: "a-model".into(), is_self_edit: true, seen: vec![(invariant, kept)] })
}

/// A sound first tree that kept or broke `Results` so often, and a self-edit of it that lives.
fn reborn(kept: usize, broken: usize) -> World {
    let mut world = World::new(&[("first", Nature::Sound), ("second", Nature::Sound)]);
    world.live(2 * MINUTE);
    for at in 0..kept + broken {
        world.happen(observed(Invariant::Results, at < kept));
    }
    world.becomes("second");
    world.live(2 * MINUTE);
    world
}

#[test]
fn a_self_edit_that_breaks_what_its_predecessor_kept_is_put_back_though_it_was_blessed() {
    let mut world = reborn(5, 0);
    assert!(world.blessings.contains(&"second".to_owned()), "its tests passed");
    world.happen(observed(Invariant::Results, false));
    world.happen(observed(Invariant::Results, false));
    assert!(world.falls.is_empty(), "twice may be chance");
    world.happen(observed(Invariant::Results, false));
    assert_eq!(world.falls, [(Cause::Conduct, "second".into(), "first".into())]);
    let breach = world.policy.record.breach;
    assert_eq!(breach.map(|(invariant, tally)| (invariant, tally.broken)), Some((Invariant::Results, 3)));
    world.live(2 * MINUTE);
    assert!(world.policy.alive() && world.head == "first");
}

#[test]
fn what_is_mostly_kept_is_chance_and_what_was_kept_for_long_and_is_broken_now_is_not() {
    let mut world = reborn(5, 0);
    for at in 0..300 {
        world.happen(observed(Invariant::Results, at % 3 != 0));
    }
    assert!(world.falls.is_empty(), "one of three is broken by chance");
    let mut asked = 0;
    while world.falls.is_empty() {
        asked += 1;
        assert!(asked <= 16, "it is broken each time now");
        world.happen(observed(Invariant::Results, false));
    }
}

#[test]
fn what_the_predecessor_broke_as_well_or_was_not_seen_to_keep_is_told_once_and_not_put_back() {
    for (kept, broken) in [(0, 0), (2, 0), (3, 3), (0, 6)] {
        let mut world = reborn(kept, broken);
        let mut told = 0;
        for _ in 0..10 {
            let event = observed(Invariant::Results, false);
            let actions = world.policy.step(&world.limits, world.now, event);
            told += actions.iter().filter(|action| matches!(action, Action::TellBroken { .. })).count();
        }
        assert_eq!((world.falls.len(), told), (0, 1), "kept {kept}, broken {broken}");
    }
}

#[test]
fn the_owners_commit_another_mind_and_a_life_that_stands_in_are_never_put_back_for_it() {
    for (mind, is_self_edit) in [("a-model", false), ("another-model", true)] {
        let mut world = reborn(9, 0);
        for _ in 0..20 {
            let seen = vec![(Invariant::Answered, false), (Invariant::Results, false)];
            world.happen(Event::Observed(Observed { mind: mind.into(), is_self_edit, seen }));
        }
        assert!(world.falls.is_empty(), "{mind}, self-edit {is_self_edit}");
    }
    let mut world = reborn(9, 0);
    world.policy.record.safe = Some(3);
    for _ in 0..20 {
        world.happen(observed(Invariant::Results, false));
    }
    assert!(world.falls.is_empty() && world.policy.record.safe.is_some());
}

/// A hundred trees that each live long: what is remembered of them stays bounded, and survives the guardian.
#[test]
fn what_is_remembered_is_bounded_and_saved() {
    let mut world = reborn(9, 0);
    for at in 0..500 {
        let seen = vec![(Invariant::Heard, true)];
        let event = Event::Observed(Observed { mind: format!("mind-{at}"), is_self_edit: true, seen });
        world.happen(event);
    }
    assert!(world.policy.record.conducts.0.len() <= 64);
    let saved = serde_json::to_string(&world.policy.record).unwrap();
    let read = Policy::new(serde_json::from_str(&saved).unwrap(), world.now);
    assert_eq!(read.record.conducts, world.policy.record.conducts);
}

fn record(kind: &str, data: Value) -> Value {
    json!({"at": "2026-01-01T00:00:00.000Z", "life": 7, "kind": kind, "data": data})
}

fn message(from: &str, kind: &str, thread: &str, text: &str) -> Value {
    record("message", json!({"from": from, "kind": kind, "thread": thread, "text": text}))
}

const AWAKE: Claimed = Claimed { rests: false, turns: 1, rest_ms: 0 };
const RESTS: Claimed = Claimed { rests: true, turns: 2, rest_ms: 60_000 };
const LONGEST: u64 = 3_600_000;

/// Observations of a turn with these records, and the rest after it.
fn turn(said: &[&str], paid: &[Value], records: &[Value], rest: Claimed) -> Vec<(Invariant, bool)> {
    let mut witness = Witness::of(7);
    said.iter().for_each(|line| witness.said(line.as_bytes(), 0));
    paid.iter().for_each(|line| witness.paid(line));
    records.iter().for_each(|record| witness.recorded(record, AWAKE, 1_000));
    [2_000, 3_000, 60_000].into_iter().for_each(|now| witness.looked(rest, LONGEST, now));
    let mut seen = witness.take();
    seen.retain(|seen| *seen != (Invariant::Rests, true));
    seen
}

fn thought(calls: usize, usage: Value) -> Value {
    let calls: Vec<Value> = (0..calls).map(|_| json!({"tool": "notes.append", "args": {}})).collect();
    record("thought", json!({"mind": "m", "thought": 4, "tool_calls": calls, "usage": usage}))
}

fn action() -> Value {
    record("action", json!({"thought": 4, "tool": "notes.append", "result": {"ok": true}}))
}

fn settle(cost: u64) -> Value {
    json!({"event": "settle", "life": 7, "decision": "by usage", "cost_micro_usd": cost})
}

#[test]
fn each_call_has_its_result_and_an_answer_is_one() {
    use Invariant::{Answered, Heard, Results};
    let none = Value::Null;
    assert_eq!(turn(&[], &[], &[thought(2, none.clone()), action(), action()], RESTS), [(Results, true)]);
    assert_eq!(turn(&[], &[], &[thought(2, none.clone()), action()], RESTS), [(Results, false)]);
    assert_eq!(turn(&[], &[], &[thought(0, none.clone())], RESTS), []);
    let words = [message("owner", "", "main", "hello"), thought(2, none.clone()), action()];
    let answered = [words.as_slice(), &[message("creature", "answer", "main", "hi")]].concat();
    assert_eq!(turn(&["hello"], &[], &answered, RESTS), [(Heard, true), (Answered, true), (Results, true)]);
    // Another life's records say nothing of this one.
    let mut other = thought(2, none);
    other["life"] = 6.into();
    assert_eq!(turn(&[], &[], &[other], RESTS), []);
}

#[test]
fn a_word_is_heard_and_has_an_answer_that_says_something() {
    use Invariant::{Answered, Heard};
    let heard = message("owner", "", "work", "what is it?");
    let line = r#"{"text": "what is it?", "thread": "work"}"#;
    let answer = |thread: &str, text: &str| message("creature", "answer", thread, text);
    let with = |said: Value| turn(&[line], &[], &[heard.clone(), said], RESTS);
    assert_eq!(with(answer("work", "a heron")), [(Heard, true), (Answered, true)]);
    assert_eq!(with(answer("work", " \n")), [(Heard, true), (Answered, false)]);
    assert_eq!(with(answer("main", "a heron")), [(Heard, true), (Answered, false)], "on another thread");
    assert_eq!(turn(&[line], &[], std::slice::from_ref(&heard), RESTS), [(Heard, true), (Answered, false)]);
    assert_eq!(turn(&[line], &[], &[], RESTS), [(Heard, false)]);
    // A mind that is away says so, and nothing is observed.
    assert_eq!(with(message("creature", "waiting", "work", "the model is down")), [(Heard, true)]);
    // Still at it.
    assert_eq!(turn(&[line], &[], &[heard], Claimed { rests: false, ..AWAKE }), [(Heard, true)]);
    assert_eq!(turn(&["", " ", "[1]", r#"{"text": 3}"#], &[], &[], RESTS), [], "no words");
    // An editor wrote it, without quotes.
    let bare = [message("owner", "", "main", "good morning"), answer("main", "and to you")];
    assert_eq!(turn(&["good morning "], &[], &bare, RESTS), [(Heard, true), (Answered, true)]);
}

#[test]
fn what_was_paid_is_on_record_at_its_price() {
    use Invariant::{Costs, Remembered};
    let usage = |cost: f64| thought(0, json!({"input_tokens": 9, "cost_usd": cost}));
    assert_eq!(turn(&[], &[settle(4_000)], &[usage(0.004)], RESTS), [(Remembered, true), (Costs, true)]);
    assert_eq!(turn(&[], &[settle(4_000)], &[usage(0.0004)], RESTS), [(Remembered, true), (Costs, false)]);
    assert_eq!(turn(&[], &[settle(4_000)], &[usage(4.0)], RESTS), [(Remembered, true), (Costs, false)]);
    assert_eq!(
        turn(&[], &[settle(4_000)], &[thought(0, Value::Null)], RESTS),
        [(Remembered, true), (Costs, false)]
    );
    assert_eq!(turn(&[], &[settle(4_000)], &[], RESTS), [(Remembered, false)]);
    let summed = record("snapshot", json!({"path": "a.md"}));
    assert_eq!(turn(&[], &[settle(4_000)], &[summed], RESTS), [(Remembered, true)], "what a summary costs");
    let woke = record("heartbeat", json!({"wake": 3}));
    assert_eq!(turn(&[], &[settle(4_000)], &[woke], RESTS), [(Remembered, false)]);
    // Free models cost nothing; what was not answered is not known.
    assert_eq!(turn(&[], &[settle(0)], &[usage(0.0)], RESTS), [(Remembered, true)]);
    let unknown = json!({"event": "settle", "life": 7, "decision": "stands: no answer", "cost_micro_usd": 9});
    assert_eq!(turn(&[], &[unknown], &[], RESTS), []);
}

#[test]
fn a_reminder_is_told_and_a_rest_has_an_end() {
    let mut witness = Witness::of(7);
    let agenda = |next: &str, finished: Value| json!({"reminders": {"list": [{"id": "r1", "next": next, "finished": finished}]}});
    let (due, later) = ("1970-01-01T00:10:00Z", "1970-01-02T00:10:00Z");
    let at = 600_000;
    let mut seen = |agenda: &Value, wall_ms| {
        witness.reminders(agenda, wall_ms, 600_000);
        witness.take()
    };
    assert_eq!(seen(&agenda(due, Value::Null), at - 5_000), []);
    assert_eq!(seen(&agenda(later, Value::Null), at + 5_000), [(Invariant::Reminded, true)], "a daily one");
    assert_eq!(seen(&agenda(due, Value::Null), at + 60_000), [], "moved; it still may come");
    assert_eq!(seen(&agenda(due, Value::Null), at + 121_000), [(Invariant::Reminded, false)]);
    let long = Claimed { rest_ms: 86_400_000, ..RESTS };
    assert_eq!(turn(&[], &[], &[], long), [(Invariant::Rests, false)]);
}

/// Lives of a stand-in, as the creature's records are: thoughts of two calls, results of them unless it drops them.
fn acts(results: usize) -> String {
    let action = r#"printf '{"at":"2026-01-01T00:00:00.000Z","life":%s,"kind":"action","data":{"thought":%s,"tool":"t","result":{"ok":true}}}\n' "$FERAL_LIFE" "$n" >> .self/memory.jsonl; "#;
    format!(
        r#"says() {{ printf '{{"life":%s,"pid":%s,"turns":%s,"thoughts":%s,"stage":"%s","until":"2026-01-01T00:00:00Z","mind":"a-model"}}\n' "$FERAL_LIFE" "$$" "$n" "$n" "$1" > .self/heartbeat; }}
act() {{ n=$((n+1)); says thinking; printf '{{"at":"2026-01-01T00:00:00.000Z","life":%s,"kind":"thought","data":{{"thought":%s,"tool_calls":[{{}},{{}}]}}}}\n' "$FERAL_LIFE" "$n" >> .self/memory.jsonl
{}
says resting; sleep 1; says waking; sleep 0.1; }}
"#,
        action.repeat(results)
    )
}

fn told(house: &House, name: &str) -> Vec<Value> {
    house.told(name)
}

#[test]
fn found_at_the_keys_a_self_that_drops_its_records_passed_its_tests_and_was_blessed() {
    let (keeps, drops) = (acts(2), acts(0));
    let house = House::new(&format!(
        "n=0\n{keeps}\nif [ -e creature/drops ]; then {}\nwhile :; do act; done; fi\n\
         if [ \"$FERAL_LIFE\" = 1 ]; then act; act; act; act; act; until grep -q '\"blessed\": true' .self/guardian.json; do act; done\n\
         echo x > creature/drops; ask rebirth 'drops records' r; exit 0; fi\nwhile :; do act; done",
        drops
    ));
    let first = house.git(&["rev-parse", "HEAD"]);
    let guardian = house.start();
    house.until("the fall", || !told(&house, "fall").is_empty());
    let fall = told(&house, "fall").remove(0);
    assert_eq!(fall["cause"], "conduct", "{fall:#}");
    let says = fall["told"].as_str().unwrap();
    assert!(
        says.contains(
            "since it broke what the one before it kept: calls of its thoughts have no result on record"
        ),
        "{says}"
    );
    assert!(
        fall["evidence"].as_str().unwrap().contains("made 2 calls, of which 0 have a result"),
        "{fall:#}"
    );
    house.until("its predecessor to live", || house.status()["blessed"] == true);
    assert!(!house.creature_differs_from(&first));
    assert!(told(&house, "broken").is_empty());
    assert_eq!(guardian.stop(), 0);
}

#[test]
fn what_the_owner_committed_lives_on_and_is_told() {
    let house = House::new(&format!("n=0\n{}\nwhile :; do act; done", acts(1)));
    let guardian = house.start();
    house.until("the owner to be told", || !told(&house, "broken").is_empty());
    let broken = told(&house, "broken").remove(0);
    assert_eq!(broken["invariant"], "results");
    assert!(broken["evidence"].as_str().unwrap().contains("of which 1 have a result"), "{broken:#}");
    assert!(told(&house, "fall").is_empty());
    assert_eq!(guardian.stop(), 0);
}
