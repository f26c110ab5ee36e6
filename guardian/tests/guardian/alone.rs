//! Tests that need a process of their own: they end every child.

use std::process::Command;

/// True once `test` has passed in a process of its own; false in that process.
pub fn runs(test: &str) -> bool {
    if std::env::var_os("TEST_ALONE").is_some() {
        return false;
    }
    let mut command = Command::new("/proc/self/exe");
    let output = command.args(["--exact", test, "--nocapture"]).env("TEST_ALONE", "1").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "alone:\n{said}{complaint}");
    true
}
