//! The digest and what is followed: told once a morning, never empty, counts that are right, and feeds offered once.

use super::world::{PACE, World, failing};
use ground::checklist;
use instinct::state::State;
use instinct::{likeness, offer};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::rc::Rc;

const FEED: &str = "# Purpose\n\nSmall tools.\n\nfeed: https://f.example/news\n";

/// A feed whose items are added to; a title with "secret" leads to a page that cannot be read.
fn listing(titles: &Rc<RefCell<Vec<&'static str>>>) -> World {
    let titles = Rc::clone(titles);
    let mut world = World::new().answering(move |call| {
        let url = call.args.get("url").and_then(Value::as_str).unwrap_or("");
        match call.tool.as_str() {
            "feed.read" => {
                let item = |(at, title): (usize, &&str)| {
                    json!({"title": title, "url": format!("https://f.example/{at}/{}", title.contains("secret")),
                        "summary": format!("{title} in short.")})
                };
                let items: Vec<Value> = titles.borrow().iter().enumerate().map(item).rev().take(6).collect();
                Some(json!({"ok": true, "title": "News", "items": items}))
            }
            "web.fetch_text" if url.ends_with("true") => failing("403"),
            "web.fetch_text" => Some(json!({"ok": true, "url": url, "title": "A page",
                "text": "The page at hand says a good deal on tools."})),
            _ => None,
        }
    });
    world.moment.purpose = FEED.to_owned();
    world.moment.time_zone = Some(TimeZone::get("Europe/Berlin").unwrap());
    world
}

fn set(world: &mut World, at: &str) {
    world.clock_s = at.parse::<Timestamp>().unwrap().as_second();
}

fn until(world: &mut World, at: &str) {
    let end_s = at.parse::<Timestamp>().unwrap().as_second();
    while world.clock_s < end_s {
        world.wake();
    }
}

fn digests(world: &World) -> Vec<String> {
    let unasked = world.unasked().into_iter().filter(|(kind, _)| kind == "digest");
    unasked.map(|(_, text)| text).collect()
}

#[test]
fn a_digest_is_told_each_morning_of_the_owners_and_holds_only_what_is_new() {
    let titles = Rc::new(RefCell::new(vec![
        "Cargo learns to wait",
        "Why cargo waits",
        "secret plans",
        "A quiet release",
    ]));
    let mut world = listing(&titles);
    // Eight in Berlin is six here; before that nothing is told.
    set(&mut world, "2026-05-28T03:00:00Z");
    until(&mut world, "2026-05-28T05:59:00Z");
    assert_eq!(digests(&world), Vec::<String>::new());
    until(&mut world, "2026-05-28T06:00:30Z");
    let first = digests(&world);
    assert_eq!(first.len(), 1, "{first:?}");
    assert!(
        first[0].starts_with("Digest: 4 new at f.example: 2 read, 1 could not be read, 1 by title only."),
        "{}",
        first[0]
    );
    assert!(
        first[0].contains("- 2 on cargo:\n  - Cargo learns to wait")
            || first[0].contains("- 2 on cargo:\n  - Why cargo waits"),
        "{}",
        first[0]
    );
    assert!(
        first[0].contains(
            "A quiet release: The page at hand says a good deal on tools. https://f.example/3/false"
        ),
        "{}",
        first[0]
    );
    assert!(
        first[0]
            .contains("secret plans: secret plans in short. (could not be read) https://f.example/2/true"),
        "{}",
        first[0]
    );
    assert!(first[0].ends_with("Kept in self/notes/digest-2026-05-28.md."), "{}", first[0]);
    let paper = &world.papers["notes/digest-2026-05-28"];
    assert!(paper.contains("## Digest, 2026-05-28 08:00") && paper.contains("4 new at f.example"), "{paper}");
    titles.borrow_mut().push("A new thing");
    until(&mut world, "2026-05-29T05:59:00Z");
    assert_eq!(digests(&world).len(), 1, "once a day");
    until(&mut world, "2026-05-29T06:00:30Z");
    let second = digests(&world);
    assert_eq!(second.len(), 2);
    assert!(
        second[1].starts_with("Digest: 1 new at f.example: 1 read.") && second[1].contains("A new thing"),
        "{}",
        second[1]
    );
    assert!(!second[1].contains("quiet"), "{}", second[1]);
    until(&mut world, "2026-05-31T12:00:00Z");
    assert_eq!(digests(&world).len(), 2, "never an empty one");
}

#[test]
fn a_house_that_began_after_the_morning_has_its_first_digest_with_five_things_or_an_hour_later() {
    let few = Rc::new(RefCell::new(vec!["One of them"]));
    let mut world = listing(&few);
    set(&mut world, "2026-05-28T10:00:00Z");
    until(&mut world, "2026-05-28T10:59:00Z");
    assert!(digests(&world).is_empty());
    until(&mut world, "2026-05-28T11:01:00Z");
    assert_eq!(digests(&world).len(), 1);
    few.borrow_mut().extend(["Two", "Three", "Four", "Five", "Six", "Seven"]);
    until(&mut world, "2026-05-29T05:59:00Z");
    assert_eq!(digests(&world).len(), 1, "then each morning");
    until(&mut world, "2026-05-29T06:01:00Z");
    assert_eq!(digests(&world).len(), 2);

    let many = Rc::new(RefCell::new(vec!["One", "Two", "Three", "Four", "Five"]));
    let mut world = listing(&many);
    set(&mut world, "2026-05-28T10:00:00Z");
    world.wake();
    world.wake();
    assert_eq!(digests(&world).len(), 1, "at once");
}

