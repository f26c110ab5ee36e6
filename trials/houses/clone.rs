//! A clone of this very repository to live in: real cargo, real builds, on a target folder kept warm between tests.

use super::{Guardian, House, programs};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard};

/// One clone at a time: they share a target folder, and two cores.
static ONE: Mutex<()> = Mutex::new(());

pub struct Clone {
    pub house: House,
    _one: MutexGuard<'static, ()>,
    /// The same between processes: another run of these tests waits.
    _lock: fs::File,
}

/// Root of the repository these tests belong to.
pub fn origin() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

pub fn run(program: &str, args: &[&str], folder: &Path) {
    let status = Command::new(program).args(args).current_dir(folder).status().unwrap();
    assert!(status.success(), "{program} {args:?} failed in {}", folder.display());
}

impl Clone {
    pub fn new() -> Self {
        Self::named("clone")
    }

    /// The same in a folder of its own, for who would wait too long for the others.
    pub fn named(name: &str) -> Self {
        super::programs::broker();
        let one = ONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let folder = tempfile::Builder::new().prefix("clone-").tempdir().unwrap();
        // A fixed place: cargo's fingerprints of path dependencies hold the path.
        let root = super::programs::kept().join(name);
        fs::create_dir_all(&root).unwrap();
        let lock = fs::File::create(root.with_extension("lock")).unwrap();
        lock.lock().unwrap();
        for entry in fs::read_dir(&root).unwrap().flatten().filter(|entry| entry.file_name() != "target") {
            let path = entry.path();
            if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
        }
        let listed = Command::new("git")
            .args(["ls-files", "-co", "--exclude-standard", "-z"])
            .current_dir(origin())
            .output()
            .unwrap();
        for name in String::from_utf8(listed.stdout).unwrap().split('\0').filter(|name| !name.is_empty()) {
            if let (from, true) = (origin().join(name), origin().join(name).is_file()) {
                let to = root.join(name);
                fs::create_dir_all(to.parent().unwrap()).unwrap();
                fs::copy(from, to).unwrap();
            }
        }
        let root = root.canonicalize().unwrap();
        warm(&root);
        let house = House { root, folder };
        house.git(&["init", "-q", "-b", "main"]);
        house.git(&["config", "user.name", "owner"]);
        house.git(&["config", "user.email", "owner@house.invalid"]);
        house.commit("a fresh clone");
        Self { house, _one: one, _lock: lock }
    }
}

/// Compiles the creature's dependencies once for each such place, as the guardian would: with the house's own cargo
/// home, whose path is part of what cargo compares. Minutes of work, kept between runs.
fn warm(root: &Path) {
    let home = root.join("target/creature/cargo-home");
    if home.is_symlink() {
        // `scripts/check` has built here, with the owner's cargo home under this name.
        fs::remove_file(&home).unwrap();
    }
    if root.join("target/creature/debug/deps").exists() {
        return;
    }
    let house = house::House::new(root);
    processes::prepare::prepare(&house, processes::child::Occupant::Build);
    let args = ["build", "--manifest-path", "creature/Cargo.toml", "--target-dir", "target/creature"];
    let mut cargo = Command::new(std::env::var("CARGO").unwrap());
    let status = cargo.args(args).current_dir(root).env("CARGO_HOME", house.cargo_home()).status().unwrap();
    assert!(status.success(), "the creature does not build in {}", root.display());
}

impl House {
    /// The guardian with its broker and the real cargo, without the keys and folders of whoever runs it.
    pub fn real_command(&self, log: &str) -> Command {
        let mut command = Command::new(programs::guardian());
        command.current_dir(&self.root).env("RUST_LOG", log).stdin(Stdio::null());
        for name in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OLLAMA_HOST", "CARGO_TARGET_DIR"] {
            command.env_remove(name);
        }
        command
    }

    /// Starts it, with the key of the model on loopback.
    pub fn start_real(&self) -> Guardian {
        programs::broker();
        let mut command = self.real_command("info");
        command.env("TEST_MODEL_KEY", "test-key-of-the-house");
        self.start_by(command)
    }
}
