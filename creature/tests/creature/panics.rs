//! Tools and threads that panic: a failed result, or the end of the process, and in both cases said where.

use creature::panic::{caught, install};
use creature::tools::CallOutcome;
use serde_json::json;

#[test]
fn a_tool_that_panics_is_a_failed_result() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let result = CallOutcome::guarded("bad.tool", async {
            tokio::task::yield_now().await;
            panic!("on purpose")
        });
        let result = result.await.result;
        assert_eq!(result["ok"], false);
        assert!(result["error"].as_str().unwrap().contains("bad.tool") && result["hint"].is_string());
        let result = caught("good.tool", async {
            tokio::task::yield_now().await;
            json!({"ok": true})
        });
        assert_eq!(result.await.unwrap()["ok"], true);
    });
}

#[test]
fn a_panic_of_the_heartbeat_ends_the_process() {
    let exe = std::env::current_exe().unwrap();
    let alone = ["--ignored", "--exact", "panics::alone_with_a_panicking_heartbeat"];
    let ended = std::process::Command::new(exe).args(alone).output().unwrap();
    assert_eq!(ended.status.code(), Some(101));
    // A failed test would end with 101 as well, but not without saying so.
    let said = String::from_utf8_lossy(&ended.stdout);
    assert!(!said.contains("test result"), "{said}");
}

#[test]
#[ignore = "run by a_panic_of_the_heartbeat_ends_the_process, in a process of its own"]
fn alone_with_a_panicking_heartbeat() {
    install();
    let heartbeat = std::thread::Builder::new().name("heartbeat".to_owned());
    let _ = heartbeat.spawn(|| panic!("on purpose")).unwrap().join();
}

#[test]
fn a_panic_says_where_and_why() {
    let exe = std::env::current_exe().unwrap();
    let alone = ["--ignored", "--exact", "panics::alone_with_a_panicking_tool"];
    let ended = std::process::Command::new(exe).args(alone).output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
}

#[test]
#[ignore = "run by a_panic_says_where_and_why, in a process of its own"]
fn alone_with_a_panicking_tool() {
    install();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for (line, result) in [
        (line!(), runtime.block_on(CallOutcome::guarded("bad.tool", async { panic!("on\npurpose") }))),
        (line!(), runtime.block_on(CallOutcome::guarded("bad.tool", async { panic!("on {}", "purpose") }))),
    ] {
        let said = result.result["error"].as_str().unwrap();
        assert!(said.starts_with("bad.tool panicked at tests/creature/panics.rs:"), "{said}");
        assert!(said.contains(&format!("panics.rs:{line}:")), "{said}");
        assert!(said.ends_with(": on purpose"), "{said}");
    }
}
