//! Sign-in at an MCP server's address: by the owner through a browser, renewed, widened, and refused where it is hostile.

use crate::home::{Home, Open, Reply, Seen, Stub, reply};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use reqwest::{Client, Url};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const RULES: &str = "[[mcp.like.rules]]\ntool = \"*\"\ndo = \"allow\"\nlooks = true\n";
const KEPT: &str = ".self/broker/sign-ins/like.json";

/// An MCP server and its authorization server at one address, which do as `mode` says.
#[derive(Default)]
struct World {
    mode: String,
    /// Codes that were given, with the challenge and the scope that they were asked for with.
    codes: BTreeMap<String, (String, String)>,
    number: u32,
    /// The one token and refresh token that are taken now, with their scope.
    access: String,
    refresh: String,
    scope: String,
}

impl World {
    fn tokens(&mut self, scope: &str) -> Reply {
        self.number += 1;
        self.scope = scope.to_owned();
        (self.access, self.refresh) = (
            format!("access-token-{}-0123456789", self.number),
            format!("refresh-token-{}-0123456789", self.number),
        );
        told(
            200,
            &json!({
                "access_token": self.access, "refresh_token": self.refresh, "token_type": "Bearer", "expires_in": 3600,
            }),
        )
    }

    fn token(&mut self, form: &BTreeMap<String, String>) -> Reply {
        let of = |name: &str| form.get(name).map(String::as_str).unwrap_or_default();
        match of("grant_type") {
            "authorization_code" => match self.codes.remove(of("code")) {
                Some((challenge, scope)) if proof(of("code_verifier")) == challenge => self.tokens(&scope),
                _ => told(400, &json!({"error": "invalid_grant"})),
            },
            "refresh_token" if of("refresh_token") == self.refresh => {
                let scope = self.scope.clone();
                self.tokens(&scope)
            }
            "client_credentials" if of("client_secret") == "client-secret-0123" => self.tokens("read"),
            _ => told(400, &json!({"error": "invalid_grant"})),
        }
    }

    fn answer(&mut self, seen: &Seen) -> Reply {
        let base = format!("http://{}", seen.header("host").unwrap());
        let is = |word: &str| self.mode.contains(word);
        let target = Url::parse(&format!("{base}{}", seen.target)).unwrap();
        let form: BTreeMap<String, String> = url_pairs(match seen.method.as_str() {
            "GET" => target.query().unwrap_or_default(),
            _ => &seen.body,
        });
        let token_endpoint = match () {
            () if is("private") => "http://10.0.0.1/token".to_owned(),
            () if is("metadata-address") => "https://169.254.169.254/token".to_owned(),
            () if is("in the open") => "http://sign-in.example.org/token".to_owned(),
            () => format!("{base}/token"),
        };
        match target.path() {
            "/mcp" => self.mcp(seen, &base),
            "/.well-known/oauth-protected-resource/mcp" => {
                let resource = if is("resource of others") {
                    "https://other.example.org/mcp".into()
                } else {
                    format!("{base}/mcp")
                };
                told(
                    200,
                    &json!({"resource": resource, "authorization_servers": [base], "scopes_supported": ["read"]}),
                )
            }
            "/.well-known/oauth-authorization-server" => told(
                200,
                &json!({
                    "issuer": if is("issuer of others") { "https://other.example.org".into() } else { base.clone() },
                    "authorization_endpoint": if is("page elsewhere") { "http://10.0.0.1/authorize".into() } else { format!("{base}/authorize") },
                    "token_endpoint": token_endpoint,
                    "registration_endpoint": if is("closed") { None } else { Some(format!("{base}/register")) },
                    "response_types_supported": ["code"],
                    "code_challenge_methods_supported": if is("no proof") { json!(["plain"]) } else if is("silent") { Value::Null } else { json!(["S256"]) },
                    "authorization_response_iss_parameter_supported": true,
                }),
            ),
            "/register" => {
                let asked: Value = serde_json::from_str(&seen.body).unwrap();
                told(201, &json!({"client_id": "registered-here", "redirect_uris": asked["redirect_uris"]}))
            }
            "/authorize" => {
                self.number += 1;
                let code = format!("code-{}", self.number);
                let of = |name: &str| form.get(name).cloned().unwrap_or_default();
                self.codes.insert(code.clone(), (of("code_challenge"), of("scope")));
                let mut back = Url::parse(&of("redirect_uri")).unwrap();
                let issuer = if is("mixed up") { "https://evil.example.org" } else { &base };
                if is("says no") {
                    back.query_pairs_mut().append_pair("error", "access_denied");
                } else {
                    back.query_pairs_mut().append_pair("code", &code).append_pair("iss", issuer);
                }
                back.query_pairs_mut().append_pair("state", &of("state"));
                Reply { headers: vec![("location", back.into())], ..reply(302, "") }
            }
            "/token" => self.token(&form),
            _ => reply(404, ""),
        }
    }

