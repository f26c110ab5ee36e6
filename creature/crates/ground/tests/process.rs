//! Tests of running commands: deadlines, caps, a clean environment, and nothing left running.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use ground::process::{Job, become_reaper, child_environment, run};
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

fn shell(command: &str, deadline: Duration) -> Job {
    Job::new("sh", "/", deadline).args(["-c", command])
}

#[tokio::test]
async fn a_command_ends_with_its_status_and_both_outputs() {
    let ended = run(shell("echo out; echo err >&2; exit 3", Duration::from_secs(20))).await.unwrap();
    assert_eq!((ended.status, ended.ok(), ended.how().as_str()), (Some(3), false, "exit status 3"));
    assert_eq!((ended.stdout.text().as_str(), ended.stderr.text().as_str()), ("out\n", "err\n"));
    let ended = run(shell("kill -9 $$", Duration::from_secs(20))).await.unwrap();
    assert_eq!((ended.signal, ended.how().as_str()), (Some(9), "ended by signal 9"));
    let missing = run(Job::new("/nowhere/at-all", "/", Duration::from_secs(1))).await.unwrap_err();
    assert!(missing.error.contains("/nowhere/at-all"), "{missing}");
}

#[tokio::test]
async fn a_flood_is_capped_to_head_and_tail_and_blocks_nobody() {
    let job = shell(
        "i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; yes err | head -c 300000 >&2",
        Duration::from_secs(30),
    );
    let ended = run(Job { most_bytes: 2_000, ..job }).await.unwrap();
    let text = ended.stdout.text();
    assert!(ended.ok() && text.starts_with("line 0\n") && text.ends_with("line 19999\n"), "{text}");
    assert!(text.len() < 2_100 && text.contains("bytes left out"), "{}", text.len());
    assert_eq!(ended.stderr.total, 300_000);
    let kept = format!("{:?} {:?}", ended.stdout, ended.stderr).len();
    assert!(kept < 50_000, "what is left out of the text is not kept in memory either: {kept}");
}

#[tokio::test]
async fn a_deadline_ends_the_group_that_ignores_being_asked() {
    let ended =
        run(shell("trap '' TERM INT; sleep 600 & sleep 600; echo waited for", Duration::from_millis(200)));
    let ended = ended.await.unwrap();
    assert!(ended.timed_out && !ended.ok() && ended.how().contains("deadline"));
    assert_eq!(ended.stdout.text(), "", "it was ended, not waited for");
}

#[tokio::test]
async fn a_background_child_that_keeps_the_pipe_does_not_hold_up_the_end() {
    let ended = run(shell("(sleep 600; echo late) & echo done", Duration::from_secs(900))).await.unwrap();
    assert_eq!((ended.status, ended.stdout.text().as_str()), (Some(0), "done\n"), "the child was waited for");
}

#[test]
fn the_environment_is_cleaned_of_secrets_and_leaks() {
    let dropped = [
        "ANTHROPIC_API_KEY",
        "GITHUB_TOKEN",
        "X_CONSUMER_SECRET",
        "DB_PASSWORD",
        "my_api_key",
        "LD_LIBRARY_PATH",
        "RUST_RECURSION_COUNT",
        "CARGO",
        "CARGO_MANIFEST_DIR",
        "CARGO_PKG_NAME",
        "FERAL_HOUSE",
        "FERAL_SAFE",
        "FERAL_BROKER",
        "FERAL_BROKER_TOKEN",
    ];
    let kept = ["PATH", "HOME", "CARGO_HOME", "CARGO_HTTP_PROXY", "RUSTUP_HOME", "LANG", "TMPDIR"];
    let all = dropped.iter().chain(&kept).map(|name| (OsString::from(name), ()));
    let passed: Vec<OsString> = child_environment(all).into_iter().map(|(name, ())| name).collect();
    assert_eq!(passed, kept.map(OsString::from));
}

/// A subreaper adopts the orphans of the whole process, so the test of it needs one of its own.
#[test]
fn daemonised_grandchildren_end_with_their_command() {
    let dir = tempfile::tempdir().unwrap();
    let alone = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "alone_as_a_reaper", "--ignored", "--nocapture"])
        .env("PROBE_DIR", dir.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&alone.stdout);
    assert!(
        alone.status.success() && said.contains("1 passed"),
        "{said}{}",
        String::from_utf8_lossy(&alone.stderr)
    );
}

#[tokio::test]
#[ignore = "run by daemonised_grandchildren_end_with_their_command, in a process of its own"]
async fn alone_as_a_reaper() {
    become_reaper().unwrap();
    let dir = std::path::PathBuf::from(std::env::var_os("PROBE_DIR").unwrap());
    // One leaves its session, one forks twice first, one is hidden below a third that ignores everything.
    let script = "
        setsid sh -c 'echo $$ > a; exec sleep 600' >/dev/null 2>&1 &
        (setsid sh -c '(echo in > seen; sh -c \"echo \\$\\$ > b; exec sleep 600\") & exit 0' &)
        setsid sh -c 'trap \"\" TERM HUP; echo $$ > c; sleep 600; sleep 600' &
        while [ ! -s a ] || [ ! -s b ] || [ ! -s c ]; do sleep 0.01; done";
    let ended = run(Job { dir: dir.clone(), ..shell(script, Duration::from_secs(20)) }).await.unwrap();
    assert!(ended.ok(), "{} {}", ended.how(), ended.stderr.text());
    assert!(ended.strays >= 3, "{} strays", ended.strays);
    for name in ["a", "b", "c"] {
        let pid = std::fs::read_to_string(dir.join(name)).unwrap();
        assert!(!Path::new("/proc").join(pid.trim()).exists(), "{name} is left");
    }
    // A call that is dropped half way leaves nothing either, once the next command has run.
    let script = "echo $$ > d; setsid sleep 601 & echo $! > e; sleep 600";
    let job = Job { dir: dir.clone(), ..shell(script, Duration::from_secs(20)) };
    let dropped = tokio::time::timeout(Duration::from_millis(500), run(job)).await;
    assert!(dropped.is_err());
    run(shell("true", Duration::from_secs(20))).await.unwrap();
    for name in ["d", "e"] {
        let pid = std::fs::read_to_string(dir.join(name)).unwrap();
        assert!(!Path::new("/proc").join(pid.trim()).exists(), "{name} is left");
    }
}
