//! The owner's standing word, and messages to the owner: by the tools a mind has, and by itself.

use crate::broker::loopback;
use crate::house::{Script, TempHouse, thought};
use crate::lived::Lived;
use crate::yard::Yard;
use agenda::Change;
use agenda::outbox::{Kind, OutboxChange};
use agenda::requests::RequestChange;
use creature::clock::Clock;
use creature::store::caller::Caller;
use jiff::Timestamp;
use memory::Record;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// A yard at nine on a Wednesday, and the hand that moves its clock.
fn yard() -> (Yard, Arc<AtomicI64>) {
    let now_s = Arc::new(AtomicI64::new("2026-03-25T09:00:00Z".parse::<Timestamp>().unwrap().as_second()));
    let mut yard = Yard::new();
    let told = Arc::clone(&now_s);
    yard.store.clock = Clock::told(move || Timestamp::from_second(told.load(Ordering::Relaxed)).unwrap());
    (yard, now_s)
}

fn pass(clock: &AtomicI64, minutes: i64) {
    clock.fetch_add(minutes * 60, Ordering::Relaxed);
}

/// Messages of the creature's, as kind and text.
fn told(yard: &Yard) -> Vec<(String, String)> {
    let text = |data: &Value, key: &str| data[key].as_str().unwrap_or_default().to_owned();
    let records = yard.records().into_iter().filter(|record| record.kind == "message");
    let mine = records.filter(|record| record.data["from"] == "creature");
    mine.map(|record| (text(&record.data, "kind"), text(&record.data, "text"))).collect()
}

fn record(yard: &mut Yard, data: Value) {
    let at = yard.store.clock.text();
    let record = memory::Record { at, life: 7, kind: "message".to_owned(), data };
    yard.store.memory.append(&record).unwrap();
}

#[tokio::test]
async fn messages_go_within_the_hours_share_and_the_rest_is_gathered() {
    let (mut yard, clock) = yard();
    for chapter in 0..7 {
        let args = json!({"kind": "milestone", "text": format!("chapter {chapter} is done")});
        let said = yard.call("owner.message", args).await;
        assert_eq!(said["goes"] == "now", chapter < 5, "{said}");
    }
    assert_eq!(told(&yard).len(), 5);
    let refused = yard.call("owner.message", json!({"kind": "milestone", "text": "just checking in"})).await;
    assert!(refused["error"].as_str().unwrap().contains("chatter"), "{refused}");
    let refused =
        yard.call("owner.message", json!({"kind": "thought", "text": "swifts sleep in flight"})).await;
    assert!(refused["hint"].as_str().unwrap().contains("milestone"), "{refused}");
    assert_eq!(yard.store.post(&yard.caller).unwrap(), 0);
    pass(&clock, 60);
    assert_eq!(yard.store.post(&yard.caller).unwrap(), 1);
    assert!(told(&yard)[5].1.contains("chapter 5") && told(&yard)[5].1.contains("chapter 6"));
    assert_eq!(yard.last("message")["thread"], "main");
}

#[tokio::test]
async fn an_end_between_telling_and_striking_off_tells_nothing_twice() {
    let (mut yard, _) = yard();
    let say = OutboxChange::Say { kind: Kind::Broken, text: "the disk is full".to_owned() };
    let id = yard.lent().change(&Change::Outbox(say)).unwrap()["id"].clone();
    record(&mut yard, json!({"from": "creature", "kind": "broken", "text": "the disk is full", "ids": [id]}));
    assert_eq!(yard.store.post(&yard.caller).unwrap(), 0);
    assert_eq!(told(&yard).len(), 1);
    assert!(yard.store.agenda.outbox.waiting.is_empty());
}

