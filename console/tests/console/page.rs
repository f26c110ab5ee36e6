//! The owner's page as a browser meets it: a server of a house, requests as bytes, answers taken apart; how it begins and ends.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;
use trials::{House, SOUND, said};

/// What a reader of the page waits for at most; nothing is asserted of how long it took.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A page that is served; it is ended with this.
pub struct Page {
    child: Child,
    pub port: u16,
    pub token: String,
}

pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Page {
    pub fn of(house: &House) -> Self {
        Self::in_zone(house, "UTC0")
    }

    /// A page whose clock stands elsewhere.
    pub fn in_zone(house: &House, zone: &str) -> Self {
        let mut command = house.command(&["serve", "--port", "0"]);
        command.env("TZ", zone).env_remove("RUST_LOG").stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut link = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut link).unwrap();
        let (place, token) = link.trim().split_once("/?token=").expect(&link);
        let port = place.strip_prefix("http://127.0.0.1:").unwrap().parse().unwrap();
        Self { child, port, token: token.to_owned() }
    }

    pub fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id().try_into().unwrap())
    }

    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub fn cookie(&self) -> String {
        format!("feral-{}={}", self.port, self.token)
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// A request of exactly these lines.
    pub fn raw(&self, first: &str, lines: &[&str], body: &str) -> Answer {
        let mut stream = self.connect();
        let lines: String = lines.iter().map(|line| format!("{line}\r\n")).collect();
        write!(stream, "{first}\r\n{lines}Connection: close\r\n\r\n{body}").unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        answer(&bytes)
    }

    pub fn get(&self, path: &str) -> Answer {
        let lines = [format!("Host: {}", self.host()), format!("Cookie: {}", self.cookie())];
        self.raw(&format!("GET {path} HTTP/1.1"), &lines.each_ref().map(String::as_str), "")
    }

    /// Posts a form as a page of this server does.
    pub fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let body: Vec<String> =
            fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        let body = body.join("&");
        let lines = [
            format!("Host: {}", self.host()),
            format!("Origin: http://{}", self.host()),
            "Sec-Fetch-Site: same-origin".to_owned(),
            format!("Cookie: {}", self.cookie()),
            "Content-Type: application/x-www-form-urlencoded".to_owned(),
            format!("Content-Length: {}", body.len()),
        ];
        self.raw(&format!("POST {path} HTTP/1.1"), &lines.each_ref().map(String::as_str), &body)
    }

    /// The token of an act, from the form of a page.
    #[track_caller]
    pub fn act(&self, page: &str, path: &str) -> String {
        let shown = self.get(page).body;
        field(&shown, path, "act").unwrap_or_else(|| panic!("no form for {path} on {page}: {shown}"))
    }

    /// Ends it as a terminal does, and waits until it has.
    pub fn end(mut self, signal: Signal) -> Option<i32> {
        kill(self.pid(), signal).unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A field of the form that posts to this path.
pub fn field(page: &str, path: &str, name: &str) -> Option<String> {
    let form = page.split("<form").find(|form| form.contains(&format!("action=\"{path}\"")))?;
    let (_, after) = form.split_once(&format!("name=\"{name}\" value=\""))?;
    after.split('"').next().map(str::to_owned)
}

pub fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric();
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

fn answer(bytes: &[u8]) -> Answer {
    let text = String::from_utf8(bytes.to_vec()).expect("an answer in UTF-8");
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    let is_chunked = head.to_lowercase().contains("transfer-encoding: chunked");
    let body = if is_chunked { unchunked(body.as_bytes()) } else { body.to_owned() };
    Answer { status, head: head.to_owned(), body }
}

fn unchunked(mut rest: &[u8]) -> String {
    let mut whole = Vec::new();
    while let Some(end) = rest.windows(2).position(|pair| pair == b"\r\n") {
        let bytes = usize::from_str_radix(std::str::from_utf8(&rest[..end]).unwrap().trim(), 16).unwrap();
        if bytes == 0 {
            break;
        }
        whole.extend_from_slice(&rest[end + 2..end + 2 + bytes]);
        rest = &rest[end + 4 + bytes..];
    }
    String::from_utf8(whole).unwrap()
}

#[test]
fn the_link_is_one_line_and_a_signal_ends_it_at_once() {
    let house = House::new(SOUND);
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let page = Page::of(&house);
        assert_eq!(page.get("/").status, 200);
        // One that follows, and one that says nothing, keep nothing from ending.
        let mut follows = page.connect();
        write!(follows, "GET /stream HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\n\r\n", page.host(), page.cookie())
            .unwrap();
        let _silent = page.connect();
        assert_eq!(page.end(signal), Some(0));
    }
}

#[test]
fn a_port_in_use_is_said_and_how_to_take_another() {
    let house = House::new(SOUND);
    let page = Page::of(&house);
    let output = house.ask(&["serve", "--port", &page.port.to_string()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("cannot be had") && said(&output).contains("--port"), "{}", said(&output));
}

#[test]
fn a_new_link_shuts_out_the_old_one_under_a_running_server() {
    let house = House::new(SOUND);
    let mut page = Page::of(&house);
    let output = house.ask(&["serve", "--new-link", "--port", &page.port.to_string()]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(page.get("/").status, 403, "the cookie of the old link");
    let old =
        page.raw(&format!("GET /?token={} HTTP/1.1", page.token), &[&format!("Host: {}", page.host())], "");
    assert_eq!(old.status, 403);
    let link = String::from_utf8_lossy(&output.stdout).into_owned();
    let (_, token) = link.trim().split_once("token=").unwrap();
    page.token = token.to_owned();
    assert_eq!(page.get("/").status, 200);
    // From the page itself: the one who asks stays within.
    let act = page.act("/", "/link/new");
    let answer = page.post("/link/new", &[("act", &act)]);
    assert_eq!(answer.status, 303, "{}", answer.body);
    assert_eq!(page.get("/").status, 403);
    let (_, set) = answer.head.split_once(&format!("feral-{}=", page.port)).unwrap();
    page.token = set.split(';').next().unwrap().to_owned();
    assert_eq!(page.get("/").status, 200);
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(house.path(".self/broker/page.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn other_state_in_its_place_is_gone_on_with() {
    let house = House::new(SOUND);
    let page = Page::of(&house);
    let mut follows = page.connect();
    write!(follows, "GET /stream HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\n\r\n", page.host(), page.cookie())
        .unwrap();
    let mut lines = BufReader::new(follows).lines();
    lines.by_ref().map(Result::unwrap).find(|line| line == "event: status").expect("it follows");
    std::fs::rename(house.path(".self"), house.path("before")).unwrap();
    house.write(".self/memory.jsonl", "{\"at\":\"2026-01-02T03:04:05.000Z\",\"life\":1,\"kind\":\"message\",\"data\":{\"from\":\"creature\",\"text\":\"from other state\"}}\n");
    lines.by_ref().map(Result::unwrap).find(|line| line == "event: notice").expect("it says so");
    let talk = page.get("/talk");
    assert_eq!(talk.status, 200, "the link is the same: {}", talk.body);
    assert!(talk.body.contains("from other state"));
    assert_eq!(page.end(Signal::SIGTERM), Some(0));
}
