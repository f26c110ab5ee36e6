//! A hostile creature: each attempt is made behind the real walls, where it must be refused, and without, where it works.
//!
//! As root it is all done a second time as a plain user. An argument picks attempts by name.

mod alone;
mod endless;
mod living;
mod rows;
mod stage;

use rows::{ALLOWED, By, KERNEL, NETWORK, PROCESSES, READS, Row, SHARED_NETWORK, WRITES};
use stage::Stage;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};
use std::time::Instant;
use trials::programs;
use walls::spec::Spec;

/// Whoever is nobody else's.
const PLAIN_USER: u32 = 61_234;

const WHOLE: &str = "--whole";

struct Suite {
    stage: Stage,
    root: bool,
    wanted: Option<String>,
    tried: usize,
    failed: Vec<String>,
}

pub fn main(words: impl Iterator<Item = OsString>) -> ExitCode {
    let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    let wanted = words.iter().find(|word| !word.starts_with('-')).cloned();
    // With one wall taken away in turn: all attempts, or only those that read.
    let whole = words.iter().any(|word| word == WHOLE);
    let folder = tempfile::Builder::new().prefix("hostile-").tempdir().unwrap();
    let hostile = compile(folder.path());
    let root = nix::unistd::geteuid().is_root();
    let begun = Instant::now();
    let mut suite = Suite { stage: Stage::set(&hostile), root, wanted, tried: 0, failed: Vec::new() };
    println!("walls: {}", suite.stage.walls.level.told());
    suite.inside();
    suite.outside();
    suite.without_a_namespace();
    let every = whole || suite.wanted.is_some();
    alone::all(&mut suite, every);
    living::all(&mut suite);
    endless::all(&mut suite);
    suite.costs();
    println!(
        "{} attempts, {} failed, {:.1} s",
        suite.tried,
        suite.failed.len(),
        begun.elapsed().as_secs_f32()
    );
    let again = root && suite.wanted.is_none() && !as_a_plain_user(folder.path(), whole);
    suite.failed.iter().for_each(|failed| println!("FAILED: {failed}"));
    let failed = again || !suite.failed.is_empty();
    ExitCode::from(u8::from(failed))
}

fn compile(folder: &Path) -> PathBuf {
    if let Some(made) = std::env::var_os("ESCAPE_HOSTILE") {
        return made.into();
    }
    let program = folder.join("hostile");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/escapes/hostile.c");
    let made = Command::new("cc").args(["-O1", "-o", program.to_str().unwrap(), source]).status().unwrap();
    assert!(made.success(), "hostile.c does not compile");
    program
}

/// The same once more, by a user who owns nothing here; from copies, for this folder may not be theirs to read.
fn as_a_plain_user(folder: &Path, whole: bool) -> bool {
    let copy = |from: &Path, name: &str| {
        let to = folder.join(name);
        std::fs::copy(from, &to).unwrap();
        to
    };
    let open = |path: &Path| {
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap()
    };
    let this = copy(&std::env::current_exe().unwrap(), "suite");
    let guardian = programs::place_guardian(folder);
    let [broker, channels] = [("broker", programs::broker()), ("channels", programs::channels())]
        .map(|(name, program)| copy(program, name));
    [folder, &this, &guardian, &broker, &channels, &folder.join("hostile")].into_iter().for_each(open);
    println!("--- as a plain user");
    let status = Command::new(this)
        .arg("escapes")
        .args(whole.then_some(WHOLE))
        .uid(PLAIN_USER)
        .gid(PLAIN_USER)
        .env("ESCAPE_GUARDIAN", guardian)
        .env("ESCAPE_HOSTILE", folder.join("hostile"))
        .env("HOME", "/nonexistent")
        .current_dir(folder)
        .status();
    status.unwrap().success()
}

impl Suite {
    pub fn wants(&self, name: &str) -> bool {
        self.wanted.as_ref().is_none_or(|wanted| name.contains(wanted.as_str()))
    }

