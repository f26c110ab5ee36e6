//! A year of a busy house: 1,000,000 records of memory, 10,000 wakes, 300 lives, and a ledger, asks and commits to match.

use crate::page::repository::{Commit, commit, fallen, rung};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use trials::{House, SOUND};

const DAYS: u64 = 365;
const WAKES: u64 = 10_000;
const THOUGHTS: u64 = 20;
const ACTS: u64 = 70;
const OTHERS: u64 = 10;
const LIVES: u64 = 300;
const DAY_MS: u64 = 86_400_000;
/// Wakes after which memory is moved aside.
const ROTATED: u64 = 800;
/// Bytes at which a ledger is moved aside.
const LEDGER_BYTES: u64 = 64 << 20;
const WHY: [&str; 6] = [
    "a word of the owner's",
    "it is time",
    "an event waits",
    "a thought of its own",
    "the checklist changed",
    "its draft passed",
];
const TOOLS: [&str; 6] =
    ["repo.read", "web.fetch_text", "notes.append", "patch.edit", "service.call", "memory.search"];

/// Moments as text, fast: the day is spelled once.
struct Stamps {
    day: u64,
    spelled: String,
}

impl Stamps {
    fn new() -> Self {
        Self { day: 0, spelled: String::new() }
    }

    fn of(&mut self, at_ms: u64) -> String {
        let day = at_ms / DAY_MS;
        if day != self.day || self.spelled.is_empty() {
            let begun = jiff::Timestamp::from_millisecond((day * DAY_MS) as i64).unwrap();
            (self.day, self.spelled) = (day, begun.to_string()[..10].to_owned());
        }
        let ms = at_ms % DAY_MS;
        let (hours, minutes, seconds) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60);
        format!("{}T{hours:02}:{minutes:02}:{seconds:02}.{:03}Z", self.spelled, ms % 1_000)
    }
}

/// A file that is written on, and moved aside under the name of a moment.
struct Written {
    folder: PathBuf,
    name: &'static str,
    file: BufWriter<File>,
    bytes: u64,
    lines: u64,
}

impl Written {
    fn new(folder: PathBuf, name: &'static str) -> Self {
        let file = BufWriter::new(File::create(folder.join(format!("{name}.jsonl"))).unwrap());
        Self { folder, name, file, bytes: 0, lines: 0 }
    }

    fn line(&mut self, line: &str) {
        self.file.write_all(line.as_bytes()).unwrap();
        self.file.write_all(b"\n").unwrap();
        self.bytes += line.len() as u64 + 1;
        self.lines += 1;
    }

    fn aside(&mut self, at: &str, at_ms: u64) {
        self.file.flush().unwrap();
        let now = self.folder.join(format!("{}.jsonl", self.name));
        let then = self.folder.join(format!("{}-{}.jsonl", self.name, at.replace(['-', ':'], "")));
        fs::rename(&now, &then).unwrap();
        self.file
            .get_ref()
            .set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_millis(at_ms))
            .unwrap();
        self.file = BufWriter::new(File::create(now).unwrap());
        self.bytes = 0;
    }
}

struct Year {
    stamps: Stamps,
    memory: Written,
    ledger: Written,
    asks: Written,
    bookkeeping: Vec<String>,
    feed: Vec<String>,
    prev: String,
    from_ms: u64,
    spent_micro_usd: u64,
}

pub fn make(folder: &Path) -> Value {
    fs::create_dir_all(folder).unwrap();
    let House { folder: kept, root } = House::new_in(folder, SOUND);
    let _ = kept.keep();
    for name in [".self/mind/conversations", ".self/broker/asks", ".self/snapshots", ".self/log"] {
        fs::create_dir_all(root.join(name)).unwrap();
    }
    let state = root.join(".self");
    let now_ms = jiff::Timestamp::now().as_millisecond() as u64;
    let mut year = Year {
        stamps: Stamps::new(),
        memory: Written::new(state.clone(), "memory"),
        ledger: Written::new(state.clone(), "ledger"),
        asks: Written::new(state.clone(), "asks"),
        bookkeeping: Vec::new(),
        feed: Vec::new(),
        prev: "0".repeat(64),
        from_ms: now_ms - DAYS * DAY_MS,
        spent_micro_usd: 0,
    };
    lives(&root, &mut year);
    for wake in 0..WAKES {
        year.wake(wake);
    }
    let tail = |lines: &[String]| lines[lines.len().saturating_sub(4_000)..].concat();
    fs::write(state.join("mind/bookkeeping.jsonl"), tail(&year.bookkeeping)).unwrap();
    fs::write(state.join("mind/feed.jsonl"), tail(&year.feed)).unwrap();
    for written in [&mut year.memory, &mut year.ledger, &mut year.asks] {
        written.file.flush().unwrap();
    }
    fs::write(state.join("mind/agenda.json"), "{}").unwrap();
    json!({"root": root, "records": year.memory.lines, "ledger": year.ledger.lines, "wakes": WAKES, "lives": LIVES,
        "from_ms": year.from_ms, "to_ms": now_ms, "last_thought": WAKES * THOUGHTS})
}

