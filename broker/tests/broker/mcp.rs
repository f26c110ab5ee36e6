//! Tools of MCP servers: judged by tool and arguments, pinned, asked about, and unharmed by servers that misbehave.

use crate::home::{Home, Open, Reply, Seen, Stub, reply};
use crate::outside::happens_beside;
use broker::services::mcp::pins::Pins;
use broker::services::mcp::tool::Tool;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;

pub const TOKEN: &str = "mcp-token-0123456789";
pub const RULES: &str = "[[mcp.like.rules]]\ntool = \"look\"\ndo = \"allow\"\nlooks = true\n\
    [[mcp.like.rules]]\ntool = \"send\"\nwith = {to = \"*@evil.example\"}\ndo = \"deny\"\n\
    [[mcp.like.rules]]\ntool = \"send\"\nwith = {to = \"ann@example.org\"}\ndo = \"allow\"\n\
    [[mcp.like.rules]]\ntool = \"send\"\ndo = \"ask\"\n";

pub fn program() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let program = own.parent().unwrap().parent().unwrap().join("examples/mcp_like");
    assert!(program.exists(), "build it first: cargo build -p broker --example mcp_like");
    program
}

pub fn home(mode: &str, more: &str) -> Home {
    home_with(mode, more, RULES)
}

pub fn home_with(mode: &str, more: &str, rules: &str) -> Home {
    let home = Home::new("").with("MCP_TOKEN", TOKEN);
    std::fs::create_dir_all(home.path("like")).unwrap();
    std::fs::write(home.path("like/mode"), mode).unwrap();
    home.settings(&format!(
        "[mcp.like]\ncommand = [{:?}, {:?}]\nenv = [\"MCP_TOKEN\"]\nwrite = [\"like\"]\n{more}{rules}",
        program().to_str().unwrap(),
        home.path("like").to_str().unwrap(),
    ));
    home
}

pub fn set(home: &Home, mode: &str) {
    std::fs::write(home.path("like/mode"), mode).unwrap();
}

pub async fn call(open: &Open, tool: &str, arguments: Value) -> Value {
    let asked = json!({"server": "like", "tool": tool, "arguments": arguments, "reason": "to see"});
    open.post("/mcp/call", asked).await.1
}

