//! The programs under trial: guardian, broker, console and creature as cargo leaves them beside whoever asks, built anew where they are old.

use crate::clone::origin;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;

/// What the owner's workspace is made of, each in a folder of its own.
const PARTS: [&str; 11] = [
    "broker",
    "channels",
    "console",
    "ground",
    "guardian",
    "heart",
    "house",
    "processes",
    "repo",
    "walls",
    "workspace-hack",
];

/// The real guardian. Who runs as another user may not read it where it lies, and brings a copy.
pub fn guardian() -> &'static Path {
    static GUARDIAN: OnceLock<PathBuf> = OnceLock::new();
    GUARDIAN.get_or_init(|| brought().unwrap_or_else(|| built("guardian")))
}

/// The real broker.
pub fn broker() -> &'static Path {
    static BROKER: OnceLock<PathBuf> = OnceLock::new();
    BROKER.get_or_init(|| beside("broker"))
}

/// The real program of the channels.
pub fn channels() -> &'static Path {
    static CHANNELS: OnceLock<PathBuf> = OnceLock::new();
    CHANNELS.get_or_init(|| beside("channels"))
}

/// An MCP server on standard streams that behaves as a file says.
pub fn mcp_like() -> PathBuf {
    broker().with_file_name("examples").join("mcp_like")
}

/// An MCP server at an address that wants a sign-in, with its authorization server.
pub fn sign_in_like() -> PathBuf {
    broker().with_file_name("examples").join("sign_in_like")
}

/// The owner's console, which the guardian hands the owner's words to.
pub fn console() -> &'static Path {
    static CONSOLE: OnceLock<PathBuf> = OnceLock::new();
    CONSOLE.get_or_init(|| beside("console"))
}

/// A program that was brought along with the guardian, else as it is built.
fn beside(name: &str) -> PathBuf {
    brought().map_or_else(|| built(name), |guardian| guardian.with_file_name(name))
}

/// The guardian that was brought along.
pub fn brought() -> Option<PathBuf> {
    std::env::var_os("ESCAPE_GUARDIAN").map(PathBuf::from)
}

/// The real creature, built as its own tests build it.
pub fn creature() -> &'static Path {
    static CREATURE: OnceLock<PathBuf> = OnceLock::new();
    CREATURE.get_or_init(|| {
        let place = ["--manifest-path", "creature/Cargo.toml", "--target-dir", "target/creature"];
        cargo(&[&["build", "--quiet", "--locked"][..], &place].concat());
        origin().join("target/creature/debug/creature")
    })
}

/// Puts the guardian into a folder, and the console beside it, without which it takes few of the owner's words.
pub fn place_guardian(folder: &Path) -> PathBuf {
    fs::create_dir_all(folder).unwrap();
    for program in [guardian(), console()] {
        place(program, &folder.join(program.file_name().unwrap()));
    }
    folder.join("guardian")
}

/// The same file under another name, at once; a copy where it has to be.
pub fn place(from: &Path, to: &Path) {
    let new = to.with_extension(format!("new-{}", std::process::id()));
    let _ = fs::remove_file(&new);
    if fs::hard_link(from, &new).is_err() {
        fs::copy(from, &new).unwrap();
    }
    fs::rename(&new, to).unwrap();
    // Where both are the same file already, nothing is renamed.
    let _ = fs::remove_file(&new);
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
    let made = modified(&program).max(modified(&stamp()));
    if !program.exists() || PARTS.iter().any(|part| newest(&origin().join(part)) > made) {
        build();
    }
    program
}

/// As old as what cargo last looked at: a program that no change concerned is left as it was, older than the change.
fn stamp() -> PathBuf {
    kept().join(format!("built-{}", profile().file_name().unwrap().display()))
}

fn modified(path: &Path) -> SystemTime {
    fs::metadata(path).and_then(|meta| meta.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
}

/// Everything at once, and with the examples, so that packages have the features they have in a run of all tests:
/// else each would be compiled a second time.
fn build() {
    static ONCE: OnceLock<()> = OnceLock::new();
    ONCE.get_or_init(|| {
        fs::create_dir_all(kept()).unwrap();
        let new = stamp().with_extension(std::process::id().to_string());
        fs::write(&new, "").unwrap();
        let folder = profile();
        let profile = folder.file_name().unwrap().to_str().unwrap();
        let profile = if profile == "debug" { "dev" } else { profile };
        let target = folder.parent().unwrap().to_str().unwrap();
        let what = ["build", "--quiet", "--workspace", "--bins", "--examples"];
        cargo(&[&what[..], &["--profile", profile, "--target-dir", target]].concat());
        fs::rename(new, stamp()).unwrap();
    });
}

fn cargo(args: &[&str]) {
    let program = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let status = Command::new(program).args(args).current_dir(origin()).status().unwrap();
    assert!(status.success(), "cargo {args:?} failed");
}

fn newest(folder: &Path) -> SystemTime {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let entries = entries.filter(|entry| !["tests", "benches"].iter().any(|name| entry.file_name() == *name));
    let times = entries.map(|entry| match entry.path() {
        path if path.is_dir() => newest(&path),
        path => modified(&path),
    });
    times.max().unwrap_or(SystemTime::UNIX_EPOCH)
}
