//! Instinct as data: each drive in a world in memory, and what no moment and no state file may do to it.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod agenda;
mod change;
mod digest;
mod feeds;
mod odd;
mod reading;
mod sentences;
mod talk;
mod world;

use ground::checklist;
use mind::Outcome;
use mind::moment::Word;
use serde_json::json;
use world::{World, failing, said};

const PAGE: &str = "Makers keep tools small. A small tool lasts. Large ones are rewritten.";

fn pages(call: &mind::thought::ToolCall) -> Option<serde_json::Value> {
    let page = json!({"ok": true, "url": call.args.get("url"), "title": "On tools", "text": PAGE});
    (call.tool == "web.fetch_text").then_some(page)
}

#[test]
fn the_owners_status_question_is_answered_with_facts() {
    let mut world = World::new().says("status?");
    let thoughts = world.wake();
    let told = world.told();
    assert_eq!(told.len(), 1);
    assert!(told[0].contains("Life 1 on commit 0123456") && told[0].contains("instinct"), "{told:?}");
    assert_eq!(thoughts.last().unwrap().tool_calls.len(), 0, "the wake ends by itself");
}

/// What could be noted was noted and answered at hearing; what comes this far was not.
#[test]
fn an_order_that_was_not_noted_is_not_said_to_be() {
    let mut world = World::new().says("resume");
    world.wake();
    assert!(world.told()[0].starts_with("Nothing holds me"), "{:?}", world.told());
}

#[test]
fn free_text_is_honestly_not_understood() {
    let mut world = World::new().says("please think about the meaning of lifetimes");
    world.wake();
    assert_eq!(world.told().len(), 1);
    assert!(world.told()[0].starts_with("That takes a mind that reads"), "{:?}", world.told());
    let mut world = World::new().says("paint the fence green");
    world.wake();
    assert!(
        world.told()[0].starts_with("I do not understand \"paint the fence green\""),
        "{:?}",
        world.told()
    );
    assert!(world.told()[0].contains(".env"), "{:?}", world.told());
}

#[test]
fn a_link_is_fetched_noted_and_reported() {
    for words in ["read https://a.example/tools", "https://a.example/tools", "Read: https://a.example/tools."]
    {
        let mut world = World::new().says(words).answering(pages);
        world.wake();
        assert_eq!(world.called("web.fetch_text")[0].args["url"], "https://a.example/tools", "{words}");
        let (name, note) = world.papers.iter().find(|(name, _)| name.starts_with("notes/")).unwrap();
        assert!(name.ends_with("-a-example"), "{name}");
        assert!(note.contains("On tools") && note.contains("https://a.example/tools"), "{note}");
        assert!(note.contains("2026-05-28"), "its date: {note}");
        assert!(world.told()[0].starts_with("Done: written down in"), "{:?}", world.told());
    }
}

#[test]
fn a_fenced_patch_goes_through_the_self_edit_protocol_byte_for_byte() {
    let patch = "--- a/creature/src/pace.rs\n+++ b/creature/src/pace.rs\n@@ -1 +1 @@\n-a \n+\tb\n";
    let mut world = World::new().says(&format!("try this\n```diff\n{patch}```\nthanks"));
    world.wake();
    let call = world.called("repo.apply_patch")[0].clone();
    assert_eq!(call.args["patch"], patch);
    assert!(call.args["summary"].as_str().unwrap().contains("creature/src/pace.rs"));
    assert!(world.told()[0].contains("passed its rehearsal"), "{:?}", world.told());
    let fenced = format!("{patch} x\n```\n+y\n");
    let mut world = World::new().says(&format!("try this\n```diff\n{fenced}```\nthanks"));
    world.wake();
    assert_eq!(
        world.called("repo.apply_patch")[0].args["patch"],
        fenced,
        "a fence may be a line of the file"
    );
}

