//! The stage that tries a server beside the broker, how servers stand on the broker's page, and tools that are forgotten.

use crate::home::Home;
use crate::mcp::{RULES, TOKEN, call, home, met, set};
use crate::outside::{found_beside, happens_beside};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn stage(home: &Home, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_broker"));
    command.args(["--house", home.dir.path().to_str().unwrap()]).args(args).env_clear().envs(&home.keys);
    command.envs(std::env::var("PATH").ok().map(|path| ("PATH", path)));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// What the stage says of the server, by the settings of a text, else by those of the house.
fn tried(home: &Home, name: &str, text: Option<&str>) -> Output {
    let piped = text.map(|_| "--piped");
    let args: Vec<&str> = ["--mcp-tools", name].into_iter().chain(piped).collect();
    let mut child = stage(home, &args).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.unwrap_or_default().as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn answer(output: &Output) -> Value {
    let answer = serde_json::from_slice(&output.stdout);
    answer.unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// How the server stands on the broker's page, once that is so.
async fn stands(home: &Home, is_so: impl Fn(&Value) -> bool) -> Value {
    let page = || serde_json::from_str::<Value>(&home.text(".self/budget.json")).unwrap_or_default();
    let found = found_beside(|| Some(page()["mcp"][0].clone()).filter(&is_so)).await;
    found.unwrap_or_else(|| panic!("never so: {}", page()["mcp"]))
}

#[tokio::test]
async fn a_server_is_tried_as_the_broker_starts_it_and_nothing_is_recorded() {
    let home = home("", "");
    let output = tried(&home, "like", None);
    let told = answer(&output);
    assert_eq!((&told["ok"], &told["missing"]), (&json!(true), &json!([])), "{told}");
    let tool = |name: &str| {
        let tools = told["tools"].as_array().unwrap();
        tools.iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("{name}: {told}")).clone()
    };
    assert_eq!(
        tool("look"),
        json!({"name": "look", "line": "look: Looks", "says_it_looks": true, "do": "allow", "rule": "look allow", "changed": false})
    );
    // A rule that denies some arguments decides about those alone.
    assert_eq!(tool("send")["rule"], "send with to \"ann@example.org\" allow");
    assert_eq!(tool("prompts/get")["do"], Value::Null);
    // The variables of the broker's own start, and no others.
    let started: Vec<(String, String)> =
        serde_json::from_value(home.lines("like/starts")[0].clone()).unwrap();
    assert!(started.contains(&("MCP_TOKEN".to_owned(), TOKEN.to_owned())), "{started:?}");
    assert!(home.lines("like/calls").is_empty(), "no tool is called");
    for record in
        [".self/ledger.jsonl", ".self/broker/mcp.json", ".self/broker/hours.jsonl", ".self/budget.json"]
    {
        assert!(!home.path(record).exists(), "{record}");
    }
}

#[tokio::test]
async fn beside_a_broker_that_runs_its_ledger_stays_open_and_a_changed_tool_is_said_to_be_one() {
    let home = home("", "");
    let open = home.open().await;
    met(&open).await;
    set(&home, "changed");
    let told = answer(&tried(&home, "like", None));
    let changed: Vec<&Value> =
        told["tools"].as_array().unwrap().iter().filter(|tool| tool["changed"] == true).collect();
    assert_eq!(changed.iter().map(|tool| &tool["name"]).collect::<Vec<_>>(), ["send"], "{told}");
    assert_eq!(call(&open, "look", json!({})).await["ok"], true, "the ledger takes lines");
}

#[test]
fn what_keeps_a_server_from_answering_is_told_with_the_end_of_its_errors_and_no_secret() {
    let home = home("", "");
    let with = |command: &str| {
        format!(
            "[mcp.like]\ncommand = [\"sh\", \"-c\", {command:?}]\nenv = [\"MCP_TOKEN\", \"NOWHERE\"]\n{RULES}"
        )
    };
    let told = answer(&tried(&home, "like", Some(&with("echo \"no such module $MCP_TOKEN\" >&2; exit 3"))));
    assert_eq!((&told["ok"], &told["missing"]), (&json!(false), &json!(["NOWHERE"])), "{told}");
    assert!(
        told["trouble"].as_str().unwrap().contains("cannot be reached: it ended before it answered"),
        "{told}"
    );
    assert!(told["errors"][0].as_str().unwrap().starts_with("no such module"), "{told}");
    assert!(!told.to_string().contains(TOKEN), "{told}");
    // One that floods its error output is not kept waiting by that, nor whole.
    let told = answer(&tried(&home, "like", Some(&with("yes flood | head -c 3000000 >&2; exit 3"))));
    assert_eq!(told["errors"].as_array().unwrap().len(), 8, "{told}");
    let gone = "[mcp.like]\ncommand = [\"no-such-program\"]\n";
    let told = answer(&tried(&home, "like", Some(gone)));
    assert!(
        told["trouble"].as_str().unwrap().contains("no-such-program is no program on this machine"),
        "{told}"
    );
    let output = tried(&home, "lik", None);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("did you mean like?"), "{output:?}");
    let output = tried(&home, "like", Some("[mcp.like]\nnetwork = \"some\"\n"));
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("line 2: [mcp.like] network"), "{said}");
}

