//! A house of ten lives that holds everything the page shows, and in each text of the creature's and of others what would steer a page.

use crate::page::repository::{Commit, commit, fallen, git, rung};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::Path;
use trials::{House, SOUND};

/// Ends every element it may stand in, makes others, runs scripts, turns around, hides, steers a terminal. Each way names
/// itself by another number.
const HOSTILE: &str = "<script>window.pwned=1</script></title></textarea></pre></style></svg></a></table></select>\
    <img src=x onerror=\"window.pwned=2\"><svg onload=\"window.pwned=3\"><b id=\"made\">bold</b>\"onmouseover=\"window.pwned=4\" \
    'onfocus='window.pwned=5' autofocus <a id=\"made\" href=\"javascript:window.pwned=6\">go</a> &lt;i&gt; &amp; {{7*7}} ${pwned} -->]]> \
    \u{1b}[2J\u{1b}]0;title\u{7} \u{202e}olleh\u{2066}\u{200b}\u{2028}<iframe srcdoc=\"<script>parent.pwned=7</script>\"></iframe>\
    <form action=\"/link/new\" method=post><input name=act></form><meta http-equiv=refresh content=\"0;url=/pwned\"><base href=\"//evil.test/\">\
    \n12:00:00 guardian FORGED end-of-it";

/// What stands of it in a name, a path or a summary: one line, no slash.
const NAME: &str = "<img src=x onerror=window.pwned=8>\"onmouseover=\"window.pwned=9";

/// A secret of the owner's, that nothing to be shown to others may hold.
const SECRET: &str = "sk-live-0123456789abcdefghijklmnopqrstuv";

const HOUR_S: i64 = 3_600;
const LIVES: u64 = 10;
const LIFE_S: i64 = 6 * HOUR_S;

struct Lived {
    house: House,
    now_s: i64,
    memory: Vec<Value>,
    ledger: Vec<Value>,
    bookkeeping: Vec<Value>,
    feed: Vec<Value>,
    conversation: Vec<Value>,
    thoughts: u64,
    wakes: u64,
}

pub fn make(folder: &Path) -> Value {
    fs::create_dir_all(folder).unwrap();
    let now_s = jiff::Timestamp::now().as_second();
    let mut lived = Lived {
        house: House::new_in(folder, SOUND),
        now_s,
        memory: vec![],
        ledger: vec![],
        bookkeeping: vec![],
        feed: vec![],
        conversation: vec![json!({"entry": "head", "head": {}})],
        thoughts: 0,
        wakes: 0,
    };
    lived.house.write(".gitignore", "/target/\n.env\n");
    let commits = lived.commits();
    for life in 1..=LIVES {
        lived.life(life);
    }
    lived.guarded(&commits);
    lived.asks();
    lived.papers();
    lived.state(&commits);
    let (thoughts, wakes) = (lived.thoughts, lived.wakes);
    let House { folder: kept, root } = lived.house;
    let _ = kept.keep();
    json!({"root": root, "hostile": HOSTILE, "name": NAME, "secret": SECRET, "lives": LIVES, "thoughts": thoughts, "wakes": wakes,
        "commits": commits, "open_asks": ["4", "5", "6"], "closed_asks": ["1", "2", "3"], "rungs": [1, 2, 3, 4]})
}

fn at(at_s: i64) -> String {
    format!("{:.3}", jiff::Timestamp::from_second(at_s).unwrap())
}

fn lines(house: &House, path: &str, records: &[Value]) {
    house.write(path, &records.iter().map(|record| format!("{record}\n")).collect::<String>());
}

/// A ledger whose chain holds.
fn chained(entries: &[Value]) -> String {
    let (mut text, mut prev) = (String::new(), "0".repeat(64));
    for (at, entry) in entries.iter().enumerate() {
        let entry = entry.to_string();
        let body = format!("{{\"seq\":{},{},\"prev\":\"{prev}\"", at + 1, &entry[1..entry.len() - 1]);
        let digest = Sha256::digest(format!("{body}}}").as_bytes());
        prev = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        text.push_str(&format!("{body},\"hash\":\"{prev}\"}}\n"));
    }
    text
}