/// Found in the demo: of a patch that had killed three lives and was put back it said that its next life runs it.
#[test]
fn what_became_of_a_patch_is_told_by_the_life_that_knows() {
    let patch = "--- a/creature/src/pace.rs\n+++ b/creature/src/pace.rs\n@@ -1 +1 @@\n-a \n+b\n";
    let told = |kind: &str, data: serde_json::Value| {
        let mut world = World::new().says(&format!("try this\n```diff\n{patch}```\n"));
        world.think();
        world.reborn(world::PACE);
        world.record(kind, data);
        world.wake();
        world.told()[0].clone()
    };
    let born = told("self_change", json!({"ok": true, "stage": "born", "summary": "it"}));
    assert!(born.contains("passed its rehearsal; I run it now"), "{born}");
    let fell = told("death", json!({"ended": "put back", "cause": "three deaths"}));
    assert!(fell.contains("put me back, and I run without it") && !fell.contains("next life"), "{fell}");
}

#[test]
fn failures_and_interruptions_are_told_to_the_owner() {
    let mut world =
        World::kept().says("read http://b.example/x").answering(|call| match call.tool.as_str() {
            "web.fetch_text" => failing("the server said 503"),
            _ => None,
        });
    world.wake();
    assert!(world.told()[0].contains("503"), "{:?}", world.told());

    let mut world = World::kept().says("read http://b.example/x").answering(pages);
    world.think();
    world.moment.records.retain(|record| record.kind != "action");
    world.reborn(world::PACE);
    world.wake();
    // Found: "notes.append failed: I was cut off before it came to an end", of which of many words nobody could know.
    let told = "I was cut off before it came to an end: web.fetch_text (\"http://b.example/x\"). It may be done or not; \
                if it is not, say it again.";
    assert_eq!(world.told()[0], told);
}

/// Found: a word whose answer a death cut off was met with silence: the next life took it for one it had dealt with.
#[test]
fn a_word_whose_answer_a_death_cut_off_is_answered_by_the_next_life() {
    let cut = "I was cut off before it came to an end: \"note that herons fish\". It may be done or not; if it is not, \
               say it again.";
    for (text, told) in [("status", ""), ("note that herons fish", cut)] {
        let mut world = World::kept();
        let word = Word { at: world.now(), text: text.into(), thread: "main".into() };
        world.moment.words.push(word.clone());
        if !told.is_empty() {
            world.think();
            world.moment.words = vec![word];
        }
        // Decided and kept; then the life ends before anything is said.
        world.moment.now = world.now();
        let Outcome::Thought { thought, .. } = world.mind.think(&world.moment) else { panic!("no thought") };
        assert!(thought.tool_calls.iter().any(|call| call.tool == "memory.append"), "{thought:?}");
        world.reborn(world::PACE);
        world.wake();
        assert_eq!(world.told().len(), 1, "{:?}", world.told());
        assert!(world.told()[0].contains(told), "{:?}", world.told());
        assert!(world.called("notes.append").len() < 2, "{:?}", world.calls);
    }
}

#[test]
fn of_many_words_that_a_death_cut_off_none_is_met_with_silence() {
    let mut world = World::kept();
    let word = |nth: usize, text: &str| Word {
        at: format!("2026-05-28T20:26:40.{nth:03}Z"),
        text: text.into(),
        thread: ["main", "telegram-1"][nth % 2].into(),
    };
    let said = [
        "note that herons fish",
        "note that owls hunt",
        "note that bees hum",
        "status",
        "note that ants dig",
    ];
    let words: Vec<Word> = said.iter().enumerate().map(|(nth, text)| word(nth, text)).collect();
    // All are done, and the answers are decided; then the life ends before anything is said.
    world.moment.words.clone_from(&words);
    world.think();
    world.moment.words.clone_from(&words);
    world.moment.now = world.now();
    let Outcome::Thought { thought, .. } = world.mind.think(&world.moment) else { panic!("no thought") };
    assert!(thought.tool_calls.iter().any(|call| call.tool == "memory.append"), "{thought:?}");
    let done = world.called("notes.append").len();
    let told = world.told().len();
    world.reborn(world::PACE);
    world.moment.words = words;
    world.wake();
    let told = world.told().split_off(told).join("\n");
    for text in said.iter().filter(|text| text.starts_with("note")) {
        assert!(told.contains(&format!("\"{text}\"")) && told.contains("cut off"), "{text}: {told}");
    }
    assert!(told.contains("Life 2 on commit"), "the status is answered anew: {told}");
    assert_eq!(world.called("notes.append").len(), done, "nothing is done again");
}

