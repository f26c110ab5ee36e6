//! The dream: when it comes, that each part is by itself, that it ends after a death, and that it can be undone.

use crate::broker::loopback;
use crate::house::{Line, Script, TempHouse, thought};
use agenda::Change;
use agenda::goals::{GoalChange, GoalStatus};
use agenda::pulse::PulseChange;
use creature::clock::Clock;
use creature::config::Told;
use creature::dream::DreamState;
use creature::life::birth::birth;
use creature::life::{Leaving, Life};
use creature::paths::House;
use jiff::{Timestamp, ToSpan};
use mind::thought::ToolCall;
use serde_json::{Value, json};
use std::fs;
use std::sync::{Arc, Mutex};

/// Asks a life to leave at once, or never.
struct Wish(bool);

impl Leaving for Wish {
    async fn asked(&mut self) {
        if !self.0 {
            std::future::pending().await
        }
    }
}

/// A house, the hour in it, and the lives lived there.
struct Bed {
    house: TempHouse,
    now: Arc<Mutex<Timestamp>>,
    life: u64,
}

impl Bed {
    fn new(house: TempHouse) -> Self {
        let now = "2026-03-01T00:30:00Z".parse().unwrap();
        Self { house, now: Arc::new(Mutex::new(now)), life: 0 }
    }

    async fn born(&mut self) -> Life {
        self.life += 1;
        let (now, house) = (Arc::clone(&self.now), House::new(self.house.path("")));
        let broker =
            self.house.broker.as_ref().map(|base| hands::Broker::new(base, crate::broker::TOKEN).unwrap());
        let clock = Clock::told(move || *now.lock().unwrap());
        birth(Told {
            house,
            life: self.life,
            commit: String::new(),
            safe: false,
            rehearsal: false,
            broker,
            lifeline: creature::lifeline::Lifeline::default(),
            clock,
        })
        .await
        .unwrap()
    }

    fn wait(&self, span: jiff::Span) {
        let mut now = self.now.lock().unwrap();
        *now = now.checked_add(span).unwrap();
    }

    /// What came of each dream, oldest first.
    fn dreams(&self) -> Vec<Value> {
        let dreams = self.house.records().into_iter().filter(|record| record.kind == "dream");
        dreams.map(|record| record.data).filter(|data| data.get("parts").is_some()).collect()
    }

    fn facts(&self) -> String {
        fs::read_to_string(self.house.path("self/facts.md")).unwrap()
    }
}

fn came<'a>(dream: &'a Value, part: &str) -> &'a Value {
    dream["parts"].as_array().unwrap().iter().find(|came| came["part"] == part).unwrap()
}

async fn asleep(life: &mut Life) {
    life.dream_if_due(&mut Wish(false)).await.unwrap();
}

async fn call(life: &mut Life, tool: &str, args: Value) -> Value {
    let Value::Object(args) = args else { panic!("arguments are an object") };
    life.lend(life.caller.clone())
        .call(&ToolCall { tool: tool.to_owned(), args, ..ToolCall::default() })
        .await
        .result
}

fn concern(life: &mut Life, text: &str) -> String {
    let change = Change::Pulse(PulseChange::Add { text: text.to_owned(), every_s: None, mode: None });
    life.change(&change).unwrap()["id"].as_str().unwrap().to_owned()
}

const TWICE: &str = "- Swifts sleep in the air [book, 2026-01-01]\n- the swift sleep in the air. [mail, 2026-02-01]\n- Herons fish\n";
const ONCE: &str = "- Swifts sleep in the air [book, 2026-01-01]\n- Herons fish\n";

#[tokio::test]
async fn a_part_that_fails_stops_no_other() {
    let mut bed = Bed::new(TempHouse::new());
    let mut life = bed.born().await;
    asleep(&mut life).await;
    bed.house.write("self/facts.md", b"\xff\xfe facts");
    bed.house.write(".self/snapshots", "a file where a folder belongs");
    fs::create_dir_all(bed.house.path(".self/mind/index.sqlite/in the way")).unwrap();
    bed.wait(1.hour());
    asleep(&mut life).await;
    let dream = bed.dreams().remove(0);
    let failed: Vec<&str> = dream["parts"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|came| came["ok"] == false)
        .map(|came| came["part"].as_str().unwrap())
        .collect();
    assert_eq!(failed, ["facts", "snapshot"]);
    assert_eq!(came(&dream, "upkeep")["ok"], true);
    assert_eq!(fs::read(bed.house.path("self/facts.md")).unwrap(), b"\xff\xfe facts");
    bed.house.write("self/facts.md", TWICE);
    bed.wait(24.hours());
    asleep(&mut life).await;
    let dream = bed.dreams().remove(1);
    assert_eq!(
        (came(&dream, "facts")["ok"].as_bool(), came(&dream, "purge")["ok"].as_bool()),
        (Some(true), Some(true))
    );
    assert_eq!(bed.facts(), ONCE);
}