impl Lived {
    /// The moment a life begins.
    fn begun(&self, life: u64) -> i64 {
        self.now_s - (LIVES + 1 - life) as i64 * LIFE_S
    }

    /// Six commits: four that were blessed, one that fell, and the way back; one names and holds what is hostile.
    fn commits(&self) -> Vec<String> {
        let sh = |text: &str| format!("#!/bin/sh\n# {text}\nthink alive; live\n");
        let of = |life: u64, by: &'static str, message: String, files: Vec<(String, String)>| Commit {
            message,
            at_s: self.begun(life) - 60,
            by,
            files,
        };
        let creature = |text: &str| ("creature/creature.sh".to_owned(), sh(text));
        let commits = [
            of(1, "owner", "a house to live in".into(), vec![creature("first")]),
            of(2, "self", "self: rest longer".into(), vec![creature("rest longer")]),
            of(
                4,
                "self",
                format!("self: {NAME} </title><script>window.pwned=10</script>\n\n{HOSTILE}\n"),
                vec![creature(HOSTILE), (format!("creature/{NAME}.txt"), format!("{HOSTILE}\n"))],
            ),
            of(
                5,
                "self",
                "self: look at herons first".into(),
                vec![creature("herons first"), ("creature/herons.txt".into(), "grey\nwhite\n".into())],
            ),
            of(6, "self", "self: think without a pause".into(), vec![creature("no pause\nexit 101")]),
            of(
                9,
                "guardian",
                "guardian: put creature back after 3 deaths".into(),
                vec![creature("herons first")],
            ),
        ];
        let hashes = commit(&self.house.root, &commits);
        for (number, at) in [(1, 0), (2, 1), (3, 2), (4, 3)] {
            rung(&self.house.root, number, &hashes[at]);
        }
        fallen(&self.house.root, &hashes[4]);
        hashes
    }

    fn life(&mut self, life: u64) {
        let begun = self.begun(life);
        self.remember(
            begun,
            life,
            "observation",
            json!({"about": "birth", "text": format!("life {life} begins, {HOSTILE}"), "life": life}),
        );
        let why = ["a word of the owner's", HOSTILE, "it is time", "an event waits", "its draft passed"];
        for wake in 0..3 {
            let from = begun + 60 + wake * 5_000;
            self.wakes += 1;
            let why = json!([why[(self.wakes % 5) as usize]]);
            self.bookkeeping.push(json!({"at": at(from), "life": life, "kind": "heartbeat", "data": {"wake": self.wakes, "thoughts": 3, "why": why}}));
            self.feed.push(json!({"at": at(from), "life": life, "event": "wakeup", "data": {"wake": self.wakes, "why": why}}));
            for round in 0..3 {
                self.thought(from + round * 300, life, round);
            }
            self.feed.push(json!({"at": at(from + 1_000), "life": life, "event": "sleep", "data": {"rest_ms": 4_000_000}}));
        }
        self.others(begun + 16_500, life);
    }

    fn remember(&mut self, at_s: i64, life: u64, kind: &str, data: Value) {
        self.memory.push(json!({"at": at(at_s), "life": life, "kind": kind, "data": data}));
    }

    /// A thought with what was put to it, its acts and its cost; every third is hostile through and through.
    fn thought(&mut self, at_s: i64, life: u64, round: i64) {
        self.thoughts += 1;
        let (number, owner, wake) = (self.thoughts, self.wakes.is_multiple_of(2), self.wakes);
        let said = match number % 3 {
            0 => format!("{HOSTILE}\nsecond line of thought {number}"),
            _ => format!(
                "The herons nest in the reeds; I count them again.\nThis is thought {number}, and it goes on for a while, so that it must be wrapped somewhere on a small screen."
            ),
        };
        let tool = if number % 3 == 0 { NAME } else { "web.fetch_text" };
        self.conversation.push(json!({"entry": "said", "text": format!("The situation before thought {number}. {HOSTILE}"), "life": life, "at_s": at_s - 30, "shown": {}}));
        self.conversation.push(json!({"entry": "thought", "raw": {}, "calls": [{"id": "c", "tool": tool}, {"id": "d", "tool": "repo.read"}], "tokens": 9, "at_s": at_s - 20}));
        self.remember(at_s, life, "thought", json!({"mind": "anthropic/some-model", "thought": number, "wake": wake, "round": round,
            "monologue": said, "intent": if number % 3 == 0 { HOSTILE } else { "look further" },
            "tool_calls": [{"tool": tool, "args": {"url": HOSTILE}}, {"tool": "repo.read", "args": {"path": NAME}}],
            "sleep_s": 90, "usage": {"input_tokens": 1_000, "output_tokens": 200}, "owner": owner}));
        self.remember(at_s + 20, life, "action", json!({"thought": number, "tool": tool, "args": {"url": "https://herons.example/page"},
            "result": {"ok": true, "text": format!("<html><title>herons</title>{HOSTILE}</html> with key {SECRET}")}}));
        self.remember(
            at_s + 40,
            life,
            "action",
            json!({"thought": number, "tool": "repo.read", "args": {"path": NAME},
            "result": {"ok": false, "error": format!("{NAME} does not exist"), "hint": HOSTILE}}),
        );
        let class = if owner { "owner" } else { "autonomous" };
        for (event, cost, after) in [("reserve", 90_000, -20), ("settle", 10_000 + 700 * number, 0)] {
            let entry = json!({"at": at(at_s + after), "life": life, "event": event, "service": "anthropic", "method": "POST", "path": "/v1/messages",
                "bytes_out": 1_000, "bytes_in": 900, "cost_micro_usd": cost, "decision": "by usage", "call": format!("c{number}"), "class": class,
                "day": &at(at_s)[..10], "note": if number % 3 == 0 { NAME } else { "some-model" }});
            self.ledger.push(entry);
        }
    }

    /// What there is beside thoughts: words, dreams, snapshots, self-edits, a reminder, a kind of tomorrow.
    fn others(&mut self, at_s: i64, life: u64) {
        self.remember(at_s, life, "message", json!({"from": "owner", "text": format!("how are the herons in life {life}? {HOSTILE}"), "at": at(at_s), "thread": "main", "id": format!("w{life}")}));
        self.remember(at_s + 50, life, "message", json!({"from": "creature", "text": format!("## Herons, life {life}\n\n1. **Grey** ones\n2. `white` ones\n\n| where | how many |\n|---|---:|\n| reeds | {life} |\n\n```rust\nlet herons = \"<b id=made>\";\n```\n[their page](https://herons.example/a) [not this](javascript:window.pwned=20) ![x](https://evil.test/x.png) <https://herons.example/b>"), "kind": "answer", "at": at(at_s + 50), "thread": "main"}));
        self.remember(at_s + 60, life, "message", json!({"from": "creature", "text": format!("They nest.\n\nAll {life} of them, as I was told by {HOSTILE}"), "kind": "answer", "at": at(at_s + 60), "thread": "main"}));
        self.remember(at_s + 120, life, "message", json!({"from": "creature", "text": "you wanted to be reminded of the reeds", "kind": "reminder", "at": at(at_s + 120), "thread": "main"}));
        self.remember(at_s + 180, life, "self_change", json!({"ok": life.is_multiple_of(2), "stage": "build", "summary": format!("change {life}: {NAME}"), "files": [NAME, "creature/creature.sh"], "error": HOSTILE}));
        self.remember(at_s + 240, life, "dream", json!({"monologue": HOSTILE, "done": 2, "refused": 1, "usage": {"input_tokens": 10, "output_tokens": 2}}));
        self.remember(at_s + 250, life, "dream", json!({"name": "of reeds", "parts": 3}));
        self.remember(
            at_s + 300,
            life,
            "snapshot",
            json!({"path": format!(".self/snapshots/life-{life}.md"), "thoughts": self.thoughts}),
        );
        self.remember(at_s + 310, life, "premonition", json!({"text": HOSTILE, NAME: 1}));
        self.remember(at_s + 320, life, "thought", json!({"mind": "anthropic/some-model", "thought": self.thoughts, "garbled": true, "error": HOSTILE, "text": HOSTILE}));
    }

    /// The guardian's records: lives, blessings, deaths, the fall and the way back.
    fn guarded(&self, commits: &[String]) {
        let of = [0, 0, 1, 1, 2, 3, 4, 4, 4, 5, 5];
        let (mut history, mut deaths) = (vec![], vec![]);
        let mut tell = |at_s: i64, what: &str, data: Value| {
            let mut event = json!({"at": at(at_s), "what": what});
            event.as_object_mut().unwrap().extend(data.as_object().unwrap().clone());
            history.push(event);
        };
        for life in 1..=LIVES {
            let (begun, at_commit) = (self.begun(life), of[life as usize]);
            let hash = &commits[at_commit];
            if at_commit != of[life as usize - 1] || life == 1 {
                tell(
                    begun - 50,
                    "commit",
                    json!({"by": "self", "commit": hash, "summary": NAME, "files": 2, "added": 3, "removed": 1}),
                );
            }
            tell(begun, "life", json!({"life": life, "commit": hash, "safe": false, "kept_binary": false}));
            if at_commit != 4 {
                tell(
                    begun + 20,
                    "examined",
                    json!({"life": life, "commit": hash, "outcome": "passed", "told": HOSTILE, "seconds": 41.0}),
                );
                tell(begun + 30, "blessed", json!({"life": life, "commit": hash}));
            }
            if [3, 6, 7, 8].contains(&life) {
                deaths.push(json!({"at": at(begun + LIFE_S - 200), "life": life, "commit": hash, "ended": "crashed", "cause": "exit status 101",
                    "blame": if life == 3 { "owner" } else { "code" }, "lived_s": (LIFE_S - 200) as f64,
                    "log_tail": format!("thread 'main' panicked at src/life.rs:1:1:\n{HOSTILE}\n")}));
            }
        }
        let fell = self.begun(9) - 100;
        tell(fell, "rescued", json!({"life": 8, "ref": "refs/guardian/rescued/x"}));
        tell(
            fell + 10,
            "fall",
            json!({"life": 8, "from_commit": commits[4], "to_commit": commits[3], "deaths": 3, "cause": "tries_spent",
            "fallen_ref": "refs/guardian/fallen/x", "rescued_ref": null, "told": format!("guardian: put creature back after 3 deaths {NAME}")}),
        );
        // The owner took one back by hand, and changed the settings on the way.
        tell(
            self.begun(4) - 70,
            "fall",
            json!({"life": 3, "from_commit": commits[1], "to_commit": commits[0], "deaths": 0, "cause": "owner", "told": "guardian: put creature back"}),
        );
        tell(self.begun(6), "settings_changed", json!({}));
        tell(self.now_s - 600, HOSTILE, json!({"told": HOSTILE}));
        history.sort_by(|one, other| one["at"].as_str().cmp(&other["at"].as_str()));
        lines(&self.house, ".self/history.jsonl", &history);
        lines(&self.house, ".self/deaths.jsonl", &deaths);
        self.house.write(".self/log/life-10.log", &format!("{HOSTILE}\n"));
    }

    /// Three that are over, and three that wait: a plain one, a hostile one, and one to be left open.
    fn asks(&self) {
        let mut told = vec![];
        for id in 1..=6 {
            let begun = self.begun(10) + id * 300;
            let hostile = id == 5;
            let body = if hostile {
                HOSTILE.to_owned()
            } else {
                format!("{{\"order\": {id}, \"text\": \"two herons, “please” 🌱\"}}")
            };
            let act = json!({"kind": "service", "service": "shop", "method": "POST", "path": "/orders", "url": "https://shop.example/orders",
                "headers": [["content-type", "application/json"], ["x-note", if hostile { HOSTILE } else { "none" }]], "body": body});
            let digest: String =
                Sha256::digest(act.to_string().as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
            let service = if hostile { NAME } else { "shop" };
            let line = |at_s: i64, event: &str, more: Value| {
                let mut line = json!({"at": at(at_s), "id": id.to_string(), "event": event, "kind": "service", "service": service, "method": "POST",
                    "path": "/orders", "why": if hostile { HOSTILE } else { "the owner's rules ask about POST /orders at shop" }, "reason": "to sell eggs",
                    "summary": format!("order {id} {}", if hostile { HOSTILE } else { "of two herons" }), "digest": digest});
                line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
                line
            };
            told.push(line(begun, "asked", json!({})));
            match id {
                1 => told.extend([
                    line(begun + 60, "approved", json!({})),
                    line(begun + 61, "executed", json!({"status": 201, "result": HOSTILE})),
                ]),
                2 => told.push(line(begun + 60, "denied", json!({}))),
                3 => told.extend([
                    line(begun + 60, "approved", json!({})),
                    line(begun + 61, "failed", json!({"result": "it did not answer"})),
                ]),
                _ => {}
            }
            let state = ["", "executed", "denied", "failed", "asked", "asked", "asked"][id as usize];
            let stored = json!({"id": id, "digest": digest, "state": state, "told": {}, "act": act, "answers_from": 0, "may_have_happened": false});
            self.house.write(&format!(".self/broker/asks/{id}.json"), &stored.to_string());
        }
        lines(&self.house, ".self/asks.jsonl", &told);
    }

    /// What it wrote of itself: facts, notes, snapshots, diary.
    fn papers(&self) {
        let house = &self.house;
        house.write("self/facts.md", &format!("# Facts\n\n- Herons nest in March [owner, 2026-03-01]\n- {} [{NAME}, 2026-03-02]\n- The reeds are two metres high [web.fetch_text, 2026-03-03]\n", HOSTILE.replace('\n', " ")));
        house.write(
            "self/notes/herons.md",
            "# Herons\n\nGrey ones, and white ones.\n\n- They fish at dawn.\n",
        );
        house.write("self/notes/hostile.md", &format!("# {HOSTILE}\n\n{HOSTILE}\n"));
        let markup: String = HOSTILE
            .chars()
            .filter(|letter| letter.is_ascii() && (!letter.is_control() || *letter == '\n'))
            .collect();
        house.write("self/notes/markup.md", &format!("\n\n# {markup}\n\n\tindented\n{markup}"));
        house.write("self/diary.md", "# Diary\n\nA quiet day.\n");
        house.write("self/skills/counting.md", "# Counting\n\nOne after the other.\n");
        for life in 1..=LIVES {
            house.write(&format!(".self/snapshots/life-{life}.md"), &format!("# Life {life}\n\n{HOSTILE}\n"));
        }
        git(&house.root, &["add", "-A", "self"]);
        git(&house.root, &["commit", "-q", "-m", "self: papers"]);
    }

    fn state(&self, commits: &[String]) {
        let house = &self.house;
        let cut = self.memory.len() / 3;
        lines(house, ".self/memory.jsonl", &self.memory[cut..]);
        let aside = at(self.begun(4)).replace(['-', ':'], "");
        lines(house, &format!(".self/memory-{aside}.jsonl"), &self.memory[..cut]);
        house.write(".self/ledger.jsonl", &chained(&self.ledger));
        lines(house, ".self/mind/bookkeeping.jsonl", &self.bookkeeping);
        lines(house, ".self/mind/feed.jsonl", &self.feed);
        lines(house, ".self/mind/conversations/work.jsonl", &self.conversation);
        let said = self.memory.iter().map(|record| &record["data"]).filter(|data| data["from"] == "owner");
        let waits = json!({"at": at(self.now_s - 900), "text": "how are the herons?", "thread": "main"});
        let words: Vec<Value> = said.cloned().chain([waits]).collect();
        lines(house, ".self/inbox.jsonl", &words);
        house.write(".self/mind/thinking.txt", &format!("I look at the reeds. {HOSTILE}"));
        let later = |hours: i64| at(self.now_s + hours * HOUR_S);
        let steps = json!([{"text": "read", "status": "done"}, {"text": NAME, "status": "failed", "attempts": 2, "reason": HOSTILE}]);
        let agenda = json!({
            "goals": {"list": [{"id": "goal-3", "title": format!("herons {HOSTILE}"), "status": "open", "checkpoints": steps, "owner": true},
                {"id": "goal-4", "title": "a greenhouse", "status": "awaiting", "cost_usd": 20.0},
                {"id": "goal-2", "title": "settle in", "status": "done", "reason": "it did"}]},
            "tasks": {"list": [{"id": "task-8", "text": "water them", "at": later(30), "ended_at": null}]},
            "directives": {"list": [{"id": "directive-10", "text": format!("focus on herons {NAME}"), "until": null, "ended": null}]},
            "reminders": {"list": [{"id": "reminder-5", "text": format!("feed the herons {HOSTILE}"), "next": later(2), "finished": null},
                {"id": "reminder-6", "text": "look at the reeds", "next": later(20), "finished": null}]},
        });
        house.write(".self/mind/agenda.json", &agenda.to_string());
        let spent = self
            .ledger
            .iter()
            .filter(|entry| entry["event"] == "settle")
            .filter_map(|entry| entry["cost_micro_usd"].as_f64())
            .sum::<f64>()
            / 1e6;
        let budget = json!({"at": at(self.now_s - 30), "day": &at(self.now_s)[..10], "spent_today_usd": spent / 3.0, "daily_cap_usd": 5.0, "reserved_usd": 0.3,
            "reserved_today_usd": 0.2, "autonomous_reserved_usd": 0.01, "mind": "anthropic: some-model", "warning": HOSTILE,
            "caps": [{"span": "day", "spent_usd": spent / 3.0, "cap_usd": 5.0, "autonomous_usd": 0.4, "autonomous_cap_usd": 0.75},
                {"span": "week", "spent_usd": spent, "cap_usd": 20.0, "autonomous_usd": 1.0, "autonomous_cap_usd": 3.0}],
            "models": [{"model": "some-model", "upstream": "api.example:443", "state": "up", "since": at(self.now_s - 9_000)},
                {"model": NAME, "upstream": "other.example:443", "state": "down", "since": at(self.now_s - 900), "error": HOSTILE}]});
        house.write(".self/budget.json", &budget.to_string());
        house.write(".self/last_good.txt", &format!("{}\n", commits[3]));
        house.write(".env", &format!("ANTHROPIC_API_KEY={SECRET}\n"));
        let told = json!({"version": 1, "at": at(self.now_s - 5), "guardian_pid": null, "creature_pid": null, "phase": "settled", "want": "keep", "life": LIVES,
            "commit": commits[5], "tree": "", "blessed": true, "safe": false, "last_good": commits[3], "mind": NAME, "note": HOSTILE,
            "broker": {"running": false, "restarts": 0, "asks_waiting": 3, "note": HOSTILE}, "walls": "full", "ends": [], "falls": [], "answers": []});
        house.write(".self/guardian.json", &told.to_string());
        house.write(".self/heartbeat", &json!({"life": LIVES, "pid": 1, "turns": 40, "thoughts": self.thoughts, "stage": "resting", "mind": NAME, "own": HOSTILE}).to_string());
    }
}