#[tokio::test]
async fn a_stage_that_is_told_to_end_takes_its_program_along() {
    let home = home("", "");
    let text = format!("[mcp.like]\ncommand = [\"sh\", \"-c\", \"echo > $HOME/here; sleep 1000\"]\n{RULES}");
    let mut child = stage(&home, &["--mcp-tools", "like", "--piped"]).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let here = home.path(".self/broker/mcp/like/here");
    assert!(happens_beside(|| here.exists()).await, "it never began");
    // The walls' own process ends with the stage, and the program with that.
    let within = || pids_in(&home.path(".self/broker/mcp/like"));
    assert!(!within().is_empty());
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(!child.wait().unwrap().success());
    assert!(happens_beside(|| within().is_empty()).await, "{:?}", within());
}

/// Processes whose working directory is this one.
fn pids_in(folder: &Path) -> Vec<i32> {
    let folder = folder.canonicalize().unwrap();
    let pids = std::fs::read_dir("/proc").unwrap().flatten();
    pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid: &i32| std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == folder))
        .collect()
}

#[tokio::test]
async fn the_page_says_how_a_server_stands() {
    let home = home("", "deadline_s = 2\n");
    let open = home.open().await;
    let up = stands(&home, |server| server["state"] == "up" && server["tools"] == 6).await;
    assert_eq!(
        up,
        json!({"server": "like", "state": "up", "trouble": null, "down_since": null, "tools": 6, "changed": [],
            "progress": null, "calls_this_hour": 0, "per_hour": 120})
    );
    call(&open, "look", json!({})).await;
    stands(&home, |server| server["calls_this_hour"] == 1).await;
    set(&home, "dies");
    call(&open, "look", json!({})).await;
    let down = stands(&home, |server| server["state"] == "down").await;
    assert!(!down["trouble"].as_str().unwrap_or_default().is_empty(), "{down}");
    assert!(down["down_since"].is_string(), "{down}");
    // By itself, and how far a call is is seen while it runs.
    set(&home, "slow");
    let again = stands(&home, |server| server["state"] == "up").await;
    assert_eq!(again["down_since"], Value::Null, "{again}");
    tokio::join!(
        call(&open, "look", json!({})),
        stands(&home, |server| server["progress"] == "3 of 5: reading"),
    );
    open.end().await;
    set(&home, "changed");
    let open = home.open().await;
    stands(&home, |server| server["state"] == "idle").await;
    call(&open, "look", json!({})).await;
    stands(&home, |server| server["changed"] == json!(["send"])).await;
}

#[tokio::test]
async fn the_tools_of_a_server_that_is_named_no_more_are_forgotten() {
    let home = home("", "");
    let open = home.open().await;
    met(&open).await;
    open.end().await;
    assert!(home.text(".self/broker/mcp.json").contains("\"like\""));
    let named = home.text("owner.toml");
    home.settings("");
    home.open().await.end().await;
    assert_eq!(home.text(".self/broker/mcp.json").trim(), "{}");
    // It is named again, and is what it is by now: seen for the first time.
    home.settings(&named);
    set(&home, "changed");
    let open = home.open().await;
    met(&open).await;
    let server = stands(&home, |server| server["state"] == "up").await;
    assert_eq!(server["changed"], json!([]));
}
