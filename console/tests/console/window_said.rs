//! What the creature says, as the window has it: an answer once and rendered, a greeting that stays, one truth of how it stands.

use crate::asks::asked;
use crate::driven::Driven;
use crate::page_stream::locked;
use crate::window::{steers, words};
use console::feed::once::Once;
use console::feed::row;
use console::window::markdown::laid;
use console::window::typed::plain_answer;
use house::moments::Place;
use house::printable;
use house::standing::Known;
use serde_json::{Value, json};
use std::io::Write;
use trials::{House, SOUND, said};

const ANSWER: &str =
    "I would read the release notes of sqlite first.\nMy sources cannot be reached; shall I try again?";

fn record(kind: &str, data: Value) -> Value {
    json!({"at": "2026-01-02T03:04:05.000Z", "life": 1, "kind": kind, "data": data})
}

fn thought(monologue: &str, intent: &str) -> Value {
    record("thought", json!({"monologue": monologue, "intent": intent, "owner": true, "tool_calls": []}))
}

fn answer(text: &str) -> Value {
    record("message", json!({"from": "creature", "kind": "answer", "thread": "main", "text": text}))
}

fn remember(house: &House, records: &[Value]) {
    let path = house.path(".self/memory.jsonl");
    let mut memory = std::fs::File::options().create(true).append(true).open(path).unwrap();
    // In one piece, as it would be read in one look.
    let text: String = records.iter().map(|record| format!("{record}\n")).collect();
    memory.write_all(text.as_bytes()).unwrap();
}

fn attached(house: &House, args: &[&str], (columns, rows): (u16, u16)) -> Driven {
    let mut command = house.command(&[&["window"], args].concat());
    command.env("NO_COLOR", "1");
    let window = Driven::start(command, columns, rows);
    window.prompts();
    window
}

fn told(record: &Value) -> String {
    row(record).unwrap().text
}

/// Found: each answer stood there three times, twice of these in one row.
#[test]
fn an_answer_stands_there_once() {
    let flat = ANSWER.replace('\n', " ");
    assert_eq!(told(&thought(ANSWER, &flat)), flat, "of two that say the same one is told");
    assert_eq!(told(&thought(ANSWER, "I would read the release notes …")), flat);
    assert_eq!(told(&thought("I rest", "I rest until nine")), "I rest until nine");
    assert_eq!(told(&thought("", "look around")), "look around");
    assert_eq!(told(&thought("Quiet here.", "look around")), "Quiet here. — look around");
    let house = House::new(SOUND);
    let window = attached(&house, &["--verbosity", "normal"], (100, 30));
    remember(&house, &[thought(ANSWER, &flat)]);
    remember(&house, &[answer(ANSWER), record("observation", json!({"about": "x", "text": "the end"}))]);
    let screen = window.shows("the end");
    assert_eq!(screen.matches("release notes of sqlite").count(), 1, "{screen}");
    // A thought that no answer follows is shown all the same.
    remember(&house, &[thought("an unheard musing", "")]);
    window.shows("an unheard musing");
}

#[test]
fn a_thought_is_passed_over_for_the_answer_that_says_it_and_for_nothing_else() {
    let now = "2026-01-02T03:04:05Z".parse().unwrap();
    let later = "2026-01-02T03:04:08Z".parse().unwrap();
    let (said, other) = (thought(ANSWER, ""), answer("something else"));
    let mut once = Once::default();
    assert_eq!(once.of(vec![said.clone(), answer(ANSWER)], now), [answer(ANSWER)]);
    assert_eq!(once.of(vec![said.clone()], now), [] as [Value; 0]);
    assert_eq!(once.of(vec![answer(ANSWER)], now), [answer(ANSWER)], "over two looks too");
    assert_eq!(once.of(vec![said.clone(), other.clone()], now), [said.clone(), other]);
    assert!(once.of(vec![said.clone()], now).is_empty());
    assert_eq!(once.of(vec![], later), std::slice::from_ref(&said), "where none came");
    let own = record("thought", json!({"monologue": "mine", "owner": false}));
    assert_eq!(once.of(vec![own.clone()], now), [own], "none is waited for");
}

/// The text of what is laid out, a line each.
fn plain(text: &str, columns: usize) -> Vec<String> {
    let lines = laid(text, columns, columns, false);
    lines.iter().map(|spans| spans.iter().map(|span| span.text.as_str()).collect()).collect()
}

