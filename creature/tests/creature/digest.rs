//! Snapshots: what records come to, merged with what stood before.

use agenda::goals::GoalChange;
use agenda::tasks::TaskChange;
use agenda::{Agenda, Change, Rules, When};
use creature::digest::{Facts, MOST_CHARS, digest, ended, fresh, open_threads, purpose};
use creature::tools::catalogue::LIST;
use jiff::Timestamp;
use memory::Record;
use serde_json::{Value, json};

fn facts() -> Facts {
    Facts {
        life: 7,
        commit: "0123456789abcdef".to_owned(),
        thoughts: 50,
        mind: "instinct".to_owned(),
        tools: &LIST,
        purpose: "# Purpose\n\nBe curious.".to_owned(),
        ..Facts::default()
    }
}

fn record(kind: &str, data: Value) -> Record {
    Record { at: "2026-01-02T03:04:05.000Z".to_owned(), life: 7, kind: kind.to_owned(), data }
}

fn action(tool: &str, ok: bool) -> Record {
    let result = match ok {
        true => json!({"ok": true}),
        false => json!({"ok": false, "error": format!("{tool} broke"), "hint": "mend it"}),
    };
    record("action", json!({"tool": tool, "args": {"url": "http://example.org"}, "result": result}))
}

#[test]
fn it_says_what_happened_under_its_headings() {
    let records = vec![
        record("thought", json!({"intent": "watch the sparrows again", "monologue": "sparrows again"})),
        record("message", json!({"from": "owner", "text": "what of the swifts?"})),
        action("web.fetch_text", false),
        action("notes.write", true),
        action("notes.write", true),
        record("self_change", json!({"ok": true, "stage": "born", "summary": "rest longer"})),
        record("death", json!({"told": "Life 6 ended: crashed"})),
    ];
    let text = digest(&facts(), &records, None);
    for part in [
        "## What I am",
        "life 7 at commit 0123456,",
        "what I am for: Be curious.",
        "## What I tried and what came of it",
        "## Recent actions and outcomes",
        "latest failure: Life 6 ended",
        "notes.write",
        "1 more like it",
        "## Open threads",
        "owner asked: what of the swifts?",
        "failing: web.fetch_text",
        "last intent: watch the sparrows",
        "## How I changed myself",
        "I was born of my change \"rest longer\".",
        "Life 6 ended: crashed",
    ] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
    assert!(!text.contains("×"), "counts of words say nothing\n{text}");
    assert_eq!(text, digest(&facts(), &records, None));
}

#[test]
fn it_merges_with_the_one_before() {
    let first = digest(
        &facts(),
        &[
            action("web.fetch_text", false),
            record("message", json!({"from": "owner", "text": "what of the swifts?"})),
            record("self_change", json!({"ok": true, "stage": "born", "summary": "rest longer"})),
        ],
        None,
    );
    let quiet = digest(&facts(), &[record("snapshot", json!({})), action("notes.write", true)], Some(&first));
    for part in [
        "latest failure: web.fetch_text",
        "owner asked",
        "failing: web.fetch_text",
        "born of my change \"rest longer\"",
    ] {
        assert!(quiet.contains(part), "{part:?} is not in\n{quiet}");
    }
    assert!(quiet.find("notes.write") < quiet.find("01-02T03:04 web.fetch_text"), "newest first\n{quiet}");
    let settled = digest(
        &facts(),
        &[
            action("web.fetch_text", true),
            record("message", json!({"from": "creature", "text": "they left"})),
        ],
        Some(&quiet),
    );
    assert!(!settled.contains("owner asked") && !settled.contains("failing:"), "{settled}");
    assert!(settled.contains("latest failure: web.fetch_text"));
}

#[test]
fn a_word_is_open_until_something_is_said_after_it() {
    let word = |from: &str, text: &str| record("message", json!({"from": from, "text": text}));
    let records = [
        word("owner", "what of the swifts?"),
        word("creature", "they left"),
        word("owner", "and the herons?"),
    ];
    let text = digest(&facts(), &records, None);
    assert!(text.contains("herons") && !text.contains("owner asked: what of the swifts"), "{text}");
    let open = text.lines().filter(|line| line.contains("owner asked")).count();
    assert_eq!(open, 1, "{text}");
}

