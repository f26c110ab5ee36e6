//! What the guardian is held against: the bare floor, and runit's and s6's supervisors of one service, where installed.

use crate::bench::stand_in;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub const NAMES: [(&str, &str, &str); 2] = [("runit", "runsv", "runit"), ("s6", "s6-supervise", "s6")];

/// A supervisor with the stand-in as its service; ended with it when dropped.
pub struct Supervisor {
    pub folder: PathBuf,
    child: Child,
}

impl Supervisor {
    /// Starts it over a copy of `program`, or says nothing where it is not installed.
    pub fn start(at: usize, beside: &Path, program: &Path, files: &[&str]) -> Option<Self> {
        let (name, supervisor, _) = NAMES[at];
        let found = find(supervisor)?;
        let folder = beside.join(name);
        prepare(&folder, files);
        fs::copy(program, folder.join("run")).unwrap();
        if supervisor.starts_with("s6") {
            // Without it s6 takes a service for one that never was ready, and waits a second before each restart.
            fs::write(folder.join("notification-fd"), "3\n").unwrap();
        }
        let child = spawn(&found, Some(&folder), beside);
        Some(Self { folder, child })
    }

    pub fn pid(&self) -> i32 {
        self.child.id() as i32
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        let service = stand_in::pid(&self.folder);
        kill("-TERM", self.pid());
        let begun = Instant::now();
        while self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            if begun.elapsed() > Duration::from_secs(5) {
                let _ = self.child.kill();
                kill("-KILL", service);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// The same program under the least that can restart it: wait, fork, exec.
pub struct Floor {
    pub folder: PathBuf,
    program: PathBuf,
    child: Child,
}

impl Floor {
    pub fn start(beside: &Path, program: &Path) -> Self {
        let folder = beside.join("floor");
        prepare(&folder, &[]);
        // A copy: a program that runs cannot be put back.
        let copy = folder.join("run");
        fs::copy(program, &copy).unwrap();
        let child = spawn(&copy, None, &folder);
        Self { folder, program: copy, child }
    }

    pub fn again(&mut self) {
        self.child.wait().unwrap();
        self.child = spawn(&self.program, None, &self.folder);
    }

    /// Kills it; milliseconds until it is gone.
    pub fn kill(&mut self) -> f64 {
        let begun = stand_in::now();
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        stand_in::now() - begun
    }
}

impl Drop for Floor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn prepare(folder: &Path, files: &[&str]) {
    fs::create_dir_all(folder.join(".self/mind")).unwrap();
    for name in files {
        fs::write(folder.join(".self/mind").join(name), "").unwrap();
    }
}

fn spawn(program: &Path, argument: Option<&Path>, folder: &Path) -> Child {
    let mut command = Command::new(program);
    command.args(argument.map(OsStr::new)).current_dir(folder).env("FERAL_LIFE", "1").stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn kill(signal: &str, pid: i32) {
    let _ = Command::new("kill").args([signal, &pid.to_string()]).stderr(Stdio::null()).status();
}

/// Where a program is on PATH.
pub fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|path| path.is_file())
}
