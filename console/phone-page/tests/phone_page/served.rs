//! A page that is served beyond this machine, of a house; ended with the test; and a browser that may be signed in.

use crate::client::{Answer, ask, encoded};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use trials::{House, SOUND};

pub const PASSWORD: &str = "correct horse battery staple";
const AGENT: &str = "Mozilla/5.0 (Linux; Android 16) AppleWebKit/537.36 Chrome/150.0 Mobile Safari/537.36";

/// Without it some of this cannot run; it says so.
pub fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

pub fn program() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_phone-page"))
}

/// A house whose page is opened by these settings.
pub fn house(page: &str) -> House {
    let house = House::new(SOUND);
    house.settings(&format!("[page]\nlisten = \"127.0.0.1:0\"\n{page}"));
    house
}

/// One of the owner's commands, with this as its input.
pub fn command(house: &House, words: &[&str], input: &str) -> Output {
    let mut command = Command::new(program());
    command.args(words).current_dir(&house.root).stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

pub fn set_password(house: &House, password: &str) {
    let output = command(house, &["password"], &format!("{password}\n{password}\n"));
    assert!(output.status.success(), "{}", trials::said(&output));
}

/// What a file of the page's holds.
pub fn held(house: &House, name: &str) -> Value {
    serde_json::from_str(&house.read(&format!(".self/broker/page/{name}"))).unwrap_or_default()
}

pub struct Phone {
    pub child: Child,
    pub at: SocketAddr,
    pub fingerprint: String,
}

impl Phone {
    pub fn of(house: &House) -> Self {
        let mut command = Command::new(program());
        command.arg("serve").current_dir(&house.root).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        let told =
            line.trim().strip_prefix("page: it listens at ").unwrap_or_else(|| panic!("it said {line:?}"));
        let (at, fingerprint) = told.split_once(", SHA-256 ").unwrap();
        std::thread::spawn(move || said.lines().map_while(Result::ok).for_each(drop));
        Self { child, at: at.parse().unwrap(), fingerprint: fingerprint.to_owned() }
    }

    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Phone {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A browser: the cookies it holds, and the name by which it asks.
pub struct Browser {
    pub at: SocketAddr,
    pub host: String,
    pub cookies: Vec<String>,
}

impl Browser {
    pub fn new(phone: &Phone) -> Self {
        Self::at(phone.at)
    }

    pub fn at(at: SocketAddr) -> Self {
        Self { at, host: at.to_string(), cookies: Vec::new() }
    }

    /// One that is signed in.
    pub fn within(phone: &Phone) -> Self {
        let mut browser = Self::new(phone);
        let answer = browser.sign_in(PASSWORD);
        assert_eq!(answer.status, 303, "{}", answer.body);
        browser
    }

    fn lines(&self, more: &[String]) -> Vec<String> {
        let mut lines = vec![format!("Host: {}", self.host), format!("User-Agent: {AGENT}")];
        if !self.cookies.is_empty() {
            lines.push(format!("Cookie: {}", self.cookies.join("; ")));
        }
        lines.extend_from_slice(more);
        lines
    }

    pub fn get(&self, path: &str) -> Answer {
        self.get_with(path, &[])
    }

    pub fn get_with(&self, path: &str, more: &[String]) -> Answer {
        ask(self.at, &format!("GET {path} HTTP/1.1"), &self.lines(more), "").unwrap()
    }

    /// Posts a form as a page of this server does, and keeps the cookies that come.
    pub fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let fields: Vec<String> =
            fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        let body = fields.join("&");
        let more = [
            format!("Origin: https://{}", self.host),
            "Sec-Fetch-Site: same-origin".to_owned(),
            "Content-Type: application/x-www-form-urlencoded".to_owned(),
            format!("Content-Length: {}", body.len()),
        ];
        let answer = ask(self.at, &format!("POST {path} HTTP/1.1"), &self.lines(&more), &body).unwrap();
        self.keep(&answer);
        answer
    }

    fn keep(&mut self, answer: &Answer) {
        for set in answer.head.lines().filter_map(|line| line.strip_prefix("set-cookie: ")) {
            let cookie = set.split(';').next().unwrap();
            let (name, value) = cookie.split_once('=').unwrap();
            self.cookies.retain(|kept| !kept.starts_with(&format!("{name}=")));
            if !value.is_empty() {
                self.cookies.push(cookie.to_owned());
            }
        }
    }

    pub fn sign_in(&mut self, password: &str) -> Answer {
        self.post("/sign-in", &[("password", password)])
    }

    pub fn is_within(&self) -> bool {
        self.get("/talk").status == 200
    }

    /// The token of an act, from the form of a page.
    #[track_caller]
    pub fn act(&self, page: &str, path: &str) -> String {
        let shown = self.get(page).body;
        let form = shown.split("<form").find(|form| form.contains(&format!("action=\"{path}\"")));
        let form = form.unwrap_or_else(|| panic!("no form for {path} on {page}: {shown}"));
        let (_, after) = form.split_once("name=\"act\" value=\"").unwrap();
        after.split('"').next().unwrap().to_owned()
    }

    /// Does an act of a page's.
    #[track_caller]
    pub fn does(&mut self, page: &str, path: &str, fields: &[(&str, &str)]) -> Answer {
        let act = self.act(page, path);
        self.post(path, &[fields, &[("act", &act)]].concat())
    }
}