    pub fn judge(&mut self, name: &str, complaint: Option<String>) {
        self.tried += 1;
        println!("{:<52} {}", name, complaint.as_deref().unwrap_or("ok"));
        self.failed.extend(complaint.map(|complaint| format!("{name}: {complaint}")));
    }

    /// As `judge`, for attempts of which there are many: only what fails is shown.
    pub fn judge_quietly(&mut self, name: &str, complaint: Option<String>) {
        match complaint {
            Some(_) => self.judge(name, complaint),
            None => self.tried += 1,
        }
    }

    fn inside(&mut self) {
        for row in ALLOWED.iter().filter(|row| self.wants(row.name)).collect::<Vec<_>>() {
            let output = self.stage.run(Some(&self.stage.spec()), &attempt(row));
            let complaint = (!output.status.success()).then(|| format!("is refused: {}", said(&output)));
            self.judge(row.name, complaint);
        }
    }

    fn outside(&mut self) {
        for row in [WRITES, READS, PROCESSES, NETWORK, KERNEL].concat_rows() {
            self.attempt(row, &self.stage.spec());
        }
    }

    fn without_a_namespace(&mut self) {
        let mut spec = self.stage.spec();
        (spec.net, spec.user, spec.port) = (None, None, Some(self.stage.plain.local_addr().unwrap().port()));
        if !self.root {
            (spec.tree, spec.view) = (false, None);
        }
        for row in SHARED_NETWORK {
            self.attempt(row, &spec);
        }
        let output = self.stage.run(Some(&spec), "creature/hostile network tcp 127.0.0.1 $PLAIN");
        self.judge(
            "reach the broker on the shared network",
            (!output.status.success()).then(|| said(&output)),
        );
    }

    /// What the walls add to a start.
    fn costs(&self) {
        let mut spec = self.stage.spec();
        // The guardian is in the group already, and so is what it starts.
        spec.groups.clear();
        let mut took: Vec<[f64; 2]> = (0..60)
            .map(|_| {
                [Some(&spec), None].map(|spec| {
                    let begun = Instant::now();
                    self.stage.run(spec, ":");
                    begun.elapsed().as_secs_f64() * 1_000.0
                })
            })
            .collect();
        took.sort_by(|one, other| (one[0] - one[1]).total_cmp(&(other[0] - other[1])));
        let [walled, bare] = took[took.len() / 2];
        println!(
            "a start behind the walls takes {:.1} ms longer ({walled:.1} against {bare:.1})",
            walled - bare
        );
    }

    /// Behind the walls it must be refused and leave everything as it was; without them it must work.
    fn attempt(&mut self, row: &Row, spec: &Spec) {
        if !self.wants(row.name) || (row.by == By::Root && !self.root) {
            return;
        }
        let walled = self.stage.run(Some(spec), &attempt(row));
        let damage = self.stage.damage();
        self.stage.lay();
        let twin = self.stage.run(None, &attempt(row));
        self.stage.lay();
        let complaint = if walled.status.success() {
            Some("WORKS behind the walls".into())
        } else if !damage.is_empty() {
            Some(format!("is refused, and yet changed {}", damage.join(", ")))
        } else if said(&walled).contains("guardian wall") {
            Some(format!("was not tried: {}", said(&walled)))
        } else if !twin.status.success() {
            Some(format!("proves nothing: without the walls it fails too: {}", said(&twin)))
        } else {
            None
        };
        self.judge(row.name, complaint);
    }
}

trait ConcatRows {
    fn concat_rows(self) -> Vec<&'static Row>;
}

impl<const N: usize> ConcatRows for [&'static [Row]; N] {
    fn concat_rows(self) -> Vec<&'static Row> {
        self.into_iter().flatten().collect()
    }
}

fn attempt(row: &Row) -> String {
    row.attempt.replace("hostile ", "creature/hostile ")
}

fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    format!("{} {}", output.status, text.lines().last().unwrap_or_default())
}
