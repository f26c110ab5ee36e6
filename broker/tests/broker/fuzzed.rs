//! Damaged and hostile input to what reads files: settings, lines of the ledger, asks; and canonical forms of any text.

use crate::dice::{Dice, tried};
use crate::policy::WHOLE;
use broker::approvals::act::{Act, Call};
use broker::approvals::asks::Asks;
use broker::ground::clock::Clock;
use broker::ground::encoding;
use broker::ledger::Entry;
use broker::ledger::chain::{self, End};
use broker::policy::Policy;
use broker::services::canonical;
use house::House;
use serde_json::json;

/// Pieces that forms stumble over.
const ODD: &[&str] = &[
    "\0",
    "\n",
    "\"",
    "'",
    "\\",
    "[",
    "]",
    "{",
    "}",
    "=",
    "#",
    ",",
    "%",
    "%2e",
    "/",
    "..",
    "-1",
    "1e999",
    "nan",
    "é",
    "\u{feff}",
    "[budget]\n",
    "true",
    "[[",
    "0x",
    "\u{202e}",
];

/// The text with some of it taken out, doubled, or replaced by something odd.
fn damaged(text: &str, dice: &mut Dice) -> String {
    let mut letters: Vec<String> = text.chars().map(String::from).collect();
    for _ in 0..=dice.roll(3) {
        let at = dice.roll(letters.len().max(1)).min(letters.len());
        let end = (at + dice.roll(9)).min(letters.len());
        let piece = match dice.roll(3) {
            0 => vec![],
            1 => letters[at..end].iter().cycle().take(2 * (end - at)).cloned().collect(),
            _ => vec![dice.pick(ODD).to_owned()],
        };
        letters.splice(at..end, piece);
    }
    letters.concat()
}

#[test]
fn settings_that_are_damaged_are_refused_or_within_their_bounds_and_no_secret_is_quoted() {
    const SECRET: &str = "sk-0123456789abcdefghijklmnop";
    tried(4_000, 20, file!(), |dice| {
        let mut lines: Vec<&str> = WHOLE.lines().collect();
        let at = dice.roll(lines.len());
        // As who puts the key where its name belongs.
        let line = lines[at].split_once('=').map(|(name, _)| format!("{name}= \"{SECRET}\""));
        if dice.roll(2) == 0
            && let Some(line) = &line
        {
            lines[at] = line;
        }
        match Policy::read(&damaged(&lines.join("\n"), dice)) {
            Ok(policy) => {
                let budget = &policy.budget;
                assert!((0.0..=1e6).contains(&budget.daily_usd), "{budget:?}");
                assert!((0.0..=100.0).contains(&budget.autonomous_percent), "{budget:?}");
            }
            Err(error) => {
                let told = format!("{error:#}");
                assert!(!told.contains(&SECRET[3..20]), "{told}");
            }
        }
    });
}

#[test]
fn a_line_of_the_ledger_that_is_damaged_anywhere_is_no_line_of_it() {
    let entry = |note: String| Entry {
        life: 7,
        event: "settle".to_owned(),
        service: "model".to_owned(),
        cost_micro_usd: Some(1_200),
        note,
        ..Entry::default()
    };
    tried(3_000, 40, file!(), |dice| {
        let length = dice.roll(20);
        let note = dice.text("ab\"\\\n,{}:é0", length);
        let (mut first, mut second) = (String::new(), String::new());
        let end =
            chain::add(&mut first, &End::default(), "2026-01-01T00:00:00Z", &entry(note.clone())).unwrap();
        chain::add(&mut second, &end, "2026-01-01T00:00:01Z", &entry(note)).unwrap();
        let line = second.trim_end();
        assert!(chain::next(line.as_bytes(), &end).is_ok(), "{line}");
        assert!(chain::next(line.as_bytes(), &End::default()).is_err(), "not after another line");
        let changed = damaged(line, dice);
        if changed != line {
            assert!(chain::next(changed.as_bytes(), &end).is_err(), "{changed}");
        }
    });
}

#[test]
fn an_ask_whose_file_is_damaged_is_lost_to_sight_or_has_other_bytes_than_its_digest() {
    let folder = tempfile::tempdir().unwrap();
    let house = House::new(folder.path());
    let file = house.ask("1");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let call = |body: &str| Call {
        service: "it".to_owned(),
        method: "POST".to_owned(),
        body: body.to_owned(),
        ..Call::default()
    };
    let act = Act::Service(call("{\"text\":\"hello\"}"));
    let stored = json!({
        "id": 1, "at": "2026-01-01T00:00:00Z", "life": 7, "state": "approved", "told": "asked", "why": "", "reason": "",
        "summary": "", "digest": act.digest(), "answers_from": 0, "may_have_happened": false, "answered_ms": 0,
        "status": null, "result": "", "act": act,
    });
    let told = serde_json::to_string_pretty(&stored).unwrap();
    let line = json!({"id": "1", "event": "asked", "digest": act.digest()}).to_string();
    let ask_of = |file_text: &str, lines: &str| {
        std::fs::write(&file, file_text).unwrap();
        std::fs::write(house.asks(), lines).unwrap();
        Asks::open(&house, Clock::default()).unwrap().get(1)
    };
    assert_eq!(ask_of(&told, &line).unwrap().act, act);
    tried(1_500, 30, file!(), |dice| {
        if let Some(ask) = ask_of(&damaged(&told, dice), &damaged(&line, dice)) {
            assert!(ask.act == act || ask.act.digest() != ask.digest, "{ask:?}");
        }
    });
}

#[test]
fn a_canonical_form_is_its_own() {
    tried(8_000, 40, file!(), |dice| {
        let text = damaged("/open/x y?a=b&c=%64&e[]=f", dice);
        if let Ok((path, _)) = canonical::path(&text) {
            assert_eq!(canonical::path(&path).unwrap().0, path, "{text:?}");
        }
        let pairs = canonical::query(&json!(text), None);
        if let Ok(pairs) = pairs {
            let again: String = pairs
                .iter()
                .map(|(name, value)| format!("{}={}", encoding::escaped(name), encoding::escaped(value)))
                .collect::<Vec<_>>()
                .join("&");
            assert_eq!(canonical::query(&json!(again), None).unwrap(), pairs, "{text:?}");
        }
    });
}
