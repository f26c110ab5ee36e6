//! The programs under trial: guardian, broker and console as cargo leaves them beside whoever asks, built anew where they are old.

use crate::clone::origin;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;

/// What the owner's workspace is made of, each in a folder of its own.
const PARTS: [&str; 5] = ["broker", "console", "guardian", "house", "walls"];

/// The real guardian. Who runs as another user may not read it where it lies, and brings a copy.
pub fn guardian() -> &'static Path {
    static GUARDIAN: OnceLock<PathBuf> = OnceLock::new();
    GUARDIAN
        .get_or_init(|| std::env::var_os("ESCAPE_GUARDIAN").map_or_else(|| built("guardian"), PathBuf::from))
}

/// The real broker.
pub fn broker() -> &'static Path {
    static BROKER: OnceLock<PathBuf> = OnceLock::new();
    BROKER.get_or_init(|| built("broker"))
}

/// The real console, beside the guardian. Who runs as another user finds it where its guardian is.
pub fn console() -> &'static Path {
    static CONSOLE: OnceLock<PathBuf> = OnceLock::new();
    CONSOLE.get_or_init(|| match std::env::var_os("ESCAPE_GUARDIAN") {
        Some(guardian) => PathBuf::from(guardian).with_file_name("console"),
        None => built("console"),
    })
}

/// A place for what tests keep between runs, as cargo gives it to tests.
pub fn kept() -> PathBuf {
    profile().parent().unwrap().join("tmp")
}

/// The folder of the profile this program was built with: it lies there, or in `deps` below.
fn profile() -> PathBuf {
    let me = std::env::current_exe().unwrap();
    let folder = me.parent().unwrap();
    if folder.ends_with("deps") { folder.parent().unwrap().to_owned() } else { folder.to_owned() }
}

fn built(name: &str) -> PathBuf {
    let program = profile().join(name);
    let made = fs::metadata(&program).and_then(|meta| meta.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    if PARTS.iter().any(|part| newest(&origin().join(part)) > made) {
        build();
    }
    program
}

/// Everything at once, and with the examples, so that packages have the features they have in a run of all tests:
/// else each would be compiled a second time.
fn build() {
    static ONCE: OnceLock<()> = OnceLock::new();
    ONCE.get_or_init(|| {
        let folder = profile();
        let profile = folder.file_name().unwrap().to_str().unwrap();
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        cargo.args(["build", "--quiet", "--workspace", "--bins", "--examples"]).current_dir(origin());
        cargo.args(["--profile", if profile == "debug" { "dev" } else { profile }, "--target-dir"]);
        let status = cargo.arg(folder.parent().unwrap()).status().unwrap();
        assert!(status.success(), "guardian and broker do not build");
    });
}

fn newest(folder: &Path) -> SystemTime {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let entries = entries.filter(|entry| !["tests", "benches"].iter().any(|name| entry.file_name() == *name));
    let times = entries.map(|entry| match entry.path() {
        path if path.is_dir() => newest(&path),
        _ => entry.metadata().unwrap().modified().unwrap(),
    });
    times.max().unwrap_or(SystemTime::UNIX_EPOCH)
}