#[tokio::test]
async fn one_cut_off_is_ended_by_the_next_life() {
    let mut bed = Bed::new(TempHouse::new());
    let mut life = bed.born().await;
    asleep(&mut life).await;
    bed.house.write("self/facts.md", TWICE);
    let house = House::new(bed.house.path(""));
    for (begun, given_up) in [(1, false), (2, true)] {
        let under: Value = json!({
            "name": format!("20260301T0100{begun:02}.000Z"), "at": "2026-03-01T01:00:00Z",
            "begun": {"facts": 1, "purge": begun}, "came": [{"part": "facts", "ok": true, "said": "done"}],
        });
        let state = json!({"since": "2026-03-01T01:00:00Z", "under_way": under, "of a newer self": 1});
        bed.house.write(".self/mind/dream.json", state.to_string());
        drop(life);
        life = bed.born().await;
        asleep(&mut life).await;
        let dream = bed.dreams().pop().unwrap();
        assert_eq!(came(&dream, "purge")["ok"].as_bool(), Some(!given_up), "{dream:#}");
        assert_eq!(dream["parts"].as_array().unwrap().len(), 7);
        assert_eq!(bed.facts(), TWICE, "a part that ended is not done again");
        assert!(DreamState::load(&house).under_way.is_none() && DreamState::load(&house).newer.len() == 1);
    }
    for garbage in ["", "{", "[]", r#"{"since": 5}"#] {
        bed.house.write(".self/mind/dream.json", garbage);
        asleep(&mut life).await;
        assert!(DreamState::load(&house).since.is_some(), "{garbage}");
    }
}

#[tokio::test]
async fn undone_it_leaves_what_came_after() {
    let mut bed = Bed::new(TempHouse::new());
    let mut life = bed.born().await;
    asleep(&mut life).await;
    bed.house.write("self/facts.md", TWICE);
    let (first, again) = (concern(&mut life, "watch the swifts"), concern(&mut life, "Watch the swift."));
    let add =
        GoalChange::Add { title: "count the swifts".to_owned(), checkpoints: Vec::new(), cost_usd: 0.0 };
    let goal = life.change(&Change::Goal(add)).unwrap()["id"].as_str().unwrap().to_owned();
    let (outcome, reason) = (GoalStatus::Done, "counted".to_owned());
    life.change(&Change::Goal(GoalChange::Close { id: goal.clone(), outcome, reason })).unwrap();
    bed.wait((24 * 31).hours());
    asleep(&mut life).await;
    let open = |life: &Life| life.store.agenda.pulse.open().map(|it| it.id.clone()).collect::<Vec<_>>();
    assert_eq!((open(&life), bed.facts().as_str()), (vec![first.clone()], ONCE));
    let known = |life: &Life| serde_json::to_string(&life.store.agenda.goals).unwrap().contains(&goal);
    assert!(!known(&life), "what was finished thirty days ago is forgotten");
    let later = concern(&mut life, "watch the herons");
    call(&mut life, "fact.add", json!({"text": "Owls hoot", "source": "night"})).await;
    for turn in ["undone", "again"] {
        let name = bed.dreams()[0]["name"].clone();
        let args = if turn == "undone" { json!({}) } else { json!({"name": name}) };
        let undone = call(&mut life, "dream.undo", args).await;
        assert_eq!((&undone["ok"], &undone["undone"]), (&json!(true), &name), "{undone}");
        assert_eq!(open(&life), [first.clone(), again.clone(), later.clone()]);
        assert_eq!(bed.facts(), format!("{TWICE}- Owls hoot [night, 2026-04-01]\n"));
    }
    assert_eq!(call(&mut life, "dream.undo", json!({})).await["ok"], false);
    drop(life);
    let life = bed.born().await;
    assert_eq!(open(&life).len(), 3, "what was undone is written down");
    assert!(known(&life));
}

