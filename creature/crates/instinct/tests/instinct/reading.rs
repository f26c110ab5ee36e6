//! Sources and drafts: what is followed, noted, posted, and left alone for a while.

use super::world::{START_S, World, failing, said};
use ground::checklist::{named, uncommented};
use instinct::state::{Note, State};
use instinct::{drafts, text};
use serde_json::{Value, json};
use std::cell::Cell;
use std::rc::Rc;

const PURPOSE: &str = "# Purpose\n\nSmall tools that last.\n\n## Sources\n\nfeed: https://f.example/news\n";

fn item(n: usize) -> Value {
    json!({"title": format!("Item {n}"), "url": format!("https://f.example/{n}"), "summary": "In short."})
}

/// A feed of as many items as there were looks at it, and a page for each.
fn feed(call: &mind::thought::ToolCall) -> Option<Value> {
    let url = call.args.get("url").and_then(Value::as_str).unwrap_or("");
    match call.tool.as_str() {
        "feed.read" => {
            Some(json!({"ok": true, "title": "News", "items": (1..6).map(item).collect::<Vec<_>>()}))
        }
        "web.fetch_text" => {
            let text = format!("Page {} is on small tools. It says more.", url.rsplit('/').next()?);
            Some(json!({"ok": true, "url": url, "title": format!("Page {url}"), "text": text}))
        }
        _ => None,
    }
}

#[test]
fn sources_are_found_where_they_are_named_and_nowhere_else() {
    let purpose = "See https://not.example/ here.\n<!-- feed: https://hidden.example/ -->\n\
        - `feed: https://a.example/x`\nPage: <https://b.example/y>\n\
        ## What to follow\n- [c](https://c.example/feed/)\nhttps://d.example/z.\n## Else\nhttps://e.example/\n";
    let checklist =
        "- [ ] read https://f.example/\nfeed: https://a.example/x\npage: https://g.example/?q=1\n";
    let found: Vec<(String, bool)> =
        named(purpose, checklist).into_iter().map(|named| (named.url, named.feed)).collect();
    let expected = [
        ("https://a.example/x", true),
        ("https://b.example/y", false),
        ("https://c.example/feed/", true),
        ("https://d.example/z", false),
        ("https://g.example/?q=1", false),
    ];
    assert_eq!(found, expected.map(|(url, feed)| (url.to_owned(), feed)));
}

#[test]
fn a_feeds_newest_items_become_notes_and_one_post() {
    let mut world = World::new().answering(feed);
    world.moment.purpose = PURPOSE.to_owned();
    for _ in 0..4 {
        world.wake();
    }
    assert_eq!(world.called("web.fetch_text").len(), 3, "a first look is no flood");
    let note = world.papers.values().next().unwrap();
    for n in 1..4 {
        assert!(note.contains(&format!("https://f.example/{n} · found at f.example")), "{note}");
    }
    assert!(note.contains("- Page 1 is on small tools."), "{note}");
    let posts = world.called("x.post");
    assert_eq!(posts.len(), 1);
    let post = posts[0].args["text"].as_str().unwrap();
    assert!(
        post.chars().count() <= 280 && post.contains("https://f.example/") && post.contains("Item"),
        "{post}"
    );
}

#[test]
fn a_post_takes_three_notes_and_its_time() {
    let known = Rc::new(Cell::new(2));
    let listed = Rc::clone(&known);
    let mut world = World::new().answering(move |call| match call.tool.as_str() {
        "feed.read" => {
            let items: Vec<Value> = (1..=listed.get()).map(item).collect();
            Some(json!({"ok": true, "title": "News", "items": items}))
        }
        _ => feed(call),
    });
    world.moment.purpose = PURPOSE.to_owned();
    for (items, hours, notes, posts) in [(2, 2, 2, 0), (3, 1, 3, 1), (6, 2, 6, 1), (6, 5, 6, 2)] {
        known.set(items);
        let end_s = world.clock_s + hours * 3600;
        while world.clock_s < end_s {
            world.wake();
        }
        let counts = (world.called("web.fetch_text").len(), world.called("x.post").len());
        assert_eq!(counts, (notes, posts), "{items} items, {hours} h later");
    }
}

#[test]
fn an_answering_source_is_looked_at_every_half_hour_and_seen_links_stay_seen() {
    let mut world = World::new().answering(feed);
    world.moment.purpose = PURPOSE.to_owned();
    let end_s = world.clock_s + 6 * 3600;
    while world.clock_s < end_s {
        world.wake();
    }
    let looks = world.called("feed.read").len();
    assert!((11..=13).contains(&looks), "{looks} looks in six hours");
    assert_eq!(world.called("web.fetch_text").len(), 3);
    assert_eq!(world.called("x.post").len(), 1);
}

#[test]
fn a_failing_source_is_said_once_and_left_alone_ever_longer() {
    let mut world = World::new().answering(|call| match call.tool.as_str() {
        "feed.read" => failing("connection refused"),
        "repo.edit" => failing("not now"),
        _ => None,
    });
    world.moment.purpose = PURPOSE.to_owned();
    let (mut all, end_s) = (String::new(), world.clock_s + 3 * 86_400);
    while world.clock_s < end_s {
        all += &said(&world.wake());
    }
    assert_eq!(all.matches("connection refused").count(), 1);
    let looks = world.called("feed.read").len();
    assert!((7..=10).contains(&looks), "{looks} looks in three days, doubling from 15 min to a day");
}

