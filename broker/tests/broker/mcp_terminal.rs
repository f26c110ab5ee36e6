//! The owner's terminal at a sign-in and a sign-out.

use crate::home::Home;
use reqwest::Url;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};

/// The owner's sign-out: whether it succeeded, and all that it said.
pub fn sign_out(home: &Home, name: &str) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_broker"));
    command.args(["--house", home.path("").to_str().unwrap(), "--sign-out", name]).env_clear();
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(said).unwrap())
}

/// The owner's sign-in at a terminal.
pub struct Terminal {
    pub child: Child,
    lines: BufReader<ChildStdout>,
    said: String,
}

impl Terminal {
    pub fn open(home: &Home, more: &[&str]) -> Self {
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
    pub fn address(&mut self) -> Option<Url> {
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
    pub fn end(mut self) -> (bool, String) {
        self.lines.read_to_string(&mut self.said).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut self.said).unwrap();
        (self.child.wait().unwrap().success(), self.said)
    }
}
