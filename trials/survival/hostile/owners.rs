//! Two owners who say words, each with the console, one word after the other, whoever is being killed meanwhile.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use trials::House;

const NUMBER: usize = 2;

/// A word, whether the console said that it was said, how long it took, and what it said else.
#[derive(Clone, Debug)]
pub struct Word {
    pub name: String,
    pub ok: bool,
    pub took_ms: u64,
    pub told: String,
}

/// What a command of the owner's is started with, apart from the house, which somebody else holds.
#[derive(Clone)]
pub struct Shell {
    program: OsString,
    envs: Vec<(OsString, Option<OsString>)>,
    root: PathBuf,
}

impl Shell {
    pub fn of(house: &House) -> Self {
        let command = house.command(&[]);
        let envs = command.get_envs().map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned)));
        Self { program: command.get_program().to_owned(), envs: envs.collect(), root: house.root.clone() }
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(words).current_dir(&self.root).stdin(Stdio::null());
        for (name, value) in &self.envs {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    }
}

pub struct Owners {
    over: Arc<AtomicBool>,
    said: Arc<Mutex<Vec<Word>>>,
    owners: Vec<JoinHandle<()>>,
}

impl Owners {
    pub fn begin(house: &House) -> Self {
        let (over, said) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Vec::new())));
        let owners = (0..NUMBER).map(|owner| {
            let (over, said, shell) = (over.clone(), said.clone(), Shell::of(house));
            std::thread::spawn(move || {
                let mut number = 0;
                while !over.load(Ordering::Relaxed) {
                    number += 1;
                    said.lock().unwrap().push(say(&shell, format!("{owner}-{number}")));
                    std::thread::sleep(Duration::from_millis(300 + 70 * (number % 7)));
                }
            })
        });
        let owners = owners.collect();
        Self { over, said, owners }
    }

    pub fn so_far(&self) -> Vec<Word> {
        self.said.lock().unwrap().clone()
    }

    pub fn end(self) -> Vec<Word> {
        self.over.store(true, Ordering::Relaxed);
        self.owners.into_iter().for_each(|owner| owner.join().unwrap());
        self.said.lock().unwrap().clone()
    }
}

fn say(shell: &Shell, name: String) -> Word {
    let begun = Instant::now();
    // One of them waits for an answer that never comes, and so is there when what it speaks to is killed.
    let wait_s = if name.starts_with('0') { "0" } else { "2" };
    let output = shell.command(&["say", "--wait", wait_s, &format!("word {name} end")]).output().unwrap();
    let told = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).trim().to_owned();
    // Where nobody lives just then, or answers, the console says that the word is kept, and fails: it is said.
    let ok = output.status.success() || told.contains("word is kept");
    Word { name, ok, took_ms: begun.elapsed().as_millis() as u64, told }
}
