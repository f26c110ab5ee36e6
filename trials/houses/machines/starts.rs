//! How a guardian is started: inherited signals and umask, and a house that shares its repository.

use super::{Ends, Machine, Seen, said, so};
use crate::{House, SOUND};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

pub const MACHINES: &[Machine] = &[
    Machine::new("nohup", "`nohup`: SIGHUP is ignored from the start", Ends::Works, nohup),
    Machine::new("umask_000", "a umask of 000", Ends::Works, umask),
    Machine::new(
        "two_work_trees",
        "two work trees of one repository, a house in each",
        Ends::Works,
        two_work_trees,
    ),
    Machine::new(
        "bare_environment",
        "`PATH` as short as can be, `LANG=C` and nothing else",
        Ends::Works,
        bare,
    ),
];

/// The guardian as a shell starts it after another command.
fn after(house: &House, before: &str) -> Command {
    let plain = house.command(&[]);
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{before}; exec \"$0\"")]).arg(plain.get_program()).current_dir(&house.root);
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

/// Found: `nohup` was undone, for the guardian listened to the signal all the same.
fn nohup() -> Seen {
    let house = House::new(SOUND);
    let command = after(&house, "trap '' HUP");
    let guardian = house.start_by(command);
    house.until("a blessing", || house.status()["blessed"] == true);
    guardian.signal("-HUP");
    // It hears what comes after: so it has passed that signal over.
    let before = house.status()["life"].clone();
    house.say("still there?");
    let status = house.ask(&["status"]);
    assert!(status.status.success(), "{}", said(&status));
    assert_eq!(house.status()["life"], before);
    assert_eq!(house.status()["want"], "keep");
    guardian.stop();
    so("the signal stays ignored")
}

/// Found: with a umask of 000 any user of the machine could write orders.
fn umask() -> Seen {
    let house = House::new(SOUND);
    let command = after(&house, "umask 000");
    let guardian = house.start_by(command);
    house.until("a blessing", || house.status()["blessed"] == true);
    guardian.stop();
    for path in [".self/guardian", ".self/guardian.json", ".self/history.jsonl", ".self/log"] {
        let mode = fs::metadata(house.path(path)).unwrap().permissions().mode();
        assert_eq!(mode & 0o022, 0, "{path}: {mode:o}");
    }
    so("nobody else can write the house's state")
}

/// Found: two work trees of one repository shared a ladder, and a fall put back the creature of the other house.
fn two_work_trees() -> Seen {
    let house = House::new(SOUND);
    let guardian = house.start();
    house.until("a blessing", || house.status()["blessed"] == true);
    let second = house.folder.path().join("second");
    house.git(&["worktree", "add", "-q", "-b", "second", second.to_str().unwrap()]);
    fs::copy(house.path("owner.toml"), second.join("owner.toml")).unwrap();
    let changed = fs::read_to_string(second.join("creature/creature.sh")).unwrap() + "\n# the second's own\n";
    fs::write(second.join("creature/creature.sh"), changed).unwrap();
    let commits = "git commit -qam second && git rev-parse HEAD";
    let commit = Command::new("sh").args(["-c", commits]).current_dir(&second).output().unwrap();
    let commit = String::from_utf8(commit.stdout).unwrap().trim().to_owned();
    let mut command = house.command(&[]);
    command.current_dir(&second);
    let other = house.start_by(command);
    let status = || -> serde_json::Value {
        let page = fs::read(second.join(".self/guardian.json")).unwrap_or_default();
        serde_json::from_slice(&page).unwrap_or_default()
    };
    house.until("a blessing there", || status()["blessed"] == true && status()["last_good"] == commit);
    other.stop();
    guardian.stop();
    let rungs = |root: &std::path::Path| {
        let repo = repo::Repo::open(&house::House::new(root)).unwrap();
        let rungs = repo.rungs().unwrap();
        rungs.iter().map(|rung| rung.version.commit.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(rungs(&second).last(), Some(&commit));
    assert!(!rungs(&house.root).contains(&commit), "the first house has its own ladder");
    so("each has a ladder of its own")
}

fn bare() -> Seen {
    let house = House::new(SOUND);
    let set = house.command(&[]);
    let cargo = set.get_envs().find(|(name, _)| *name == "CARGO").and_then(|(_, cargo)| cargo).unwrap();
    let mut command = Command::new(set.get_program());
    command.current_dir(&house.root).env_clear();
    command.env("PATH", "/usr/bin:/bin").env("LANG", "C").env("CARGO", cargo);
    let guardian = house.start_by(command);
    house.until("a blessing", || house.status()["blessed"] == true);
    guardian.stop();
    so("nothing else is needed")
}