/// Commits, births, blessings, deaths and falls; every tenth life falls.
fn lives(root: &Path, year: &mut Year) {
    let at_ms = |life: u64| year.from_ms + life * DAYS * DAY_MS / LIVES;
    let commits: Vec<Commit> = (0..LIVES)
        .map(|life| Commit {
            message: format!("self: change {life} of the year"),
            at_s: (at_ms(life) / 1_000) as i64,
            by: "self",
            files: vec![("creature/creature.sh".into(), format!("# {life}\nthink alive; live\n"))],
        })
        .collect();
    let hashes = commit(root, &commits);
    let (mut history, mut deaths) = (String::new(), String::new());
    for (at, hash) in hashes.iter().enumerate() {
        let (life, begun_ms) = (at as u64 + 1, at_ms(at as u64));
        let mut tell = |after_ms: u64, data: Value| {
            let mut event = json!({"at": year.stamps.of(begun_ms + after_ms), "life": life, "commit": hash});
            event.as_object_mut().unwrap().extend(data.as_object().unwrap().clone());
            writeln!(history, "{event}").unwrap();
        };
        tell(
            0,
            json!({"what": "commit", "by": "self", "summary": format!("change {at}"), "files": 1, "added": 2, "removed": 1}),
        );
        tell(2_000, json!({"what": "life", "safe": false, "kept_binary": false}));
        if at % 10 == 9 {
            let name = fallen(root, hash);
            tell(
                60_000,
                json!({"what": "fall", "from_commit": hash, "to_commit": hashes[at - 1], "deaths": 3,
                "cause": "tries_spent", "fallen_ref": name, "rescued_ref": null, "told": "guardian: put creature back after 3 deaths"}),
            );
        } else {
            tell(90_000, json!({"what": "blessed"}));
            if at + 20 > hashes.len() {
                rung(root, life, hash);
            }
        }
        if at % 3 == 0 {
            let death = json!({"at": year.stamps.of(begun_ms + DAY_MS / 2), "life": life, "commit": hash, "ended": "crashed",
                "cause": "exit status 101", "blame": "code", "lived_s": 43_200.0, "log_tail": "panicked\n"});
            writeln!(deaths, "{death}").unwrap();
        }
    }
    fs::write(root.join(".self/history.jsonl"), history).unwrap();
    fs::write(root.join(".self/deaths.jsonl"), deaths).unwrap();
}

impl Year {
    fn wake(&mut self, wake: u64) {
        let begun_ms = self.from_ms + wake * DAYS * DAY_MS / WAKES + 5_000;
        let (life, why) = (wake * LIVES / WAKES + 1, WHY[(wake % 6) as usize]);
        let at = self.stamps.of(begun_ms);
        if wake % ROTATED == ROTATED - 1 {
            self.memory.aside(&at, begun_ms);
        }
        self.bookkeeping.push(format!(
            "{{\"at\":\"{at}\",\"life\":{life},\"kind\":\"heartbeat\",\"data\":{{\"wake\":{},\"thoughts\":{THOUGHTS},\"why\":[\"{why}\"]}}}}\n",
            wake + 1
        ));
        self.feed.push(format!(
            "{{\"at\":\"{at}\",\"life\":{life},\"event\":\"wakeup\",\"data\":{{\"wake\":{},\"why\":[\"{why}\"]}}}}\n",
            wake + 1
        ));
        for round in 0..THOUGHTS {
            self.thought(begun_ms + round * 30_000, life, wake, round);
        }
        let ended_ms = begun_ms + THOUGHTS * 30_000;
        for other in 0..OTHERS {
            self.other(ended_ms + other * 100, life, wake, other);
        }
        let at = self.stamps.of(ended_ms);
        self.feed.push(format!(
            "{{\"at\":\"{at}\",\"life\":{life},\"event\":\"sleep\",\"data\":{{\"rest_ms\":2500000}}}}\n"
        ));
        if wake.is_multiple_of(5) {
            self.ask(ended_ms, wake / 5 + 1);
        }
    }