/// What a model does in its sleep, some of it out of bounds.
fn tidying() -> Line {
    thought(
        "tidy up",
        json!([
            {"tool": "facts.merge", "args": {"facts": [1, 2], "text": "The shop is open from 9 to 18"}},
            {"tool": "facts.merge", "args": {"facts": [3, 4], "text": "Herons and owls are birds, all 7"}},
            {"tool": "facts.merge", "args": {"facts": [2, 3], "text": "taken"}},
            {"tool": "facts.merge", "args": {"facts": [3, 4, 5, 6], "text": "Too many at once"}},
            {"tool": "pulse.close", "args": {"id": "pulse-1", "why": "settled"}},
            {"tool": "pulse.close", "args": {"id": "pulse-2", "why": "also"}},
            {"tool": "pulse.update", "args": {"id": "pulse-2", "text": "see whether the herons came"}},
            {"tool": "pulse.close", "args": {"id": "pulse-99", "why": "who?"}},
            {"tool": "pulse.close", "args": {"id": "pulse-2", "why": "x", "all": true}},
            {"tool": "repo.run", "args": {"command": "touch pwned"}},
        ]),
        0,
    )
}

#[tokio::test]
async fn a_model_acts_within_bounds() {
    loopback!();
    let script = Script::new(vec![tidying()]);
    let mut bed = Bed::new(TempHouse::with_model("openai", &script, 60));
    let settings = fs::read_to_string(bed.house.path("owner.toml")).unwrap();
    bed.house.owner(&(settings + "[dream]\nat = \"03:00\"\nmodel = \"dreamer\"\n"));
    let mut life = bed.born().await;
    asleep(&mut life).await;
    let facts = "- The shop opens at 9 [sign, 2026-02-01]\n- It closes at 18 [mail, 2026-01-01]\n- Herons are birds\n\
        - Owls are birds\n- Swifts sleep\n- Wrens sing\n";
    bed.house.write("self/facts.md", facts);
    let ids = [concern(&mut life, "the swifts"), concern(&mut life, "the herons")];
    assert_eq!(ids, ["pulse-1", "pulse-2"]);
    bed.wait(2.hours());
    asleep(&mut life).await;
    assert!(bed.dreams().is_empty(), "it is not three o'clock");
    bed.wait(1.hour());
    life.dream_if_due(&mut Wish(true)).await.unwrap();
    assert!(
        bed.dreams().is_empty() && script.asked.lock().unwrap().is_empty(),
        "it was asked to leave first"
    );
    asleep(&mut life).await;
    let asked = script.request(0);
    assert_eq!(asked["model"], "dreamer");
    assert!(
        asked.to_string().contains("1. The shop opens at 9") && asked.to_string().contains("pulse-2"),
        "{asked}"
    );
    assert!(
        bed.facts().starts_with(
            "- The shop is open from 9 to 18 [mail, 2026-01-01]\n- Herons are birds\n- Owls are birds\n"
        ),
        "{}",
        bed.facts()
    );
    let open: Vec<String> =
        life.store.agenda.pulse.open().map(|it| format!("{} {}", it.id, it.about)).collect();
    assert_eq!(open, ["pulse-2 see whether the herons came"]);
    let told = bed
        .house
        .records()
        .into_iter()
        .find(|record| record.kind == "dream" && record.data.get("refused").is_some())
        .unwrap()
        .data;
    assert_eq!(
        (told["done"].as_array().unwrap().len(), told["refused"].as_array().unwrap().len()),
        (3, 7),
        "{told:#}"
    );
    bed.wait(24.hours());
    asleep(&mut life).await;
    assert_eq!(
        (bed.dreams().len(), script.asked.lock().unwrap().len()),
        (2, 1),
        "the same is not asked twice"
    );
    let undone = call(&mut life, "dream.undo", json!({"name": bed.dreams()[0]["name"]})).await;
    assert_eq!((undone["ok"].as_bool(), bed.facts().as_str()), (Some(true), facts));
    assert_eq!(life.store.agenda.pulse.open().count(), 2);
}

