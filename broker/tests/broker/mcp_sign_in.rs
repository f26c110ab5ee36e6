//! Sign-in at an MCP server's address: by the owner through a browser, renewed, widened, and refused where it is hostile.

use crate::home::{Home, Open, Stub, reply};
use crate::mcp_terminal::{Terminal, sign_out};
use crate::mcp_world::{World, url_pairs};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use reqwest::{Client, Url};
use serde_json::{Value, json};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

const RULES: &str = "[[mcp.like.rules]]\ntool = \"*\"\ndo = \"allow\"\nlooks = true\n";
const KEPT: &str = ".self/broker/sign-ins/like.json";

fn home(stub: &Stub, more: &str) -> Home {
    Home::new(&format!("[mcp.like]\nurl = \"{}/mcp\"\n{more}{RULES}", stub.url))
}

async fn call(open: &Open, tool: &str) -> Value {
    open.post("/mcp/call", json!({"server": "like", "tool": tool, "arguments": {}, "reason": "to see"}))
        .await
        .1
}

fn browser() -> Client {
    Client::builder().redirect(reqwest::redirect::Policy::none()).no_proxy().build().unwrap()
}

/// Where a browser is sent by the page that it opens.
async fn sent_back(address: &Url) -> Url {
    let answer = browser().get(address.clone()).send().await.unwrap();
    Url::parse(answer.headers()["location"].to_str().unwrap()).unwrap()
}

/// A sign-in as an owner does it.
async fn sign_in(home: &Home) -> (bool, String) {
    let mut terminal = Terminal::open(home, &[]);
    if let Some(address) = terminal.address() {
        let back = sent_back(&address).await;
        browser().get(back).send().await.unwrap();
    }
    terminal.end()
}

#[tokio::test]
async fn the_owner_signs_in_once_and_tokens_are_renewed_until_they_are_not_taken() {
    let (stub, world) = World::start("");
    let home = home(&stub, "");
    let open = home.open().await;
    let refused = call(&open, "look").await;
    assert!(refused["error"].as_str().unwrap().contains("feral mcp sign-in like"), "{refused}");
    let (done, said) = sign_in(&home).await;
    assert!(done && said.contains("Signed in at like by 127.0.0.1, for: read"), "{said}");
    assert!(!said.contains("token-"), "{said}");
    // At once, whatever pause there was.
    let looked = call(&open, "look").await;
    assert_eq!(looked["ok"], true, "{looked}");
    assert!(looked["body"].as_str().unwrap().starts_with("seen with"), "{looked}");
    assert!(!looked.to_string().contains("access-token"), "{looked}");
    assert_eq!(std::fs::metadata(home.path(KEPT)).unwrap().permissions().mode() & 0o777, 0o600);
    let asked = stub.seen().into_iter().find(|seen| seen.path() == "/token").unwrap();
    let form = url_pairs(&asked.body);
    assert_eq!(form["resource"], format!("{}/mcp", stub.url), "RFC 8707, 2");
    assert!(form["redirect_uri"].starts_with("http://127.0.0.1:"), "{form:?}");
    // The server takes the token back: it is renewed, and the one that renews with it.
    let former = std::mem::replace(&mut world.lock().unwrap().access, "gone-0123456789".to_owned());
    assert_eq!(call(&open, "look").await["ok"], true);
    assert!(
        home.text(KEPT).contains("refresh-token-3") && !home.text(KEPT).contains(&former),
        "{}",
        home.text(KEPT)
    );
    let renewals = home.lines(".self/ledger.jsonl");
    assert!(renewals.iter().any(|line| line["decision"] == "sign in anew"), "{renewals:?}");
    // A broker that starts goes on with it, and knows its tokens from the start.
    open.end().await;
    let open = home.open().await;
    assert_eq!(call(&open, "look").await["ok"], true);
    (world.lock().unwrap().access, world.lock().unwrap().refresh) = ("gone-0123456789".into(), "gone".into());
    let ended = call(&open, "look").await;
    assert!(
        ended["error"].as_str().unwrap().contains("signs in again with: feral mcp sign-in like"),
        "{ended}"
    );
    let renewals = stub.seen().iter().filter(|seen| seen.body.contains("grant_type=refresh_token")).count();
    call(&open, "look").await;
    let again = stub.seen().iter().filter(|seen| seen.body.contains("grant_type=refresh_token")).count();
    assert_eq!(again, renewals, "what was rejected is not offered again");
    assert!(sign_in(&home).await.0);
    assert_eq!(call(&open, "look").await["ok"], true);
    assert_eq!(stub.seen().iter().filter(|seen| seen.path() == "/register").count(), 1, "we are who we were");
}

