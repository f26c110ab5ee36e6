//! The real creature behind the walls of a real guardian: each tool is called once, and the first request is small.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(clippy::wildcard_enum_match_arm, clippy::disallowed_methods)]

#[path = "../../creature/tests/faithful/mod.rs"]
mod faithful;
mod packages;
// The broker's own tests use all of it.
#[allow(dead_code)]
#[path = "../../broker/tests/broker/packages_registry.rs"]
mod registry;
mod rows;
mod site;

use faithful::{Faithful, Rules, Say, Seen, Wire};
use rows::{ROWS, Row};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};
use trials::model::{MONEY, asleep};
use trials::{House, lines, programs};

/// Calls of one turn.
const AT_ONCE: usize = 8;

/// What the mind was shown of the tools, and what came of each.
#[derive(Default)]
struct Shown {
    /// Names with dots, as `more` and the table of rows have them.
    tools: BTreeSet<String>,
    came: BTreeMap<String, String>,
}

/// The tools that a request lists or names, with dots; a name on the wire has none.
fn tools(seen: &Seen) -> BTreeSet<String> {
    let dotted = |name: &str| {
        let row = ROWS.iter().find(|row| row.tool.replace('.', "_") == name);
        row.map_or(name.to_owned(), |row| row.tool.to_owned())
    };
    let more = seen.body["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "more").unwrap();
    let (_, names) = more["description"].as_str().unwrap().rsplit_once(": ").unwrap();
    let named = names.split(", ").map(str::to_owned);
    seen.tools.keys().filter(|name| *name != "more").map(|name| dotted(name)).chain(named).collect()
}

/// The tool that a call is of: that of `more` is the one it names.
fn tool_of(name: &str, args: &Value) -> String {
    let name = if name == "more" { args["tool"].as_str().unwrap_or_default() } else { name };
    let row = ROWS.iter().find(|row| row.tool == name || row.tool.replace('.', "_") == name);
    row.map_or(name, |row| row.tool).to_owned()
}

/// The next calls: rows whose tool was not called, with what earlier results name put into them.
fn step(seen: &Seen, shown: &Mutex<Shown>, site: &str) -> Say {
    if seen.tools.is_empty() && seen.body.to_string().contains("\"image\"") {
        // A look apart, which has no tools.
        return Say::new().plainly("On the picture seven herons stand there.");
    }
    let mut shown = shown.lock().unwrap();
    shown.tools = tools(seen);
    for (name, args, came) in seen.history() {
        let tool = tool_of(&name, &args);
        if let Some(came) = came {
            shown.came.entry(tool).or_insert(came);
        }
    }
    if !seen.all_text().contains("use every tool") {
        return Say::new().says("Nothing is asked of me.").rests(300);
    }
    let mut say = Say::new().says("I go on.");
    let mut calls = 0;
    for row in ROWS.iter().filter(|row| !shown.came.contains_key(row.tool)) {
        let Some(args) = row.filled(&shown.came, site) else {
            assert!(calls > 0, "{}: no earlier result names what it needs: {:#?}", row.tool, shown.came);
            break;
        };
        if calls == AT_ONCE || calls > 0 && row.is_alone {
            break;
        }
        say = match seen.tool(row.tool) {
            Some(_) => say.calls(row.tool, args),
            None => say.calls("more", serde_json::json!({"tool": row.tool, "args": args.to_string()})),
        };
        calls += 1;
        if row.is_alone {
            break;
        }
    }
    if calls == 0 { Say::new().says("All is tried.").rests(300) } else { say }
}

/// A house whose mind is this server, with `more` settings.
fn house(server: &Faithful, more: &str) -> House {
    let house = House::new("exit 1").with_broker();
    // By its whole path: a rehearsal runs it in another folder.
    house.write_life(&format!("exec {}", house.path("target/creature/the-real-one").display()));
    // Cargo writes where it is told to, and nowhere else.
    let cargo = "dir=; for word; do [ \"$last\" = --target-dir ] && dir=$word; last=$word; done\n\
        [ -z \"$dir\" ] || { mkdir -p \"$dir/debug\" && echo built > \"$dir/debug/artefact\"; } || exit 101\n";
    house.write("creature/test.sh", &format!("{cargo}echo 'test result: ok. 1 passed; 0 failed'\n"));
    house.write(
        "creature/Cargo.toml",
        "[package]\nname = \"creature\"\nversion = \"0.1.0\"\nedition = \"2024\"\n",
    );
    house.write(
        "creature/Cargo.lock",
        "version = 4\n\n[[package]]\nname = \"creature\"\nversion = \"0.1.0\"\n",
    );
    house.write(
        "creature/src/greet.rs",
        "//! Greets.\n\npub fn greeting() -> &'static str {\n    \"good day\"\n}\n",
    );
    house.write("self/scratch.md", "seven herons\n");
    house.commit("a creature of source");
    std::fs::create_dir_all(house.path("target/creature")).unwrap();
    programs::place(programs::creature(), &house.path("target/creature/the-real-one"));
    let model = Wire::Anthropic.model();
    let prices = MONEY.replace("prices.scripted", &format!("prices.{model}"));
    house.settings(&format!(
        "{prices}{asleep}[web]\nallow_private = true\n[permissions]\n\"repo.install_deps\" = \"always\"\n\
        [rest]\nshortest_s = 1\nlongest_s = 300\n\
        [model]\nprovider = \"anthropic\"\nmodel = \"{model}\"\nbase_url = \"{address}\"\nkey_env = \"TEST_MODEL_KEY\"\n\
        {more}",
        asleep = asleep(),
        address = server.base_url(),
    ));
    house
}

/// Settings by which every tool can be used.
fn everything(site: &str, folder: &Path) -> String {
    let mcp = programs::broker().with_file_name("examples").join("mcp_like");
    format!(
        "[search]\nprovider = \"searxng\"\nbase_url = \"{site}\"\n[x]\nbase_url = \"{site}\"\n\
        [services.notes]\nbase_url = \"{site}\"\nallow_private = true\nrules = [{{ method = \"*\", path = \"/**\", do = \"allow\" }}]\n\
        [mcp.like]\ncommand = [{mcp:?}, {folder:?}]\nwrite = [{folder:?}]\n\
        rules = [{{ tool = \"*\", do = \"allow\", looks = true }}]\n"
    )
}

/// What the tree as it is sends before anything is asked of it. No test of the creature's own: a self that gives itself a
/// tool is free to send more.
#[test]
fn the_first_request_of_a_new_house_is_small() {
    let server =
        Faithful::start(Wire::Anthropic, Rules::default(), |_| Say::new().says("Nothing to do.").rests(300));
    let house = house(&server, "");
    house.write("PURPOSE.md", &format!("# Purpose\n\n{}\n", "Be curious about small things. ".repeat(40)));
    house.write("self/HEARTBEAT.md", "# Heartbeat\n\n- [ ] map\n- [ ] every 1d: snapshot\n");
    house.commit("a purpose");
    let mut command = house.command(&[]);
    command.env("TEST_MODEL_KEY", "test-key-of-the-house");
    let guardian = house.start_by(command);
    let is_first = |seen: &Seen| seen.all_text().contains("small things");
    house.until("the first request", || server.seen().iter().any(is_first));
    let seen = server.seen().into_iter().find(is_first).unwrap();
    let size = |part: &str| seen.body[part].to_string().len();
    let (bytes, tools) = (seen.body.to_string().len(), seen.tools.len());
    println!(
        "{bytes} bytes: {tools} tools {}, system {}, messages {}",
        size("tools"),
        size("system"),
        size("messages")
    );
    assert!(faithful::tokens(bytes) <= 6_000, "{bytes} bytes");
    assert!(tools <= 45 && size("tools") <= 16_000, "{tools} tools of {} bytes", size("tools"));
    assert_eq!(guardian.stop(), 0);
}

#[test]
fn every_tool_works_behind_the_walls_of_a_real_guardian() {
    let shown = Arc::new(Mutex::new(Shown::default()));
    let asked = Arc::clone(&shown);
    let site = site::start();
    let outside = site.clone();
    let server = Faithful::start(Wire::Anthropic, Rules::default(), move |seen| step(seen, &asked, &outside));
    let calls = tempfile::tempdir().unwrap();
    let house = house(&server, &everything(&site, calls.path()));
    house.write("skills/herons/SKILL.md", "---\nname: herons\ndescription: Counts herons\n---\nAt dusk.\n");
    house.write(
        "skills/herons/scripts/count.sh",
        "touch skills/herons/more && echo written || echo nine herons\n",
    );
    std::fs::create_dir_all(house.path(".self/workspace")).unwrap();
    std::fs::write(house.path(".self/workspace/heron.png"), b"\x89PNG\r\n\x1a\nherons").unwrap();
    let mut command = house.command(&[]);
    command.env("TEST_MODEL_KEY", "test-key-of-the-house").env("X_USER_TOKEN", "x-user-token-123");
    let guardian = house.start_by(command);
    house.until("the first thought", || !house.thoughts().is_empty());
    let walls = house.status()["walls"].as_str().unwrap_or_default().to_owned();
    if walls != "full" {
        println!("walls are {walls}: what they refuse is not seen here");
    }
    let mut ends = 0;
    house.say("use every tool");
    house.until("every row to be tried", || {
        server.assert_no_violations();
        let shown = shown.lock().unwrap();
        let done = ROWS.iter().filter(|row| shown.came.contains_key(row.tool)).count();
        // What ends a wake is gone on with at the owner's next word.
        let ended = acted(&house, "complete_run") + acted(&house, "rest");
        if ended > ends {
            ends = ended;
            house.say("go on: use every tool");
        }
        done + ROWS.iter().filter(|row| row.ends_life).count() >= ROWS.len()
            && acted(&house, "repo.commit") > 0
    });
    let shown = shown.lock().unwrap();
    let rows: BTreeSet<String> = ROWS.iter().map(|row| row.tool.to_owned()).collect();
    assert_eq!(shown.tools, rows, "a tool without a row, or a row without a tool");
    let wrong: Vec<String> = ROWS.iter().filter_map(|row| judged(row, &shown.came, &house)).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), ROWS.len(), wrong.join("\n"));
    // The owner's skills are read and run behind the walls, and never written there.
    let counted = house.read(".self/workspace/counted");
    assert!(walls == "off" || counted.contains("nine herons") && !counted.contains("written"), "{counted}");
    assert_eq!(guardian.stop(), 0);
}

fn acted(house: &House, tool: &str) -> usize {
    let records = lines(&house.path(".self/memory.jsonl"));
    records.iter().filter(|record| record["kind"] == "action" && record["data"]["tool"] == tool).count()
}

/// What is wrong with what came of a row's call; none where it is right.
fn judged(row: &Row, came: &BTreeMap<String, String>, house: &House) -> Option<String> {
    let text = match (came.get(row.tool), row.ends_life) {
        (Some(text), _) => text.clone(),
        (None, true) => {
            let records = lines(&house.path(".self/memory.jsonl"));
            let done = records.iter().rev().find(|record| record["data"]["tool"] == row.tool)?;
            match done["data"]["result"]["ok"] == true {
                true => done["data"]["result"].to_string(),
                false => format!("failed: {}", done["data"]["result"]),
            }
        }
        (None, false) => return Some(format!("{}: never called", row.tool)),
    };
    let is_right =
        text.starts_with("failed:") == row.right.starts_with("failed:") && text.contains(row.right);
    (!is_right).then(|| format!("{}: not `{}` but {text:.400}", row.tool, row.right))
}