#[tokio::test]
async fn the_week_is_summed_up_by_itself() {
    let (mut yard, clock) = yard();
    yard.store.post(&yard.caller).unwrap();
    pass(&clock, 5 * 24 * 60 - 1);
    assert_eq!(yard.store.post(&yard.caller).unwrap(), 0, "the week is not over");
    let usage = json!({"cost_usd": 0.25});
    let data = json!({"thought": 1, "wake": 1, "round": 0, "mind": "strong", "owner": false, "usage": usage});
    let at = yard.store.clock.text();
    yard.store.memory.append(&Record { at, life: 7, kind: "thought".to_owned(), data }).unwrap();
    pass(&clock, 1);
    assert_eq!(yard.store.post(&yard.caller).unwrap(), 1);
    let (kind, text) = told(&yard).remove(0);
    assert!(
        kind == "weekly_summary" && text.starts_with("The week to 2026-03-30. Goals reached: none."),
        "{text}"
    );
    assert!(text.contains("That took 1 thought (strong 1).") && text.contains("It cost 0.25 USD"), "{text}");
    assert_eq!(yard.store.post(&yard.caller).unwrap(), 0, "once a week");
}

#[tokio::test]
async fn an_answer_needs_words_it_answers() {
    let (mut yard, clock) = yard();
    let answer = |thread: Option<&str>| json!({"kind": "message", "data": {"text": "yes", "thread": thread}});
    let refused = yard.call("memory.append", answer(None)).await;
    assert!(refused["hint"].as_str().unwrap().contains("owner.message"), "{refused}");
    record(&mut yard, json!({"from": "owner", "text": "are you there?", "thread": "shop"}));
    assert_eq!(yard.call("memory.append", answer(None)).await["ok"], false, "another thread");
    pass(&clock, 600);
    assert_eq!(yard.call("memory.append", answer(Some("shop"))).await["ok"], true, "it waits still");
    let data = yard.last("message");
    assert_eq!(
        (&data["kind"], &data["thread"], &data["from"]),
        (&json!("answer"), &json!("shop"), &json!("creature"))
    );
    // Of its own accord, neither ends nor prolongs the talk.
    yard.call("owner.message", json!({"kind": "revenue", "text": "earned 12 USD"})).await;
    pass(&clock, 59);
    let more = json!({"kind": "answer", "text": "and no"});
    yard.caller.thread = "shop".to_owned();
    assert_eq!(yard.call("owner.message", more.clone()).await["ok"], true, "the owner listens for an hour");
    pass(&clock, 2);
    assert_eq!(yard.call("owner.message", more.clone()).await["ok"], false);
    yard.caller.owner = true;
    assert_eq!(yard.call("owner.message", more).await["ok"], true, "asked for by the owner");
}

/// Found: while a request was open, what a thought of its own said without a kind went as an answer, past limit and filter.
#[tokio::test]
async fn a_message_of_its_own_thought_needs_a_kind_or_the_request_it_answers() {
    let (mut yard, _) = yard();
    record(&mut yard, json!({"from": "owner", "text": "build me a shop", "thread": "main"}));
    let owner = Caller::owner("main");
    let heard =
        RequestChange::Heard { text: "build me a shop".to_owned(), tools: Vec::new(), word: String::new() };
    let id = yard.store.change(&owner, &Change::Request(heard)).unwrap()["id"].clone();
    for text in ["just checking in", "swifts sleep in flight"] {
        let said = yard.call("owner.message", json!({"text": text})).await;
        assert!(said["hint"].as_str().is_some_and(|hint| hint.contains("request")), "{said}");
    }
    assert_eq!(told(&yard).len(), 0, "{:?}", told(&yard));
    let said = yard.call("owner.message", json!({"text": "The shop is open.", "request": id})).await;
    assert_eq!(said["ok"], true, "{said}");
    assert_eq!(told(&yard), [("answer".to_owned(), "The shop is open.".to_owned())]);
    yard.caller = owner;
    let said = yard.call("owner.message", json!({"text": "As I said, it is open."})).await;
    assert_eq!(said["ok"], true, "asked for by the owner: {said}");
}

