//! Whatever a moment or a state file holds: the same thought for the same input, a bounded one, never a panic.

use super::world::{PACE, World, said};
use ground::paths::House;
use instinct::Instinct;
use instinct::state::{Found, Source, State};
use memory::Record;
use mind::Outcome;
use mind::moment::{Moment, Word};
use serde_json::{Value, json};

#[test]
fn the_same_moment_and_state_give_the_same_thoughts() {
    let run = || {
        let list = "- [ ] map\n- [ ] frobnicate\n- [ ] every 1h: note again\nfeed: https://a.example/\n";
        let mut world = World::kept().says("status").says("hello").checklist(list);
        world.moment.news = vec!["Life 0 ended: crashed".to_owned()];
        let thoughts: Vec<_> = (0..30).flat_map(|_| world.wake()).collect();
        (thoughts, std::fs::read(world.house.instinct()).unwrap())
    };
    assert_eq!(run(), run());
}

#[test]
fn a_garbage_state_file_is_a_fresh_start() {
    let long = vec![b'['; 2 << 20];
    let files: [&[u8]; 7] = [b"", b"{", b"null", b"[1]", b"{\"jobs\": 3}", b"\xff\x00", &long];
    for bytes in files {
        let mut world = World::kept();
        memory::replace(&world.house.instinct(), bytes).unwrap();
        assert_eq!(State::read(&world.house.instinct()), State::default());
        let kept = std::fs::read_dir(world.house.mind()).unwrap().flatten();
        let kept = kept.filter(|entry| std::fs::read(entry.path()).is_ok_and(|now| now == bytes)).count();
        assert_eq!(kept, 1, "what cannot be read is kept");
        world.reborn(PACE);
        assert!(said(&world.wake()).contains("idle wakes in a row: 1."));
    }
    let world = World::kept();
    std::fs::create_dir_all(world.house.instinct()).unwrap();
    assert_eq!(State::read(&world.house.instinct()), State::default(), "a folder in its place");
}

#[test]
fn a_state_that_cannot_be_written_costs_no_thought() {
    let mut mind = Instinct::load(&House::new("/dev/null/none"), PACE);
    let moment = Moment { rest_s: (2, 300), ..Moment::default() };
    assert!(matches!(mind.think(&moment), Outcome::Thought { .. }));
}

#[test]
fn safe_mode_only_talks() {
    let list = "- [ ] snapshot\nfeed: https://a.example/\n";
    let mut world = World::new().says("read https://a.example/").checklist(list);
    world.moment.safe = true;
    world.moment.news = vec!["Life 3 ended: hung".to_owned()];
    let thoughts = world.wake();
    assert!(thoughts[0].monologue.contains("Life 3 ended: hung"));
    assert!(
        thoughts[0].monologue.contains("This is safe mode: 0 calls left out."),
        "{}",
        thoughts[0].monologue
    );
    assert!(world.told()[0].contains("safe mode"));
    let talks = |tool: &str| matches!(tool, "memory.append" | "notes.append");
    assert!(world.calls.iter().all(|call| talks(&call.tool)), "{:?}", world.calls);
}

#[test]
fn a_rehearsal_makes_no_outward_call() {
    let mut world = World::new().says("read https://a.example/").says("```diff\n+x\n```");
    world.moment.rehearsal = true;
    (0..20).for_each(|_| drop(world.wake()));
    let home = |tool: &str| tool.starts_with("notes.") || tool == "memory.append";
    assert!(world.calls.iter().all(|call| home(&call.tool)), "{:?}", world.calls);
}