    fn mcp(&self, seen: &Seen, base: &str) -> Reply {
        let refuse = |status: u16, more: &str| Reply {
            headers: vec![(
                "www-authenticate",
                format!("Bearer resource_metadata=\"{base}/.well-known/oauth-protected-resource/mcp\"{more}"),
            )],
            ..reply(status, "")
        };
        if self.access.is_empty() || seen.header("authorization") != Some(&format!("Bearer {}", self.access))
        {
            return refuse(401, ", scope=\"read\"");
        }
        let asked: Value = serde_json::from_str(&seen.body).unwrap_or_default();
        let result = match asked["method"].as_str().unwrap_or_default() {
            "initialize" => json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "like", "version": "1"}}),
            "tools/list" => json!({"tools": [
                {"name": "look", "inputSchema": {"type": "object"}}, {"name": "write", "inputSchema": {"type": "object"}}]}),
            "tools/call" if asked["params"]["name"] == "write" && !self.scope.contains("write") => {
                return refuse(403, ", error=\"insufficient_scope\", scope=\"write\"");
            }
            "tools/call" => {
                json!({"content": [{"type": "text", "text": format!("seen with {}", self.access)}]})
            }
            "server/discover" => return reply(400, "no session"),
            _ if seen.method == "POST" => return reply(202, ""),
            _ => return reply(405, ""),
        };
        told(200, &json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}))
    }
}

fn told(status: u16, body: &Value) -> Reply {
    Reply {
        headers: vec![("content-type", "application/json".to_owned())],
        ..reply(status, body.to_string())
    }
}

fn url_pairs(text: &str) -> BTreeMap<String, String> {
    let url = Url::parse(&format!("http://form/?{text}")).unwrap();
    url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect()
}

/// RFC 7636, 4.2.
fn proof(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()))
}

fn world(mode: &str) -> (Stub, Arc<Mutex<World>>) {
    let world = Arc::new(Mutex::new(World { mode: mode.to_owned(), ..World::default() }));
    let kept = world.clone();
    (Stub::start(move |seen| kept.lock().unwrap().answer(seen)), world)
}

fn home(stub: &Stub, more: &str) -> Home {
    Home::new(&format!("[mcp.like]\nurl = \"{}/mcp\"\n{more}{RULES}", stub.url))
}

async fn call(open: &Open, tool: &str) -> Value {
    open.post("/mcp/call", json!({"server": "like", "tool": tool, "arguments": {}, "reason": "to see"}))
        .await
        .1
}

/// The owner's sign-in at a terminal.
struct Terminal {
    child: Child,
    lines: BufReader<ChildStdout>,
    said: String,
}

impl Terminal {
    fn open(home: &Home, more: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_broker"))
            .args(["--house", home.path("").to_str().unwrap(), "--sign-in", "like"])
            .args(more)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines, said: String::new() }
    }

    /// The address that it gives to open; none where it ends before.
    fn address(&mut self) -> Option<Url> {
        let mut line = String::new();
        while self.lines.read_line(&mut line).unwrap() > 0 {
            self.said.push_str(&line);
            if let Some(address) = line.strip_prefix("  http") {
                return Some(Url::parse(&format!("http{}", address.trim())).unwrap());
            }
            line.clear();
        }
        None
    }

    /// Whether it succeeded, and all that it said.
    fn end(mut self) -> (bool, String) {
        self.lines.read_to_string(&mut self.said).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut self.said).unwrap();
        (self.child.wait().unwrap().success(), self.said)
    }
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
    let (stub, world) = world("");
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
    let (stub, _) = world("");
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
        let (stub, world) = world(mode);
        let home = home(&stub, "");
        let (done, said) = sign_in(&home).await;
        assert!(!done && said.contains(why), "{mode}: {said}");
        assert!(!home.text(KEPT).contains("access"), "{mode}: {}", home.text(KEPT));
        assert!(world.lock().unwrap().access.is_empty(), "{mode}: a token was given");
    }
}

#[tokio::test]
async fn only_the_way_back_of_this_sign_in_is_taken_by_browser_or_pasted() {
    let (stub, _) = world("");
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
    let (stub, _) = world("");
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
    let (stub, _) = world("");
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
    let (stub, world) = world("");
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
    let (stub, _) = world("");
    let home = home(&stub, "");
    std::fs::create_dir_all(home.path(".self/broker/sign-ins")).unwrap();
    std::fs::write(home.path(KEPT), "{").unwrap();
    let open = home.open().await;
    let refused = call(&open, "look").await;
    assert!(refused["error"].as_str().unwrap().contains("where it is moved away"), "{refused}");
    assert!(stub.seen().is_empty());
}
