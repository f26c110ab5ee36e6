//! What a model is shown: the newest, the first by rank, the latest failure, and a count of what is left out.

use agenda::stack::{Category, Line};
use agenda::standing::Standing;
use creature::tools::catalogue::LIST;
use ground::text::{head, shorten};
use jiff::Timestamp;
use memory::Record;
use mind::context::{Caps, Parts, choose};
use mind::moment::{Moment, Word};
use mind::{prompt, situation};
use model::Wire;
use serde_json::json;

fn action(tool: &str, ok: bool, size: usize) -> Record {
    let result = match ok {
        true => json!({"ok": true, "text": "x".repeat(size)}),
        false => json!({"ok": false, "error": format!("the {tool} broke"), "hint": "mend it"}),
    };
    Record::new(1, "action", json!({"thought": 1, "tool": tool, "args": {}, "result": result}))
}

#[test]
fn the_latest_failure_stays_however_old_it_is() {
    let mut records = vec![action("web.search", false, 0), action("x.post", false, 0)];
    records.extend((0..400).map(|_| action("notes.read", true, 5_000)));
    let parts = choose(&Moment { records, ..Moment::default() }, &Caps::default(), &LIST);
    assert!(parts.records.contains("latest failure") && parts.records.contains("the x.post broke"));
    assert!(parts.records.contains("older records left out"));
    assert!(parts.records.contains("still failing") && parts.records.contains("the web.search broke"));
}

/// Mind 5: "still failing: count_file" stayed for ever, of a tool that there was not.
#[test]
fn a_tool_that_there_is_not_does_not_fail_for_ever() {
    let mut records = vec![action("count_file", false, 0), action("x.post", false, 0)];
    records.extend((0..400).map(|_| action("notes.read", true, 5_000)));
    let parts = choose(&Moment { records, ..Moment::default() }, &Caps::default(), &LIST);
    assert!(parts.records.contains("the x.post broke") && !parts.records.contains("count_file"));
}

#[test]
fn what_works_again_no_longer_outlives_newer_records() {
    let mut records =
        vec![action("web.search", false, 0), action("web.search", true, 0), action("x.post", false, 0)];
    records.extend((0..400).map(|_| action("notes.read", true, 5_000)));
    let parts = choose(&Moment { records, ..Moment::default() }, &Caps::default(), &LIST);
    assert!(parts.records.contains("the x.post broke") && !parts.records.contains("web.search"));
}

#[test]
fn the_newest_records_are_kept_and_oldest_come_first() {
    let records: Vec<Record> = (0..300).map(|n| action(&format!("tool-{n}-"), true, 10)).collect();
    let moment = Moment { records, ..Moment::default() };
    let roomy = Caps { records: 60_000, ..Caps::default() };
    for (caps, most) in [(Caps::default(), 199), (roomy, 200)] {
        let text = choose(&moment, &caps, &LIST).records;
        let shown: Vec<usize> = (0..300).filter(|n| text.contains(&format!("tool-{n}-"))).collect();
        let left = 300 - shown.len();
        assert_eq!(shown, (left..300).collect::<Vec<_>>(), "the newest, none between missing");
        assert!(
            (50..=most).contains(&shown.len()) && text.chars().count() <= caps.records,
            "{}",
            shown.len()
        );
        assert!(text.find("tool-298-") < text.find("tool-299-"));
        assert!(text.contains(&format!("({left} older records left out)")), "{}", head(&text, 100));
    }
    assert!(
        choose(&moment, &Caps { records: 60_000, ..Caps::default() }, &LIST)
            .records
            .contains("(100 older records")
    );
}

fn line(at: usize) -> Line {
    Line {
        category: Category::Goals,
        id: format!("goal-{at}"),
        title: format!("the {at}th goal"),
        why: "it ranks so".to_owned(),
        next: "do it".to_owned(),
        ready_at: Timestamp::UNIX_EPOCH,
        changed_at: Timestamp::UNIX_EPOCH,
    }
}

#[test]
fn the_stack_shows_the_owners_word_and_the_first_by_rank() {
    let moment = Moment {
        stack: (0..500).map(line).collect(),
        directives: vec!["focus on revenue until Friday".to_owned()],
        sessions: vec!["sub-2: read three pages".to_owned()],
        ..Moment::default()
    };
    let text = choose(&moment, &Caps::default(), &LIST).stack;
    assert!(
        text.starts_with("- your owner's word: focus on revenue until Friday\n1. goal-0 (goals)"),
        "{text}"
    );
    assert!(
        text.contains("lines of lower rank left out)") && text.contains("at work apart: sub-2"),
        "{text}"
    );
    assert!(text.lines().filter(|line| line.contains("next: do it")).count() > 5);
}

#[test]
fn the_state_never_stands_in_a_thought_that_answers_the_owner() {
    let standing = Standing { text: "mode continue".to_owned(), ..Standing::default() };
    let alone = Moment { standing: Some(standing), ..Moment::default() };
    assert_eq!(choose(&alone, &Caps::default(), &LIST).state, "mode continue");
    let asked = Moment { owner: true, ..alone.clone() };
    assert_eq!(choose(&asked, &Caps::default(), &LIST).state, "");
    let word = Word { at: String::new(), text: "hello".to_owned(), thread: "main".to_owned() };
    let spoken = Moment { words: vec![word], ..alone };
    assert_eq!(choose(&spoken, &Caps::default(), &LIST).state, "");
}

