//! A stub of the world on this machine: remembers what reached it, and answers as it is told.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What reached the stub.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    pub method: String,
    /// As it stood on the request line.
    pub target: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Seen {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(given, _)| given.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap()
    }
}

pub struct Reply {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
    pub wait: Duration,
}

pub fn reply(status: u16, body: impl Into<Vec<u8>>) -> Reply {
    Reply {
        status,
        headers: vec![("content-type", "text/plain".into())],
        body: body.into(),
        wait: Duration::ZERO,
    }
}

pub struct Stub {
    pub url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Stub {
    pub fn start(answer: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let (answer, kept) = (Arc::new(answer), seen.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (answer, kept) = (answer.clone(), kept.clone());
                std::thread::spawn(move || {
                    let mut stream = BufReader::new(stream);
                    if let Some(seen) = read(&mut stream) {
                        kept.lock().unwrap().push(seen.clone());
                        let reply = answer(&seen);
                        std::thread::sleep(reply.wait);
                        let _ = write(stream.get_mut(), &seen, &reply);
                    }
                });
            }
        });
        Self { url, seen }
    }

    pub fn ok() -> Self {
        Self::start(|_| reply(200, "fine"))
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub fn last(&self) -> Seen {
        self.seen().last().expect("nothing reached the stub").clone()
    }

    pub fn forget(&self) {
        self.seen.lock().unwrap().clear();
    }
}

/// One request, byte for byte.
fn read(stream: &mut BufReader<TcpStream>) -> Option<Seen> {
    let mut line = String::new();
    stream.read_line(&mut line).ok()?;
    let mut words = line.trim_end().splitn(3, ' ');
    let mut seen =
        Seen { method: words.next()?.to_owned(), target: words.next()?.to_owned(), ..Seen::default() };
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        seen.headers.push((name.to_owned(), value.trim().to_owned()));
    }
    let length = seen.header("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    seen.body = String::from_utf8_lossy(&body).into_owned();
    Some(seen)
}

fn write(stream: &mut TcpStream, seen: &Seen, reply: &Reply) -> std::io::Result<()> {
    let mut head = format!("HTTP/1.1 {} Said\r\nconnection: close\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(&format!("content-length: {}\r\n\r\n", reply.body.len()));
    stream.write_all(head.as_bytes())?;
    if seen.method != "HEAD" {
        stream.write_all(&reply.body)?;
    }
    stream.flush()
}