/// Found: markdown stood there as it was written, and while it streamed its line breaks were lost.
#[test]
fn markdown_is_rendered_at_every_width() {
    let text = "## Three that lasted\n1. **ed**, a line\n   editor\n2. `make`\n\n| tool | born |\n|---|---|\n| ed | 1969 |\n| make | 1976 |\n\n\
                ```rust\nfn main() {}\n\n```\nsee [its page](https://example.org/ed) and <https://example.org>\n- one\n  - two";
    let expected = [
        "Three that lasted",
        "",
        "1. ed, a line",
        "   editor",
        "2. `make`",
        "",
        "tool │ born",
        "ed   │ 1969",
        "make │ 1976",
        "",
        "rust",
        "  fn main() {}",
        "",
        "see its page (https://example.org/ed) and https://example.org",
        "",
        "• one",
        "  • two",
    ];
    assert_eq!(plain(text, 100).iter().map(|line| line.trim_end()).collect::<Vec<_>>(), expected);
    let bold = laid("a **b** `c`", 80, 80, true);
    let paints: Vec<(&str, &str)> =
        bold[0].iter().map(|span| (span.paint.as_str(), span.text.as_str())).collect();
    assert_eq!(paints, [("", "a "), ("1", "b"), ("", " "), ("36", "c")]);
    // A table that finds no room is told cell by cell, and none is lost.
    let narrow =
        plain(&format!("| tool | what it is |\n|---|---|\n| ed | {} |", "long ".repeat(20)), 40).join("\n");
    assert!(narrow.contains("tool: ed\nwhat it is: long long"), "{narrow}");
    for columns in [16, 40, 60, 80] {
        for line in plain(&format!("{text}\n\n> {}", "wörter 日本 ".repeat(30)), columns) {
            assert!(printable::columns(&line) <= columns, "{columns}: {line}");
        }
    }
    // Nothing is lost and nothing steers: also not what a text names by its number.
    let hostile = "a&#27;[2J \u{1b}[8m &#x202e; <b onclick=x>raw</b> ![pic](http://x/y) [^1] `\u{9b}31m`\n\n[link]: http://x";
    let told = plain(hostile, 200).join("\n");
    assert!(told.chars().all(|letter| !steers(&letter)), "{told:?}");
    for part in ["\\u{1b}[2J", "\\u{1b}[8m", "\\u{202e}", "<b onclick=x>raw</b>", "pic (http://x/y)", "[^1]"]
    {
        assert!(told.contains(part), "{part} is not in {told}");
    }
    for broken in ["**", "|a|\n|-|", "```", "- \n  - \n    > ```\n", "[](", "\u{200b}", ""] {
        let _ = plain(broken, 20);
    }
}

#[test]
fn an_answer_is_rendered_on_the_screen_and_the_stream_keeps_its_lines() {
    let house = House::new(SOUND);
    for (columns, rows) in [(100, 30), (80, 24), (60, 20)] {
        let window = attached(&house, &[], (columns, rows));
        remember(&house, &[answer("## Three\n1. **ed**\n2. `make`\n\n| a | b |\n|---|---|\n| 1 | 2 |")]);
        let screen = window.shows("1 │ 2");
        assert!(screen.contains("1. ed") && !screen.contains("**") && !screen.contains("##"), "{screen}");
        assert!(!screen.contains("creature:"), "its tag says whose it is: {screen}");
    }
    house.write(".self/guardian.json", &json!({"phase": "settled", "life": 1}).to_string());
    house.write(".self/heartbeat", &json!({"life": 1, "stage": "thinking", "mind": "claude"}).to_string());
    let _lock = locked(&house);
    let window = attached(&house, &[], (80, 24));
    house.write(".self/mind/thinking.txt", "## Three\n1. **ed**\n2. **make**");
    window.until("its lines", |screen| screen.contains("│ 1. **ed**\n│ 2. **make**"));
    // Found: once the stream was over, blank lines were left under the prompt.
    house.write(".self/heartbeat", &json!({"life": 1, "stage": "resting", "mind": "claude"}).to_string());
    let screen =
        window.until("its end", |screen| screen.contains("rests (claude)") && !screen.contains("│ 1."));
    let (row, _) = window.cursor();
    assert!(screen.lines().skip(usize::from(row) + 1).all(|line| line.trim().is_empty()), "{screen}");
    remember(&house, &[answer("so it is")]);
    window.shows("so it is");
    assert_eq!(window.cursor().0, row, "the prompt stays where it is: {}", window.screen());
}

fn known(stage: &str, beat: Value, events: Value) -> Known {
    let mut told = json!({"life": 1, "stage": stage, "mind": "claude"});
    told.as_object_mut().unwrap().extend(beat.as_object().unwrap().clone());
    let caps = json!({"caps": [{"span": "day", "cap_usd": 0.3, "spent_usd": 0.44}, {"span": "week", "cap_usd": 20.0, "spent_usd": 1.0}]});
    Known {
        runs: true,
        told: json!({"phase": "settled", "life": 1, "note": "alive and trusted"}),
        beat: told,
        budget: caps,
        is_for_owner: events["owner"] == true,
        woke: "2026-01-02T03:04:02Z".parse().ok(),
        failed: events["failed"].as_str().unwrap_or_default().to_owned(),
        spent_usd: events["spent"].as_f64().unwrap_or(0.0),
        ..Known::default()
    }
}

