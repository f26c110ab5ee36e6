//! Steps that another process holds up: the owner is heard all the same, what does not end is ended, and nothing is lost.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::process::{Command, Stdio};
use std::time::Duration;
use trials::House;
use trials::disk::Disk;
use trials::lease::Lease;

/// Lives, and asks for a commit when it is told to.
const ASKS: &str = "think alive; blessed; until test -e .self/go; do beat; sleep 0.05; done; \
    echo new > self/page.md; ask commit papers c; live";

/// A house whose guardian is held up at a commit by the lease.
fn held_up_at_a_commit() -> (House, trials::Guardian, Lease) {
    let house = House::new(ASKS);
    let guardian = house.start();
    house.until("a blessing", || house.status()["blessed"] == true);
    let lease = Lease::of(&house.path(".git/logs/HEAD"));
    house.write(".self/go", "");
    house.until("the commit to be held up", || lease.is_waited_for());
    (house, guardian, lease)
}

/// Found: a lease on `.git/logs/HEAD` kept the guardian in the kernel at its own commit; SIGTERM was heard after 89 s.
#[test]
fn a_lease_on_a_log_of_gits_keeps_no_owner_waiting() {
    let (house, mut guardian, lease) = held_up_at_a_commit();
    guardian.signal("-TERM");
    assert_eq!(guardian.wait(), 0);
    assert!(lease.is_waited_for(), "the kernel took it back before the owner was heard");
    assert_eq!(house.leftovers(), Vec::<i32>::new());
    drop(lease);
    // As after a kill: the next start goes on, and what the creature wrote is there.
    let guardian = house.start();
    house.until("a blessing", || house.status()["blessed"] == true);
    guardian.stop();
    assert_eq!(house.read("self/page.md"), "new\n");
    assert_eq!(house.git(&["fsck", "--strict"]), "");
}

