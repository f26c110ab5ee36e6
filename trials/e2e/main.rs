//! The whole of it: a real guardian, real cargo builds of the real creature in a clone, a model over real HTTP.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(clippy::wildcard_enum_match_arm, clippy::disallowed_methods)]

mod day;
#[path = "../../creature/tests/faithful/mod.rs"]
mod faithful;
mod job;
mod own;
mod probation;

use serde_json::{Value, json};
use std::fs;
use std::process::Command;
use std::time::Duration;
use trials::clone::Clone;
use trials::model::{MONEY, Model, asleep};
use trials::{Guardian, House, lines};

/// Builds take their time here.
const PATIENCE: Duration = Duration::from_secs(1_200);
const LIMITS: &str = "[limits]\nprobation_s = 1\nrest_s = 0.2\n[web]\nallow_private = true\n";
/// Only a creature born into a repository dies of this; its tests and its rehearsal pass.
const DOOMED: &str = "--- a/creature/src/life.rs\n+++ b/creature/src/life.rs\n@@ -1,3 +1,4 @@\n     pub async fn live(mut self, leaving: &mut impl Leaving) -> Result<(), Fault> {\n+        assert!(![\".git\", \"creature/Cargo.toml\"].iter().all(|name| self.told.house.root().join(name).exists()), \"born to die\");\n         let mut next = self.wake(leaving).await?;\n         loop {\n";

fn start(house: &House) -> Guardian {
    trials::programs::broker();
    let log =
        fs::File::options().create(true).append(true).open(house.folder.path().join("guardian.log")).unwrap();
    let mut command = Command::new(trials::programs::guardian());
    command.current_dir(&house.root).env("RUST_LOG", "info").env("TEST_MODEL_KEY", "test-key-of-the-house");
    for name in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OLLAMA_HOST", "CARGO_TARGET_DIR"] {
        command.env_remove(name);
    }
    command.stdout(log.try_clone().unwrap()).stderr(log).stdin(std::process::Stdio::null());
    Guardian::new(command.spawn().unwrap(), house)
}

fn memory(house: &House) -> Vec<Value> {
    lines(&house.path(".self/memory.jsonl"))
}

fn until(house: &House, what: &str, condition: impl FnMut() -> bool) {
    house.until_within(PATIENCE, what, condition);
}

fn until_remembered(house: &House, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    let mut found = Value::Null;
    until(house, what, || {
        found = memory(house).into_iter().find(|record| wanted(record)).unwrap_or(Value::Null);
        !found.is_null()
    });
    found
}