/// Found: a mind that streamed its answer was told as away, and one whose money was spent as down.
#[test]
fn what_keeps_a_mind_is_told_as_it_is_and_work_under_way_before_all_of_it() {
    let (now, place) = ("2026-01-02T03:04:05Z".parse().unwrap(), Place::named("UTC0").unwrap());
    let later = "2026-01-02T04:00:00Z";
    let head =
        |stage: &str, beat: Value, events: Value| known(stage, beat, events).headline(now, &place).text;
    let owner = json!({"owner": true, "spent": 0.02});
    for (stage, beat, events, wanted) in [
        ("thinking", json!({"next_try": later}), owner.clone(), "answering you … 3 s, $0.02"),
        ("acting", json!({"next_try": later, "spent": true}), owner, "answering you … 3 s, $0.02"),
        ("thinking", json!({"next_try": later}), json!({}), "claude thinks"),
        ("resting", json!({"next_try": later}), json!({}), "claude does not answer; asked again at 04:00"),
        (
            "resting",
            json!({"next_try": later, "spent": true}),
            json!({}),
            "its own money is spent until 04:00; a word of yours is answered",
        ),
        (
            "resting",
            json!({"next_try": later}),
            json!({"failed": "budget"}),
            "today's $0.30 are spent ($0.44); back at 04:00, or raise [budget]",
        ),
        ("resting", json!({"next_try": "2026-01-02T03:00:00Z"}), json!({}), "rests (claude)"),
    ] {
        assert_eq!(head(stage, beat, events), wanted);
    }
    let mut stopped = known("resting", json!({"next_try": later}), json!({}));
    stopped.budget = json!({"stopped": {"provider": "anthropic", "status": 402, "hint": "top up the account, then say a word"}});
    assert_eq!(stopped.headline(now, &place).text, "no model is asked: top up the account, then say a word");
    let mut capped = known("resting", json!({"next_try": later}), json!({"failed": "budget"}));
    capped.budget["resets_at"] = "2026-01-02T05:00:00Z".into();
    assert!(capped.headline(now, &place).text.contains("back at 05:00"), "when the day begins anew");
    // A word that is said while it works on something of its own is what it works on.
    let mut heard = known("thinking", json!({}), json!({}));
    heard.said = "2026-01-02T03:04:04Z".parse().ok();
    assert_eq!(heard.headline(now, &place).text, "answering you … 1 s");
}

/// Found: four answers to "does it work?", each by another command.
#[test]
fn every_command_says_the_same_of_how_it_stands() {
    let until = (jiff::Timestamp::now() + jiff::SignedDuration::from_hours(2)).to_string();
    let life = format!(
        "beat() {{ printf '{{\"life\":%s,\"pid\":1,\"turns\":1,\"thoughts\":1,\"stage\":\"resting\",\"mind\":\"shell\",\"next_try\":\"{until}\",\"spent\":true}}\\n' \
         \"$FERAL_LIFE\" > .self/heartbeat; }}; {SOUND}"
    );
    let house = House::new(&life);
    let guardian = house.start();
    house.until("it lives", || house.status()["phase"] == "settled" && !house.thoughts().is_empty());
    house.write(
        ".self/budget.json",
        &json!({"caps": [{"span": "day", "cap_usd": 5, "spent_usd": 1}]}).to_string(),
    );
    let sentence = "its own money is spent until";
    for args in [["status"], ["mind"], ["budget"]] {
        // A look between two beats of a shell, which empties the file first, finds nobody.
        house.until(&format!("{args:?} to say it"), || {
            let told = said(&house.ask(&args));
            told.contains(sentence) && !told.contains("away")
        });
    }
    let status = said(&house.ask(&["status"]));
    assert!(!status.contains("phase") && !status.contains(&house.git(&["rev-parse", "HEAD"])), "{status}");
    attached(&house, &[], (100, 30)).shows(sentence);
    guardian.stop();
}