#[test]
fn many_words_are_all_answered_though_the_first_answer_clears_them() {
    let mut world = World::new();
    for n in 0..12 {
        world = world.says(&format!("note number {n}")).says("status");
    }
    for _ in 0..8 {
        world.wake();
    }
    let told = world.told();
    assert_eq!(told.iter().filter(|told| told.starts_with("Life")).count(), 12, "{told:#?}");
    assert_eq!(told.iter().filter(|told| told.starts_with("Done")).count(), 12, "{told:#?}");
    assert!((0..12).all(|n| world.papers["scratch"].contains(&format!("number {n}\n"))));
}

#[test]
fn words_still_shown_are_not_answered_twice() {
    let mut world = World::new().says("status");
    let words = world.moment.words.clone();
    world.think();
    world.moment.words = words;
    world.think();
    assert_eq!(world.told().len(), 1);
}

#[test]
fn a_fall_is_said_and_kept_in_the_diary_even_beside_the_owners_words() {
    let fall = "After 3 death(s) (exit status 101) the guardian put creature/ back from commit bad1234 to \
        good567. The undone commits are kept at refs/guardian/fallen/1";
    let mut world = World::new().says("status");
    world.moment.news = vec![fall.to_owned()];
    let thoughts = world.wake();
    for part in ["put creature/ back", "bad1234", "good567", "exit status 101", "refs/guardian/fallen/1"] {
        assert!(thoughts[0].monologue.contains(part), "{part}: {}", thoughts[0].monologue);
        assert!(world.papers["diary"].contains(part), "{part}");
    }
    assert_eq!(world.told().len(), 1);
    assert_eq!(world.called("notes.append").len(), 1, "told once");
}

#[test]
fn a_changed_purpose_is_in_the_next_thought() {
    let mut world = World::new();
    world.wake();
    world.moment.purpose = "\n# Be a lighthouse\n".to_owned();
    world.moment.purpose_changed = true;
    assert!(world.wake()[0].monologue.contains("Be a lighthouse"));
}

#[test]
fn checklist_items_are_done_in_order_and_ticked_with_their_outcome() {
    let list = "# List\r\n\n- [ ] note a thing\n<!--\n- [ ] note not this\n-->\n- [ ] map\n- [x] note old\n\
        - [ ] draft about small things\n- [ ] snapshot\n- [ ] read https://a.example/tools";
    let mut world = World::new().checklist(list).answering(pages);
    for _ in 0..6 {
        world.wake();
    }
    let left = world.moment.checklist.clone();
    assert_eq!(left.matches("- [x]").count(), 6, "{left}");
    assert!(left.starts_with("# List\r\n\n- [x] note a thing (2026-"), "{left}");
    assert!(left.contains("- [ ] note not this"), "{left}");
    assert_eq!(left.lines().count(), list.lines().count());
    assert_eq!(world.called("x.post")[0].args["text"], "Small tools that last.");
    assert_eq!(world.called("memory.snapshot").len(), 1);
    assert!(world.papers["scratch"].contains("a thing"));
}

#[test]
fn items_it_cannot_do_are_marked_once_and_not_retried() {
    let list = "- [ ] refactor everything\n- [ ] draft about zebras\n- [ ] read http://c.example/\n";
    let mut world = World::new().checklist(list).answering(|call| match call.tool.as_str() {
        "web.fetch_text" => failing("no route <!-- to it"),
        _ => None,
    });
    for _ in 0..60 {
        world.wake();
        world.clock_s += 600;
    }
    let left = world.moment.checklist.clone();
    assert_eq!(left.matches("- [ ]").count(), 3, "they stay open: {left}");
    assert_eq!(left.matches("(instinct:").count(), 3, "{left}");
    assert!(left.contains("failed 3 times, last: no route <! to it"), "{left}");
    assert_eq!(world.called("web.fetch_text").len(), 3);
    let told = world.unasked();
    assert_eq!(told.len(), 2, "each is said once, what is found together in one message: {told:?}");
    assert!(
        told[0].1.contains("refactor everything") && told[0].1.contains("draft about zebras"),
        "{told:?}"
    );
    assert!(told[1].1.contains("failed 3 times"), "{told:?}");
}

