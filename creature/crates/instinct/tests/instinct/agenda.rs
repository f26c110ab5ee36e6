//! The agenda on instinct: what it knows how to do is done and marked, the rest is left to a mind that can.

use super::PAGE;
use super::world::{START_S, World, failing};
use agenda::stack::{Category, Line};
use jiff::Timestamp;
use serde_json::json;
use std::cell::Cell;
use std::rc::Rc;

fn line(category: Category, id: &str, next: &str) -> Line {
    let ready_at = Timestamp::from_second(START_S).unwrap();
    let (id, why, next) = (id.to_owned(), "it is so".to_owned(), next.to_owned());
    Line { category, title: id.clone(), id, why, next, ready_at, changed_at: ready_at }
}

fn world(lines: Vec<Line>) -> World {
    let mut world = World::new().answering(|call| {
        let page = json!({"ok": true, "url": call.args.get("url"), "title": "On tools", "text": PAGE});
        (call.tool == "web.fetch_text").then_some(page)
    });
    world.moment.stack = lines;
    world
}

#[test]
fn a_checkpoint_it_can_do_is_done_and_marked() {
    let think = line(Category::Goals, "goal-1", "think hard about tea");
    let mut world = world(vec![think, line(Category::Goals, "goal-2", "read https://a.example/tea")]);
    world.think();
    assert_eq!(world.called("web.fetch_text")[0].args["url"], "https://a.example/tea");
    world.think();
    assert_eq!(world.called("goal.checkpoint").len(), 0, "read, and not yet written down");
    world.moment.stack.clear();
    world.think();
    let marked: Vec<_> = world.called("goal.checkpoint").iter().map(|call| json!(call.args)).collect();
    assert_eq!(marked, [json!({"id": "goal-2", "status": "done"})]);
    assert!(world.papers.values().any(|paper| paper.contains("On tools")), "{:?}", world.papers);
}

/// A standing order looks again and again: the same page is noted once.
#[test]
fn what_an_order_finds_unchanged_is_not_noted_again() {
    for (what, tool) in
        [("check https://a.example/tea", "web.fetch_text"), ("feed https://a.example/f", "feed.read")]
    {
        let mut world = World::new().answering(|call| match call.tool.as_str() {
            "web.fetch_text" => Some(json!({"ok": true, "title": "On tools", "text": PAGE})),
            "feed.read" => Some(json!({"ok": true, "title": "Tea", "items": [{"title": "Oolong", "url": "https://a.example/1"}]})),
            _ => None,
        });
        for nth in 1..=3 {
            world.moment.stack = vec![line(Category::Tasks, &format!("task-{nth}"), what)];
            world.think();
            world.moment.stack.clear();
            world.wake();
            world.clock_s += 3_600;
        }
        assert_eq!((world.called(tool).len(), world.called("notes.append").len()), (3, 1), "{what}");
        let done: Vec<_> =
            world.called("task.done").iter().map(|call| call.args["failed"].is_null()).collect();
        assert_eq!(done, [true; 3], "{what}");
    }
}

#[test]
fn an_order_notes_what_a_feed_has_anew_and_counts_what_it_does_not_show() {
    let newest = Rc::new(Cell::new(0));
    let listed = Rc::clone(&newest);
    let mut world = World::new().answering(move |call| {
        (call.tool == "feed.read").then(|| {
            let item = |n: &i32| json!({"id": n.to_string(), "title": format!("Tea {n}."), "url": format!("https://a.example/{n}")});
            let all: Vec<i32> = (1..=listed.get()).rev().collect();
            let keys: Vec<String> = all.iter().map(|n| format!("{:08x}", instinct::feeds::key(&n.to_string()))).collect();
            let shown: Vec<_> = all.iter().take(5).map(item).collect();
            json!({"ok": true, "title": "Teas", "items": shown, "keys": keys.join(" ")})
        })
    });
    for (nth, count) in [(1, 30), (2, 31), (3, 31), (4, 51)] {
        newest.set(count);
        world.moment.stack = vec![line(Category::Tasks, &format!("task-{nth}"), "feed https://a.example/f")];
        world.think();
        world.moment.stack.clear();
        world.wake();
        world.clock_s += 3_600;
    }
    let notes: String = world.papers.values().map(String::as_str).collect();
    let told = |n: i32| notes.matches(&format!("- Tea {n}. ")).count();
    assert_eq!((26..=31).map(told).collect::<Vec<_>>(), [1; 6], "{notes}");
    assert_eq!((47..=51).map(told).collect::<Vec<_>>(), [1; 5], "{notes}");
    assert_eq!((told(25), notes.matches("- and 15 more\n").count()), (0, 1), "{notes}");
}

#[test]
fn what_fails_says_why() {
    let mut world = World::new().answering(|call| match call.tool.as_str() {
        "web.fetch_text" | "feed.read" => failing("no such host"),
        _ => None,
    });
    world.moment.stack = vec![line(Category::Tasks, "task-1", "feed https://a.example/feed")];
    world.think();
    world.think();
    world.moment.stack = vec![line(Category::Goals, "goal-1", "read https://a.example/tea")];
    world.think();
    world.think();
    assert_eq!(json!(world.called("task.done")[0].args), json!({"id": "task-1", "failed": "no such host"}));
    let failed = json!({"id": "goal-1", "status": "failed", "reason": "no such host"});
    assert_eq!(world.called("goal.checkpoint").first().map(|call| json!(call.args)), Some(failed));
}

#[test]
fn what_it_cannot_do_what_is_not_due_and_what_the_owner_comes_before_it_leaves() {
    let mut later = line(Category::Tasks, "task-1", "map");
    later.ready_at = Timestamp::from_second(START_S + 60).unwrap();
    let mut world = world(vec![line(Category::Gaps, "gap-1", "learn it"), later]);
    world.think();
    world.moment.owner = true;
    world.moment.stack = vec![line(Category::Tasks, "task-2", "map")];
    world.think();
    assert_eq!(world.called("repo.map").len(), 0);
    world.moment.owner = false;
    world.think();
    assert_eq!(world.called("repo.map").len(), 1);
}

#[test]
fn it_asks_for_a_yes_once_a_wake() {
    let mut goal = line(Category::Goals, "goal-7", "");
    goal.next =
        "ask your owner for a yes to goal-7 (owner.message, kind approval), once; then wait".to_owned();
    assert!(goal.awaits());
    let mut world = world(vec![line(Category::Goals, "goal-1", "ponder"), goal.clone()]);
    world.wake();
    assert_eq!(world.called("owner.message").len(), 0, "another line is looked at in this wake");
    world.moment.stack = vec![goal];
    world.wake();
    let asked = world.called("owner.message");
    assert_eq!((asked.len(), asked[0].args["kind"].as_str()), (1, Some("approval")));
    assert!(asked[0].args["text"].as_str().unwrap().contains("`approve goal-7`"), "{asked:?}");
}
