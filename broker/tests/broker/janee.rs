//! Janee over MCP, on standard streams and over streamable HTTP, against a server that behaves as it does.

use crate::home::{Home, Open};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

const KEY: &str = "janee-key-0123456789";

fn program() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let program = own.parent().unwrap().parent().unwrap().join("examples/janee_like");
    assert!(program.exists(), "build it first: cargo build -p broker --example janee_like");
    program
}

fn on_streams(rules: &str) -> Home {
    let home = Home::new("").with("JANEE_KEY", KEY);
    let (program, log) = (program(), home.path("calls"));
    home.settings(&format!(
        "[janee]\ncommand = [{:?}, {:?}]\npass_env = [\"JANEE_KEY\"]\n{rules}",
        program.to_str().unwrap(),
        log.to_str().unwrap()
    ));
    home
}

struct Server(Child);

impl Server {
    fn start(home: &Home, port: u16) -> Self {
        let mut child = Command::new(program())
            .args([home.path("calls").to_str().unwrap(), &port.to_string()])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let ready = BufReader::new(child.stdout.take().unwrap()).lines().next();
        assert_eq!(ready.unwrap().unwrap(), "ready");
        Self(child)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

async fn execute(open: &Open, method: &str, path: &str, body: Value) -> Value {
    let asked = json!({"capability": "echo", "method": method, "path": path, "body": body, "reason": "to see",
        "headers": {"accept": "text/plain", "authorization": "mine"}});
    open.post("/janee/execute", asked).await.1
}

/// Everything but how it is reached.
async fn behaves(home: &Home, open: &Open) {
    let listed = open.get("/janee/services").await;
    assert_eq!(
        (&listed["ok"], &listed["services"][0]["capability"]),
        (&json!(true), &json!("echo")),
        "{listed}"
    );
    assert_eq!(open.get("/status").await["tainted"], false, "its list is the owner's");
    let answer = execute(open, "get", "/a%2Db?q=1", Value::Null).await;
    assert_eq!((&answer["ok"], &answer["status"]), (&json!(true), &json!(200)), "{answer}");
    let body: Value = serde_json::from_str(answer["body"].as_str().unwrap()).unwrap();
    assert_eq!(
        body["asked"],
        json!({"capability": "echo", "method": "GET", "path": "/a-b?q=1", "headers": {"accept": "text/plain"},
            "reason": "to see"})
    );
    assert_eq!(open.get("/status").await["tainted"], true, "its answers were written by others");
    for status in [429, 500] {
        let answer = execute(open, "GET", &format!("/status/{status}"), Value::Null).await;
        assert_eq!((&answer["ok"], &answer["status"]), (&json!(true), &json!(status)));
    }
    let denied = execute(open, "GET", "/denied", Value::Null).await;
    assert_eq!(
        denied,
        json!({"ok": false, "error": "denied by policy", "hint": "ask the owner for write access", "reason_code": "POLICY",
            "dropped_headers": ["authorization"]})
    );
    let protocol = execute(open, "GET", "/protocol", Value::Null).await;
    assert!(protocol["error"].as_str().unwrap().contains("no such thing"), "{protocol}");
    for path in ["/../x", "//x", "/%2e%2e/x", "http://x/", "/a%2fb"] {
        assert_eq!(execute(open, "GET", path, Value::Null).await["ok"], false, "{path}");
    }
    // What changes something is asked about, and done once.
    let before = home.lines("calls").len();
    let asked = execute(open, "POST", "/notes", json!({"text": "hi"})).await;
    let id = asked["asked"].as_str().unwrap().to_owned();
    assert_eq!(home.lines("calls").len(), before);
    home.answer(&id, "approve");
    let done = home.until(&id, &["executed"]).await;
    assert_eq!((&done["status"], &done["act"]["kind"]), (&json!(200), &json!("janee")));
    let calls = home.lines("calls");
    assert_eq!((calls.len(), &calls[before]["body"]), (before + 1, &json!("{\"text\":\"hi\"}")));
    assert_eq!(home.lines(".self/asks.jsonl").last().unwrap()["event"], "executed");
    let services: Vec<Value> =
        home.lines(".self/ledger.jsonl").iter().map(|line| line["service"].clone()).collect();
    assert!(services.contains(&json!("janee:echo")), "{services:?}");
}

#[tokio::test]
async fn over_standard_streams() {
    let home = on_streams("");
    let open = home.open().await;
    behaves(&home, &open).await;
    let answer = execute(&open, "GET", "/x", Value::Null).await;
    let body: Value = serde_json::from_str(answer["body"].as_str().unwrap()).unwrap();
    let mut environment: Vec<&str> =
        body["environment"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    environment.sort_unstable();
    assert_eq!(environment, ["HOME", "JANEE_KEY", "PATH"]);
    assert_eq!(body["secret"], "[key]", "its secret came back");
    open.broker.services.janee.farewell().await;
}

#[tokio::test]
async fn over_streamable_http() {
    let (home, port) = (Home::new(""), free_port());
    home.settings(&format!("[janee]\nurl = \"http://127.0.0.1:{port}/mcp\"\n"));
    let server = Server::start(&home, port);
    let open = home.open().await;
    behaves(&home, &open).await;
    // Gone and back with no memory of the session: reading goes on as if nothing was.
    drop(server);
    let server = Server::start(&home, port);
    assert_eq!(execute(&open, "GET", "/x", Value::Null).await["ok"], true);
    drop(server);
    let gone = execute(&open, "GET", "/x", Value::Null).await;
    assert_eq!(gone["ok"], false, "{gone}");
}

#[tokio::test]
async fn a_server_that_dies_in_the_middle_is_asked_once_to_change_and_twice_to_read() {
    let home = on_streams("[janee.rules]\necho = [{ method = \"*\", path = \"/**\", do = \"allow\" }]\n");
    let open = home.open().await;
    let read = execute(&open, "GET", "/die", Value::Null).await;
    assert_eq!((&read["ok"], home.lines("calls").len()), (&json!(false), 2), "{read}");
    std::fs::remove_file(home.path("calls")).unwrap();
    // A taint would ask about a new recipient instead.
    std::fs::remove_file(home.path(".self/broker/taint.json")).unwrap();
    open.end().await;
    let open = home.open().await;
    let change = execute(&open, "POST", "/die", json!({"a": 1})).await;
    assert_eq!(
        (&change["ok"], &change["unsure"], home.lines("calls").len()),
        (&json!(false), &json!(true), 1),
        "{change}"
    );
    assert_eq!(
        execute(&open, "GET", "/x", Value::Null).await["ok"],
        true,
        "the next call finds a new server"
    );
}

#[tokio::test]
async fn rules_are_by_capability_and_nothing_is_there_unless_configured() {
    let home = on_streams("[janee.rules]\necho = [{ method = \"GET\", path = \"/only\", do = \"allow\" }]\n");
    let open = home.open().await;
    assert_eq!(execute(&open, "GET", "/only", Value::Null).await["ok"], true);
    let refused = execute(&open, "GET", "/else", Value::Null).await;
    assert!(refused["hint"].as_str().unwrap().contains("GET /only allow"), "{refused}");
    let bare = Home::new("");
    let open = bare.open().await;
    assert!(open.get("/janee/services").await["error"].as_str().unwrap().contains("not configured"));
    assert_eq!(execute(&open, "GET", "/x", Value::Null).await["ok"], false);
    let absent = Home::new("[janee]\ncommand = [\"/nowhere/janee\"]\n");
    let open = absent.open().await;
    assert!(execute(&open, "GET", "/x", Value::Null).await["error"].as_str().unwrap().contains("cannot be"));
}

#[tokio::test]
async fn rules_of_a_capability_fit_its_name_in_any_letter_case() {
    let rules = "[janee.rules]\n\"Echo\" = [{ method = \"GET\", path = \"/**\", do = \"allow\", per_hour = 2 }]\n\
        \"*\" = [{ method = \"*\", path = \"/**\", do = \"allow\" }]\n";
    let home = on_streams(rules);
    let open = home.open().await;
    for name in ["Echo", "echo", "ECHO", "eCHO"] {
        let asked = json!({"capability": name, "method": "POST", "path": "/x", "body": {"a": 1}});
        let (_, refused) = open.post("/janee/execute", asked).await;
        assert!(refused["error"].as_str().unwrap().contains("is not allowed"), "{name}: {refused}");
    }
    let get = |name: &str| json!({"capability": name, "method": "GET", "path": "/x"});
    for name in ["Echo", "echo"] {
        assert!(open.post("/janee/execute", get(name)).await.1["retry_after_s"].is_null());
    }
    let (_, used_up) = open.post("/janee/execute", get("ECHO")).await;
    assert!(used_up["retry_after_s"].is_number(), "{used_up}");
}
