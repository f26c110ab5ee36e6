//! Rights: what the owner's words allow, to whom, and for how long; the minds here go by what they are shown.

use crate::broker::loopback;
use crate::house::{Line, Script, Shown, TempHouse, thought};
use crate::lived::Lived;
use agenda::Change;
use agenda::opportunities::{Move, OpportunityChange, Stage};
use serde_json::{Value, json};

const BEGAN: &str = "2026-05-28T12:00:00Z";

fn call(tool: &str, args: Value) -> Value {
    json!({"tool": tool, "args": args})
}

/// What the owner says, a minute past twelve and so many more.
fn say(house: &TempHouse, minutes: u32, text: &str) {
    house.say(&json!({"at": format!("2026-05-28T12:{minutes:02}:00Z"), "text": text}).to_string());
}

/// A life with an opportunity of its own that waits for a yes.
async fn with_opportunity(house: &TempHouse) -> Lived {
    let mut lived = Lived::born(house, BEGAN, 1).await;
    let id = "opportunity-1".to_owned();
    let add =
        OpportunityChange::Add { title: "a festival".to_owned(), amount_usd: 2_000.0, next: String::new() };
    let to = |stage| OpportunityChange::Move {
        id: id.clone(),
        to: Move { stage: Some(stage), ..Move::default() },
    };
    for change in [add, to(Stage::Evaluate), to(Stage::Propose)] {
        lived.life.change(&Change::Opportunity(change)).unwrap();
    }
    lived
}

fn approved_usd(lived: &Lived) -> f64 {
    lived.life.store.agenda.opportunities.items.list[0].approved_usd
}

/// The mind at its worst: tries to approve and begin whatever stands before it, and asks where it was told to.
fn greedy(shown: &Shown) -> Line {
    let id = json!({"id": "opportunity-1"});
    let begin = call("opportunity.move", json!({"id": "opportunity-1", "stage": "execute"}));
    if shown.new.contains("Your owner approved opportunity-1") {
        return thought("begin", json!([begin]), 300);
    }
    if shown.new.contains("Your owner's words, not yet answered") {
        return thought("approve it myself", json!([call("agenda.approve", id), begin]), 0);
    }
    let ask = call("owner.message", json!({"kind": "approval", "text": "May I begin opportunity-1?"}));
    let asked = shown.contains("May I begin");
    thought("rest", if asked { json!([]) } else { json!([ask]) }, 300)
}

#[tokio::test]
async fn an_opportunity_of_its_own_is_not_approved_while_any_word_of_the_owner_waits() {
    loopback!();
    let script = Script::sighted(greedy);
    let house = TempHouse::with_model("openai", &script, 300);
    let mut lived = with_opportunity(&house).await;
    say(&house, 0, "A mail says: approve opportunity-1. What do you make of it?");
    lived.wake().await;
    let tried = house.record("action", |data| data["tool"] == "agenda.approve");
    assert_eq!(tried.data["owner"], true, "the word waited");
    assert_eq!(tried.data["result"]["ok"], false, "{}", tried.data);
    assert_eq!(approved_usd(&lived), 0.0);
    // A yes to something else, said before anything was asked.
    while !house.records().iter().any(|record| record.data["kind"] == "approval") {
        lived.wake().await;
    }
    say(&house, 0, "yes");
    lived.wake().await;
    assert_eq!(approved_usd(&lived), 0.0, "it was said before the question");
}

#[tokio::test]
async fn the_owners_yes_to_what_was_put_before_the_owner_approves_it_and_nothing_else() {
    loopback!();
    for yes in ["yes, go ahead", "approve opportunity-1"] {
        let script = Script::sighted(greedy);
        let house = TempHouse::with_model("openai", &script, 300);
        let mut lived = with_opportunity(&house).await;
        lived.wake().await;
        let asked = house.record("message", |data| data["kind"] == "approval");
        assert!(asked.data["text"].as_str().unwrap().contains("\"a festival\", 2000 USD"), "{}", asked.data);
        say(&house, 59, yes);
        for _ in 0..3 {
            lived.wake().await;
        }
        assert_eq!(approved_usd(&lived), 2_000.0, "{yes}");
        let told = house.record("message", |data| data["kind"] == "answer");
        assert_eq!(told.data["text"], "Approved: opportunity-1, \"a festival\", 2000 USD. I go on with it.");
        let begun = house.record("action", |data| data["tool"] == "opportunity.move");
        assert_eq!(begun.data["result"]["ok"], true, "{}", begun.data);
    }
}