#[test]
fn the_owner_who_asks_has_it_at_once_and_is_not_told_it_again() {
    let titles = Rc::new(RefCell::new(vec!["One of them", "Another"]));
    let mut world = listing(&titles).says("digest");
    set(&mut world, "2026-05-28T03:00:00Z");
    world.wake();
    assert!(world.told()[0].starts_with("I found nothing since the last digest."), "{:?}", world.told());
    world.wake();
    let mut world = world.says("What's new?");
    world.wake();
    let told = world.told();
    assert!(told[1].starts_with("Digest: 2 new at f.example: 2 read."), "{told:?}");
    assert!(world.papers["notes/digest-2026-05-28"].contains("One of them"));
    until(&mut world, "2026-05-28T07:00:00Z");
    assert!(digests(&world).is_empty(), "nothing is left to tell");
    for said in ["what is new", "Digest please", "show me the digest", "anything new?"] {
        assert_eq!(instinct::means(said).0, ["digest"], "{said}");
    }
    assert!(instinct::means("write a digest of the third chapter").0.is_empty());
}

/// A paper that could not be written keeps what was found; a life that ended over it writes it again at once.
#[test]
fn a_digest_that_could_not_be_kept_is_told_later_and_once() {
    let titles = Rc::new(RefCell::new(vec!["One of them", "Another"]));
    let full = Rc::new(RefCell::new(true));
    let disk = Rc::clone(&full);
    let mut world = listing(&titles);
    let answers = world.answers;
    world.answers = Box::new(move |call| match call.tool.as_str() {
        "notes.append" if *disk.borrow() && call.args["name"].as_str().unwrap().contains("digest") => {
            failing("disk full")
        }
        _ => answers(call),
    });
    set(&mut world, "2026-05-28T05:00:00Z");
    until(&mut world, "2026-05-28T08:30:00Z");
    let tries = world
        .called("notes.append")
        .iter()
        .filter(|call| call.args["name"] == "notes/digest-2026-05-28")
        .count();
    assert!((2..=3).contains(&tries), "{tries} tries in two and a half hours");
    assert!(digests(&world).is_empty());
    *full.borrow_mut() = false;
    until(&mut world, "2026-05-28T11:00:00Z");
    assert_eq!(digests(&world).len(), 1);
    assert!(digests(&world)[0].contains("2 new"), "{:?}", digests(&world));
}

/// With the state lost, memory alone keeps it from telling twice a day.
#[test]
fn memory_knows_of_a_digest_that_the_state_forgot() {
    let titles = Rc::new(RefCell::new(vec!["One", "Two", "Three", "Four", "Five"]));
    let mut world = listing(&titles);
    set(&mut world, "2026-05-28T10:00:00Z");
    world.record("message", json!({"from": "creature", "kind": "digest", "text": "Digest: of this morning"}));
    until(&mut world, "2026-05-28T12:00:00Z");
    assert!(digests(&world).is_empty(), "{:?}", digests(&world));
}

#[test]
fn a_new_house_greets_in_three_sentences_and_follows_what_it_offered_on_a_yes() {
    for yes in ["yes", "Yes please!", "follow them", "ja", "ok"] {
        let mut world = World::new().ungreeted().checklist("- [ ] snapshot\n");
        let thoughts = world.wake();
        assert_eq!(thoughts[0].tool_calls[0].tool, "owner.message", "the first thing it does");
        let unasked = world.unasked();
        assert_eq!((unasked.len(), unasked[0].0.as_str()), (1, "greeting"));
        let greeting = &unasked[0].1;
        assert_eq!(greeting.matches(". ").count(), 2, "three sentences: {greeting}");
        assert!(
            greeting.chars().count() <= 1000 && greeting.contains("no model thinks for me"),
            "{greeting}"
        );
        for (name, _) in offer::OFFERED {
            assert!(greeting.contains(name), "{name} in {greeting}");
        }
        let mut world = world.says(yes);
        world.wake();
        for (_, url) in offer::OFFERED {
            assert!(
                world.moment.checklist.contains(&format!("\nfeed: {url}\n")),
                "{yes}: {}",
                world.moment.checklist
            );
            assert!(world.called("feed.read").iter().any(|call| call.args["url"] == url), "in the same wake");
        }
        assert!(
            world.told()[0].contains("I follow https://blog.rust-lang.org/feed.xml"),
            "{:?}",
            world.told()
        );
        world.wake();
        assert_eq!(world.unasked().iter().filter(|(kind, _)| kind == "greeting").count(), 1);
    }
}