#[tokio::test]
async fn what_grew_too_long_is_said_once() {
    let mut bed = Bed::new(TempHouse::new());
    let mut life = bed.born().await;
    asleep(&mut life).await;
    let fact = |n: usize| format!("- Bird number {n} has {n} feathers and sings in the morning\n");
    bed.house.write("self/facts.md", (0..250).map(fact).collect::<String>());
    bed.house.write("self/skills/long.md", "how to ".repeat(3_000));
    (0..12).for_each(|n| _ = concern(&mut life, &format!("concern {n} {}", "about many things ".repeat(30))));
    for (night, events) in [(1, 3), (2, 0)] {
        life.cursors.events.news.clear();
        bed.wait(24.hours());
        asleep(&mut life).await;
        let said: Vec<&String> =
            life.cursors.events.news.iter().filter(|event| event.contains("condense")).collect();
        assert_eq!(said.len(), events, "night {night}: {said:?}");
    }
    bed.house.write("self/facts.md", (0..500).map(fact).collect::<String>());
    bed.wait(24.hours());
    asleep(&mut life).await;
    assert!(
        life.cursors.events.news.iter().any(|event| event.contains("self/facts.md has")),
        "{:?}",
        life.cursors.events.news
    );
}

mod probation {
    use super::*;

    #[tokio::test]
    async fn a_model_that_is_away_costs_only_its_part() {
        loopback!();
        for line in [
            crate::house::Line::Fails(500),
            crate::house::Line::Says("what a night".to_owned()),
            crate::house::Line::Refuses(402, "budget_exhausted", Some(60)),
        ] {
            let script = Script::new(vec![line]);
            let mut bed = Bed::new(TempHouse::with_model("anthropic", &script, 60));
            bed.house.write("self/facts.md", TWICE);
            let mut life = bed.born().await;
            asleep(&mut life).await;
            bed.wait(1.hour());
            asleep(&mut life).await;
            let dream = bed.dreams().remove(0);
            assert_eq!(
                (came(&dream, "thought")["ok"].as_bool(), came(&dream, "purge")["ok"].as_bool()),
                (Some(false), Some(true))
            );
            assert_eq!(bed.facts(), ONCE);
        }
    }

    #[tokio::test]
    async fn it_comes_nightly_once_and_once_after_a_sleep() {
        let mut bed = Bed::new(TempHouse::new());
        let mut life = bed.born().await;
        asleep(&mut life).await;
        let now = *bed.now.lock().unwrap();
        assert_eq!(life.next_dream(now), "2026-03-01T01:00:00Z".parse().unwrap());
        bed.wait(29.minutes());
        asleep(&mut life).await;
        assert_eq!(bed.dreams().len(), 0);
        bed.house.write("self/facts.md", TWICE);
        bed.wait(2.minutes());
        asleep(&mut life).await;
        asleep(&mut life).await;
        assert_eq!((bed.dreams().len(), bed.facts().as_str()), (1, ONCE));
        let parts = bed.dreams()[0]["parts"].as_array().unwrap().len();
        assert!(
            bed.dreams()[0]["parts"].as_array().unwrap().iter().all(|came| came["ok"] == true),
            "{:#?}",
            bed.dreams()
        );
        drop(life);
        bed.wait(24.hours());
        let mut life = bed.born().await;
        asleep(&mut life).await;
        assert_eq!((bed.dreams().len(), parts), (2, 7));
        bed.wait((24 * 5).hours());
        asleep(&mut life).await;
        asleep(&mut life).await;
        assert_eq!(bed.dreams().len(), 3, "missed nights are dreamt once");
        for _ in 0..16 {
            bed.wait(24.hours());
            asleep(&mut life).await;
        }
        assert_eq!(bed.dreams().len(), 19);
        let mut kept: Vec<_> = fs::read_dir(bed.house.path(".self/mind/dreams"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        kept.sort();
        assert_eq!(kept.len(), 14);
        assert_eq!(
            fs::read_dir(kept.pop().unwrap()).unwrap().count(),
            1,
            "a quiet night keeps its report alone"
        );
        bed.wait(1.hour());
        assert_eq!(call(&mut life, "dream.now", json!({})).await["ok"], true);
        asleep(&mut life).await;
        assert_eq!(bed.dreams().len(), 20);
    }
}