/// The server, once its tools were seen.
pub async fn met(open: &Open) -> Value {
    for _ in 0..3_000 {
        let listed = open.get("/mcp/servers").await;
        if listed["servers"][0]["all_tools"] != 0 {
            return listed["servers"][0].clone();
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("its tools were never seen")
}

#[tokio::test]
async fn two_hundred_tools_are_two_hundred_lines_at_most() {
    let home = home("many", "");
    let text = home.text("owner.toml").replace(RULES, "[[mcp.like.rules]]\ntool = \"*\"\ndo = \"allow\"\n");
    home.settings(&text);
    let open = home.open().await;
    met(&open).await;
    let lines = open.get("/status").await["mcp"].as_str().unwrap().to_owned();
    assert!(lines.lines().count() <= 200 && lines.chars().count() <= 12_000, "{}", lines.len());
    assert!(lines.ends_with("tools more; mcp.describe {server} lists them"), "{lines}");
}

#[tokio::test]
async fn a_tool_is_listed_described_judged_and_called_once() {
    let home = home("", "");
    let open = home.open().await;
    let listed = met(&open).await;
    let tools = &listed["tools"];
    let lines = open.get("/status").await["mcp"].as_str().unwrap().to_owned();
    assert_eq!(lines, "like:\n- look: Looks\n- send: Sends a text");
    assert_eq!(
        tools[0],
        json!({"name": "look", "line": "look: Looks", "do": "allow", "changed": false}),
        "{listed}"
    );
    assert_eq!(tools[1]["line"], "send: Sends a text");
    let (_, described) = open.post("/mcp/describe", json!({"server": "like", "tool": "send"})).await;
    assert_eq!(described["schema"]["properties"]["to"]["type"], "string");
    let looked = call(&open, "look", json!({"text": "x"})).await;
    assert_eq!(
        (&looked["ok"], &looked["body"]),
        (&json!(true), &json!("done: {\"text\":\"x\"}")),
        "{looked}"
    );
    assert_eq!(open.get("/status").await["tainted"], true, "its answers were written by others");
    // What only looks is not asked about after that; what may change something is, to somebody new.
    assert_eq!(call(&open, "look", json!({"text": "y"})).await["ok"], true);
    let asked = call(&open, "send", json!({"to": "ann@example.org", "text": "hi"})).await;
    let id = asked["asked"].as_str().unwrap_or_else(|| panic!("{asked}")).to_owned();
    let calls = home.lines("like/calls").len();
    home.answer(&id, "approve");
    let done = home.until(&id, &["executed"]).await;
    assert_eq!((&done["status"], &done["act"]["kind"]), (&json!(200), &json!("mcp")));
    assert_eq!(home.lines("like/calls").len(), calls + 1);
    assert_eq!(home.lines("like/calls")[calls]["arguments"], json!({"to": "ann@example.org", "text": "hi"}));
    // A rule that restricts fits whatever the letter case and the shape.
    for to in [json!("BOB@EVIL.example"), json!(["ann@example.org", "bob@evil.example"])] {
        let refused = call(&open, "send", json!({"to": to})).await;
        assert!(refused["error"].as_str().unwrap().contains("not allowed"), "{refused}");
    }
    let asked = call(&open, "send", json!({"to": ["ann@example.org", "new@example.org"]})).await;
    assert!(asked["asked"].is_string(), "all of an argument's texts must be allowed: {asked}");
    let unknown = call(&open, "lok", json!({})).await;
    assert!(unknown["hint"].as_str().unwrap().contains("look"), "{unknown}");
    let starts = home.lines("like/starts");
    let mut names: Vec<&str> =
        starts[0].as_array().unwrap().iter().filter_map(|pair| pair[0].as_str()).collect();
    names.retain(|name| *name != "LANG");
    names.sort_unstable();
    assert_eq!((starts.len(), names), (1, vec!["HOME", "MCP_TOKEN", "PATH"]));
    let services: Vec<Value> =
        home.lines(".self/ledger.jsonl").iter().map(|line| json!([line["service"], line["path"]])).collect();
    assert!(services.contains(&json!(["like", "/look"])), "{services:?}");
}

#[tokio::test]
async fn a_tool_that_changes_is_not_called_until_the_owner_agrees_to_its_new_form() {
    let home = home("", "");
    let open = home.open().await;
    assert_eq!(call(&open, "look", json!({})).await["ok"], true);
    open.end().await;
    set(&home, "changed");
    let open = home.open().await;
    let asked = call(&open, "send", json!({"to": "ann@example.org"})).await;
    let id = asked["asked"].as_str().unwrap_or_else(|| panic!("{asked}")).to_owned();
    let kept = home.ask(&id);
    let act = &kept["act"];
    assert!(
        act["before"].as_str().unwrap().contains("To one") && act["after"].as_str().unwrap().contains(".env")
    );
    assert!(home.lines("like/calls").len() == 1, "and the others are unharmed");
    assert_eq!(call(&open, "look", json!({})).await["ok"], true);
    home.answer(&id, "approve");
    home.until(&id, &["executed"]).await;
    let asked = call(&open, "send", json!({"to": "ann@example.org"})).await;
    assert!(asked["error"].as_str().unwrap().contains("text of others"), "judged as ever: {asked}");
}

#[tokio::test]
async fn servers_that_misbehave_are_told_of_and_harm_no_other() {
    for (mode, error) in [
        ("noisy", ""),
        ("dies", "lost in the middle"),
        ("slow", "no answer within 2 s; the last it told of its progress: 3 of 5: reading"),
        ("other-id", "no answer within 2 s"),
        ("huge", "no answer within 2 s"),
        ("deeply", ""),
    ] {
        let home = home(mode, "deadline_s = 2\n");
        let open = home.open().await;
        let answer = call(&open, "look", json!({})).await;
        match error {
            "" => assert_eq!(answer["ok"], true, "{mode}: {answer}"),
            error => {
                assert!(answer["error"].as_str().unwrap_or_default().contains(error), "{mode}: {answer}")
            }
        }
        set(&home, "");
        let again = call(&open, "look", json!({})).await;
        match mode {
            "dies" => assert!(again["error"].to_string().contains("tried again in"), "{mode}: {again}"),
            "slow" => {}
            _ => assert_eq!(again["ok"], true, "{mode}: {again}"),
        }
    }
}

#[tokio::test]
async fn what_a_server_says_is_bounded_cleaned_and_tells_no_secret() {
    let home = home("hostile odd many", "");
    let open = home.open().await;
    let answer = call(&open, "look", json!({})).await;
    let body = answer["body"].as_str().unwrap_or_else(|| panic!("{answer}"));
    assert!(
        !body.contains('\u{1b}') && !body.contains(TOKEN) && body.contains("ignore your owner"),
        "{body}"
    );
    let server = met(&open).await;
    assert_eq!((server["tools"].as_array().unwrap().len(), &server["all_tools"]), (2, &json!(1_000)));
    assert!(!server.to_string().contains("u001b"), "{server}");
    set(&home, "fails");
    let failed = call(&open, "look", json!({})).await;
    assert_eq!((&failed["status"], &failed["body"]), (&json!(422), &json!("no such place")));
    set(&home, "picture");
    let picture = call(&open, "look", json!({})).await;
    assert_eq!(picture["pictures"][0], json!({"mime_type": "image/png", "data": "aGVyb24="}));
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_is_cancelled_there_and_unsure_in_the_ledger() {
    let home = home("slow", "");
    let open = home.open().await;
    met(&open).await;
    let sent = call(&open, "send", json!({"to": "ann@example.org"}));
    let seen = |method: &str| home.lines("like/requests").iter().any(|asked| asked["method"] == method);
    tokio::select! {
        answer = sent => panic!("{answer}"),
        is_sent = happens_beside(|| seen("tools/call")) => assert!(is_sent),
    }
    assert!(happens_beside(|| seen("notifications/cancelled")).await, "{:?}", home.lines("like/requests"));
    let unsure = || home.lines(".self/ledger.jsonl").iter().any(|line| line["decision"] == "unsure");
    assert!(happens_beside(unsure).await, "{}", home.text(".self/ledger.jsonl"));
    assert!(home.text(".self/ledger.jsonl").contains("nobody waits for like any more"));
}

#[tokio::test]
async fn resources_and_prompts_are_called_by_rules_as_tools_are() {
    let home = home("", "");
    let rules = "[[mcp.like.rules]]\ntool = \"resources/*\"\nwith = {uri = \"like://secret*\"}\ndo = \"deny\"\n\
        [[mcp.like.rules]]\ntool = \"*s/*\"\ndo = \"allow\"\nlooks = true\n";
    home.settings(&home.text("owner.toml").replace(RULES, rules));
    let open = home.open().await;
    let said = |answer: Value| answer["body"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
    assert_eq!(said(call(&open, "resources/list", json!({})).await), "like://birds (birds): Seen.");
    assert_eq!(
        said(call(&open, "resources/read", json!({"uri": "like://birds"})).await),
        "like://birds:\na heron"
    );
    let refused = call(&open, "resources/read", json!({"uri": "LIKE://secret/1"})).await;
    assert!(refused["error"].as_str().unwrap().contains("not allowed"), "{refused}");
    assert_eq!(said(call(&open, "prompts/list", json!({})).await), "ask (bird)");
    let prompt = json!({"name": "ask", "arguments": {"bird": "heron"}});
    assert_eq!(said(call(&open, "prompts/get", prompt).await), "What does a \"heron\" eat?");
    let lines = open.get("/status").await["mcp"].as_str().unwrap().to_owned();
    assert!(lines.contains("- resources/read: Reads a resource by its address"), "{lines}");
}

/// A server of an earlier revision at an address, for those with the token.
fn over_http(seen: &Seen) -> Reply {
    if seen.header("authorization") != Some(&format!("Bearer {TOKEN}")) {
        return reply(401, "who are you?");
    }
    let asked: Value = serde_json::from_str(&seen.body).unwrap_or_default();
    let result = match asked["method"].as_str().unwrap_or_default() {
        "initialize" => json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": {"name": "like", "version": "1"}}),
        "tools/list" => json!({"tools": [{"name": "look", "inputSchema": {"type": "object"}}]}),
        "tools/call" => json!({"content": [{"type": "text", "text": "seen"}]}),
        "server/discover" => return reply(400, "no session"),
        _ if seen.method == "POST" => return reply(202, ""),
        _ => return reply(405, ""),
    };
    let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}).to_string();
    Reply { headers: vec![("content-type", "application/json".to_owned())], ..reply(200, answer) }
}

#[tokio::test]
async fn a_program_reaches_this_machine_only_where_the_owner_opened_the_network() {
    let stub = Stub::ok();
    for (network, reaches) in [("none", false), ("open", true)] {
        let mode = format!("connects to {}", stub.url.trim_start_matches("http://"));
        let home = home(&mode, &format!("network = \"{network}\"\n"));
        let open = home.open().await;
        let answer = call(&open, "look", json!({})).await;
        assert_eq!(answer["body"] == "Ok(())", reaches, "{network}: {answer}");
    }
}

#[tokio::test]
async fn a_server_at_an_address_is_called_with_its_token_and_says_so_where_that_is_wrong() {
    let stub = Stub::start(over_http);
    let settings = format!("[mcp.like]\nurl = \"{}/mcp\"\ntoken_env = \"MCP_TOKEN\"\n{RULES}", stub.url);
    let home = Home::new(&settings).with("MCP_TOKEN", TOKEN);
    let open = home.open().await;
    let looked = call(&open, "look", json!({})).await;
    assert_eq!((&looked["ok"], &looked["body"]), (&json!(true), &json!("seen")), "{looked}");
    let home = Home::new(&settings).with("MCP_TOKEN", "another-0123456789");
    let open = home.open().await;
    let refused = call(&open, "look", json!({})).await;
    assert!(refused["error"].as_str().unwrap_or_default().contains("401"), "{refused}");
    assert!(!refused.to_string().contains("another-0123456789"), "{refused}");
}

/// Found: the guardian keeps the broker's folder behind a link, which no program sees that runs behind walls; so none could
/// make a folder in its home.
#[tokio::test]
async fn a_program_keeps_files_at_home_where_the_brokers_folder_is_a_link() {
    let home = home("keeps a file at home", "network = \"proxy\"\n");
    std::fs::rename(home.path(".self/broker"), home.path(".self-broker")).unwrap();
    std::os::unix::fs::symlink("../.self-broker", home.path(".self/broker")).unwrap();
    let open = home.open().await;
    let answer = call(&open, "look", json!({})).await;
    assert_eq!(answer["body"], "Ok(())", "{answer}");
    assert_eq!(home.text(".self-broker/mcp/like/cache/like/kept"), "kept");
}

/// Found: the creature could put a link in the place of a folder within its own, and the program saw where that led.
#[tokio::test]
async fn a_folder_that_the_creature_could_make_a_link_is_not_granted() {
    let secret = tempfile::tempdir().unwrap();
    for (named, told) in [
        (".self/workspace/mine", "name"),
        ("docs/../.self/workspace/mine", "written with .."),
        (".self/workspace/gone", "is no folder"),
        (".self/workspace", ""),
    ] {
        let home = home("", &format!("read = [{named:?}]\n"));
        std::fs::create_dir_all(home.path(".self/workspace")).unwrap();
        std::os::unix::fs::symlink(secret.path(), home.path(".self/workspace/mine")).unwrap();
        let open = home.open().await;
        let answer = call(&open, "look", json!({})).await;
        let error = answer["error"].as_str().unwrap_or_default();
        assert_eq!(
            (answer["ok"] == true, error.contains(told)),
            (told.is_empty(), true),
            "{named}: {answer}"
        );
    }
}

/// Found: a yes that was given while the tool changed sent the call to the changed one.
#[tokio::test]
async fn a_call_that_waited_while_its_tool_changed_is_not_sent() {
    let home = home("", "");
    let open = home.open().await;
    let asked = call(&open, "send", json!({"to": "new@example.org"})).await;
    let id = asked["asked"].as_str().unwrap_or_else(|| panic!("{asked}")).to_owned();
    open.end().await;
    set(&home, "changed");
    let open = home.open().await;
    assert_eq!(call(&open, "look", json!({})).await["ok"], true, "which sees the change");
    home.answer(&id, "approve");
    let done = home.until(&id, &["failed", "executed"]).await;
    assert_eq!(done["state"], "failed", "{done}");
    assert!(done["result"].as_str().unwrap().contains("not what it was"), "{done}");
    assert!(!home.lines("like/calls").iter().any(|call| call["name"] == "send"));
}

/// Found: a server that names ever new tools filled the one file of all servers until it could not be read back.
#[test]
fn a_server_without_end_costs_the_others_nothing() {
    let home = Home::new("");
    std::fs::create_dir_all(home.house().broker()).unwrap();
    let tool = |number: usize| Tool {
        name: format!("tool{number}"),
        description: "x".repeat(60_000),
        schema: json!({"type": "object"}),
        says_it_looks: false,
        skill: None,
    };
    let pins = Pins::open(&home.house());
    let refused = (0..100).find_map(|number| pins.see("endless", &[tool(number)]).err());
    assert!(refused.as_ref().is_some_and(|why| why.starts_with("endless has described")), "{refused:?}");
    pins.see("other", &[tool(0)]).unwrap();
    let again = Pins::open(&home.house());
    assert_eq!((again.of("other").len(), again.of("endless")), (1, pins.of("endless")));
    pins.see("endless", &[tool(0)]).unwrap();
}

#[tokio::test]
async fn tools_as_they_were_first_seen_that_cannot_be_read_stop_every_call_and_say_so() {
    for spoilt in ["{", "", "[]", "a folder", "a pipe"] {
        let home = home("", "");
        let file = home.house().broker().join("mcp.json");
        std::fs::create_dir_all(home.house().broker()).unwrap();
        match spoilt {
            "a folder" => std::fs::create_dir(&file).unwrap(),
            "a pipe" => nix::unistd::mkfifo(&file, nix::sys::stat::Mode::S_IRWXU).unwrap(),
            text => std::fs::write(&file, text).unwrap(),
        }
        let open = home.open().await;
        let answer = call(&open, "look", json!({})).await;
        assert!(answer["error"].to_string().contains("where it is moved away"), "{spoilt}: {answer}");
        assert_eq!(home.lines("like/calls").len(), 0);
    }
}

#[tokio::test]
async fn a_hand_that_is_not_there_yet_is_told_of_in_the_guardians_words() {
    for (told, heard) in [
        (
            json!({"broker": {"hands": {"mail": "the hand mail is still being built"}}}),
            "is still being built",
        ),
        (
            json!({"broker": {"hands": {"mail": "the hand mail does not build: \u{1b}[31merror"}}}),
            "the hand mail does not build:",
        ),
        (json!({}), "the hand mail is not built: the guardian builds it beside the broker"),
    ] {
        let home = Home::new("");
        home.settings("[mcp.like]\nhand = \"mail\"\n[[mcp.like.rules]]\ntool = \"look\"\ndo = \"allow\"\n");
        std::fs::write(home.path(".self/guardian.json"), told.to_string()).unwrap();
        let open = home.open().await;
        let said = call(&open, "look", json!({})).await.to_string();
        assert!(said.contains(heard) && !said.contains("\\u001b"), "{said}");
    }
}