/// Found: `stop` gave up after 60 s, and two Ctrl-C changed nothing.
#[test]
fn an_order_to_stop_is_heard_while_a_step_is_held_up() {
    let (house, mut guardian, lease) = held_up_at_a_commit();
    let output = house.ask(&["stop"]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(guardian.wait(), 0);
    assert!(lease.is_waited_for(), "the kernel took it back before the order was heard");
    assert_eq!(house.leftovers(), Vec::<i32>::new());
}

/// Nobody asks for anything: the step has an end all the same, and the house goes on.
#[test]
fn a_step_that_does_not_end_is_ended_and_the_guardian_begins_anew() {
    let (house, guardian, _lease) = held_up_at_a_commit();
    house.until_within(Duration::from_secs(120), "the guardian to begin anew", || {
        house.told("begun_anew").len() == 1
    });
    let why = house.told("begun_anew").remove(0)["cause"].as_str().unwrap_or_default().to_owned();
    assert!(why.contains("held up in the kernel") && why.ends_with(" s"), "{why}");
    house.until("a life of the new guardian", || {
        house.told("life").len() == 2 && house.status()["phase"] == "settled"
    });
    assert_eq!(house.status()["guardian_pid"], guardian.pid(), "it is the same process");
    assert!(house.deaths().is_empty(), "nobody is to blame: {:?}", house.deaths());
    guardian.stop();
    assert_eq!(house.leftovers(), Vec::<i32>::new());
}

/// Found: a lease on the log of tests, and a line of history was lost while a file was leased.
#[test]
fn a_record_that_cannot_be_written_now_is_written_later() {
    let house = House::new("think alive; blessed; until test -e .self/go; do beat; sleep 0.05; done; exit 3");
    let guardian = house.start();
    house.until("a blessing", || house.status()["blessed"] == true);
    let lease = Lease::of(&house.path(".self/history.jsonl"));
    house.write(".self/go", "");
    house.until("the death", || !house.deaths().is_empty());
    house.until("the next life", || house.status()["life"].as_u64() > Some(1));
    assert_eq!(house.told("life").len(), 1, "the history is held");
    drop(lease);
    house.until("the line that was owed", || house.told("life").len() > 1);
    guardian.stop();
    let lives: Vec<_> =
        house.told("life").iter().map(|life| life["life"].as_u64().unwrap_or_default()).collect();
    assert!(
        lives.iter().enumerate().all(|(nth, life)| *life == nth as u64 + 1),
        "each once, in order: {lives:?}"
    );
}

/// Found: the guardian refused to start, for it could not open `owner.toml`.
#[test]
fn a_start_waits_for_settings_that_are_leased() {
    let house = House::new("think alive; live");
    let lease = Lease::write(&house.path("owner.toml"));
    let guardian = house.start();
    house.until("the start to wait", || lease.is_waited_for());
    drop(lease);
    house.until("a blessing", || house.status()["blessed"] == true);
    guardian.stop();
}

/// A reader that stopped, as a terminal held by Ctrl-S: what is printed waits for it, and nothing else does.
#[test]
fn a_pipe_that_nobody_reads_holds_nothing_up() {
    let house = House::new("think alive; blessed; live");
    let mut command = house.command(&[]);
    command.env("RUST_LOG", "trace").stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (out, err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    for pipe in [out.as_raw_fd(), err.as_raw_fd()] {
        // The other end is filled by us: not a byte more fits.
        let other = OpenOptions::new().write(true).open(format!("/proc/self/fd/{pipe}"));
        let Ok(mut other) = other else { continue };
        nix::fcntl::fcntl(&other, nix::fcntl::FcntlArg::F_SETFL(nix::fcntl::OFlag::O_NONBLOCK)).unwrap();
        while other.write(&[b'x'; 4_096]).is_ok() {}
        while other.write(b"x").is_ok() {}
    }
    let mut guardian = trials::Guardian::new(child, &house);
    house.until("a blessing", || house.status()["blessed"] == true);
    house.say("hello");
    guardian.signal("-TERM");
    assert_eq!(guardian.wait(), 0);
    assert!(house.told("begun_anew").is_empty());
}

/// A house on a disk of its own, its blessed life, its guardian and the file that this prints to; none where no such disk
/// can be had.
fn on_a_disk_of_its_own() -> Option<(Disk, House, trials::Guardian, tempfile::NamedTempFile)> {
    let Some(disk) = Disk::new(&[]) else {
        eprintln!("skipped: no disk of its own can be had here");
        return None;
    };
    let house = House::new_in(&disk.at(), "think alive; blessed; live");
    let said = tempfile::NamedTempFile::new().unwrap();
    let mut command = house.command(&[]);
    command.stdout(Stdio::null()).stderr(said.reopen().unwrap());
    let guardian = trials::Guardian::new(command.spawn().unwrap(), &house);
    house.until("a blessing", || house.status()["blessed"] == true);
    Some((disk, house, guardian, said))
}

fn says(said: &tempfile::NamedTempFile, text: &str) -> Option<()> {
    trials::looked_for(|| std::fs::read_to_string(said.path()).unwrap().contains(text).then_some(()))
}

/// Whoever writes there sleeps until it is thawed, and cannot be killed.
#[test]
fn on_a_frozen_disk_the_owner_is_heard_and_nothing_is_lost() {
    let Some((mut disk, house, mut guardian, said)) = on_a_disk_of_its_own() else { return };
    disk.freeze();
    // The loop writes as soon as it hears that, if not before.
    guardian.signal("-TERM");
    let heard = says(&said, "a step is held up");
    disk.thaw();
    assert!(heard.is_some(), "{}", std::fs::read_to_string(said.path()).unwrap());
    assert_eq!(guardian.wait(), 0);
    assert_eq!(house.leftovers(), Vec::<i32>::new());
    let guardian = house.start();
    house.until("a blessing", || house.status()["blessed"] == true);
    guardian.stop();
    assert_eq!(house.git(&["fsck", "--strict"]), "");
}

/// Found: the kernel hands a signal to the loop's thread where that can be interrupted or not, and nobody else heard it.
#[test]
fn on_a_frozen_disk_the_owner_is_heard_by_a_guardian_that_waits_for_it_already() {
    let Some((mut disk, house, mut guardian, said)) = on_a_disk_of_its_own() else { return };
    let life = house.status()["creature_pid"].to_string();
    disk.freeze();
    Command::new("kill").args(["-KILL", &life]).status().unwrap();
    let (stat, mut looks) = (format!("/proc/{}/stat", guardian.steward().unwrap()), 0);
    let waits = trials::looked_for(|| {
        let stat = std::fs::read_to_string(&stat).unwrap();
        let is_held = stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('D'));
        looks = if is_held { looks + 1 } else { 0 };
        (looks == 5).then_some(())
    });
    guardian.signal("-TERM");
    let heard = says(&said, "a step is held up");
    disk.thaw();
    assert!(waits.is_some(), "it wrote nothing");
    assert!(heard.is_some(), "{}", std::fs::read_to_string(said.path()).unwrap());
    assert_eq!(guardian.wait(), 0);
    assert_eq!(house.leftovers(), Vec::<i32>::new());
}