    fn thought(&mut self, at_ms: u64, life: u64, wake: u64, round: u64) {
        let number = wake * THOUGHTS + round + 1;
        let (owner, cost) = (wake.is_multiple_of(6), 2_000 + number % 977);
        let class = if owner { "owner" } else { "autonomous" };
        let at = self.stamps.of(at_ms);
        self.entry(&at, life, "reserve", class, number, 20_000);
        let settled = self.stamps.of(at_ms + 9_000);
        self.entry(&settled, life, "settle", class, number, cost);
        self.spent_micro_usd += cost;
        self.memory.line(&format!(
            "{{\"at\":\"{settled}\",\"life\":{life},\"kind\":\"thought\",\"data\":{{\"mind\":\"anthropic/some-model\",\"thought\":{number},\"wake\":{},\"round\":{round},\"monologue\":\"What I see in round {round} of wake {wake}, and what follows from it.\",\"intent\":\"look further\",\"tool_calls\":[{{\"tool\":\"repo.read\",\"args\":{{}}}}],\"sleep_s\":60,\"usage\":{{\"input_tokens\":1000,\"output_tokens\":200}},\"owner\":{owner}}}}}",
            wake + 1
        ));
        for act in 0..(ACTS / THOUGHTS + u64::from(round.is_multiple_of(2))) {
            let at = self.stamps.of(at_ms + 10_000 + act * 1_000);
            let tool = TOOLS[((number + act) % 6) as usize];
            let result = if (number + act).is_multiple_of(17) {
                "{\"ok\":false,\"error\":\"not there\"}"
            } else {
                "{\"ok\":true}"
            };
            self.memory.line(&format!(
                "{{\"at\":\"{at}\",\"life\":{life},\"kind\":\"action\",\"data\":{{\"thought\":{number},\"tool\":\"{tool}\",\"args\":{{\"path\":\"a.md\"}},\"result\":{result}}}}}"
            ));
        }
    }

    fn entry(&mut self, at: &str, life: u64, event: &str, class: &str, call: u64, cost: u64) {
        if self.ledger.bytes > LEDGER_BYTES {
            let at_ms = at.parse::<jiff::Timestamp>().unwrap().as_millisecond() as u64;
            self.ledger.aside(at, at_ms);
        }
        let body = format!(
            "{{\"seq\":{},\"at\":\"{at}\",\"life\":{life},\"event\":\"{event}\",\"service\":\"anthropic\",\"method\":\"POST\",\"path\":\"/v1/messages\",\"bytes_out\":1,\"bytes_in\":1,\"cost_micro_usd\":{cost},\"decision\":\"by usage\",\"call\":\"c{call}\",\"class\":\"{class}\",\"day\":\"{}\",\"note\":\"some-model\",\"prev\":\"{}\"",
            self.ledger.lines + 1,
            &at[..10],
            self.prev
        );
        let digest = Sha256::digest(format!("{body}}}").as_bytes());
        self.prev = digest.iter().fold(String::with_capacity(64), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        });
        self.ledger.line(&format!("{body},\"hash\":\"{}\"}}", self.prev));
    }

    fn other(&mut self, at_ms: u64, life: u64, wake: u64, other: u64) {
        let at = self.stamps.of(at_ms);
        let (kind, data) = match (other, wake % 10) {
            (0, 0) => (
                "message",
                json!({"from": "owner", "text": format!("how is it, at wake {wake}?"), "at": at, "thread": "main", "id": format!("w{wake}")}),
            ),
            (1, 0) => (
                "message",
                json!({"from": "creature", "text": "it is well", "kind": "answer", "at": at, "thread": "main"}),
            ),
            (2, 1) => (
                "self_change",
                json!({"ok": wake % 20 == 1, "stage": "build", "summary": "rest longer", "files": ["creature/src/pace.rs"]}),
            ),
            (3, 2) => ("dream", json!({"name": "a dream", "parts": 3})),
            (4, 3) => ("snapshot", json!({"path": format!(".self/snapshots/{wake}.md"), "thoughts": 20})),
            (5, 4) => (
                "message",
                json!({"from": "creature", "text": "you wanted to be reminded", "kind": "reminder", "at": at, "thread": "main"}),
            ),
            _ => (
                "observation",
                json!({"about": "note", "text": format!("what was noticed at wake {wake}, the {other}.")}),
            ),
        };
        self.memory.line(&json!({"at": at, "life": life, "kind": kind, "data": data}).to_string());
    }

    fn ask(&mut self, at_ms: u64, id: u64) {
        let event = |at: String, event: &str| {
            json!({"at": at, "id": id.to_string(), "event": event, "kind": "service", "service": "shop", "method": "POST",
                "path": "/orders", "why": "the owner's rules ask", "reason": "to sell", "summary": format!("order {id}"), "digest": format!("d{id}")})
        };
        let asked = event(self.stamps.of(at_ms), "asked").to_string();
        self.asks.line(&asked);
        if !id.is_multiple_of(100) {
            let denied = if id.is_multiple_of(4) { "denied" } else { "executed" };
            let over = event(self.stamps.of(at_ms + 600_000), denied).to_string();
            self.asks.line(&over);
        }
    }
}