/// Found: an ask was told three times, in three vocabularies, and a plain yes went to the model.
#[test]
fn an_ask_stands_there_once_and_a_plain_yes_says_what_approves_it() {
    let house = House::new(SOUND);
    let mut command = house.command(&[]);
    command.env("NO_COLOR", "1");
    let guardian = Driven::start(command, 100, 40);
    guardian.prompts();
    guardian.shows("life 1 at");
    let body = r#"{"to":"ann@example.org","title":"Hello","lines":["a","b"]}"#;
    asked(&house, "1", body);
    let acted = json!({"tool": "service.execute", "result": {"ok": true, "asked": "1"}});
    remember(&house, &[record("action", acted), answer("I have asked you")]);
    guardian.shows("I have asked you");
    let screen = guardian.shows("whom     to: ann@example.org");
    for part in ["what     POST https://api.example/2/tweets", "where    x", "title    Hello"] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    assert!(!screen.contains("ASKS YOU") && !screen.contains("asks you first"), "{screen}");
    guardian.line("yes");
    guardian.shows("a plain yes approves nothing: /yes 1");
    assert_eq!(words(&house), [] as [String; 0], "nothing was said");
    // It may be the answer to something else.
    guardian.keys("\r");
    house.until("the word", || words(&house) == ["yes"]);
    guardian.line("/yes 1");
    let screen = guardian.shows("exactly that is ask 1");
    assert!(screen.contains("bytes: /asks 1 --full") && !screen.contains("answers_from"), "{screen}");
    assert_eq!(
        plain_answer("Yes!", &["1".to_owned(), "2".to_owned()]).unwrap().split(';').next(),
        Some("a plain yes approves nothing: /asks lists them")
    );
    assert_eq!(plain_answer("yes, and then some", &["1".to_owned()]), None);
    assert_eq!(plain_answer("yes", &[]), None);
}

/// A body is told by its fields only where these are all of it.
#[test]
fn a_body_whose_fields_hide_something_is_told_as_it_is() {
    let told = |body: &str| -> Vec<(String, String)> {
        console::asks::told(
            &json!({"kind": "service", "method": "POST", "url": "https://x/y", "service": "x", "body": body}),
        )
    };
    let has = |body: &str, name: &str| told(body).iter().any(|(field, _)| field == name);
    assert!(has(r#"{"text":"hello"}"#, "text"));
    assert!(has("{ \"text\" :\n \"hello\" }", "text"), "spaces between parts hide nothing");
    for odd in [r#"{"to":"a","to":"b"}"#, r#"{"text":"\u0068ello"}"#, "[1]", "{}", "text=hello"] {
        assert!(told(odd).contains(&("body".to_owned(), odd.to_owned())), "{odd}: {:?}", told(odd));
    }
    let purpose = console::asks::told(&json!({"kind": "purpose", "text": "live well"}));
    assert_eq!(
        purpose,
        [("what", "rewrite PURPOSE.md"), ("text", "live well")]
            .map(|(name, text)| (name.to_owned(), text.to_owned()))
    );
}

/// Greets before it beats, and does a good deal then.
const GREETS: &str = r#"
say() { printf '{"at":"2026-01-01T00:00:00.000Z","life":%s,"kind":"message","data":{"from":"creature","kind":"greeting","thread":"main","text":"%s"}}\n' "$FERAL_LIFE" "$1" >> .self/memory.jsonl; }
act() { printf '{"at":"2026-01-01T00:00:01.000Z","life":%s,"kind":"action","data":{"tool":"notes.write","result":{"ok":true}}}\n' "$FERAL_LIFE" >> .self/memory.jsonl; }
[ -e .self/workspace/greeted ] || { touch .self/workspace/greeted; say 'I am Feral; say **yes** and I follow Rust Blog.'; for n in 1 2 3 4 5 6 7; do act; done; }
think alive; until [ -e .self/workspace/go ]; do beat; sleep 0.05; done; for n in 1 2 3 4 5; do act; done; live
"#;

/// Found: the only sentence that tells a newcomer what to do was passed over for its bookkeeping.
#[test]
fn a_greeting_is_the_last_thing_above_the_prompt_of_a_first_life() {
    let house = House::new(GREETS);
    let mut command = house.command(&[]);
    command.env("NO_COLOR", "1");
    let guardian = Driven::start(command, 80, 24);
    guardian.shows("type here: a word to it, or /help");
    let screen = guardian.shows("say yes and I follow Rust Blog");
    assert!(!screen.contains("notes.write") && !screen.contains("passed over"), "{screen}");
    let at = |part: &str| screen.find(part).unwrap_or_else(|| panic!("{part} is not in {screen}"));
    assert!(at("earlier lines: /feed") < at("I follow Rust Blog"), "{screen}");
    house.write(".self/workspace/go", "");
    house.until("all of it", || house.read(".self/memory.jsonl").matches("notes.write").count() == 12);
    guardian.shows("blessed");
    let screen = guardian.shows("I follow Rust Blog");
    assert!(!screen.contains("notes.write"), "nothing pushes it up: {screen}");
    // Once the owner has said something, what was held back is counted, and acts are shown.
    guardian.line("hello");
    guardian.shows("you: hello");
    guardian.until("what it did meanwhile", |screen| screen.matches("earlier line").count() == 2);
    remember(&house, &[record("action", json!({"tool": "page.look", "result": {"ok": true}}))]);
    guardian.shows("page.look ok");
}
