//! Feeds in any order, with more new items than are read, without links or ids: each item is told once.

use super::world::{World, failing};
use instinct::feeds::key;
use instinct::state::State;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::rc::Rc;

const PURPOSE: &str = "# Purpose\n\nSmall tools that last.\n\n## Sources\n\nfeed: https://f.example/news\n";

/// A feed as the tool gives it: the newest first, so many from the first asked for, with the keys of all.
type Listed = Rc<RefCell<Vec<Value>>>;

fn item(n: usize) -> Value {
    json!({"id": format!("id-{n}"), "title": format!("Item {n}."), "url": format!("https://f.example/{n}"), "summary": "In short."})
}

fn following(listed: &Listed, world: World) -> World {
    let listed = Rc::clone(listed);
    let mut world = world.answering(move |call| match call.tool.as_str() {
        "feed.read" => {
            let all = listed.borrow();
            let number = |name: &str, or: u64| call.args.get(name).map_or(or, |it| it.as_u64().unwrap()) as usize;
            let shown: Vec<&Value> = all.iter().skip(number("skip", 0)).take(number("most", 10)).collect();
            let mut read = json!({"ok": true, "title": "News", "items": shown, "items_total": all.len()});
            if call.args.get("keys") == Some(&json!(true)) {
                let keys: Vec<String> = all.iter().map(|item| format!("{:08x}", key(item["id"].as_str().unwrap()))).collect();
                read["keys"] = json!(keys.join(" "));
            }
            Some(read)
        }
        "web.fetch_text" => {
            let url = call.args["url"].as_str().unwrap();
            Some(json!({"ok": true, "url": url, "title": format!("Page {url}"), "text": "It is on small tools."}))
        }
        _ => None,
    });
    world.moment.purpose = PURPOSE.to_owned();
    world
}

fn live(world: &mut World, hours: i64) {
    let end_s = world.clock_s + hours * 3_600;
    while world.clock_s < end_s {
        world.wake();
    }
}

/// How often each item was told, in digests and in what is kept for the next.
fn told(world: &World, items: impl Iterator<Item = usize>) -> Vec<usize> {
    let papers: String = world
        .papers
        .iter()
        .filter(|(name, _)| name.contains("digest"))
        .map(|(_, text)| text.as_str())
        .collect();
    items
        .map(|n| {
            papers.matches(&format!("Item {n}. ")).count() + papers.matches(&format!("Item {n}.: ")).count()
        })
        .collect()
}

#[test]
fn twenty_at_once_are_all_told_and_a_few_of_them_read() {
    let listed: Listed = Rc::new(RefCell::new((1..=5).rev().map(item).collect()));
    let mut world = following(&listed, World::new());
    live(&mut world, 2);
    assert_eq!(told(&world, 1..=5), [1; 5], "{:?}", world.papers);
    *listed.borrow_mut() = (1..=25).rev().map(item).collect();
    let read = world.called("web.fetch_text").len();
    live(&mut world, 30);
    assert_eq!(told(&world, 1..=25), [1; 25], "{:?}", world.papers);
    assert_eq!(world.called("web.fetch_text").len(), read + 3);
    let digest: String = world.papers.values().map(String::as_str).collect();
    assert!(digest.contains("20 new at f.example: 3 read, 17 by title only"), "{digest}");
}

#[test]
fn more_than_a_look_holds_wait_for_the_next_one() {
    let listed: Listed = Rc::new(RefCell::new((1..=5).rev().map(item).collect()));
    let mut world = following(&listed, World::new());
    live(&mut world, 1);
    *listed.borrow_mut() = (1..=60).rev().map(item).collect();
    let mut said = String::new();
    let end_s = world.clock_s + 30 * 3_600;
    while world.clock_s < end_s {
        said += &super::world::said(&world.wake());
    }
    assert!(said.contains("lists 35 new items, and 20 more wait for the next look"), "{said}");
    assert_eq!(told(&world, 1..=60), [1; 60]);
}

#[test]
fn a_first_look_at_a_long_feed_is_no_flood() {
    let listed: Listed = Rc::new(RefCell::new((1..=150).rev().map(item).collect()));
    let mut world = following(&listed, World::new());
    live(&mut world, 40);
    let sum: usize = told(&world, 1..=150).iter().sum();
    assert_eq!((sum, told(&world, 146..=150)), (5, vec![1; 5]));
    assert_eq!(world.called("web.fetch_text").len(), 3);
}

