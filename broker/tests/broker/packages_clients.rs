//! The real pip and npm of this machine, each in an environment of its own, and the owner who answers what they wait for.

use crate::outside::{Outside, Start, found, start};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};

/// A house whose broker gets packages from there.
pub fn house(settings: &str) -> Outside {
    start(Start { settings, ..Start::default() })
}

/// A program in an environment of its own, with these variables.
pub fn run(folder: &Path, program: &Path, args: &[&str], variables: &[(String, String)]) -> Output {
    let mut command = Command::new(program);
    command.args(args).current_dir(folder).env_clear().env("PATH", std::env::var("PATH").unwrap());
    command.env("HOME", folder).envs(variables.iter().map(|(name, value)| (name, value)));
    command.output().unwrap()
}

pub fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// The owner's answer to an ask, and its end.
pub fn answer(outside: &Outside, id: &str, answer: &str) -> Value {
    let read = || -> Option<Value> {
        serde_json::from_str(&outside.file(&format!(".self/broker/asks/{id}.json"))).ok()
    };
    let digest = read().unwrap_or_else(|| panic!("there is no ask {id}"))["digest"].clone();
    let line = json!({"at": "2026-01-01T00:00:00Z", "id": id, "answer": answer, "digest": digest});
    let path = outside.folder.path().join(".self/broker/answers.jsonl");
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
    writeln!(file, "{line}").unwrap();
    let is_over = |ask: &Value| ["executed", "denied", "failed"].iter().any(|end| ask["state"] == *end);
    found(|| read().filter(is_over)).expect("the answer is taken")
}