#[tokio::test]
async fn reminders_concerns_and_directives_by_their_tools() {
    let (mut yard, _) = yard();
    let args =
        json!({"text": "stand up", "when": "daily 08:30", "zone": "Europe/Berlin", "prompt": "be kind"});
    let added = yard.call("reminder.add", args).await;
    assert_eq!(
        (&added["id"], &added["next"]),
        (&json!("reminder-1"), &json!("2026-03-26 08:30:00 Europe/Berlin"))
    );
    let listed = yard.call("reminder.list", json!({})).await;
    assert_eq!(listed["reminders"][0]["prompt"], "be kind");
    let refused = yard.call("reminder.add", json!({"text": "x", "when": "soon"})).await;
    assert!(refused["hint"].as_str().unwrap().contains("monthly 31"), "{refused}");
    assert_eq!(yard.call("reminder.cancel", json!({"id": "reminder-1"})).await["ok"], true);

    yard.call("pulse.add", json!({"text": "is the shop up?"})).await;
    yard.call("pulse.update", json!({"id": "pulse-2", "every_s": 600})).await;
    assert_eq!(yard.call("pulse.list", json!({})).await["concerns"][0]["every_s"], 600);
    assert_eq!(yard.call("pulse.close", json!({"id": "pulse-2", "why": "sold"})).await["ok"], true);

    let set = json!({"text": "focus on revenue this week"});
    let refused = yard.call("directive.set", set.clone()).await;
    assert!(refused["hint"].as_str().unwrap().contains("owner"), "{refused}");
    yard.caller.owner = true;
    let noted = yard.call("directive.set", set).await;
    assert_eq!(noted["noted"], "Noted: revenue goes first, this week; `drop the focus` ends it.");
    assert_eq!(
        yard.call("directive.list", json!({})).await["directives"][0]["until"],
        "2026-03-30T00:00:00Z"
    );
    assert_eq!(yard.call("directive.end", json!({"id": "directive-3"})).await["ok"], true);
    assert_eq!(yard.store.agenda.directives.focus(yard.store.clock.now()), None);
}

#[test]
fn the_catalogue_says_it_in_few_words() {
    let mine = ["owner.", "reminder.", "pulse.", "directive."];
    let lines = creature::tools::catalogue::LIST.lines(&|_| true);
    let chars: usize = lines
        .lines()
        .filter(|line| mine.iter().any(|family| line[2..].starts_with(family)))
        .map(str::len)
        .sum();
    assert!(chars <= 1_200, "{chars}");
}

#[tokio::test]
async fn on_instinct_a_request_in_phases_becomes_a_goal_and_is_answered() {
    let house = TempHouse::new();
    let mut lived = Lived::born(&house, "2026-03-02T08:00:00Z", 1).await;
    house.say("first map the house, then note what is missing in it");
    lived.wake().await;
    let goals = &lived.life.store.agenda.goals.list;
    assert_eq!((goals.len(), goals[0].owner, goals[0].checkpoints.len()), (1, true, 2), "{goals:?}");
    let records = house.records();
    let said = |record: &&Record| record.kind == "message" && record.data["from"] == "creature";
    let told = records.iter().find(said).unwrap();
    assert!(told.data["text"].as_str().unwrap().contains("as a goal"), "{told:?}");
}

/// Found: of the six overrides these two were left to a model.
#[tokio::test]
async fn the_last_two_overrides_are_understood_without_a_model() {
    let house = TempHouse::new();
    let mut lived = Lived::born(&house, "2026-03-02T08:00:00Z", 1).await;
    house.say("Build me a landing page then announce it on GitHub");
    lived.wake().await;
    let goals = &lived.life.store.agenda.goals.list;
    assert_eq!((goals.len(), goals[0].owner, goals[0].checkpoints.len()), (1, true, 2), "{goals:?}");
    house.say("Stop freelancing, finish the GitHub goal");
    lived.wake().await;
    let now = lived.life.store.clock.now();
    assert_eq!(lived.life.store.agenda.directives.focus(now), Some("GitHub"));
    let told = |part: &str| {
        house
            .records()
            .iter()
            .any(|record| record.data["text"].as_str().is_some_and(|text| text.contains(part)))
    };
    assert!(told("Noted: GitHub goes first"), "{:#?}", house.records());
}