#[test]
fn each_item_is_told_once_over_lives_and_in_any_order() {
    let listed: Listed = Rc::new(RefCell::new((1..=8).rev().map(item).collect()));
    let mut world = following(&listed, World::kept());
    live(&mut world, 1);
    for day in 1..6 {
        let mut all: Vec<Value> = (1..=8 + day).map(item).collect();
        all.rotate_left(day * 3 % 7);
        // One is taken back for a while.
        all.retain(|item| day % 2 == 0 || item["id"] != json!("id-8"));
        *listed.borrow_mut() = all;
        world.reborn(super::world::PACE);
        live(&mut world, 24);
    }
    live(&mut world, 24);
    assert_eq!(told(&world, 4..=13), [1; 10], "{:?}", world.papers);
}

#[test]
fn items_without_a_page_are_noted_in_their_own_words() {
    let bare = json!({"id": "tag:1", "title": "Item 1.", "url": "", "summary": "Own words of the first."});
    let sound = json!({"id": "2", "title": "Item 2.", "url": "https://f.example/2.mp3", "summary": "Own words of the second.", "kind": "enclosure"});
    let listed: Listed = Rc::new(RefCell::new(vec![bare, sound]));
    let mut world = following(&listed, World::new());
    live(&mut world, 2);
    let note = world.papers.iter().find(|(name, _)| name.ends_with("f-example")).unwrap().1;
    for words in ["Own words of the first.", "Own words of the second.", "these are the feed's words"] {
        assert!(note.contains(words), "{note}");
    }
    assert!(world.called("web.fetch_text").is_empty(), "nothing there to read");
    let digests: String =
        world.papers.iter().filter(|(name, _)| name.contains("digest")).map(|it| it.1.as_str()).collect();
    assert!(
        digests.contains("Item 1.: Own words") && digests.contains("https://f.example/2.mp3"),
        "{digests}"
    );
}

#[test]
fn new_ids_for_the_same_items_are_no_news_but_one_address_for_all_is() {
    let renamed = |round: usize| {
        (1..=4).map(|n| json!({"id": format!("{round}-{n}"), "title": format!("Item {n}."), "url": format!("https://f.example/{n}"), "summary": ""})).collect::<Vec<_>>()
    };
    let listed: Listed = Rc::new(RefCell::new(renamed(0)));
    let mut world = following(&listed, World::new());
    for round in 1..6 {
        *listed.borrow_mut() = renamed(round);
        live(&mut world, 12);
    }
    assert_eq!(told(&world, 1..=4), [1; 4]);
    let same = |n: usize| json!({"id": n.to_string(), "title": format!("Item {n}."), "url": "https://f.example/", "summary": ""});
    *listed.borrow_mut() = (5..=8).map(same).collect();
    live(&mut world, 30);
    assert_eq!(told(&world, 5..=8), [1; 4]);
}

#[test]
fn a_self_that_knew_only_links_gives_no_old_news() {
    let listed: Listed = Rc::new(RefCell::new((1..=9).rev().map(item).collect()));
    let mut world = following(&listed, World::kept());
    let links: Vec<u64> = (1..=8).map(|n| ground::text::hash(&format!("https://f.example/{n}"))).collect();
    let mut state = State { seen: links, ..State::default() };
    state.sources.entry("https://f.example/news".to_owned()).or_default().text = 7;
    std::fs::create_dir_all(world.house.instinct().parent().unwrap()).unwrap();
    std::fs::write(world.house.instinct(), serde_json::to_vec(&state).unwrap()).unwrap();
    world.reborn(super::world::PACE);
    live(&mut world, 30);
    assert_eq!(told(&world, 1..=9), [0, 0, 0, 0, 0, 0, 0, 0, 1], "{:?}", world.papers);
}

#[test]
fn a_wait_that_a_server_asks_for_is_kept_over_lives() {
    let mut world = World::kept().answering(|call| match call.tool.as_str() {
        "feed.read" => {
            let mut held = failing("the server answered 429")?;
            held["after_s"] = json!(80_000);
            Some(held)
        }
        _ => None,
    });
    world.moment.purpose = PURPOSE.to_owned();
    live(&mut world, 1);
    world.reborn(super::world::PACE);
    live(&mut world, 20);
    assert_eq!(world.called("feed.read").len(), 1);
    live(&mut world, 3);
    assert_eq!(world.called("feed.read").len(), 2);
}