#[tokio::test]
async fn what_wants_more_than_was_agreed_to_is_said_and_the_rest_goes_on() {
    let (stub, _) = World::start("");
    let home = home(&stub, "");
    let open = home.open().await;
    assert!(sign_in(&home).await.0);
    let refused = call(&open, "write").await;
    let error = refused["error"].as_str().unwrap();
    assert!(error.contains("(write)") && error.contains("feral mcp sign-in like"), "{refused}");
    assert_eq!(call(&open, "look").await["ok"], true);
    let (done, said) = sign_in(&home).await;
    assert!(done && said.contains("write read"), "{said}");
    assert_eq!(call(&open, "write").await["ok"], true);
}

#[tokio::test]
async fn a_sign_in_that_leads_elsewhere_is_refused_in_words_and_keeps_nothing() {
    for (mode, why) in [
        ("no proof", "PKCE"),
        ("silent", "PKCE"),
        ("private", "the sign-in leads to 10.0.0.1"),
        ("metadata-address", "the sign-in leads to 169.254.169.254"),
        ("in the open", "the sign-in leads to sign-in.example.org, and http is not safe"),
        ("page elsewhere", "the sign-in leads to 10.0.0.1"),
        ("resource of others", "does not fit its address"),
        ("issuer of others", "says of itself is of https://other.example.org"),
        ("mixed up", "the way back comes from https://evil.example.org"),
        ("says no", "access_denied"),
        ("closed", "register one there by hand"),
    ] {
        let (stub, world) = World::start(mode);
        let home = home(&stub, "");
        let (done, said) = sign_in(&home).await;
        assert!(!done && said.contains(why), "{mode}: {said}");
        assert!(!home.text(KEPT).contains("access"), "{mode}: {}", home.text(KEPT));
        assert!(world.lock().unwrap().access.is_empty(), "{mode}: a token was given");
    }
}

#[tokio::test]
async fn only_the_way_back_of_this_sign_in_is_taken_by_browser_or_pasted() {
    let (stub, _) = World::start("");
    let home = home(&stub, "");
    let mut terminal = Terminal::open(&home, &["--port", "0"]);
    let back = sent_back(&terminal.address().unwrap()).await;
    let mut forged = back.clone();
    forged.set_query(Some("code=stolen&state=guessed"));
    assert_eq!(browser().get(forged.clone()).send().await.unwrap().status(), 400);
    let mut input = terminal.child.stdin.take().unwrap();
    writeln!(input, "{forged}\nhello").unwrap();
    writeln!(input, "{back}").unwrap();
    let (done, said) = terminal.end();
    assert!(done && said.matches("That is no address").count() == 2, "{said}");
    assert!(browser().get(back).send().await.is_err(), "it is taken once");
}

#[tokio::test]
async fn a_sign_in_that_is_left_or_killed_changes_nothing() {
    let (stub, _) = World::start("");
    let home = home(&stub, "");
    assert!(sign_in(&home).await.0);
    let before = home.text(KEPT);
    for signal in [Signal::SIGINT, Signal::SIGKILL] {
        let mut terminal = Terminal::open(&home, &[]);
        terminal.address().unwrap();
        kill(Pid::from_raw(terminal.child.id().try_into().unwrap()), signal).unwrap();
        let (done, said) = terminal.end();
        assert!(!done && (signal == Signal::SIGKILL || said.contains("Nothing was changed")), "{said}");
        assert_eq!(home.text(KEPT), before);
    }
    let open = home.open().await;
    assert_eq!(call(&open, "look").await["ok"], true);
}

#[tokio::test]
async fn a_token_goes_to_the_address_it_was_given_for_and_to_no_other() {
    let (stub, _) = World::start("");
    let home = home(&stub, "");
    assert!(sign_in(&home).await.0);
    let other = Stub::start(|_| reply(401, ""));
    home.settings(&home.text("owner.toml").replace(&stub.url, &other.url));
    let open = home.open().await;
    let refused = call(&open, "look").await;
    assert!(refused["error"].as_str().unwrap().contains("feral mcp sign-in like"), "{refused}");
    assert!(other.seen().iter().all(|seen| seen.header("authorization").is_none()));
}

