//! The whole of it: a real guardian, real cargo builds of the real creature in a clone, a model over real HTTP.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(clippy::wildcard_enum_match_arm, clippy::disallowed_methods)]

mod support;

use serde_json::{Value, json};
use std::fs;
use std::process::Command;
use std::time::Duration;
use support::clone::Clone;
use support::model::Model;
use support::{Guardian, House, lines};

/// Builds take their time here.
const PATIENCE: Duration = Duration::from_secs(420);
const LIMITS: &str = "[limits]\nprobation_s = 3\nrest_s = 0.2\n[web]\nallow_private = true\n";
/// Only a creature born into a repository dies of this; its tests and its rehearsal pass.
const DOOMED: &str = "--- a/creature/src/life.rs\n+++ b/creature/src/life.rs\n@@ -1,3 +1,3 @@\n     pub async fn live(mut self, leaving: &mut impl Leaving) -> Result<(), Fault> {\n+        assert!(!self.told.house.root().join(\".git\").exists(), \"born to die\");\n         loop {\n             let rest = match self.wake(leaving).await? {\n";

fn start(house: &House) -> Guardian {
    let log =
        fs::File::options().create(true).append(true).open(house.folder.path().join("guardian.log")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_guardian"));
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

fn action<'a>(tool: &'a str, after: usize) -> impl Fn(&Value) -> bool + 'a {
    move |record| {
        record["kind"] == "action"
            && record["data"]["tool"] == tool
            && record["life"].as_u64() > Some(after as u64)
    }
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

/// The six criteria, with the model behind one wire.
fn lives_through_everything(house: &House, wire: &str, idle_rest: (u64, u64)) {
    let model = Model::start();
    let suffix = if wire == "openai" { "/v1" } else { "" };
    let chosen = format!(
        "{LIMITS}[rest]\nshortest_s = 1\nlongest_s = 2\n[model]\nprovider = \"{wire}\"\nmodel = \"scripted\"\nbase_url = \"{}{suffix}\"\nkey_env = \"TEST_MODEL_KEY\"\n",
        model.address
    );
    house.write("owner.toml", &chosen);
    let treasures = Treasures::lay(house);
    let before = house.status()["life"].as_u64().unwrap_or(0) as usize;

    // Lives, fetches, drafts.
    model.will_refuse(529);
    let page = format!("{}/article", model.address);
    model.will_think("I read a page", json!([{"tool": "web.fetch_text", "args": {"url": page}}]), 0);
    model.will_say("```json\n{\"monologue\": \"fenced\", \"intent\": \"draft\", \"tool_calls\": [{\"tool\": \"x.post\", \"args\": {\"text\": \"Small tools last.\"}},], \"sleep_s\": 0}\n```");
    model.will_say("I would rather not answer in JSON today.");
    let guardian = start(house);
    let fetched = until_remembered(house, "the page to be fetched", action("web.fetch_text", before));
    assert_eq!(fetched["data"]["result"]["ok"], true, "{fetched}");
    assert!(fetched.to_string().contains("starts in ten years"), "{fetched}");
    let posted = until_remembered(house, "the draft", action("x.post", before));
    let draft = posted["data"]["result"]["drafted"].as_str().unwrap_or_else(|| panic!("{posted}")).to_owned();
    assert!(house.read(&draft).contains("Small tools last."));
    until_remembered(house, "the garbled reply", |record| {
        record["data"]["garbled"] == true && record["life"].as_u64() > Some(before as u64)
    });
    assert!(house.read(&format!(".self/{}", "memory.jsonl")).contains("\"cache_read_tokens\":7000"));
    treasures.check(house, "reading and drafting");

    // Memory and snapshots.
    for number in 0..52 {
        model.will_think(&format!("thought number {number}"), json!([]), 0);
    }
    until_remembered(house, "a snapshot", |record| {
        record["kind"] == "snapshot" && record["life"].as_u64() > Some(before as u64)
    });
    until(house, "the blessing", || house.status()["blessed"] == true);
    let good = house.read(".self/last_good.txt").trim().to_owned();

    // Rewrites itself, is reborn and blessed.
    let (old, new) = idle_rest;
    let line = |seconds: u64| format!("pub const IDLE_REST_S: u64 = {seconds};");
    let edits = json!({"edits": [{"path": "creature/src/pace.rs", "old": line(old), "new": line(new)}], "summary": format!("rest {new} s when idle")});
    model.will_think("I change my pace", json!([{"tool": "repo.edit", "args": edits}]), 0);
    let edited = until_remembered(house, "the self-edit", |record| {
        record["kind"] == "self_change" && record["life"].as_u64() > Some(before as u64)
    });
    assert_eq!(edited["data"]["ok"], true, "{edited:#}");
    until(house, "the reborn creature to be blessed", || {
        house.status()["blessed"] == true && house.read(".self/last_good.txt").trim() != good
    });
    let reborn = house.read(".self/last_good.txt").trim().to_owned();
    assert!(house.git(&["show", &format!("{reborn}:creature/src/pace.rs")]).contains(&line(new)));
    assert_eq!(
        house.git(&["log", "-1", "--format=%an %s", &reborn]),
        format!("creature self: rest {new} s when idle")
    );
    until_remembered(house, "to know what it became", |record| {
        record["data"]["stage"] == "born" && record["life"].as_u64() > Some(before as u64 + 1)
    });
    treasures.check(house, "a rebirth");

    // A patch that passes its rehearsal and dies after birth.
    let falls = house.told("fall").len();
    model.will_think("I improve my loop", json!([{"tool": "repo.apply_patch", "args": {"patch": DOOMED, "summary": "a loop that cannot fail"}}]), 0);
    let tried = until_remembered(house, "the patch to be tried", |record| {
        record["kind"] == "self_change"
            && record["data"]["summary"] == "a loop that cannot fail"
            && record["life"].as_u64() > Some(before as u64)
    });
    assert_eq!(tried["data"]["ok"], true, "{tried:#}");
    until(house, "the fall", || house.told("fall").len() > falls);
    let fall = house.told("fall").pop().unwrap();
    assert_eq!((fall["deaths"].as_u64(), fall["cause"].as_str()), (Some(3), Some("tries_spent")), "{fall:#}");
    assert!(!house.creature_differs_from(&reborn), "creature/ is exactly last_good's again");
    let fallen = fall["fallen_ref"].as_str().unwrap();
    assert!(house.git(&["show", &format!("{fallen}:creature/src/life.rs")]).contains("born to die"));
    until(house, "the mind to be told", || {
        model.was_told(&fall["from_commit"].as_str().unwrap()[..7]) && model.was_told("put creature/ back")
    });
    let told = until_remembered(house, "the death to be remembered", |record| {
        record["kind"] == "death" && record["data"]["fallen_ref"] == fallen
    });
    assert!(
        told["data"]["told"].as_str().is_some_and(|told| told.contains("last_good") || told.contains("back")),
        "{told:#}"
    );
    assert!(
        house
            .deaths()
            .iter()
            .rev()
            .take(3)
            .all(|death| death["log_tail"].as_str().is_some_and(|log| log.contains("born to die")))
    );
    treasures.check(house, "a fall");

    // Rewrites its purpose.
    let purpose = "# Purpose\n\nTend what lasts.\n";
    model.will_think(
        "I have outgrown my purpose",
        json!([{"tool": "purpose.rewrite", "args": {"text": purpose, "reason": "outgrown"}}]),
        1,
    );
    until(house, "the purpose to be rewritten", || house.read("PURPOSE.md") == purpose);
    let kept = until_remembered(house, "what it said before", |record| {
        record["kind"] == "self_change" && record.to_string().contains("Owner's unfinished line")
    });
    assert_eq!(kept["data"]["ok"], true);
    until(house, "a life that is trusted", || house.status()["blessed"] == true);
    assert_eq!(guardian.stop(), 0);
    assert_eq!(house.leftovers(), Vec::<i32>::new());
    assert_eq!(house.read("README.md"), treasures.0[1].1);
    let history = String::from_utf8(house.ask(&["history", "--since", "1h"]).stdout).unwrap();
    for said in ["blessed", "put creature back", "drafted", "self-edit"] {
        assert!(history.contains(said), "{said} is not in\n{history}");
    }
    assert!(!house.read(".self/memory.jsonl").contains("test-key-of-the-house"), "the key is in memory");
}

#[test]
fn the_six_criteria_over_both_wires() {
    let clone = Clone::new();
    lives_through_everything(&clone.house, "anthropic", (40, 55));
    lives_through_everything(&clone.house, "openai", (55, 35));
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
    let built = house.told("life")[0]["at"].as_str().unwrap().to_owned();
    let first = until_remembered(house, "the first thought", |record| record["kind"] == "thought");
    let took = millis(first["at"].as_str().unwrap()) - millis(&built);
    assert!(took < 10_000, "the first thought came {took} ms after the build");

    until(house, "it to rest", || {
        house.read(".self/heartbeat").contains("resting") && house.thoughts().len() > 9
    });
    let saved = memory(house).len();
    house.write("PURPOSE.md", "# Purpose\n\nWatch the herons.\n");
    let at = millis_now();
    until(house, "the next thought", || {
        memory(house).iter().skip(saved).any(|record| record["kind"] == "thought")
    });
    let next = memory(house).into_iter().skip(saved).find(|record| record["kind"] == "thought").unwrap();
    assert!(millis(next["at"].as_str().unwrap()) - at < 2_000, "a saved purpose waits");
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