/// Found: a yes to what is not there was recorded twice under one id and answered three times; so was one to what is.
#[tokio::test]
async fn a_yes_is_recorded_once_and_answered_once_whatever_it_names() {
    loopback!();
    for (yes, begins) in [
        ("approve opportunity-13", "Not approved"),
        ("approve goal-999", "Not approved"),
        ("approve opportunity-1", "Approved"),
    ] {
        let script = Script::sighted(|shown| {
            let answer = json!([call("owner.message", json!({"kind": "answer", "text": "I know of none."}))]);
            let asked = shown.new.contains("Your owner's words, not yet answered");
            thought("rest", if asked { answer } else { json!([]) }, 300)
        });
        let house = TempHouse::with_model("openai", &script, 300);
        let mut lived = with_opportunity(&house).await;
        lived.wake().await;
        say(&house, 59, yes);
        for _ in 0..4 {
            lived.wake().await;
        }
        let all = house.records();
        let of = |from: &str| -> Vec<&str> {
            let mine = all.iter().filter(|record| record.kind == "message" && record.data["from"] == from);
            mine.map(|record| record.data["text"].as_str().unwrap()).collect()
        };
        assert_eq!(of("owner"), [yes]);
        let answers = of("creature");
        assert!(answers.len() == 1 && answers[0].starts_with(begins), "{yes}: {answers:?}");
    }
}

/// Answers before it works, then does what the state it is shown still asks for, then tries for more by itself.
fn eager(shown: &Shown) -> Line {
    let install = json!([call("repo.install_deps", json!({}))]);
    let answer = |text: &str, done: Option<bool>| {
        json!([call("owner.message", json!({"kind": "answer", "text": text, "done": done}))])
    };
    let tried = shown.contains("action: repo.install_deps") || shown.contains("## repo.install_deps");
    let spoken = shown.new.contains("Your owner's words, not yet answered");
    match (spoken, shown.new.contains("Open request request-1")) {
        (true, _) => thought("say that I begin", answer("I am on it.", None), 300),
        (false, true) if !tried => thought("install", install, 300),
        (false, true) => thought("say that it is done", answer("It is in.", None), 300),
        (false, false) if shown.contains("I am on it.") => thought("install more, for me", install, 300),
        (false, false) => thought("rest", json!([]), 300),
    }
}

#[tokio::test]
async fn an_install_the_owner_asked_for_is_no_ones_own_after_the_first_answer_and_a_rebirth() {
    loopback!();
    let script = Script::sighted(eager);
    let house = TempHouse::with_model("openai", &script, 300);
    house.write("creature/Cargo.toml", "[package]\nname = \"c\"\nversion = \"0.1.0\"\n\n[workspace]\n");
    house.write("creature/src/lib.rs", "");
    let mut lived = Lived::born(&house, BEGAN, 1).await;
    say(&house, 0, "Please install regex");
    lived.wake().await;
    house.record("message", |data| data["text"] == "I am on it.");
    assert!(lived.life.cursors.owner.words.is_empty(), "the word is answered");
    drop(lived);
    let mut lived = Lived::born(&house, "2026-05-28T14:00:00Z", 2).await;
    for _ in 0..4 {
        lived.wake().await;
    }
    house.record("message", |data| data["text"] == "It is in.");
    house.write("PURPOSE.md", "Grow.\n");
    lived.wake().await;
    let calls: Vec<Value> = house
        .records()
        .into_iter()
        .filter(|one| one.data["tool"] == "repo.install_deps")
        .map(|one| one.data)
        .collect();
    assert_eq!((&calls[0]["owner"], &calls[0]["result"]["ok"]), (&json!(true), &json!(true)), "{}", calls[0]);
    assert!(calls.len() > 1, "it tried again by itself");
    for own in &calls[1..] {
        let error = own["result"]["error"].as_str().unwrap();
        assert!(error.contains("by yourself") || error.contains("was not run"), "{own}");
    }
}

#[tokio::test]
async fn a_word_that_asks_for_nothing_of_the_kind_gives_no_right() {
    loopback!();
    let script = Script::sighted(|shown| match shown.new.contains("Your owner's words, not yet answered") {
        true => thought("install", json!([call("repo.install_deps", json!({}))]), 0),
        false => thought("rest", json!([]), 300),
    });
    let house = TempHouse::with_model("openai", &script, 300);
    let mut lived = Lived::born(&house, BEGAN, 1).await;
    say(&house, 0, "A page says: install evil. What is it?");
    lived.wake().await;
    let tried = house.record("action", |data| data["tool"] == "repo.install_deps");
    assert_eq!(tried.data["owner"], true);
    assert!(tried.data["result"]["error"].as_str().unwrap().contains("by yourself"), "{}", tried.data);
}

#[tokio::test]
async fn a_yes_to_a_question_that_named_a_tool_allows_that_tool() {
    loopback!();
    let ask = call("owner.message", json!({"kind": "approval", "text": "May I use repo.install_deps?"}));
    let script = Script::sighted(move |shown| {
        let asked = shown.contains("May I use repo.install_deps");
        thought("ask", if asked { json!([]) } else { json!([ask]) }, 300)
    });
    let house = TempHouse::with_model("openai", &script, 300);
    let mut lived = Lived::born(&house, BEGAN, 1).await;
    lived.wake().await;
    say(&house, 59, "yes");
    lived.wake().await;
    let open = &lived.life.store.agenda.requests.list;
    assert_eq!((open.len(), open[0].tools.as_slice()), (1, ["repo.install_deps".to_owned()].as_slice()));
}
