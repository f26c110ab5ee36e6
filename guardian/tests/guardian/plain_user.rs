//! Tests as another user: where they run as root, the same test once more as one with no rights of its own.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use trials::programs;

const PLAIN_USER: u32 = 65_534;

/// True for root, once `test` has passed as a plain user, in a process and folder of that user's.
pub fn runs(test: &str) -> bool {
    runs_in(test, |_| {})
}

/// The same, in a folder where root did something before.
pub fn runs_in(test: &str, before: impl FnOnce(&Path)) -> bool {
    if !nix::unistd::geteuid().is_root() {
        return false;
    }
    let folder = tempfile::Builder::new().prefix("plain-user-").tempdir().unwrap();
    let guardian = programs::place_guardian(folder.path());
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let own = folder.path().join("tmp");
    fs::create_dir(&own).unwrap();
    give(&own);
    before(&own);
    // By this name, since the folder it lies in may be closed to others.
    let mut command = Command::new("/proc/self/exe");
    command.args(["--exact", test, "--nocapture"]).uid(PLAIN_USER).gid(PLAIN_USER).current_dir(&own);
    command.env("TMPDIR", &own).env("HOME", &own).env("ESCAPE_GUARDIAN", &guardian);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "as a plain user:\n{said}{complaint}");
    said.lines().filter(|line| line.contains("SEED")).for_each(|line| println!("{line}"));
    true
}

/// Makes a folder that user's.
pub fn give(folder: &Path) {
    std::os::unix::fs::chown(folder, Some(PLAIN_USER), Some(PLAIN_USER)).unwrap();
}