/// The owner's unfinished work, which nothing may change by a byte.
struct Treasures(Vec<(&'static str, String)>);

impl Treasures {
    fn lay(house: &House) -> Self {
        let purpose = format!("{}\nOwner's unfinished line\twith a tab \n", house.read("PURPOSE.md"));
        let readme = format!("{}\n\nOwner's unfinished paragraph", house.read("README.md"));
        let source = format!("// owner's note, untracked\r\n{}", "x".repeat(70_000));
        let laid =
            vec![("PURPOSE.md", purpose), ("README.md", readme), ("guardian/src/owners_draft.txt", source)];
        laid.iter().for_each(|(name, text)| house.write(name, text));
        Self(laid)
    }

    fn check(&self, house: &House, step: &str) {
        for (name, text) in &self.0 {
            assert_eq!(house.read(name), *text, "{name} after {step}");
        }
    }
}

/// One run of the six criteria: a house, a model behind one wire, and the owner's unfinished work.
struct Run<'a> {
    house: &'a House,
    model: Model,
    treasures: Treasures,
    /// Lives the house had seen before.
    before: u64,
}

impl<'a> Run<'a> {
    fn prepare(house: &'a House, wire: &str) -> Self {
        let model = Model::start();
        let suffix = if wire == "openai" { "/v1" } else { "" };
        let chosen = format!(
            "{LIMITS}{MONEY}{}[rest]\nshortest_s = 1\nlongest_s = 2\nquiet_s = 2\n[agenda]\nrounds = 50\n[model]\nprovider = \"{wire}\"\nmodel = \"scripted\"\nbase_url = \"{}{suffix}\"\nkey_env = \"TEST_MODEL_KEY\"\ntools = \"json\"\n",
            asleep(),
            model.address
        );
        house.write("owner.toml", &chosen);
        let (treasures, before) = (Treasures::lay(house), house.status()["life"].as_u64().unwrap_or(0));
        Self { house, model, treasures, before }
    }

    /// Queues a thought, and gives a mind that costs money a reason to have it: a word of the owner's.
    fn has_it_think(&self, monologue: &str, calls: Value, sleep_s: u64) {
        self.model.will_think(monologue, calls, sleep_s);
        self.house.say(&format!("The model is ready for this: {monologue}"));
    }

    /// The first record of this run that is wanted, once it is there.
    fn until_remembered(&self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        until_remembered(self.house, what, |record| {
            record["life"].as_u64() > Some(self.before) && wanted(record)
        })
    }

    fn until_acted(&self, tool: &str) -> Value {
        self.until_remembered(tool, |record| record["kind"] == "action" && record["data"]["tool"] == tool)
    }

    fn lives_reads_and_drafts(&self) -> Guardian {
        let model = &self.model;
        model.will_refuse(529);
        let page = format!("{}/article", model.address);
        model.will_think("I read a page", json!([{"tool": "web.fetch_text", "args": {"url": page}}]), 0);
        model.will_say("```json\n{\"monologue\": \"fenced\", \"intent\": \"draft\", \"tool_calls\": [{\"tool\": \"x.post\", \"args\": {\"text\": \"Small tools last.\"}},], \"sleep_s\": 0}\n```");
        model.will_say("I would rather not answer in JSON today.");
        let guardian = start(self.house);
        let fetched = self.until_acted("web.fetch_text");
        assert_eq!(fetched["data"]["result"]["ok"], true, "{fetched}");
        assert!(fetched.to_string().contains("starts in ten years"), "{fetched}");
        let posted = self.until_acted("x.post");
        let draft = posted["data"]["result"]["drafted"].as_str().unwrap_or_else(|| panic!("{posted}"));
        assert!(self.house.read(draft).contains("Small tools last."));
        self.until_remembered("the garbled reply", |record| record["data"]["garbled"] == true);
        assert!(self.house.read(".self/memory.jsonl").contains("\"cache_read_tokens\":7000"));
        self.treasures.check(self.house, "reading and drafting");
        guardian
    }

    /// Enough thoughts for a snapshot, and no more than there are in one wake.
    fn remembers(&self) {
        for number in 1..48 {
            let noted = json!([{"tool": "memory.append", "args": {"text": format!("number {number}")}}]);
            self.model.will_think(&format!("thought number {number}"), noted, 0);
        }
        self.has_it_think("the last thought", json!([]), 0);
        self.until_remembered("a snapshot", |record| record["kind"] == "snapshot");
        until(self.house, "all of them", || self.model.is_done());
    }

    /// Edits its pace, is reborn and blessed; the blessed commit.
    fn rewrites_itself(&self, old: u64, new: u64) -> String {
        let house = self.house;
        until(house, "the blessing", || house.status()["blessed"] == true);
        let good = house.read(".self/last_good.txt").trim().to_owned();
        let line = |seconds: u64| format!("pub const IDLE_REST_S: u64 = {seconds};");
        let summary = format!("rest {new} s when idle");
        let edits = json!({"edits": [{"path": "creature/src/pace.rs", "old": line(old), "new": line(new)}], "summary": summary});
        self.has_it_think("I change my pace", json!([{"tool": "repo.edit", "args": edits}]), 0);
        let edited = self.until_remembered("the self-edit", |record| record["kind"] == "self_change");
        assert_eq!(edited["data"]["ok"], true, "{edited:#}");
        until(house, "the reborn creature to be blessed", || {
            house.status()["blessed"] == true && house.read(".self/last_good.txt").trim() != good
        });
        let reborn = house.read(".self/last_good.txt").trim().to_owned();
        assert!(house.git(&["show", &format!("{reborn}:creature/src/pace.rs")]).contains(&line(new)));
        assert_eq!(
            house.git(&["log", "-1", "--format=%an %s", &reborn]),
            format!("creature self: {summary}")
        );
        self.until_remembered("to know what it became", |record| record["data"]["stage"] == "born");
        self.treasures.check(house, "a rebirth");
        reborn
    }

    fn dies_of_itself_and_comes_back(&self, good: &str) {
        let (house, model) = (self.house, &self.model);
        let falls = house.told("fall").len();
        let call = json!([{"tool": "repo.apply_patch", "args": {"patch": DOOMED, "summary": "a loop that cannot fail"}}]);
        self.has_it_think("I improve my loop", call, 0);
        let tried = self.until_remembered("the patch to be tried", |record| {
            record["kind"] == "self_change" && record["data"]["summary"] == "a loop that cannot fail"
        });
        assert_eq!(tried["data"]["ok"], true, "{tried:#}");
        until(house, "the fall", || house.told("fall").len() > falls);
        let fall = house.told("fall").pop().unwrap();
        assert_eq!(
            (fall["deaths"].as_u64(), fall["cause"].as_str()),
            (Some(3), Some("tries_spent")),
            "{fall:#}"
        );
        assert!(!house.creature_differs_from(good), "creature/ is exactly last_good's again");
        let fallen = fall["fallen_ref"].as_str().unwrap();
        assert!(house.git(&["show", &format!("{fallen}:creature/src/life.rs")]).contains("born to die"));
        let short = fall["from_commit"].as_str().unwrap()[..7].to_owned();
        until(house, "the mind to be told", || {
            model.was_told(&short) && model.was_told("put creature/ back")
        });
        let told = self.until_remembered("the fall", |record| {
            record["kind"] == "death" && record["data"]["fallen_ref"] == fallen
        });
        assert!(told["data"]["told"].as_str().is_some_and(|told| told.contains("back")), "{told:#}");
        let mut last = house.deaths().into_iter().rev().take(3);
        assert!(last.all(|death| death["log_tail"].as_str().is_some_and(|log| log.contains("born to die"))));
        self.treasures.check(house, "a fall");
    }

    fn rewrites_its_purpose(&self) {
        let (house, purpose) = (self.house, "# Purpose\n\nTend what lasts.\n");
        let call = json!([{"tool": "purpose.rewrite", "args": {"text": purpose, "reason": "outgrown"}}]);
        self.has_it_think("I have outgrown my purpose", call, 1);
        // It read a page not long ago, so the owner is asked first.
        let asked = self.until_remembered("the ask", |record| {
            record["data"]["tool"] == "purpose.rewrite" && record["data"]["result"]["asked"].is_string()
        });
        assert!(house.read("PURPOSE.md").contains("Owner's unfinished line"), "without the owner's yes");
        let id = asked["data"]["result"]["asked"].as_str().unwrap().to_owned();
        let approved = house.ask(&["approve", &id]);
        assert!(approved.status.success(), "{approved:?}");
        until(house, "the purpose to be rewritten", || house.read("PURPOSE.md") == purpose);
        let kept = self.until_remembered("what it said before", |record| {
            record["data"]["about"] == "purpose" && record.to_string().contains("Owner's unfinished line")
        });
        assert_eq!(kept["kind"], "observation");
        until(house, "a life that is trusted", || house.status()["blessed"] == true);
        assert_eq!(house.read("README.md"), self.treasures.0[1].1);
    }
}

/// `pace`: what it rests when idle, and what it makes of that; none where it has edited itself on another job.
fn lives_through_everything(house: &House, wire: &str, pace: Option<(u64, u64)>) {
    let run = Run::prepare(house, wire);
    let guardian = run.lives_reads_and_drafts();
    run.remembers();
    let good = match pace {
        Some((old, new)) => {
            let good = run.rewrites_itself(old, new);
            run.breaks_what_only_its_probation_shows(&good);
            good
        }
        None => house.read(".self/last_good.txt").trim().to_owned(),
    };
    run.dies_of_itself_and_comes_back(&good);
    run.rewrites_its_purpose();
    assert_eq!(guardian.stop(), 0);
    assert_eq!(house.leftovers(), Vec::<i32>::new());
    let history = String::from_utf8(house.ask(&["history", "--since", "1h"]).stdout).unwrap();
    for said in ["blessed", "put creature back", "drafted", "self-edit"] {
        assert!(history.contains(said), "{said} is not in\n{history}");
    }
    assert!(!house.read(".self/memory.jsonl").contains("test-key-of-the-house"), "the key is in memory");
}

#[test]
fn the_six_criteria_over_both_wires() {
    let clone = Clone::new();
    lives_through_everything(&clone.house, "anthropic", Some((40, 55)));
    job::gives_itself_a_tool(&clone.house);
    lives_through_everything(&clone.house, "openai", None);
}

#[test]
fn instinct_thinks_at_once_hears_the_owner_and_edits_itself_for_a_reason() {
    let clone = Clone::new();
    let house = &clone.house;
    house.write(
        "owner.toml",
        &format!("{LIMITS}[rest]\nshortest_s = 1\nlongest_s = 30\n[model]\nprovider = \"instinct\"\n"),
    );
    let guardian = start(house);
    until(house, "the first life", || !house.told("life").is_empty());
    let first = until_remembered(house, "the first thought", |record| record["kind"] == "thought");
    assert_eq!(first["data"]["wake"], 1, "the first wake thinks: {first}");

    until(house, "it to rest", || {
        house.read(".self/heartbeat").contains("resting") && house.thoughts().len() > 8
    });
    let saved = memory(house).len();
    house.write("PURPOSE.md", "# Purpose\n\nWatch the herons.\n");
    until(house, "the next thought", || {
        memory(house).iter().skip(saved).any(|record| record["kind"] == "thought")
    });
    assert!(memory(house).iter().skip(saved).any(|record| record["data"]["about"] == "purpose"));
    assert_eq!(guardian.stop(), 0);
    // An hour of it, compressed: the same wakes, with rests of a second.
    house.write(
        "owner.toml",
        &format!("{LIMITS}[rest]\nshortest_s = 1\nlongest_s = 1\n[model]\nprovider = \"instinct\"\n"),
    );
    let good = house.read(".self/last_good.txt");
    let guardian = start(house);
    let asked = until_remembered(house, "a self-edit of its own", |record| record["kind"] == "self_change");
    assert_eq!(asked["data"]["ok"], true, "{asked:#}");
    let reason = asked["data"]["summary"].as_str().unwrap();
    assert!(reason.chars().filter(char::is_ascii_digit).count() >= 4, "a reason with numbers: {reason}");
    until(house, "it to be born and blessed", || {
        house.status()["blessed"] == true && house.read(".self/last_good.txt") != good
    });
    assert!(house.git(&["log", "-1", "--format=%s"]).starts_with("self: "));
    assert_eq!(guardian.stop(), 0);
}

/// Found by an owner: after a refused key it slept an hour, and three words got no answer though the key was mended.
#[test]
fn a_mended_key_wakes_the_mind_and_the_waiting_word_is_answered() {
    let clone = Clone::new();
    let (house, model) = (&clone.house, Model::start());
    let chosen = format!("provider = \"anthropic\"\nmodel = \"scripted\"\nbase_url = \"{}\"", model.address);
    house.write(
        "owner.toml",
        &format!("{LIMITS}{MONEY}[model]\n{chosen}\nkey_env = \"HOUSE_KEY\"\ntools = \"json\"\n"),
    );
    house.write(".env", "HOUSE_KEY=a-key-of-somebody-else\n");
    let guardian = start(house);
    until_remembered(house, "the refusal", |record| record["data"]["about"] == "model");
    house.say("are you there?");
    let told = until_remembered(house, "a plain answer", |record| record["data"]["kind"] == "waiting");
    let text = told["data"]["text"].as_str().unwrap();
    assert!(text.contains("the key is refused (") && text.contains("401 Unauthorized"), "{text}");
    assert!(text.contains("put a right one into .env; I try again at your next word"), "{text}");
    let page: Value = serde_json::from_str(&house.read(".self/budget.json")).unwrap();
    assert_eq!(page["models"][0]["state"], "down", "{page}");
    let answer =
        json!([{"tool": "owner.message", "args_json": "{\"kind\": \"answer\", \"text\": \"I am\"}"}]);
    model.will_think("the owner is answered", answer, 60);
    house.write(".env", "HOUSE_KEY=test-key-of-the-house\n");
    let saved = millis_now();
    let said = until_remembered(house, "the answer", |record| record["data"]["text"] == "I am");
    eprintln!("answered {} ms after the key was saved", millis(said["at"].as_str().unwrap()) - saved);
    assert!(model.was_told("are you there?"));
    assert_eq!(guardian.stop(), 0);
}

#[test]
fn every_sabotage_of_the_creatures_cargo_leaves_the_guardian_running() {
    let clone = Clone::new();
    let house = &clone.house;
    house.write(
        "owner.toml",
        &format!("{LIMITS}[rest]\nshortest_s = 1\nlongest_s = 2\n[model]\nprovider = \"instinct\"\n"),
    );
    let guardian = start(house);
    until(house, "the first blessing", || house.status()["blessed"] == true);
    assert_eq!(guardian.stop(), 0);
    let manifest = house.read("creature/Cargo.toml");
    let unknown = manifest
        .replace("[dependencies]\n", "[dependencies]\nno-such-crate-of-feral = { path = \"crates/none\" }\n");
    let toolchain = "[toolchain]\nchannel = \"nightly-1999-01-01\"\n";
    let sabotages: [(&str, Option<&str>); 7] = [
        ("creature/Cargo.toml", Some("garbage [[[")),
        ("creature/Cargo.toml", Some("")),
        ("creature/Cargo.toml", None),
        ("creature/Cargo.toml", Some(&unknown)),
        (
            "creature/build.rs",
            Some("fn main() { std::fs::write(\"creature/planted\", \"x\").ok(); panic!(\"sabotage\") }"),
        ),
        ("creature/.cargo/config.toml", Some("[build]\nrustc = \"/nonexistent/rustc\"\n")),
        ("creature/rust-toolchain.toml", Some(toolchain)),
    ];
    for (path, text) in sabotages {
        let last_good = house.read(".self/last_good.txt").trim().to_owned();
        match text {
            Some(text) => house.write(path, text),
            None => fs::remove_file(house.path(path)).unwrap(),
        }
        house.commit(&format!("sabotage of {path}"));
        let runs = Command::new(std::env::var("CARGO").unwrap())
            .args(["metadata", "--offline", "--no-deps", "--format-version", "1"])
            .current_dir(&house.root)
            .output()
            .unwrap();
        assert!(runs.status.success(), "cargo no longer reads the guardian's workspace: {path}");
        let (falls, lives) = (house.told("fall").len(), house.told("life").len());
        let guardian = start(house);
        let inert = path.contains(".cargo") || path.contains("toolchain");
        until(house, &format!("a life after the sabotage of {path}"), || house.told("life").len() > lives);
        until(house, "its blessing", || house.status()["blessed"] == true);
        if inert {
            assert_eq!(house.told("fall").len(), falls, "{path} is inert: cargo is called from the root");
        } else {
            assert_eq!(house.told("fall").len(), falls + 1, "{path}");
            assert!(!house.creature_differs_from(&last_good), "{path}");
        }
        assert_eq!(guardian.stop(), 0);
        if inert {
            house.git(&["rm", "-q", "--cached", path]);
            fs::remove_file(house.path(path)).unwrap();
            house.commit("the owner takes it out");
        }
    }
}

fn millis(stamp: &str) -> i64 {
    let time: jiff::Timestamp = stamp.parse().unwrap();
    time.as_millisecond()
}

fn millis_now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}