#[tokio::test]
async fn a_client_signs_in_by_itself_where_the_owner_says_so() {
    let (stub, world) = World::start("");
    let settings = "sign_in = \"client\"\nclient_id = \"ours\"\nclient_secret_env = \"CLIENT_SECRET\"\n";
    let home = home(&stub, settings).with("CLIENT_SECRET", "client-secret-0123");
    let open = home.open().await;
    let looked = call(&open, "look").await;
    assert_eq!(looked["ok"], true, "{looked}");
    assert!(!looked.to_string().contains("access-token"), "{looked}");
    (world.lock().unwrap().access, world.lock().unwrap().refresh) = ("gone-0123456789".into(), "gone".into());
    let refused = call(&open, "look").await;
    let error = refused["error"].as_str().unwrap();
    assert!(error.contains("does not take the sign-in of client_id"), "{refused}");
    for _ in 0..100 {
        if call(&open, "look").await["ok"] == true {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("it does not sign in anew");
}

#[tokio::test]
async fn a_sign_in_that_cannot_be_read_is_said_and_nothing_is_sent() {
    let (stub, _) = World::start("");
    let home = home(&stub, "");
    std::fs::create_dir_all(home.path(".self/broker/sign-ins")).unwrap();
    std::fs::write(home.path(KEPT), "{").unwrap();
    let open = home.open().await;
    let refused = call(&open, "look").await;
    assert!(refused["error"].as_str().unwrap().contains("where it is moved away"), "{refused}");
    assert!(stub.seen().is_empty());
}

#[tokio::test]
async fn a_sign_out_gives_the_tokens_back_and_removes_them_whatever_came_of_that() {
    for (mode, said) in [
        ("", "127.0.0.1 took the tokens back"),
        ("of one kind", "127.0.0.1 took the tokens back"),
        ("keeps all", "127.0.0.1 names no place where tokens are given back: take your consent back there"),
        ("is down", "127.0.0.1 did not take the tokens back: it answered 503. Take your consent back there"),
        ("takes back elsewhere", "did not take the tokens back: the sign-in leads to 10.0.0.1"),
    ] {
        let (stub, world) = World::start(mode);
        let home = home(&stub, "");
        let open = home.open().await;
        assert!(sign_in(&home).await.0);
        assert_eq!(call(&open, "look").await["ok"], true);
        let refresh = world.lock().unwrap().refresh.clone();
        let (done, told) = sign_out(&home, "like");
        assert!(done && told.contains(said) && told.contains("Signed out of like"), "{mode}: {told}");
        assert!(!told.contains("token-"), "{mode}: {told}");
        assert!(!home.path(KEPT).exists(), "{mode}");
        let revoked: Vec<_> = stub.seen().into_iter().filter(|seen| seen.path() == "/revoke").collect();
        if said.contains("took the tokens back.") || mode.is_empty() {
            let form = url_pairs(&revoked[0].body);
            assert_eq!((&form["token"], &form["token_type_hint"]), (&refresh, &"refresh_token".to_owned()));
            assert_eq!(form["client_id"], "registered-here");
        }
        // The broker that runs forgets them too.
        let refused = call(&open, "look").await;
        assert!(refused["error"].as_str().unwrap().contains("feral mcp sign-in like"), "{mode}: {refused}");
        let (done, told) = sign_out(&home, "like");
        assert!(done && told.contains("Nobody is signed in at like") || told.contains("no tokens"), "{told}");
        assert!(sign_in(&home).await.0);
        let came = call(&open, "look").await;
        assert_eq!(came["ok"], true, "{mode}: {came}");
    }
}

#[tokio::test]
async fn a_sign_out_needs_no_server_in_the_settings_and_no_file_that_can_be_read() {
    let (stub, world) = World::start("");
    let home = home(&stub, "");
    assert!(sign_in(&home).await.0);
    home.settings("");
    let (done, told) = sign_out(&home, "like");
    assert!(done && told.contains("took the tokens back"), "{told}");
    assert!(world.lock().unwrap().refresh.is_empty());
    std::fs::write(home.path(KEPT), "{").unwrap();
    let (done, told) = sign_out(&home, "like");
    assert!(done && told.contains("cannot be read") && !home.path(KEPT).exists(), "{told}");
    let (done, told) = sign_out(&home, "../like");
    assert!(!done && told.contains("is no server's name"), "{told}");
}
