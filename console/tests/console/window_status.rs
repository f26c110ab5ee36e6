//! What the window says of how things stand, at any width, and how it lays out what commands print.

use console::feed::shown::Verbosity;
use console::window::prompt::Prompt;
use console::window::sources::Sources;
use console::window::typed::{Typed, meant};
use console::window::view::View;
use house::moments::Place;
use house::standing::Known;
use house::terminal::Row;
use serde_json::{Value, json};
use trials::{House, SOUND};

/// What is known of a creature that rests, at a width.
fn status(columns: usize, rows: usize) -> Vec<String> {
    let now = "2026-01-02T03:04:05Z".parse().unwrap();
    let known = Known {
        runs: true,
        told: json!({"phase": "settled", "life": 7, "commit": "1a2b3c4d5e", "walls": "full"}),
        beat: json!({"life": 7, "stage": "resting", "mind": "claude"}),
        budget: json!({"caps": [{"span": "day", "cap_usd": 5.0, "spent_usd": 0.5}]}),
        asks: vec!["12".to_owned()],
        rests_until: "2026-01-02T03:20:00Z".parse().ok(),
        why_rests: "nothing waits".to_owned(),
        due: Some(("2026-01-02T09:00:00Z".parse().unwrap(), "water the plants".to_owned())),
        ..Known::default()
    };
    let view = View::new(Place::named("UTC0").unwrap(), false);
    let live = view.live(&known, &Prompt::default(), ("", ""), now, (columns, rows));
    live.lines.iter().map(ToString::to_string).collect()
}

#[test]
fn the_status_is_told_weightiest_first_and_what_finds_no_room_is_left_out_whole() {
    let [rests, ask, money] =
        ["rests until 03:20: nothing waits (claude)", "ask 12 waits: /yes 12", "$4.50 left today"];
    let due = "next 09:00 water the plants";
    assert_eq!(status(40, 15), ["rests until 03:20: nothing waits…", &format!("{ask} · {money}"), "> "]);
    assert_eq!(status(41, 24), [rests, &format!("{ask} · {money}"), due, "> "]);
    let life = "life 7 at 1a2b3c4, walls full";
    assert_eq!(status(120, 30), [rests, &format!("{ask} · {money} · {due} · {life}"), "> "]);
}

/// Found: until when it rests stood there, and never why.
#[test]
fn a_rest_says_until_when_and_why() {
    let place = Place::named("UTC0").unwrap();
    let now = "2026-01-02T03:04:05Z".parse().unwrap();
    let mut known = Known {
        runs: true,
        told: json!({"phase": "settled", "life": 7}),
        beat: json!({"life": 7, "stage": "resting", "mind": "claude"}),
        rests_until: "2026-01-02T03:20:00Z".parse().ok(),
        ..Known::default()
    };
    let says = |known: &mut Known, why: &str| {
        known.why_rests = why.to_owned();
        known.headline(now, &place).text
    };
    // A creature from before says no why.
    assert_eq!(says(&mut known, ""), "rests until 03:20 (claude)");
    assert_eq!(
        says(&mut known, "nothing waits to be done"),
        "rests until 03:20: nothing waits to be done (claude)"
    );
    known.due = Some(("2026-01-02T03:20:01Z".parse().unwrap(), "water the plants".to_owned()));
    assert_eq!(
        says(&mut known, "something is due then"),
        "rests until 03:20: then water the plants (claude)"
    );
    known.told =
        json!({"phase": "paused", "life": 7, "note": "paused; `cargo run -p guardian -- resume` goes on"});
    assert_eq!(
        says(&mut known, ""),
        "paused; `cargo run -p guardian -- resume` goes on",
        "so the page has it"
    );
    let view = View::new(Place::named("UTC0").unwrap(), false);
    let now = "2026-01-02T03:04:05Z".parse().unwrap();
    let live = view.live(&known, &Prompt::default(), ("", ""), now, (100, 30));
    assert_eq!(live.lines[0].to_string(), "paused; `/resume` goes on", "as it is typed in a window");
}

/// Found: until the next beat it was said to sense, seconds after it had gone to rest.
#[test]
fn a_rest_is_told_at_once_and_is_over_with_its_wake() {
    let house = House::new(SOUND);
    let event = |at: i64, event: &str, data: Value| {
        let at = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(at);
        json!({"at": at.to_string(), "life": 1, "event": event, "data": data}).to_string() + "\n"
    };
    let sleep = event(-1, "sleep", json!({"rest_ms": 90_000, "why": "all is done"}));
    let looked = |events: &str| {
        house.write(".self/mind/feed.jsonl", events);
        let own = house::House::new(&house.root);
        let (mut sources, _) = Sources::open(&own, None, Verbosity::Normal);
        sources.look(true);
        let told = json!({"phase": "settled", "life": 1});
        let beat = json!({"life": 1, "stage": "sensing", "mind": "shell"});
        Known { runs: true, told, beat, ..sources.known }
            .headline(jiff::Timestamp::now(), &Place::here())
            .text
    };
    let told = looked(&sleep);
    assert!(told.starts_with("rests until") && told.ends_with(": all is done (shell)"), "{told}");
    assert_eq!(looked(&(sleep + &event(0, "wakeup", json!({"why": ["a word"]})))), "sensing (shell)");
}

