//! What a model is shown: caps hold for anything, the latest failure stays, the same moment gives the same text.

use creature::mind::context::{Caps, choose, head, shorten};
use creature::mind::moment::{Moment, Word};
use creature::mind::prompt;
use memory::Record;
use model::Wire;
use serde_json::{Value, json};

/// A small generator of numbers; the same seed gives the same run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn text(&mut self, most: u64) -> String {
        let length = self.roll(most);
        (0..length)
            .map(|_| ['a', ' ', '\n', 'ü', '漢', '🦀', '"', '\\', '\u{0}', '\u{301}'][self.roll(10) as usize])
            .collect()
    }

    fn record(&mut self) -> Record {
        let kind = ["thought", "action", "observation", "self_change", "death", "message", "of tomorrow"];
        let data = match self.roll(4) {
            0 => {
                json!({"tool": self.text(20), "args": {"a": self.text(4_000)}, "result": {"ok": self.roll(2) == 0, "error": self.text(3_000)}})
            }
            1 => {
                json!({"monologue": self.text(4_000), "intent": self.text(100), "told": self.text(9), "ok": false})
            }
            2 => json!([self.text(50), {"deep": [self.text(50)]}]),
            _ => Value::Null,
        };
        Record { at: self.text(30), life: self.roll(9), kind: kind[self.roll(7) as usize].to_owned(), data }
    }

    fn moment(&mut self) -> Moment {
        Moment {
            now: memory::now(),
            purpose: self.text(20_000),
            checklist: self.text(8_000),
            scratch: self.text(9_000),
            snapshot: (self.roll(2) == 0).then(|| self.text(9_000)),
            words: (0..self.roll(40))
                .map(|_| Word { at: self.text(90), text: self.text(9_000), thread: self.text(9) })
                .collect(),
            news: (0..self.roll(20)).map(|_| self.text(3_000)).collect(),
            records: (0..self.roll(300)).map(|_| self.record()).collect(),
            ..Moment::default()
        }
    }
}

#[test]
fn the_caps_hold_for_anything() {
    for seed in 0..16 {
        let mut dice = Dice(seed);
        let moment = dice.moment();
        let size = |most: u64, dice: &mut Dice| dice.roll(most) as usize;
        let caps = match seed % 2 {
            0 => Caps::default(),
            _ => Caps {
                purpose: size(500, &mut dice),
                snapshot: size(500, &mut dice),
                checklist: size(90, &mut dice),
                scratch: size(90, &mut dice),
                words: size(500, &mut dice),
                news: size(500, &mut dice),
                records: size(3_000, &mut dice),
                record: size(500, &mut dice),
                most_records: size(300, &mut dice),
            },
        };
        let parts = choose(&moment, &caps);
        for (what, text, most) in [
            ("purpose", &parts.purpose, caps.purpose),
            ("snapshot", &parts.snapshot, caps.snapshot),
            ("checklist", &parts.checklist, caps.checklist),
            ("scratch", &parts.scratch, caps.scratch),
            ("words", &parts.words, caps.words),
            ("news", &parts.news, caps.news),
            ("records", &parts.records, caps.records),
        ] {
            assert!(
                text.chars().count() <= most,
                "seed {seed}: {what} has {} of {most}",
                text.chars().count()
            );
        }
        assert_eq!(choose(&moment, &caps), parts, "seed {seed}: another text for the same moment");
        let whole = prompt::standing(&parts) + &prompt::situation(&moment, &parts);
        assert!(whole.chars().count() < 52_000);
    }
}

fn action(tool: &str, ok: bool, size: usize) -> Record {
    let result = match ok {
        true => json!({"ok": true, "text": "x".repeat(size)}),
        false => json!({"ok": false, "error": format!("the {tool} broke"), "hint": "mend it"}),
    };
    Record::new(1, "action", json!({"thought": 1, "tool": tool, "args": {}, "result": result}))
}

#[test]
fn the_latest_failure_stays_however_old_it_is() {
    let mut records = vec![action("older", false, 0), action("lathe", false, 0)];
    records.extend((0..400).map(|_| action("saw", true, 5_000)));
    let parts = choose(&Moment { records, ..Moment::default() }, &Caps::default());
    assert!(parts.records.contains("latest failure") && parts.records.contains("the lathe broke"));
    assert!(!parts.records.contains("the older broke"));
    assert!(parts.records.contains("older records left out"));
}

#[test]
fn the_newest_records_are_kept_and_oldest_come_first() {
    let records: Vec<Record> = (0..300).map(|n| action(&format!("tool-{n}-"), true, 10)).collect();
    let text = choose(&Moment { records, ..Moment::default() }, &Caps::default()).records;
    assert!(text.contains("tool-299-") && text.contains("tool-100-") && !text.contains("tool-99-"));
    assert!(text.find("tool-298-") < text.find("tool-299-"));
    assert!(text.contains("(100 older records left out)"), "{}", head(&text, 100));
}

#[test]
fn of_many_short_lines_the_newest_are_whole() {
    let news = (0..900).map(|n| format!("{n:03}")).collect();
    let moment = Moment { news, ..Moment::default() };
    let text = choose(&moment, &Caps { news: 500, ..Caps::default() }).news;
    assert!(text.trim_end().ends_with("899") && !text.contains("more characters"), "{text}");
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
    for (wire, args) in [(Wire::Anthropic, "args_json"), (Wire::OpenAi, "args")] {
        let system = prompt::system(wire, tools);
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
    let moment =
        Moment { safe: true, purpose_changed: true, commit: "0123456789".to_owned(), ..Moment::default() };
    let text = prompt::situation(&moment, &choose(&moment, &Caps::default()));
    for part in ["safe mode", "PURPOSE.md changed", "commit 0123456,", "round 1 of 8"] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}