#[test]
fn failures_are_counted_from_the_first_of_them() {
    let mut world = World::kept().answering(|call| match call.tool.as_str() {
        "feed.read" => failing("connection refused"),
        _ => None,
    });
    world.moment.purpose = PURPOSE.to_owned();
    while world.called("feed.read").len() < 3 {
        world.wake();
    }
    let change = State::read(&world.house.instinct()).change;
    assert_eq!((change.failed_looks, change.failing_since_s), (3, START_S));
}

#[test]
fn a_page_is_noted_when_it_says_something_new() {
    let mut world = World::new().answering(feed);
    world.moment.purpose = "page: https://p.example/log\n".to_owned();
    let end_s = world.clock_s + 2 * 3600;
    while world.clock_s < end_s {
        world.wake();
    }
    assert!(world.called("web.fetch_text").len() >= 4);
    let names: Vec<&String> = world.papers.keys().collect();
    assert_eq!(names, ["notes/2026-05-p-example", "notes/digest-2026-05-28"], "a note, and the digest of it");
    assert_eq!(world.called("notes.append").len(), 2);
}

#[test]
fn a_page_with_a_clock_is_noted_once_and_then_by_its_new_sentences() {
    let looks = Rc::new(Cell::new(0));
    let (counted, more) = (Rc::clone(&looks), Rc::new(Cell::new("")));
    let says = Rc::clone(&more);
    let mut world = World::kept().answering(move |call| {
        (call.tool == "web.fetch_text").then(|| {
            counted.set(counted.get() + 1);
            let n = counted.get();
            let text = format!(
                "This page says the same every day.\n\n{}\n\nRendered at 10:{:02}:02 in 0.0{n} s.",
                says.get(),
                n % 60
            );
            json!({"ok": true, "url": "https://p.example/", "title": "A page", "text": text})
        })
    });
    world.moment.purpose = "page: https://p.example/\n".to_owned();
    let look_for = |world: &mut World, hours: i64| {
        let end_s = world.clock_s + hours * 3_600;
        while world.clock_s < end_s {
            world.wake();
        }
        let notes = world.papers.iter().filter(|(name, _)| name.ends_with("p-example"));
        notes.map(|(_, text)| text.clone()).collect::<String>()
    };
    let once = look_for(&mut world, 12);
    assert!(looks.get() > 20 && once.matches("## A page").count() == 1, "{} looks: {once}", looks.get());
    world.reborn(super::world::PACE);
    more.set("The museum opens again in spring.");
    let twice = look_for(&mut world, 12);
    assert_eq!(twice.matches("## A page").count(), 2, "{twice}");
    let new = twice.strip_prefix(&once).unwrap();
    assert!(new.contains("- The museum opens again in spring.") && !new.contains("every day"), "{new}");
}

#[test]
fn an_unreadable_link_is_noted_in_the_feeds_words_and_says_so() {
    let mut world = World::new().answering(|call| match call.tool.as_str() {
        "web.fetch_text" => failing("403"),
        _ => feed(call),
    });
    world.moment.purpose = PURPOSE.to_owned();
    world.wake();
    let note = world.papers.values().next().unwrap();
    assert!(note.contains("the page could not be read") && note.contains("- In short."), "{note}");
}

#[test]
fn a_post_fits_whatever_the_note_holds() {
    for length in [0, 1, 40, 100, 200, 270, 1000] {
        let long = "ä ".repeat(length);
        let note = Note {
            title: long.clone(),
            url: format!("https://x.example/{}", "u".repeat(length)),
            sentence: long,
        };
        if let Some(post) = drafts::compose(&note) {
            assert!(post.chars().count() <= 280 && post.contains(&note.url), "{post}");
        } else {
            assert!(length >= 200, "{length}");
        }
    }
}

#[test]
fn links_and_names_are_read_from_text() {
    let found = text::urls("(see <https://a.example/b?c=d#e>, http://f.example.) https:// ftp://g.example");
    assert_eq!(found, ["https://a.example/b?c=d#e", "http://f.example"]);
    assert_eq!(text::slug("Ä Blog.Example:8080"), "blog-example-8080");
    assert_eq!(uncommented("a<!-- b\nc -->d<!-- e"), "a\nd");
    assert_eq!(text::clip("one\n two  three", 7), "one tw…");
}

#[test]
fn the_outcome_of_another_page_does_not_pass_for_one_that_was_lost() {
    let one = json!({"ok": true, "url": "", "title": "One", "text": "One is there."});
    let mut world = World::new()
        .checklist("- [ ] read https://a.example/one\n- [ ] read https://b.example/two\n")
        .answering(move |call| call.args.get("url").is_some().then(|| one.clone()));
    while world.called("web.fetch_text").len() < 2 {
        world.think();
    }
    // This life ended before it was remembered.
    world.moment.records.retain(|record| !record.data["args"].to_string().contains("b.example"));
    world.wake();
    assert!(!world.papers.keys().any(|name| name.contains("b-example")), "{:?}", world.papers);
    assert!(!world.moment.checklist.contains("[x] read https://b.example/two"), "{}", world.moment.checklist);
}