/// Found: what a command printed went on left of where its line began.
#[test]
fn a_long_line_goes_on_below_where_it_begins() {
    let view = View::new(Place::named("UTC0").unwrap(), false);
    let lines = |text: &str| -> Vec<String> {
        view.indented("0", text, 2, 20).iter().map(|line| line.to_string().trim_end().to_owned()).collect()
    };
    assert_eq!(lines("one two three four five"), ["  one two three four", "  five"]);
    assert_eq!(lines("   one two three four"), ["     one two three", "     four"]);
    assert_eq!(lines("          far right in it"), ["            far", "       right in it"]);
}

/// Found: `/remind` printed the answer that stood above already.
#[test]
fn a_word_by_a_commands_name_is_not_waited_for() {
    let args = |line: &str| match meant(line) {
        Typed::Run(order) => order.args.join(" "),
        other => format!("{other:?}"),
    };
    assert_eq!(args("/remind in an hour to stretch"), "remind in an hour to stretch --wait 0");
    assert_eq!(args("/say hello --wait 9"), "say hello --wait 9");
    assert_eq!(args("/remind --help"), "remind --help");
    assert_eq!(args("/mind"), "mind");
}

/// Found: where the guardian's window opened, the day stood there a second time.
#[test]
fn the_day_is_told_once_where_the_guardian_told_it() {
    let now = "2026-01-02T03:04:05Z".parse().unwrap();
    let row = Row { at: Some(now), tag: "word".to_owned(), paint: "0", text: "hello".to_owned() };
    let lines = [true, false].map(|goes_on| {
        let mut view = View::new(Place::named("UTC0").unwrap(), false);
        if goes_on {
            view.goes_on(now);
        }
        view.row(&row, &[], 80).len()
    });
    assert_eq!(lines, [1, 2]);
}

/// Found: while a word was typed the status stood there as before, and what it had done last was nowhere.
#[test]
fn the_status_stands_back_while_a_word_is_typed_and_a_rest_says_what_was_done_last() {
    let now = "2026-01-02T03:04:05Z".parse().unwrap();
    let mut known = Known {
        runs: true,
        told: json!({"phase": "settled", "life": 7, "commit": "1a2b3c4d5e"}),
        beat: json!({"life": 7, "stage": "resting", "mind": "claude"}),
        rests_until: "2026-01-02T03:20:00Z".parse().ok(),
        last: "notes.append: self/diary.md".to_owned(),
        ..Known::default()
    };
    let view = View::new(Place::named("UTC0").unwrap(), true);
    let lines = |known: &Known, typed: &str| -> Vec<(String, String)> {
        let mut prompt = Prompt::default();
        prompt.set(typed);
        let live = view.live(known, &prompt, ("", ""), now, (120, 30));
        live.lines.iter().map(|line| (line.to_string(), format!("{line:?}").to_lowercase())).collect()
    };
    for (typed, is_dim) in [("", false), ("/status", false), ("what are you", true)] {
        let shown = lines(&known, typed);
        let (prompt, status) = shown.split_last().unwrap();
        assert!(status.iter().all(|(_, style)| style.contains("dim") == is_dim), "{typed}: {status:?}");
        assert!(!prompt.1.contains("dim"), "{prompt:?}");
    }
    let told =
        |known: &Known| lines(known, "").into_iter().map(|(text, _)| text).collect::<Vec<_>>().join("\n");
    assert!(told(&known).contains("last: notes.append: self/diary.md"), "{}", told(&known));
    known.paused = "you are typing; afterwards: goal-7 count the herons".to_owned();
    assert!(
        told(&known).contains("paused: you are typing; afterwards: goal-7 count the herons"),
        "{}",
        told(&known)
    );
    known.beat = json!({"life": 7, "stage": "thinking", "mind": "claude"});
    known.rests_until = None;
    assert!(!told(&known).contains("last:"), "while it works that is no news");
    // Found: a refusal by the rate was told as a mind that is away.
    known.paused.clear();
    known.beat = json!({"life": 7, "stage": "resting", "mind": "claude", "next_try": "2026-01-02T04:00:00Z", "spent": true});
    assert!(
        told(&known).contains("its own money is spent until 04:00; a word of yours is answered"),
        "{}",
        told(&known)
    );
}

/// Found: who reads the creature's feed read no last act, and of a pause not what goes on after it.
#[test]
fn the_last_act_and_what_goes_on_after_a_pause_are_read_from_its_feed() {
    let house = House::new(SOUND);
    let event = |event: &str, data: Value| {
        json!({"at": jiff::Timestamp::now().to_string(), "life": 1, "event": event, "data": data}).to_string()
            + "\n"
    };
    let sleep =
        event("sleep", json!({"rest_ms": 90_000, "why": "x", "last_action": "notes.append: self/diary.md"}));
    let paused = event("paused", json!({"why": "you are typing", "what": "goal-7 count the herons"}));
    house.write(".self/mind/feed.jsonl", &(sleep + &paused));
    let own = house::House::new(&house.root);
    let (mut sources, _) = Sources::open(&own, None, Verbosity::Normal);
    sources.look(true);
    assert_eq!(sources.known.last, "notes.append: self/diary.md");
    assert_eq!(sources.known.paused, "you are typing; afterwards: goal-7 count the herons");
}