/// Plain code guessed at the owner's English though a mind was there to read it.
#[tokio::test]
async fn what_a_request_in_phases_becomes_a_model_decides() {
    loopback!();
    let script = Script::new(vec![thought("rest", json!([]), 300)]);
    let house = TempHouse::with_model("openai", &script, 300);
    let mut lived = Lived::born(&house, "2026-03-02T08:00:00Z", 1).await;
    house.say("first map the house, then note what is missing in it");
    lived.wake().await;
    assert!(lived.life.store.agenda.goals.list.iter().all(|goal| !goal.owner));
    assert!(script.situation(0).contains("then note what is missing"), "{}", script.situation(0));
}

#[tokio::test]
async fn the_owner_hears_once_a_day_that_the_money_runs_short() {
    loopback!();
    let script = Script::new(vec![thought("rest", json!([]), 300)]);
    let house = TempHouse::with_model("openai", &script, 300);
    let told = |house: &TempHouse| {
        let records = house.records();
        let messages =
            records.iter().filter(|record| record.kind == "message" && record.data["kind"] == "money");
        messages.map(|record| record.data["text"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let warn = |percent: u32| {
        let page = json!({"warning": format!("spent: {percent} % of today's 5.00 USD"), "poor": true});
        std::fs::write(house.path(".self/budget.json"), page.to_string()).unwrap();
    };
    let mut lived = Lived::born(&house, "2026-03-02T08:00:00Z", 1).await;
    lived.wake().await;
    assert!(told(&house).is_empty());
    for percent in [81, 85, 90] {
        warn(percent);
        lived.wake().await;
    }
    drop(lived);
    let mut lived = Lived::born(&house, "2026-03-02T12:00:00Z", 2).await;
    lived.wake().await;
    assert_eq!(told(&house), ["spent: 81 % of today's 5.00 USD"], "once, in whatever life");
    drop(lived);
    let mut lived = Lived::born(&house, "2026-03-03T12:00:00Z", 3).await;
    lived.wake().await;
    assert_eq!(told(&house).len(), 2, "the next day again");
}

/// It made four records: the word, the thought, the answer, and an action that said the answer once more.
#[tokio::test]
async fn an_answer_stands_in_memory_once() {
    loopback!();
    let script = Script::sighted(|shown| match shown.new.contains("are you there?") {
        true => {
            let wait = json!({"kind": "milestone", "text": "chapter one"});
            let calls = json!([
                {"tool": "owner.message", "args": {"text": "I am here.", "done": true}},
                {"tool": "owner.message", "args": wait},
                {"tool": "repo.map", "args": {"folder": "nowhere"}},
            ]);
            thought("answer", calls, 300)
        }
        false => thought("rest", json!([]), 300),
    });
    let house = TempHouse::with_model("openai", &script, 300);
    let mut lived = Lived::born(&house, "2026-03-25T09:00:00Z", 1).await;
    lived.wake().await;
    let before = house.records().len();
    house.say("are you there?");
    lived.stay().await;
    let all: Vec<(String, bool)> = house
        .records()
        .split_off(before)
        .into_iter()
        .map(|record| (record.kind.clone(), record.data.to_string().contains("I am here.")))
        .collect();
    let kinds: Vec<&str> = all.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(kinds[..3], ["message", "thought", "message"], "{kinds:?}");
    assert_eq!(
        kinds.iter().filter(|kind| **kind == "action").count(),
        2,
        "what was no answer is an action: {kinds:?}"
    );
    let acted = all.iter().any(|(kind, says)| kind == "action" && *says);
    assert!(!acted, "the answer stands as the message it is");
}