#[test]
fn long_texts_say_what_is_missing() {
    assert_eq!(shorten("short", 10), "short");
    let text: String = (0..500).map(|n| format!("{n} ")).collect();
    let short = shorten(&text, 120);
    assert!(short.starts_with("0 1 2") && short.ends_with("499 ") && short.contains("left out"), "{short}");
    let cut = head(&text, 200);
    assert!(cut.starts_with("0 1 2") && cut.contains("more characters"), "{cut}");
}

#[test]
fn the_prompt_speaks_each_wire() {
    let tools = "- `notes.read` {name}: read a paper";
    for (wire, args) in [(Wire::Anthropic, "args_json"), (Wire::Chat, "args")] {
        let system = prompt::system(prompt::MIND, &prompt::in_json(wire, tools), 35_000);
        assert!(
            system.contains(tools) && system.contains(&format!("\"{args}\"")) && !system.contains("{{"),
            "{system}"
        );
        let schema = prompt::schema(wire);
        let call = &schema["properties"]["tool_calls"]["items"];
        assert_eq!(call["required"], json!(["tool", args]));
        assert_eq!(schema["additionalProperties"], false);
        assert_eq!(call["additionalProperties"], false);
        assert_eq!(call["properties"][args]["type"], if args == "args" { "object" } else { "string" });
    }
    let moment = Moment {
        safe: true,
        purpose_changed: true,
        commit: "0123456789".to_owned(),
        rounds: 8,
        reasons: vec!["goal-7 is ready".to_owned()],
        ..Moment::default()
    };
    let text = situation::opening(&moment, &choose(&moment, &Caps::default(), &LIST)).text;
    for part in
        ["safe mode", "PURPOSE.md changed", "commit 0123456,", "round 1 of 8", "Awake for: goal-7 is ready"]
    {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}

#[test]
fn what_the_money_forbids_is_said_when_it_changes_and_not_with_every_figure() {
    let moment = |alarm: &str| Moment { alarm: alarm.to_owned(), ..Moment::default() };
    let first = situation::opening(&moment(""), &Parts::default());
    assert!(!first.text.contains("# Money"), "{}", first.text);
    let mut known = first.shown;
    for (alarm, said) in [
        ("81 % of $0.75 is spent", Some("81 % of")),
        ("84 % of $0.75 is spent", None),
        ("calls are stopped", Some("calls are stopped")),
        ("", Some("as it should be again")),
        ("", None),
    ] {
        let news = situation::news(&moment(alarm), &known, false, 0, &LIST);
        match said {
            Some(said) => assert!(news.text.contains("# Money") && news.text.contains(said), "{}", news.text),
            None => assert!(!news.text.contains("# Money"), "{alarm}: {}", news.text),
        }
        known.extend(news.shown);
    }
}

/// Found: a talk that went on did not know what its owner had said on another channel meanwhile.
#[test]
fn a_talk_that_goes_on_is_told_what_was_said_on_other_threads_meanwhile() {
    let said = |at: &str, from: &str, thread: &str, text: &str| Record {
        at: at.to_owned(),
        ..Record::new(1, "message", json!({"from": from, "text": text, "thread": thread}))
    };
    let mut records = vec![
        said("2026-11-29T11:40:00.000Z", "owner", "discord-9000", "told before"),
        said("2026-11-29T11:45:26.000Z", "owner", "discord-9000", "the heron is called Otto\nRemember"),
        said("2026-11-29T11:45:27.000Z", "creature", "discord-9000", "I remember Otto"),
        said("2026-11-29T11:45:28.000Z", "owner", "telegram-1001", "stands in this talk"),
    ];
    let word = Word { at: String::new(), text: "what is it called?".into(), thread: "telegram-1001".into() };
    let moment = |records: &[Record]| Moment {
        records: records.to_vec(),
        words: vec![word.clone()],
        thread: "telegram-1001".into(),
        ..Moment::default()
    };
    let last_s = "2026-11-29T11:44:41Z".parse::<Timestamp>().unwrap().as_second();
    let told = situation::news(&moment(&records), &Default::default(), true, last_s, &LIST);
    let (before, after) = told.text.split_once("# Your owner's words").expect("the word is told");
    assert!(before.contains("# Said meanwhile on other threads, and answered there"), "{}", told.text);
    assert!(before.contains("on discord-9000: owner: the heron is called Otto Remember"), "{before}");
    assert!(before.contains("I remember Otto") && after.contains("what is it called?"), "{before}");
    assert!(
        !told.text.contains("told before") && !told.text.contains("stands in this talk"),
        "{}",
        told.text
    );
    // Once: what was told stands above.
    records.push(said("2026-11-29T11:46:00.000Z", "owner", "main", "said in the window"));
    let told = situation::news(&moment(&records), &told.shown, true, last_s, &LIST);
    assert!(told.text.contains("on main: owner: said in the window"), "{}", told.text);
    assert!(!told.text.contains("Otto"), "{}", told.text);
}
