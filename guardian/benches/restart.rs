//! From the exit of a creature to the first instruction of the next, beside the bare floor of spawning the same program.
//!
//! Run with `cargo bench -p guardian --bench restart`; `-- 200` takes 200 restarts instead of 60. Wants `cc`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::indexing_slicing
)]

#[path = "../tests/support/mod.rs"]
mod support;

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use support::{House, PATIENCE};

/// Stamps its first instruction, beats and thinks, and dies with a stamp as soon as `.self/die` appears.
const CREATURE: &str = r#"
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static void stamp(const char *what) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    FILE *file = fopen(".self/stamps", "a");
    fprintf(file, "%s %lld\n", what, now.tv_sec * 1000000000LL + now.tv_nsec);
    fclose(file);
}
int main(void) {
    stamp("begins");
    const char *life = getenv("FERAL_LIFE");
    FILE *memory = fopen(".self/memory.jsonl", "a");
    fprintf(memory, "{\"at\":\"\",\"life\":%s,\"kind\":\"thought\",\"data\":{\"thought\":1}}\n", life);
    fclose(memory);
    for (int turn = 1;; turn++) {
        if (turn % 50 == 1) {
            FILE *beat = fopen(".self/heartbeat", "w");
            fprintf(beat, "{\"life\":%s,\"turns\":%d,\"thoughts\":1}\n", life, turn);
            fclose(beat);
        }
        if (unlink(".self/die") == 0) {
            stamp("ends");
            _exit(1);
        }
        usleep(1000);
    }
}
"#;

/// No rest, and deaths for ever without a rollback; a look at the heartbeat every second, as by default.
const SETTINGS: &str = "[limits]\nprobation_s = 0.3\nrest_s = 0\nrest_longest_s = 0\nloop_deaths = 1000000\n\
    lives_unblessed = 1000000\ndisk_free_mib = 0\n";

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        println!("nothing measured: this is for `cargo bench`");
        return;
    }
    let rounds: usize = arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(60);
    let house = House::new("exit 1");
    house.write("owner.toml", SETTINGS);
    compile(&house.path("creature/creature.sh"));
    let commit = house.commit("a creature that stamps");
    let guardian = house.start();
    house.until_blessed(&commit);
    let mut floor = Floor::start(house.folder.path(), &house.path("creature/creature.sh"));
    let folder = floor.folder.clone();
    let (mut guarded, mut bare, mut synced) = (Vec::new(), Vec::new(), Vec::new());
    // Taken in turns, so that what else the machine does falls on all alike.
    for _ in 0..rounds {
        guarded.push(restart(&house.root, || {}));
        bare.push(restart(&folder, || floor.again()));
        synced.push(replacement(&folder));
        // Let the guardian see the first beat, so that it waits as it does when idle.
        std::thread::sleep(Duration::from_millis(60));
    }
    let kept = house.told("life").iter().filter(|life| life["kept_binary"] == true).count();
    assert!(kept >= rounds, "only {kept} lives ran from the kept binary");
    guardian.stop();
    println!("{rounds} restarts from the kept binary, with a rest of 0\n");
    println!("{:<44} {:>10} {:>10}", "exit to first instruction", "median", "p90");
    let bare = row("bare exit, wait, fork, exec", bare);
    let guarded = row("by the guardian", guarded);
    let synced = row("one small file replaced and synced, beside", synced);
    println!("{:<44} {:>9.1}x", "guardian / bare", guarded / bare);
    println!("{:<44} {:>9.1}x", "(guardian - bare) / one synced file", (guarded - bare) / synced);
}

fn compile(to: &Path) {
    let source = to.with_extension("c");
    fs::write(&source, CREATURE).unwrap();
    let cc = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let compile =
        |how: &[&str]| Command::new(&cc).args(["-O1", "-o"]).arg(to).arg(&source).args(how).status();
    let is_static = compile(&["-static"]).expect("no C compiler: install cc, or name one in CC").success();
    assert!(is_static || compile(&[]).unwrap().success(), "the compiler refuses a small program");
    fs::remove_file(source).unwrap();
}

/// Ends the creature that lives in `folder`; the time from its end to the beginning of the next, in milliseconds.
fn restart(folder: &Path, and_then: impl FnOnce()) -> f64 {
    let stamps = folder.join(".self/stamps");
    let read = || fs::read_to_string(&stamps).unwrap_or_default();
    let begun = Instant::now();
    let before = loop {
        let text = read();
        if text.lines().last().is_some_and(|line| line.starts_with("begins") && text.ends_with('\n')) {
            break text.len();
        }
        assert!(begun.elapsed() < PATIENCE, "no creature lives in {}:\n{text}", folder.display());
        std::thread::sleep(Duration::from_millis(2));
    };
    File::create(folder.join(".self/die")).unwrap();
    and_then();
    let begun = Instant::now();
    loop {
        let text = read();
        let lines: Vec<&str> = text[before..].lines().collect();
        if let ([ends, begins], true) = (lines.as_slice(), text.ends_with('\n')) {
            return (time(begins, "begins") - time(ends, "ends")) / 1e6;
        }
        assert!(
            begun.elapsed() < PATIENCE,
            "nobody came after the dead one in {}:\n{text}",
            folder.display()
        );
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn time(line: &str, what: &str) -> f64 {
    line.strip_prefix(what).unwrap().trim().parse().unwrap()
}

/// The same program under the least that can restart it.
struct Floor {
    folder: PathBuf,
    program: PathBuf,
    child: Child,
}

impl Floor {
    fn start(beside: &Path, program: &Path) -> Self {
        let folder = beside.join("floor");
        fs::create_dir_all(folder.join(".self")).unwrap();
        let child = spawn(program, &folder);
        Self { folder, program: program.to_owned(), child }
    }

    fn again(&mut self) {
        self.child.wait().unwrap();
        self.child = spawn(&self.program, &self.folder);
    }
}

impl Drop for Floor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(program: &Path, folder: &Path) -> Child {
    let mut command = Command::new(program);
    command.current_dir(folder).env("FERAL_LIFE", "1").stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// What one crash-safe replacement of a small file costs on this disk: the guardian makes some between two lives.
fn replacement(folder: &Path) -> f64 {
    let (path, aside) = (folder.join("state.json"), folder.join("state.aside"));
    let begun = Instant::now();
    let mut file = File::create(&aside).unwrap();
    file.write_all(&[b'x'; 2_000]).unwrap();
    file.sync_all().unwrap();
    fs::rename(&aside, &path).unwrap();
    File::open(folder).unwrap().sync_all().unwrap();
    begun.elapsed().as_secs_f64() * 1_000.0
}

fn row(name: &str, mut took: Vec<f64>) -> f64 {
    took.sort_by(f64::total_cmp);
    let (median, high) = (took[took.len() / 2], took[took.len() * 9 / 10]);
    println!("{name:<44} {median:>7.3} ms {high:>7.3} ms");
    median
}
