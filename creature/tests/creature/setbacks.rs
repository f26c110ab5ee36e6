//! What goes wrong and is lived with: outages, garbled replies, tools that panic.

use creature::config::RestSettings;
use creature::life::setbacks::Setbacks;
use creature::panic::{caught, install};
use creature::tools::Done;
use serde_json::json;

#[test]
fn rests_double_up_to_an_hour_and_honour_what_is_asked() {
    let mut setbacks = Setbacks::default();
    let rests: Vec<u64> = (0..8).map(|_| setbacks.down("busy", 60).0).collect();
    assert_eq!(rests, [60, 120, 240, 480, 960, 1_920, 3_600, 3_600]);
    assert!(setbacks.over());
    assert_eq!(setbacks.down("busy", 60).0, 60);
    assert_eq!(setbacks.down("busy", 1_000).0, 1_000);
    assert_eq!(setbacks.down("busy", 99_999).0, 3_600);
}

#[test]
fn a_reason_is_told_when_it_changes_and_not_for_ever() {
    let mut setbacks = Setbacks::default();
    assert!(setbacks.down("refused (401): request 17", 60).1);
    assert!(!setbacks.down("refused (401): request 18", 60).1);
    assert!(setbacks.down("unreachable", 60).1);
    let told = (0..50).filter(|n| setbacks.down(&"x".repeat(n + 1), 60).1).count();
    assert_eq!(told, 3);
    assert!(setbacks.over() && !setbacks.over());
}

#[test]
fn garbled_replies_cost_longer_and_longer_rests() {
    let mut setbacks = Setbacks::default();
    assert_eq!((setbacks.garbled(), setbacks.garbled(), setbacks.garbled()), (5, 10, 20));
    assert!((0..100).map(|_| setbacks.garbled()).max() < Some(5_000));
    assert!(!setbacks.over());
    assert_eq!(setbacks.garbled(), 5);
}

/// Tries in six hours of it, the first one counted, when each is followed by a rest.
fn tries(mut rest_s: impl FnMut() -> u64) -> usize {
    let mut now_s = 0;
    std::iter::from_fn(|| {
        let at = now_s;
        now_s += rest_s();
        (at < 6 * 3_600).then_some(at)
    })
    .count()
}

#[test]
fn hours_of_an_outage_cost_a_handful_of_calls() {
    let mut refused = Setbacks::default();
    assert_eq!(tries(|| refused.down("the key is refused (401)", 3_600).0), 6);
    let mut told_to_wait = Setbacks::default();
    assert_eq!(tries(|| told_to_wait.down("busy (429)", 901).0), 8);
    // Each of these is up to three calls: what may pass is asked twice more.
    let mut busy = Setbacks::default();
    assert_eq!(tries(|| busy.down("busy (529)", 60).0), 11);
    let (mut garbled, longest_s) = (Setbacks::default(), RestSettings::default().longest_s);
    assert_eq!(tries(|| garbled.garbled().min(longest_s)), 77);
}

#[test]
fn a_tool_that_panics_is_a_failed_result() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let result = Done::guarded("bad.tool", async {
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
    let alone = ["--ignored", "--exact", "setbacks::alone_with_a_panicking_heartbeat"];
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
    let alone = ["--ignored", "--exact", "setbacks::alone_with_a_panicking_tool"];
    let ended = std::process::Command::new(exe).args(alone).output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
}

#[test]
#[ignore = "run by a_panic_says_where_and_why, in a process of its own"]
fn alone_with_a_panicking_tool() {
    install();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for (line, result) in [
        (line!(), runtime.block_on(Done::guarded("bad.tool", async { panic!("on\npurpose") }))),
        (line!(), runtime.block_on(Done::guarded("bad.tool", async { panic!("on {}", "purpose") }))),
    ] {
        let said = result.result["error"].as_str().unwrap();
        assert!(said.starts_with("bad.tool panicked at tests/creature/setbacks.rs:"), "{said}");
        assert!(said.contains(&format!("setbacks.rs:{line}:")), "{said}");
        assert!(said.ends_with(": on purpose"), "{said}");
    }
}