#[test]
fn it_takes_only_what_came_since_the_last() {
    let records = [action("old.one", true), record("snapshot", json!({})), action("new.one", true)];
    let text = digest(&facts(), fresh(&records, 0).0, None);
    assert!(text.contains("new.one") && !text.contains("old.one"));
}

#[test]
fn it_stays_within_its_cap_for_ever_and_counts_what_it_drops() {
    let mut before = None;
    for turn in 0..40 {
        let mut records: Vec<Record> =
            (0..60).map(|n| action(&format!("tool{turn}.n{n}"), n % 3 > 0)).collect();
        records.extend((0..20).map(|n| {
            record("self_change", json!({"ok": true, "stage": "born", "summary": format!("🦀 change {turn} {n} {}", "ü".repeat(300))}))
        }));
        records.extend(
            (0..20).map(|n| record("message", json!({"from": "owner", "text": format!("word {turn} {n}")}))),
        );
        let text = digest(&facts(), &records, before.as_deref());
        assert!(text.chars().count() <= MOST_CHARS, "{} in turn {turn}", text.chars().count());
        assert!(text.contains(&format!("latest failure: tool{turn}.n57")), "{text}");
        for heading in ["## What I am", "## What I tried", "## Open threads", "## How I changed myself"] {
            assert!(text.contains(heading), "{heading} is cut off in turn {turn}");
        }
        before = Some(text);
    }
    let text = before.unwrap();
    let dropped: u64 = text
        .lines()
        .filter_map(|l| l.strip_suffix(" older lines left out)")?.strip_prefix('(')?.parse::<u64>().ok())
        .max()
        .unwrap();
    assert!(dropped > 700, "only {dropped} counted\n{text}");
}

#[test]
fn a_snapshot_in_a_minds_own_words_is_not_lost() {
    let first = digest(&facts(), &[action("a.b", true)], Some("I am a creature of habit.\n\nI like swifts."));
    assert!(first.contains("in my own words: I like swifts."), "{first}");
    let second = digest(&facts(), &[action("a.b", true)], Some(&first));
    assert!(second.contains("in my own words: I am a creature of habit."), "{second}");
}

#[test]
fn records_of_any_shape_do_no_harm() {
    for data in [Value::Null, json!([]), json!("text"), json!({"result": 5, "ok": "no", "told": [1]})] {
        for kind in ["action", "thought", "self_change", "death", "message", "snapshot", "of tomorrow"] {
            digest(
                &facts(),
                &[record(kind, data.clone())],
                Some(
                    "## What I tried and what came of it\n- failed \n- a failed 99999999999999999999\n(x older lines left out)",
                ),
            );
        }
    }
}

/// Mind 5: what failed is said to fail while there is such a tool.
#[test]
fn a_tool_that_there_is_not_is_no_open_thread() {
    let before = "## Open threads\n- failing: count_file {} → broke\n- failing: web.search {} → broke\n";
    let text = digest(&facts(), &[action("count_words", false), action("x.post", false)], Some(before));
    for (tool, open) in
        [("count_file", false), ("count_words", false), ("web.search", true), ("x.post", true)]
    {
        assert_eq!(text.contains(&format!("- failing: {tool} ")), open, "{tool}: {text}");
    }
}

/// Mind 5: the snapshot said "nothing yet" under recent actions, after nine of them.
#[test]
fn a_snapshot_does_not_call_nothing_what_it_leaves_to_the_next() {
    let records: Vec<Record> = (0..9).map(|_| action("notes.write", true)).collect();
    let (new, left) = fresh(&records, 10);
    let text = digest(&Facts { left, ..facts() }, new, None);
    assert!(text.contains("nothing before the 9 latest records") && !text.contains("nothing yet"), "{text}");
    let next = digest(&facts(), &records, Some(&text));
    assert!(next.contains("notes.write") && !next.contains("latest records"), "{next}");
    assert!(digest(&facts(), &[], None).contains("nothing yet"));
}

