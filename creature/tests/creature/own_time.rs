//! Time of its own across lives and beside the owner's: an edit is used by the life born of it, a look is ended by its own thoughts.

use crate::broker::loopback;
use crate::house::{Line, Script, Shown, TempHouse, thought};
use crate::lived::{Lived, Never};
use agenda::Change;
use agenda::goals::GoalChange;
use agenda::own::{Kind, OwnChange};
use agenda::reasons::ReasonChange;
use agenda::waking;
use creature::life::Next;
use creature::store::caller::Caller;
use serde_json::{Value, json};
use std::time::Duration;

const MORNING: &str = "2026-03-02T08:00:00Z";

/// A house whose budget has a share for time of its own.
fn house(script: &Script) -> TempHouse {
    let house = TempHouse::with_model("openai", script, 300);
    let room = json!({"usd_per_day": 1.0, "usd_per_hour": 0.04, "bucket_usd": 0.2});
    house.write(".self/budget.json", json!({"autonomy": room}).to_string());
    house
}

async fn look_that_edits(house: &TempHouse, summary: &str) {
    let mut lived = Lived::born(house, MORNING, 1).await;
    lived.life.change(&Change::Own(OwnChange::Began { look: Kind::Growth })).unwrap();
    let what = creature::tools::product::edit(summary);
    lived.life.change(&Change::Reason(ReasonChange::Asked { reason: waking::OWN.to_owned() })).unwrap();
    lived.life.change(&Change::Reason(ReasonChange::Left { what, ask: None })).unwrap();
    // As the call of the thought leaves it.
    lived.life.toolbox.left.rebirth = Some(summary.to_owned());
    let next = lived.life.wake(&mut Never).await.unwrap();
    assert!(matches!(next, Next::Reborn(_)));
}

/// Found in review: a look that ended in a rebirth was still under way at birth, and what it left could not be used.
#[tokio::test]
async fn a_self_edit_of_its_own_time_is_used_by_the_life_born_of_it() {
    loopback!();
    let long = "rest longer where nobody speaks, for the records show forty wakes a night";
    let cut = "rest longer where nobody speaks, for the records show forty …";
    for (summary, born) in [("rest longer", "rest longer"), (long, cut)] {
        let read = json!([{"tool": "notes.read", "args": {"name": "scratch"}}]);
        let script = Script::new(vec![thought("read", read, 300)]);
        let house = house(&script);
        look_that_edits(&house, summary).await;
        let standing = json!({"guardian_pid": 1, "life": 2, "blessed": false, "born": {"summary": born}});
        house.write(".self/guardian.json", standing.to_string());
        let lived = Lived::born(&house, MORNING, 2).await;
        let agenda = &lived.life.store.agenda;
        assert!(agenda.own.under_way.is_none(), "{:?}", agenda.own);
        assert_eq!(agenda.reasons.line(waking::OWN), "own: 1 of 1 were used", "{summary}");
    }
}

/// Found in review: an empty answer to the owner ended the look that another thought had begun.
#[tokio::test]
async fn an_empty_answer_to_the_owner_ends_no_look() {
    loopback!();
    let silent = json!({"monologue": "", "intent": "", "tool_calls": [], "sleep_s": 0}).to_string();
    let script = Script::new(vec![thought("rest", json!([]), 300), Line::Says(silent)]);
    let house = house(&script);
    let mut lived = Lived::born(&house, MORNING, 1).await;
    lived.wake().await;
    lived.life.change(&Change::Own(OwnChange::Began { look: Kind::Growth })).unwrap();
    house.say("are you there?");
    lived.stay().await;
    assert!(lived.life.store.agenda.own.under_way.is_some(), "it is still under way");
}

#[test]
fn an_edit_that_says_nothing_of_itself_leaves_nothing() {
    assert_eq!(creature::tools::product::edit(" \n"), "");
    assert_eq!(creature::tools::product::edit("mend\n\nthe rest"), "edit: mend the rest");
}