/// A small generator of its own, so that a failure can be had again.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides.max(1)
    }

    fn text(&mut self) -> String {
        const PARTS: [&str; 34] = [
            "- [ ] ",
            "- [x] ",
            "every 6h: ",
            "every 99999999999999d: ",
            "read ",
            "https://",
            "http://a.example/ß",
            "feed: ",
            "page: ",
            "\n",
            "\r\n",
            "<!--",
            "-->",
            "```diff\n",
            "```",
            "+++ b/x\n",
            "note ",
            "draft ",
            "about ",
            "status",
            "Ünïcödé 🦀",
            "# Sources\n",
            "\u{0}",
            "\u{202e}",
            "(instinct:",
            " ",
            "map",
            "snapshot",
            "follow https://b.example/feed",
            "unfollow example",
            "yes",
            "no",
            "digest",
            "## Sources\n",
        ];
        let many = [3, 12, 60][self.roll(3)];
        (0..self.roll(many)).map(|_| PARTS[self.roll(PARTS.len())]).collect()
    }

    fn value(&mut self, depth: usize) -> Value {
        match self.roll(if depth == 0 { 6 } else { 8 }) {
            0 => Value::Null,
            1 => json!(self.roll(2) == 0),
            2 => json!(self.0 as i64),
            3 => json!(self.0),
            4 | 5 => json!(self.text()),
            6 => (0..self.roll(4)).map(|_| self.value(depth - 1)).collect(),
            _ => {
                const KEYS: [&str; 14] = [
                    "ok",
                    "error",
                    "hint",
                    "items",
                    "url",
                    "title",
                    "text",
                    "summary",
                    "tool",
                    "args",
                    "result",
                    "tool_calls",
                    "wake",
                    "mind",
                ];
                let pairs =
                    (0..self.roll(6)).map(|_| (KEYS[self.roll(14)].to_owned(), self.value(depth - 1)));
                Value::Object(pairs.collect())
            }
        }
    }

    fn time(&mut self) -> String {
        const TIMES: [&str; 7] = [
            "",
            "yesterday",
            "2026-05-28T20:26:40.000Z",
            "2026-05-28T20:26:41Z",
            "1969-01-01T00:00:00Z",
            "9999-12-30T22:00:00Z",
            "-009999-01-02T01:59:59Z",
        ];
        TIMES[self.roll(7)].to_owned()
    }
}

#[test]
fn no_moment_makes_it_panic_or_ramble() {
    let mut dice = Dice(7);
    for _ in 0..60 {
        let mut mind = Instinct::load(&House::new("/dev/null/none"), PACE);
        let mut records: Vec<Record> = Vec::new();
        for _ in 0..25 {
            let words = (0..dice.roll(4))
                .map(|_| Word { at: dice.time(), text: dice.text(), thread: "main".to_owned() })
                .collect();
            let moment = Moment {
                now: dice.time(),
                life: dice.0 >> dice.roll(64),
                commit: dice.text(),
                safe: dice.roll(8) == 0,
                rehearsal: dice.roll(8) == 0,
                thoughts_before: dice.0 >> dice.roll(64),
                round: dice.roll(9) as u32,
                purpose: dice.text(),
                purpose_changed: dice.roll(2) == 0,
                checklist: dice.text(),
                words,
                news: (0..dice.roll(3)).map(|_| dice.text()).collect(),
                records: records.clone(),
                rest_s: (dice.0 >> dice.roll(64), dice.0 >> dice.roll(64)),
                ..Moment::default()
            };
            let Outcome::Thought { thought, .. } = mind.think(&moment) else { panic!("no thought") };
            assert!(thought.monologue.starts_with("instinct:") && thought.monologue.chars().count() <= 2000);
            assert!(thought.tool_calls.len() <= 8 && thought.intent.chars().count() <= 200);
            assert!(!thought.tool_calls.is_empty() || thought.sleep_s > 0);
            for call in &thought.tool_calls {
                let result = dice.value(3);
                let data = json!({"tool": call.tool, "args": call.args, "result": result});
                records.push(Record { at: dice.time(), life: 1, kind: "action".to_owned(), data });
            }
            let kind = ["thought", "self_change", "death", "x"][dice.roll(4)].to_owned();
            records.push(Record { at: dice.time(), life: 1, kind, data: dice.value(3) });
            let over = records.len().saturating_sub(60);
            records.drain(..over);
        }
    }
}

#[test]
fn the_state_stays_bounded() {
    let mut state = State::default();
    for n in 0..5000_u64 {
        state.seen.push(n);
        state.handled.push(n);
        state.sources.insert(n.to_string(), Source { next_s: n as i64, ..Source::default() });
        state.change.refused.push(n.to_string());
        state.digest.found.push(Found { url: n.to_string(), ..Found::default() });
        state.offer.promised.push((n.to_string(), "main".to_owned()));
    }
    state.bound();
    assert_eq!((state.seen.len(), state.seen.last()), (1000, Some(&4999)));
    assert!(state.sources.len() <= 128 && state.sources.contains_key("4999"));
    assert!(serde_json::to_string(&state).unwrap().len() < 64 * 1024);
}