/// Where the broker is late there may be a model yet.
#[test]
fn who_does_not_know_whether_there_is_a_model_does_not_greet_for_it() {
    let mut world = World::new().ungreeted();
    world.moment.unconsulted = true;
    world.wake();
    assert!(world.unasked().is_empty());
    world.moment.unconsulted = false;
    world.wake();
    assert_eq!(world.unasked().len(), 1);
}

#[test]
fn a_no_is_answered_and_never_asked_again() {
    let mut world = World::kept().ungreeted();
    world.wake();
    let mut world = world.says("no thanks");
    world.wake();
    assert!(world.told()[0].contains("do not ask again"), "{:?}", world.told());
    world.reborn(PACE);
    world.moment.records.clear();
    let mut world = world.says("yes");
    (0..20).for_each(|_| drop(world.wake()));
    assert_eq!(world.unasked().len(), 1);
    assert_eq!(world.moment.checklist, "", "a yes to nothing follows nothing");
    assert!(world.told()[1].contains("nothing that a yes or a no answers"), "{:?}", world.told());
}

/// A bare yes goes to what was asked last, and that was another thing.
#[test]
fn a_yes_to_an_approval_is_no_yes_to_the_feeds() {
    let mut world = World::new().ungreeted();
    world.wake();
    world.clock_s += 60;
    world.record("message", json!({"from": "creature", "kind": "approval", "text": "may I?"}));
    let mut world = world.says("yes");
    world.wake();
    assert_eq!(world.moment.checklist, "");
}

#[test]
fn sources_are_followed_and_let_go_of_by_the_owners_word() {
    let list = "# List\n\n## Sources\n\nWhat to follow.\n\n<!-- feed: https://hidden.example/ -->\n\n# Else\n\n- [ ] map\n";
    let mut world = World::new().checklist(list).says("follow https://a.example/blog").says("follow LWN");
    world.wake();
    let followed = world.moment.checklist.clone();
    assert!(
        followed.contains("-->\npage: https://a.example/blog\nfeed: https://lwn.net/headlines/rss\n\n# Else"),
        "{followed}"
    );
    assert_eq!(world.told().len(), 2);
    let mut world = world.says("follow https://a.example/blog").says("unfollow lwn").says("unfollow zebras");
    world.wake();
    let told = world.told();
    assert_eq!(told[2], "I follow that already.");
    assert!(told[3].contains("no longer follow https://lwn.net/headlines/rss"), "{told:?}");
    assert!(told[4].contains("no source of its own called zebras"), "{told:?}");
    assert!(!world.moment.checklist.contains("lwn.net") && world.moment.checklist.contains("hidden.example"));
    let mut world = world.says("follow the white rabbit");
    world.wake();
    assert!(world.told()[5].starts_with("I do not understand"), "{:?}", world.told());
}

#[test]
fn what_could_not_be_written_is_said() {
    let mut world =
        World::new().says("follow https://a.example/feed").answering(|call| match call.tool.as_str() {
            "notes.write" => failing("disk full"),
            _ => None,
        });
    world.wake();
    assert!(world.told()[1].contains("could not write https://a.example/feed"), "{:?}", world.told());
    let mut world =
        World::new().checklist("- [ ] map\n<!-- never closed\n").says("follow https://a.example/feed");
    world.wake();
    assert!(world.told()[0].contains("its end is a comment"), "{:?}", world.told());
}

#[test]
fn lines_of_sources_are_edited_and_nothing_else_is() {
    let list = "- [ ] read https://a.example/\nfeed: https://a.example/\n* page: https://b.example/x\n";
    let gone = checklist::called(list, "a.example");
    assert_eq!(gone, ["https://a.example/"]);
    assert_eq!(
        checklist::without(list, &gone),
        "- [ ] read https://a.example/\n* page: https://b.example/x\n"
    );
}

/// An unhandled number of new things is bounded, and what was dropped is counted.
#[test]
fn more_than_it_keeps_is_counted() {
    let mut state = State::default();
    for n in 0..100 {
        state.digest.found.push(instinct::state::Found { at_s: n, ..Default::default() });
    }
    state.bound();
    assert_eq!((state.digest.found.len(), state.digest.dropped, state.digest.found[0].at_s), (60, 40, 40));
}

#[test]
fn titles_are_grouped_by_what_they_share_and_a_sources_subject_is_no_likeness() {
    let group = |titles: &[&str]| -> Vec<(String, usize)> {
        let groups = likeness::grouped(titles.iter().collect(), |title: &&str| *title);
        groups.into_iter().map(|(about, alike)| (about, alike.len())).collect()
    };
    let named = |groups: &[(&str, usize)]| -> Vec<(String, usize)> {
        groups.iter().map(|(about, count)| ((*about).to_owned(), *count)).collect()
    };
    let titles = [
        "Rust kernel drivers",
        "Rust and sqlite",
        "Rust: the kernel again",
        "Rust sqlite kernel",
        "Rust alone",
    ];
    assert_eq!(group(&titles), named(&[("kernel", 3), ("", 2)]));
    assert_eq!(group(&["Cargo waits", "Why cargo waits"]), named(&[("cargo waits", 2)]));
    assert_eq!(group(&["One thing", "Another"]), named(&[("", 2)]));
    assert_eq!(group(&[]), []);
}