/// The kind and id of the line that this thought is awake for, `task` and `task-3`.
fn line(shown: &Shown, kind: &str) -> Option<String> {
    let (_, id) = shown.new.split_once(&format!("ready: {kind}-"))?;
    Some(format!("{kind}-{}", id.chars().take_while(char::is_ascii_digit).collect::<String>()))
}

/// Does a step of its goal; its tasks it drops and makes anew, busy and of no use to anybody.
fn busy(shown: &Shown) -> Line {
    let call = |tool: &str, args: Value| json!({"tool": tool, "args": args});
    if let Some(id) = line(shown, "goal") {
        return thought("a step", json!([call("goal.checkpoint", json!({"id": id, "status": "done"}))]), 300);
    }
    if let Some(id) = line(shown, "task") {
        let add = call("task.add", json!({"text": format!("look once more than at {id}"), "in_s": 0}));
        let close =
            call("agenda.close", json!({"id": id, "outcome": "dropped", "reason": "another is better"}));
        return thought("busy", json!([close, add]), 300);
    }
    thought("rest", json!([]), 300)
}

/// A day of a busy mind; `held`: its reasons are asked more rarely where nothing comes of them.
async fn busy_day(held: bool) -> (TempHouse, Lived) {
    let script = Script::sighted(busy);
    let house = TempHouse::with_model("openai", &script, 300);
    let mut lived = Lived::born(&house, MORNING, 1).await;
    lived.wake().await;
    let checkpoints = (1..=20).map(|at| format!("count heron {at}")).collect();
    let goal = GoalChange::Add { title: "count the herons".to_owned(), checkpoints, cost_usd: 0.0 };
    lived.life.change(&Change::Goal(goal)).unwrap();
    let args = json!({"text": "look at a heron", "in_s": 0}).as_object().unwrap().clone();
    let call = mind::thought::ToolCall { tool: "task.add".to_owned(), args, ..Default::default() };
    assert_eq!(lived.life.lend(Caller::own()).call(&call).await.result["ok"], true);
    let mut left = Duration::from_secs(86_400);
    while !left.is_zero() {
        left = left.saturating_sub(lived.wake().await);
        if !held {
            lived.life.store.agenda.reasons.by_reason.values_mut().for_each(|asked| asked.idle = 0);
        }
    }
    (house, lived)
}

async fn call_examine(lived: &mut Lived) -> Value {
    let args = json!({"since": "1d"}).as_object().unwrap().clone();
    let call = mind::thought::ToolCall { tool: "self.examine".to_owned(), args, ..Default::default() };
    lived.life.lend(Caller::own()).call(&call).await.result
}

/// Tests that take long, which run beside a newborn.
mod probation {
    use super::*;

    #[tokio::test]
    async fn what_comes_of_its_own_asks_is_counted_by_reason_and_a_reason_of_no_use_is_asked_rarely() {
        loopback!();
        let (_house, mut lived) = busy_day(true).await;
        let reasons = &lived.life.store.agenda.reasons;
        let (goal, task) = (&reasons.by_reason["goal"], &reasons.by_reason["task"]);
        assert_eq!((goal.asked, goal.used), (20, 20), "{:?}", reasons.lines());
        assert!((4..=16).contains(&task.asked) && task.used == 0, "{:?}", reasons.lines());
        let after = task.asked;
        let examined = call_examine(&mut lived).await;
        let told = examined["asked_of_your_own_accord"].to_string();
        assert!(told.contains("goal: 20 of 20 were used") && told.contains("task: 0 of"), "{examined}");
        // Without that it would be asked all day long, for what it does changes the agenda each time.
        let (_house, lived) = busy_day(false).await;
        let before = lived.life.store.agenda.reasons.by_reason["task"].asked;
        println!(
            "asked for tasks of no use in a day: {before} before, {after} after; steps of its goal: 20 and 20"
        );
        assert!(before > 10 * after, "{before} before, {after} after");
    }
}
