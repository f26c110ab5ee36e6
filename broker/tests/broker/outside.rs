//! A house with the real broker in it, and servers beyond it, as a client of the broker sees them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

pub const LIFE: &str = "1111111111111111111111111111111111111111111111111111111111111111";
pub const BUILD: &str = "2222222222222222222222222222222222222222222222222222222222222222";
pub const CHANNELS: &str = "4444444444444444444444444444444444444444444444444444444444444444";
pub const FORMER: &str = "3333333333333333333333333333333333333333333333333333333333333333";

/// A temporary house and the broker that runs in it.
pub struct Outside {
    pub folder: tempfile::TempDir,
    pub at: SocketAddr,
    pub child: Child,
}

/// How a broker is started.
#[derive(Default)]
pub struct Start<'a> {
    pub settings: &'a str,
    pub secrets: &'a str,
    pub variables: Vec<(&'a str, String)>,
}

pub fn folder(start: &Start) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join(".self/broker")).unwrap();
    tokens(folder.path(), 7, LIFE);
    std::fs::write(folder.path().join("owner.toml"), start.settings).unwrap();
    if !start.secrets.is_empty() {
        std::fs::write(folder.path().join(".env"), start.secrets).unwrap();
    }
    folder
}

pub fn tokens(house: &Path, life: u64, token: &str) {
    let text = format!(
        r#"{{"life":{{"number":{life},"token":"{token}"}},"build":{{"token":"{BUILD}"}},"channels":{{"token":"{CHANNELS}","port":1}}}}"#
    );
    let aside = house.join(".self/broker/tokens.aside");
    std::fs::write(&aside, text).unwrap();
    std::fs::rename(aside, house.join(".self/broker/tokens.json")).unwrap();
}

/// The broker's command, with an environment that holds nothing of this machine's.
pub fn command(house: &Path, start: &Start) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_broker"));
    command
        .args(["--house", house.to_str().unwrap()])
        .env_clear()
        .env("PATH", std::env::var("PATH").unwrap());
    command.env("HOME", house).envs(start.variables.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

/// Starts it on a port of its own and waits until it serves.
pub fn start(start: Start) -> Outside {
    let folder = folder(&start);
    let mut child = command(folder.path(), &start).spawn().unwrap();
    let at = serving(&mut child).expect("the broker says where it serves");
    Outside { folder, at, child }
}

/// Reads the log until it says where it serves; what follows is thrown away.
pub fn serving(child: &mut Child) -> Option<SocketAddr> {
    let mut log = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    let at = loop {
        line.clear();
        if log.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if let Some((_, at)) = line.split_once("serving on ") {
            break at.trim().parse().ok()?;
        }
    };
    std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
    Some(at)
}

impl Drop for Outside {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Outside {
    pub fn get(&self, path: &str) -> Answer {
        self.ask(&format!(
            "GET {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {LIFE}\r\nconnection: close\r\n\r\n"
        ))
    }

    /// Sends what is given, and reads until the other end closes.
    pub fn ask(&self, request: &str) -> Answer {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        Answer::read(&mut stream)
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.at).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    pub fn page(&self, url: &str) -> Answer {
        self.get(&format!("/web?url={}", encoded(url)))
    }

    pub fn file(&self, path: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(path)).unwrap_or_default()
    }

    pub fn ledger(&self) -> Vec<serde_json::Value> {
        self.file(".self/ledger.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Kilobytes: the most memory it ever had.
    pub fn peak_kb(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

pub fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// What came back.
#[derive(Debug, Default)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn read(stream: &mut TcpStream) -> Self {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        Self::of(&bytes)
    }

    pub fn of(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(bytes.len());
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
        Self { status, head, body: bytes.get(end + 4..).unwrap_or_default().to_vec() }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn kind(&self) -> &str {
        self.header("x-feral-error").unwrap_or_default()
    }
}

/// A server on loopback that answers each connection by the path it asked for; counts them.
pub struct Server {
    pub at: SocketAddr,
    pub asked: Arc<AtomicUsize>,
}

impl Server {
    pub fn new(answer: impl Fn(&str, &str, &mut TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (at, asked, answer) =
            (listener.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)), Arc::new(answer));
        let count = asked.clone();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                count.fetch_add(1, Ordering::SeqCst);
                let answer = answer.clone();
                std::thread::spawn(move || {
                    let mut head = String::new();
                    let mut lines = BufReader::new(stream.try_clone().unwrap());
                    while lines.read_line(&mut head).is_ok_and(|read| read > 2) {}
                    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                    answer(&path, &head, &mut stream);
                });
            }
        });
        Self { at, asked }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.at)
    }

    pub fn count(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

pub fn reply(stream: &mut TcpStream, head: &str, body: &[u8]) {
    let length = body.len();
    let _ = stream.write_all(
        format!("HTTP/1.1 {head}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n").as_bytes(),
    );
    let _ = stream.write_all(body);
}

/// How often an event is looked for before a test gives it up: looks, not seconds, for a machine may stand still.
const LOOKS: u32 = 30_000;
const BETWEEN: Duration = Duration::from_millis(20);

/// Looks until there is something.
pub fn found<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
    (0..LOOKS).find_map(|_| {
        look().or_else(|| {
            std::thread::sleep(BETWEEN);
            None
        })
    })
}

pub fn happens(mut what: impl FnMut() -> bool) -> bool {
    found(|| what().then_some(())).is_some()
}

/// The same where other tasks of this thread have to go on.
pub async fn found_beside<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
    for _ in 0..LOOKS {
        match look() {
            None => tokio::time::sleep(BETWEEN).await,
            found => return found,
        }
    }
    None
}

pub async fn happens_beside(mut what: impl FnMut() -> bool) -> bool {
    found_beside(|| what().then_some(())).await.is_some()
}
