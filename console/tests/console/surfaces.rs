//! What the owner's terminal is given: whole answers wrapped at words, and nothing of the creature's that steers it.

use crate::asks::{asked, ledger};
use serde_json::{Value, json};
use trials::terminal::Terminal;
use trials::{House, SOUND};

/// Clears the screen, sets a title, writes the clipboard, hides, turns around, forges lines.
const HOSTILE: &str = "x\u{1b}[2J\u{1b}]0;title\u{7}\u{1b}]52;c;aGk=\u{7}\u{1b}[8m\u{9b}31m\u{85}\u{202e}olleh\u{2066}\u{200b}\r\
    \n12:00:00 guardian FORGED\nFORGED\u{2028}FORGED\tend";

/// A text in words that each can be told from the others.
fn long_text(words: usize) -> String {
    (0..words).map(|number| format!("word{number:04}")).collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn is_whole(text: &str, words: usize, columns: usize) {
    for number in 0..words {
        let word = format!("word{number:04}");
        let count = text.split_whitespace().filter(|there| *there == word).count();
        assert_eq!(count, 1, "{word} is not there once and whole: {text}");
    }
    let wide = text.lines().find(|line| line.chars().count() > columns);
    assert_eq!(wide, None, "wider than {columns}");
}

fn answer(text: &str) -> String {
    json!({"at": "2026-01-02T03:04:05.000Z", "life": 1, "kind": "message", "data": {"from": "creature", "text": text}}).to_string()
}

/// Found: the feed and the live screen cut every line at 160 characters, and words broke in mid-letter.
#[test]
fn an_answer_is_shown_whole_and_wrapped_at_words() {
    let house = House::new(SOUND);
    house.write(".self/memory.jsonl", &format!("{}\n", answer(&format!("{} end-of-it", long_text(400)))));
    for columns in [40, 80, 200] {
        let feed = Terminal::run(house.command(&["feed"]), columns);
        let text = feed.until("end-of-it");
        feed.end();
        is_whole(&text, 400, columns.into());
        assert!(text.contains("2026"), "the day is told: {text}");
    }
    let piped = house.command(&["history", "--since", "2026-01-01"]).output().unwrap();
    assert!(piped.status.success());
}

/// What any life may have done, in words of its own.
fn at(data: Value) -> Value {
    let mut event = json!({"at": "2026-01-02T03:04:05.000Z", "life": 1});
    event.as_object_mut().unwrap().extend(data.as_object().unwrap().clone());
    event
}

fn hostile_memory() -> Vec<Value> {
    let record = |kind: &str, data: Value| at(json!({"kind": kind, "data": data}));
    vec![
        record("message", json!({"from": HOSTILE, "text": HOSTILE, "kind": HOSTILE})),
        record("thought", json!({"monologue": HOSTILE, "intent": HOSTILE})),
        record("observation", json!({"about": HOSTILE, "text": HOSTILE})),
        record(
            "thought",
            json!({"thought": 2, "wake": 1, "mind": HOSTILE, "monologue": HOSTILE, "intent": HOSTILE, "owner": true,
            "tool_calls": [{"tool": HOSTILE}, {"tool": HOSTILE}], "usage": {HOSTILE: 3}}),
        ),
        record(
            "action",
            json!({"thought": 2, "tool": HOSTILE, "args": {HOSTILE: HOSTILE}, "result": {"ok": true}}),
        ),
        record("thought", json!({"garbled": true, "error": HOSTILE})),
        record("action", json!({"tool": HOSTILE, "result": {"ok": false, "error": HOSTILE}})),
        record("action", json!({"tool": HOSTILE, "result": {"ok": true, "asked": HOSTILE}})),
        record("action", json!({"tool": HOSTILE, "result": {"ok": true, "drafted": HOSTILE}})),
        record("self_change", json!({"ok": false, "summary": HOSTILE, "stage": HOSTILE, "error": HOSTILE})),
        record("death", json!({"told": HOSTILE})),
        record("agenda", json!({"change": {"goal": {"do": HOSTILE, "title": HOSTILE}}})),
        record("agenda", json!({"session": HOSTILE, "thought": HOSTILE})),
        record("snapshot", json!({"path": HOSTILE})),
        record("observation", json!({"about": HOSTILE, "text": HOSTILE})),
        json!({"at": HOSTILE, "kind": "death", "data": {"told": "last-one"}}),
    ]
}

/// Every file the owner's commands read, as hostile as it can be.
fn fill(house: &House) {
    let memory = hostile_memory();
    let text = |records: &[Value]| records.iter().map(|record| format!("{record}\n")).collect::<String>();
    house.write(".self/memory.jsonl", &text(&memory));
    let events =
        ["life", "death", "blessed", "fall", "rescued", "commit", "broker_ended", "broker_missing", HOSTILE];
    let events = events.map(|what| {
        at(json!({"what": what, "commit": HOSTILE, "cause": HOSTILE, "ended": HOSTILE, "blame": HOSTILE, "told": HOSTILE,
                  "ref": HOSTILE, "by": HOSTILE, "summary": HOSTILE, "said": HOSTILE}))
    });
    house.write(".self/history.jsonl", &text(&events));
    house.write(".self/deaths.jsonl", &text(&events));
    let entry = at(
        json!({"event": "refuse", "service": HOSTILE, "method": HOSTILE, "path": HOSTILE, "decision": HOSTILE}),
    );
    house.write(".self/ledger.jsonl", &format!("{}{HOSTILE}", ledger(&[entry])));
    asked(house, "1", HOSTILE);
    let told = json!({"phase": HOSTILE, "note": HOSTILE, "mind": HOSTILE, "walls": HOSTILE, "commit": HOSTILE, "last_good": HOSTILE,
        "broker": {"note": HOSTILE, "running": false, "asks_waiting": 1}, "ends": [{"at": HOSTILE, "ended": HOSTILE, "cause": HOSTILE}]});
    house.write(".self/guardian.json", &told.to_string());
    house.write(
        ".self/budget.json",
        &json!({"warning": HOSTILE, "closed": HOSTILE, "stopped": {"provider": HOSTILE, "hint": HOSTILE}})
            .to_string(),
    );
    house.write(".self/guardian/lock", HOSTILE);
    let event = |event: &str| at(json!({"event": event, "data": {"why": [HOSTILE], "rest_ms": 9}}));
    house.write(".self/mind/feed.jsonl", &text(&[event("wakeup"), event("sleep"), event(HOSTILE)]));
    let beat = at(json!({"kind": "heartbeat", "data": {"wake": 1, "why": [HOSTILE]}}));
    house.write(".self/mind/bookkeeping.jsonl", &text(&[beat]));
    let said = |entry: &str| json!({"entry": entry, "text": HOSTILE, "id": HOSTILE, "at_s": 1_767_323_045, "calls": [{"tool": HOSTILE}, {"tool": HOSTILE}]});
    house.write(".self/mind/conversations/talk.jsonl", &text(&[said("said"), said("done"), said("thought")]));
    let step = json!({"text": HOSTILE, "status": HOSTILE, "reason": HOSTILE});
    let goal = |status: &str| {
        json!({"id": HOSTILE, "title": HOSTILE, "status": status, "reason": HOSTILE, "changed_at": HOSTILE, HOSTILE: HOSTILE,
        "checkpoints": [step, step]})
    };
    let agenda = json!({"goals": {"list": [goal("open"), goal("awaiting"), goal(HOSTILE)]},
        "tasks": {"list": [{"id": HOSTILE, "text": HOSTILE, "at": HOSTILE}]}});
    house.write(".self/mind/agenda.json", &agenda.to_string());
}

/// Every command that prints and ends.
pub const PAGES: &[&[&str]] = &[
    &["history", "--since", "2026-01-01"],
    &["history", "--since", "2026-01-01", "--json"],
    &["report", "--since", "2026-01-01"],
    &["report", "--since", "2026-01-01", "--json"],
    &["report", "--since", "2026-01-01", "--markdown"],
    &["backup", HOSTILE],
    &["restore"],
    &["restore", HOSTILE],
    &["update"],
    &["asks"],
    &["asks", "1"],
    &["asks", "--json", "--full"],
    &["mind"],
    &["mind", "--json"],
    &["goals"],
    &["goals", "--json"],
    &["goals", HOSTILE],
    &["skills"],
    &["skills", "--json"],
    &["skills", "check"],
    &["skills", "check", HOSTILE],
    &["skills", "check", "--json"],
    &["budget"],
    &["budget", "--json"],
    &["why"],
    &["why", "2"],
    &["why", "2", "--json"],
    &["why", HOSTILE],
    &["diff"],
    &["diff", "--json"],
    &["diff", "3"],
    &["diff", HOSTILE],
    &["rollback", "--list"],
    &["rollback", "--list", "--json"],
    &["rollback", "--dry-run", "HEAD~1"],
    &["rollback", "--dry-run", "HEAD~1", "--json"],
    &["rollback", "--dry-run", HOSTILE],
    &["approve", HOSTILE],
    &["deny", "1"],
    &["status"],
    &["status", "--json"],
    &["doctor"],
    &["doctor", "--json"],
    &["rollback", HOSTILE],
    &[HOSTILE],
    &["--help"],
];

/// An edit of its own, of lines, of a name and of a summary that steer; blessed, and fallen.
fn evil_edit(house: &House) {
    house.write(&format!("creature/{}.txt", HOSTILE.replace('/', "")), &format!("{HOSTILE}\n"));
    let edit = house.commit(&format!("self: {HOSTILE}"));
    house.git(&["update-ref", "refs/guardian/good/000003", &edit]);
    fill(house);
    let skill = json!(HOSTILE).to_string();
    house.write(
        "self/skills/evil/SKILL.md",
        &format!("---\nname: evil\n{skill}: x\ndescription: {skill}\n---\n```sh\n{HOSTILE}\n```\n"),
    );
    house.write("self/skills/evil/run", &format!("#!{HOSTILE}\n"));
    house.write(&format!("self/skills/{}/SKILL.md", HOSTILE.replace('/', "")), HOSTILE);
    let of_edit = |what: &str| {
        at(json!({"what": what, "life": 3, "commit": edit, "from_commit": edit, "told": HOSTILE}))
    };
    let events = ["life", "blessed", "examined", "fall"].map(|what| format!("{}\n", of_edit(what))).concat();
    house.write(".self/history.jsonl", &(house.read(".self/history.jsonl") + &events));
}

/// A house where a hostile creature has lived for long.
pub fn lived_in() -> House {
    let house = House::new(SOUND);
    evil_edit(&house);
    house
}

/// Found: in the first screen (`mind` of the heartbeat), the history, refusals at the start.
#[test]
fn nothing_of_the_creatures_steers_a_terminal_on_any_surface() {
    let house = House::new(SOUND);
    let hostile = json!(HOSTILE).to_string();
    let quoted = answer(&format!("{HOSTILE} {} end-of-it", long_text(60)));
    let life = format!(
        "cat > .self/mind/beat.json <<'E'\n{{\"life\":LIFE,\"pid\":1,\"turns\":1,\"thoughts\":1,\"stage\":\"x\",\"mind\":{hostile},\"own\":{hostile}}}\nE\n\
         beat() {{ sed \"s/LIFE/$FERAL_LIFE/\" .self/mind/beat.json > .self/heartbeat; }}\n\
         think() {{ :; }}\nbeat; sleep 1; cat >> .self/memory.jsonl <<'E'\n{quoted}\nE\nlive"
    );
    house.write_life(&life);
    house.commit("evil \u{1b}[2J \u{202e}");
    evil_edit(&house);
    for args in PAGES {
        let output = house.command(args).env_remove("RUST_LOG").output().unwrap();
        harmless(args, &[&output.stdout[..], &output.stderr].concat());
    }
    for args in [&["feed"][..], &["feed", "--json"], &["feed", "--since", "2026-01-01"]] {
        let feed = Terminal::run(house.command(args), 60);
        let seen = feed.until("last-one");
        feed.end();
        harmless(args, seen.as_bytes());
    }
    // The refusal at the start, and the first screen.
    let name = format!("creature/{}", HOSTILE.replace('/', ""));
    house.write(&name, "mine");
    let refused = house.command(&[]).env_remove("RUST_LOG").output().unwrap();
    assert_eq!(refused.status.code(), Some(100));
    harmless(&["start"], &refused.stderr);
    std::fs::remove_file(house.path(&name)).unwrap();
    let screen = Terminal::run(house.command(&[]), 40);
    let seen = screen.until("end-of-it");
    screen.end();
    // A frame is cleared before anything takes its place.
    let shown = |line: &str| line.rsplit("\r\u{1b}[2K").next().unwrap().to_owned() + "\n";
    let seen: String = seen.lines().map(shown).collect();
    harmless(&["live"], seen.as_bytes());
    is_whole(&seen, 60, 40);
    assert!(seen.contains("mind") && seen.contains("walls"), "{seen}");
}

#[track_caller]
fn harmless(args: &[&str], bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let steers = |letter: char| {
        letter != '\n' && (letter.is_control() || "\u{202e}\u{2066}\u{200b}\u{2028}".contains(letter))
    };
    let bad: Vec<char> = text.chars().filter(|letter| steers(*letter)).collect();
    assert!(bad.is_empty(), "{args:?} let {bad:?} through: {text}");
    let forged =
        text.lines().find(|line| line.starts_with("FORGED") || line.starts_with("12:00:00 guardian FORGED"));
    assert_eq!(forged, None, "{args:?}: {text}");
}

/// Every page at any width, in colour too: no line is wider than the terminal, and no escape but a colour of ours is there.
#[test]
fn the_owners_pages_fit_a_terminal_of_any_width() {
    let house = House::new(SOUND);
    fill(&house);
    let wide = format!("{} \u{6f22}\u{5b57} end", long_text(12));
    house.write("creature/creature.sh", &format!("echo '{wide}'\n\tindented {wide}\n"));
    let edit = house.commit(&format!("self: {wide}"));
    house.git(&["update-ref", "refs/guardian/good/000003", &edit]);
    for args in [
        &["mind"][..],
        &["goals"],
        &["budget"],
        &["why", "2"],
        &["diff"],
        &["rollback", "--list"],
        &["rollback", "--dry-run", "HEAD~1"],
        &["help"],
        &["help", "say"],
    ] {
        for columns in [40, 80, 100] {
            let text = Terminal::run(house.command(args), columns).whole();
            let too_wide = text.lines().find(|line| house::printable::columns(line) > columns.into());
            assert_eq!(too_wide, None, "{args:?} at {columns}: {text}");
            harmless(args, text.as_bytes());
            assert!(text.lines().count() > 1, "{args:?}: {text}");
            let mut coloured = house.command(args);
            coloured.env_remove("NO_COLOR");
            let painted = Terminal::run_in(coloured, columns, "").whole();
            let plain = ["0", "1", "31", "32", "36", "90"]
                .iter()
                .fold(painted.clone(), |text, paint| text.replace(&format!("\u{1b}[{paint}m"), ""));
            assert_eq!(plain, text, "{args:?} at {columns}");
            assert_eq!(args == ["diff"], painted.contains("\u{1b}[32m+"), "{args:?}: {painted:?}");
        }
    }
}

#[test]
fn no_word_of_the_creatures_steers_a_terminal() {
    let steering = "\u{1b}[2J\u{9b}1m\u{202e}\u{7}x\r\n12:00:00 guardian all is well";
    let line = house::printable::harmless(steering);
    assert!(!line.contains(['\u{1b}', '\u{9b}', '\u{202e}', '\u{7}', '\r']), "{line:?}");
    assert!(line.lines().skip(1).all(|line| line.starts_with("    ")), "{line:?}");
    let place = house::moments::Place::named("UTC0").unwrap();
    let mut screen = house::terminal::Screen::new(None, false, place);
    for kind in ["thought", steering] {
        let record = serde_json::json!({"at": "2026-01-01T\u{1b}[2J\u{1b}[H..", "kind": kind, "data":
            {"monologue": "\u{202e}x", "intent": ""}});
        let line = screen.lines(&console::feed::row(&record).unwrap()).remove(0);
        assert!(line.chars().all(|letter| !letter.is_control() && letter != '\u{202e}'), "{line:?}");
    }
    let house = House::new("live");
    house.write(".self/guardian.json", &serde_json::json!({"phase": "x", "mind": steering}).to_string());
    for args in [&["status"][..], &["status", "--json"]] {
        let said = String::from_utf8(house.ask(args).stdout).unwrap();
        assert!(!said.contains(['\u{1b}', '\u{9b}', '\u{202e}', '\u{7}', '\r']), "{said:?}");
    }
}