/// Found by living with it: a recurring item for mail it cannot check stood there as if it were kept to.
#[test]
fn a_recurring_item_it_cannot_do_is_left_for_a_mind_that_reads() {
    let mut world = World::new().checklist("- [ ] every 1m: check my mail\n- [ ] every 1h: snapshot\n");
    (0..40).for_each(|_| drop(world.wake()));
    let told = world.unasked();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].0 == "broken" && told[0].1.contains("every 1m: check my mail"), "{told:?}");
    let list = &world.moment.checklist;
    let texts = |reads: bool| checklist::open(list, reads).into_iter().map(|item| (item.text, item.every_s));
    assert_eq!(texts(false).collect::<Vec<_>>(), [("snapshot".to_owned(), Some(3600))]);
    let all: Vec<_> = texts(true).collect();
    assert!(
        all[0].0.starts_with("check my mail (instinct:") && all[0].1 == Some(60),
        "due for a model: {all:?}"
    );
}

#[test]
fn a_checklist_that_cannot_be_written_does_not_repeat_the_work() {
    let mut world = World::new().checklist("- [ ] snapshot\n").answering(|call| match call.tool.as_str() {
        "notes.write" => failing("disk full"),
        _ => None,
    });
    for _ in 0..10 {
        world.wake();
    }
    assert_eq!(world.called("memory.snapshot").len(), 1);
}

#[test]
fn recurring_items_come_again_and_are_never_ticked() {
    let list = "- [ ] every 6h: snapshot\n";
    let mut world = World::new().checklist(list);
    let end_s = world.clock_s + 24 * 3600;
    while world.clock_s < end_s {
        world.wake();
    }
    assert_eq!(world.called("memory.snapshot").len(), 4);
    assert_eq!(world.moment.checklist, list);
}

#[test]
fn idle_rests_grow_within_the_owners_bounds() {
    let mut world = World::new();
    let rests: Vec<u64> = (0..12).map(|_| world.wake()[0].sleep_s).collect();
    assert!(rests.is_sorted() && rests[0] == 40 && rests[11] > 40, "{rests:?}");
    world.moment.rest_s = (2, 5);
    assert_eq!(world.wake()[0].sleep_s, 5);
    world.moment.rest_s = (0, 0);
    assert_eq!(world.wake()[0].sleep_s, 1, "never a round for nothing");
    assert!(said(&world.wake()).contains("in a row: 15"));
}

/// What the owner's console says for `pulse`, `dream`, `compact` and `remind`: other words there would be understood by a
/// model alone.
#[test]
fn what_the_console_says_by_a_commands_name_is_known() {
    for (words, tool) in [
        ("List your standing concerns, please.", "pulse.list"),
        ("Dream now, please.", "dream.now"),
        ("Take a snapshot now, please.", "memory.snapshot"),
        ("remind me in 10 minutes to stretch", "reminder.add"),
    ] {
        let mut world = World::new().says(words);
        world.wake();
        assert_eq!(world.called(tool).len(), 1, "{words}: {:?}", world.told());
        assert!(
            instinct::knows(words),
            "{words}: known too where instinct stands in for a model that is down"
        );
    }
    let mut world = World::new().says("pulse").answering(|call| {
        let one = json!({"id": "pulse-3", "text": "the herons", "next": "2026-05-28T20:00:00Z"});
        (call.tool == "pulse.list").then(|| json!({"ok": true, "concerns": [one]}))
    });
    world.wake();
    assert!(world.told()[0].contains("\"the herons\", next today at 20:00 (pulse-3)"), "{:?}", world.told());
}
