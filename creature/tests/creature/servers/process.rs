//! A server that was installed for this: started on a port of its own, waited for, ended with this value.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Only so that a trial ends where a server never answers.
const PATIENCE: Duration = Duration::from_secs(180);

/// Where `scripts/trials servers` has put them.
pub fn place() -> PathBuf {
    let place =
        std::env::var_os("FERAL_SERVERS").expect("FERAL_SERVERS names the folder: scripts/trials servers");
    PathBuf::from(place)
}

pub struct Server {
    child: Child,
    port: u16,
    log: PathBuf,
}

impl Server {
    /// Starts a program that takes its port where its words say `PORT`, and waits until `path` answers 200.
    pub fn start(mut command: Command, words: &[&str], log: &Path, path: &str) -> Server {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        command.args(words.iter().map(|word| word.replace("PORT", &port.to_string())));
        let to = File::create(log).unwrap();
        let child = command.stdin(Stdio::null()).stdout(to.try_clone().unwrap()).stderr(to).spawn().unwrap();
        let mut server = Server { child, port, log: log.to_owned() };
        let began = Instant::now();
        while !server.get(path).starts_with("HTTP/1.1 200") {
            let ended = server.child.try_wait().unwrap();
            assert!(ended.is_none() && began.elapsed() < PATIENCE, "{ended:?} {}", server.end_of_log());
            thread::sleep(Duration::from_millis(50));
        }
        server
    }

    pub fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    pub fn end_of_log(&self) -> String {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(15)..].join("\n")
    }

    /// An answer whole, or nothing.
    fn get(&self, path: &str) -> String {
        let mut answer = Vec::new();
        if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.port)) {
            let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
            let _ = write!(stream, "GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n");
            let _ = stream.read_to_end(&mut answer);
        }
        String::from_utf8_lossy(&answer).into_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