/// Found by living with it: the purpose read "Purpose", the heading.
#[test]
fn the_purpose_is_its_first_sentences_and_no_heading() {
    let whole = "# Purpose\n\nYou are a small animal made of source code, and this repository is where you live.\nFind out what is \
                 worth knowing, make something of it, and be a little better built next week than this one.\n\n## What pulls you\n";
    assert_eq!(
        purpose(whole),
        "You are a small animal made of source code, and this repository is where you live. Find out what is worth \
         knowing, make something of it, and be a little better built next week than this one."
    );
    for (text, said) in [
        ("", "none yet"),
        ("# Purpose\n\n## Be kind\n", "Purpose"),
        (
            "# P\n\n<!-- not\nthis -->\n- Be curious! Be kind.\n- Be brief.\n",
            "Be curious! Be kind. Be brief.",
        ),
        ("Watch v1.2 of it", "Watch v1.2 of it"),
    ] {
        assert_eq!(purpose(text), said, "{text:?}");
    }
    assert!(purpose(&"word ".repeat(999)).chars().count() <= 240);
}

/// Found by living with it: a snapshot counted words and did not say what was open or what was tried.
#[test]
fn it_says_what_is_open_and_what_was_tried_with_what_outcome() {
    let mut agenda = Agenda::default();
    let now: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
    let mut make = |owner: bool, change: Change| {
        agenda.apply(&change, When { now, thread: "main", owner, rules: &Rules::default() }).unwrap()
    };
    let steps = |steps: &[&str]| steps.iter().map(|step| (*step).to_owned()).collect::<Vec<_>>();
    let goal = |title: &str, list: &[&str]| {
        Change::Goal(GoalChange::Add { title: title.to_owned(), checkpoints: steps(list), cost_usd: 0.0 })
    };
    make(false, goal("know the birds", &["find a list", "name ten"]));
    let done = json!({"goal": {"do": "checkpoint", "id": "goal-1", "number": 1, "status": "done"}});
    make(false, serde_json::from_value(done).unwrap());
    make(
        false,
        Change::Task(TaskChange::Add { text: "count the swifts".to_owned(), at: now, every_s: None }),
    );
    make(false, Change::Task(TaskChange::Close { id: "task-2".to_owned(), reason: "they left".to_owned() }));
    let open = open_threads(&agenda, Some("a draft since today: 2 files, test fails".to_owned()));
    let facts = Facts { open, ended: ended(&agenda), ..facts() };
    let records = [
        record("message", json!({"from": "owner", "text": "what of the swifts?"})),
        action("web.fetch_text", false),
        action("web.fetch_text", true),
        action("web.fetch_text", false),
        action("repo.test", false),
    ];
    let text = digest(&facts, &records, None);
    for part in [
        "- owner asked: what of the swifts?\n- My source is unfinished: a draft since today: 2 files, test fails.\n",
        "- Goal goal-1, \"know the birds\": 1 of 2 steps are done, next is \"name ten\".\n",
        "- web.fetch_text failed 2 of 3 times, the last time with \"web.fetch_text broke\"; it fails still.\n",
        "- My task \"count the swifts\" ended: they left.\n",
    ] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
    assert!(!text.contains("repo.test failed"), "one failure is no pattern\n{text}");
    let later = digest(&facts, &[action("notes.write", true)], Some(&text));
    assert!(later.contains("web.fetch_text failed 2 of 3 times"), "{later}");
    let works =
        [action("web.fetch_text", false), action("web.fetch_text", false), action("web.fetch_text", true)];
    let mended = digest(&facts, &works, Some(&later));
    assert!(
        mended.contains("failed 2 of 3 times, the last time with \"web.fetch_text broke\"; it works again.")
    );
    assert_eq!(mended.matches("web.fetch_text failed").count(), 1, "{mended}");
}

/// A word on one thread was taken for answered by what was said on another.
#[test]
fn a_word_is_answered_on_its_own_thread() {
    let word = |from: &str, thread: &str, text: &str| {
        record("message", json!({"from": from, "thread": thread, "text": text}))
    };
    let records = [word("owner", "garden", "is it dry?"), word("creature", "main", "hello")];
    assert!(digest(&facts(), &records, None).contains("owner asked: is it dry?"));
    let answered = [word("owner", "garden", "is it dry?"), word("creature", "garden", "yes")];
    assert!(!digest(&facts(), &answered, None).contains("owner asked"));
}
