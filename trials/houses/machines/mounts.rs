//! Disks and folders: nothing runs there, nothing can be written there, or not as much as seems free.

use super::conditions::{Condition, Mount, large_writes_refused};
use super::{Ends, Machine, Seen, line, not_here, refusal, said, so};
use crate::disk::Disk;
use crate::{House, SOUND, programs};
use nix::mount::MsFlags;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

pub const MACHINES: &[Machine] = &[
    Machine::new("target_noexec", "`target/` on a disk mounted noexec", Ends::Refuses, || noexec("target")),
    Machine::new("state_noexec", "`.self/` on a disk mounted noexec", Ends::Refuses, || noexec(".self")),
    Machine::new("house_read_only", "the house on a disk mounted read-only", Ends::Refuses, house_read_only),
    Machine::new("house_of_another", "the house is another user's", Ends::Refuses, house_of_another),
    Machine::new("no_temporary_folder", "`/tmp` cannot be written", Ends::Works, no_temporary),
    Machine::new("home_unset", "`HOME` is not set", Ends::Works, home_unset),
    Machine::new("home_read_only", "`HOME` cannot be written", Ends::Works, home_read_only),
    Machine::new("home_closed", "`HOME` is another user's, and closed", Ends::Works, home_closed),
    Machine::new("no_inodes", "no inode is left on the disk", Ends::Waits, no_inodes),
    Machine::new("quota", "a quota is used up, and the disk is not full", Ends::Waits, quota),
];

/// Found: each life ended with status 126, code was blamed, and the doctor called everything well.
fn noexec(folder: &str) -> Seen {
    let house = House::new(SOUND);
    let at = house.path(folder);
    fs::create_dir_all(&at).unwrap();
    let condition =
        Condition { mounts: vec![Mount::Empty(at.clone(), MsFlags::MS_NOEXEC)], ..Condition::default() };
    if !condition.can_be_made() {
        return not_here("no mounts of a process's own can be made here");
    }
    let remedy = format!("mount -o remount,exec {}", at.display());
    let start = refusal(&house, condition.command(&house, &[]));
    let doctor = condition.command(&house, &["doctor"]).output().unwrap();
    assert!(!doctor.status.success(), "{}", said(&doctor));
    line(&said(&doctor), &["BAD", "start", "noexec", &remedy]);
    assert!(house.deaths().is_empty());
    Seen::So(line(&start, &["noexec", &remedy]))
}

/// Found: the start ended with "No such file or directory", and the doctor called everything well.
fn house_read_only() -> Seen {
    let house = House::new(SOUND);
    let read_only = MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY;
    let mounts = vec![
        Mount::Other(house.root.clone(), house.root.clone()),
        Mount::Empty(house.root.clone(), read_only),
    ];
    let condition = Condition { mounts, ..Condition::default() };
    if !condition.can_be_made() {
        return not_here("no mounts of a process's own can be made here");
    }
    refused(&house, &condition, &format!("mount -o remount,rw {}", house.root.display()))
}

fn house_of_another() -> Seen {
    if !nix::unistd::geteuid().is_root() {
        return not_here("only root can make another user's folder");
    }
    let house = House::new(SOUND);
    fs::set_permissions(house.folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    programs::place_guardian(&house.folder.path().join("bin"));
    let condition = Condition { plain: true, ..Condition::default() };
    refused(&house, &condition, "start as the user whose house it is")
}

/// Neither the start nor the doctor passes over it, and both say what to do.
fn refused(house: &House, condition: &Condition, remedy: &str) -> Seen {
    // By its name, once the house has its mounts.
    let inside = |words: &[&str]| {
        let plain = condition.command(house, words);
        let mut command = Command::new("sh");
        command
            .args(["-c", "cd \"$0\" && exec \"$@\""])
            .arg(&house.root)
            .arg(plain.get_program())
            .args(words);
        command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?)))).current_dir("/");
        condition.around(command)
    };
    let started = refusal(house, inside(&[]));
    let doctor = inside(&["doctor"]).output().unwrap();
    assert!(!doctor.status.success(), "{}", said(&doctor));
    line(&said(&doctor), &["BAD", "start", "cannot be written", remedy]);
    Seen::So(line(&started, &["cannot be written", remedy]))
}

/// Found: the broker is built with the owner's own folder for temporary files, and no linker works without one.
fn no_temporary() -> Seen {
    // Not in that folder itself.
    let place = tempfile::tempdir_in("/var/tmp").unwrap();
    let house = House::new_in(place.path(), SOUND);
    house.write("creature/build.sh", "echo \"$TMPDIR\" >> target/temporary 2>&-; true\n");
    house.commit("writes down where its temporary files go");
    let program = programs::place_guardian(&house.path("target/debug"));
    let condition =
        Condition { mounts: vec![Mount::Empty("/tmp".into(), MsFlags::MS_RDONLY)], ..Condition::default() };
    if !condition.can_be_made() {
        return not_here("no mounts of a process's own can be made here");
    }
    let plain = house.command(&[]);
    let mut own = Command::new(program);
    own.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?)))).env_remove("TMPDIR");
    own.current_dir(&house.root);
    let guardian = house.start_by(condition.around(own));
    let expected = house.path("target/tmp").display().to_string();
    house.until("a build beside the life", || {
        house.read("target/temporary").lines().any(|line| line == expected)
    });
    house.until("a blessing", || house.status()["blessed"] == true);
    guardian.stop();
    let elsewhere = house.command(&["doctor"]).env("TMPDIR", "/nowhere").output().unwrap();
    line(&said(&elsewhere), &["odd", "/nowhere is not there", "target/tmp"]);
    let doctor = condition.command(&house, &["doctor"]).env_remove("TMPDIR").output().unwrap();
    Seen::So(line(&said(&doctor), &["odd", "/tmp is not there or cannot be written", "target/tmp"]))
}

/// Lives, and returns the doctor's words.
fn lives(house: &House, change: impl Fn(Command) -> Command) -> String {
    let guardian = house.start_by(change(house.command(&[])));
    house.until("a blessing", || house.status()["blessed"] == true);
    guardian.stop();
    let doctor = change(house.command(&["doctor"])).output().unwrap();
    assert!(doctor.status.success(), "{}", said(&doctor));
    said(&doctor)
}

fn home_unset() -> Seen {
    let house = House::new(SOUND);
    lives(&house, |mut command| {
        command.env_remove("HOME");
        command
    });
    so("the list of users says where the home is")
}

fn home_read_only() -> Seen {
    let home = tempfile::Builder::new().prefix("house-home-").tempdir().unwrap();
    let condition = Condition {
        mounts: vec![Mount::Empty(home.path().to_owned(), MsFlags::MS_RDONLY)],
        ..Condition::default()
    };
    if !condition.can_be_made() {
        return not_here("no mounts of a process's own can be made here");
    }
    let house = House::new(SOUND);
    let doctor = lives(&house, |mut command| {
        command.env("HOME", home.path()).env_remove("CARGO_HOME");
        condition.around(command)
    });
    Seen::So(line(&doctor, &["cargo home", "cannot be written"]))
}

/// Found: after `sudo -u`, which keeps `HOME`, the start refused over a settings file that it may not see.
fn home_closed() -> Seen {
    if !nix::unistd::geteuid().is_root() {
        return not_here("only root can make another user's folder");
    }
    let closed = tempfile::tempdir().unwrap();
    fs::set_permissions(closed.path(), fs::Permissions::from_mode(0o700)).unwrap();
    let condition = Condition { plain: true, ..Condition::default() };
    let house = House::new(SOUND);
    condition.give(&house);
    let (home, empty) = (closed.path(), house.folder.path());
    let start = |words: &[&str]| {
        let mut command = condition.command(&house, words);
        command.env("HOME", home).env("CARGO_HOME", empty);
        command
    };
    let guardian = house.start_by(start(&[]));
    house.until("a blessing", || house.status()["blessed"] == true);
    guardian.stop();
    let doctor = start(&["doctor"]).output().unwrap();
    assert!(doctor.status.success(), "{}", said(&doctor));
    so("git's settings there are passed over, as git itself does")
}

/// Found: with no inode left the page told of a dead creature as alive, the doctor called the disk fine, and `stop` failed.
fn no_inodes() -> Seen {
    let Some(disk) = Disk::new(&["-N", "4000"]) else {
        return not_here("no disk of its own can be had here");
    };
    let house = House::new_in(&disk.at(), SOUND);
    let mut guardian = house.start();
    house.until("a blessing", || house.status()["blessed"] == true);
    let dead = house.status()["creature_pid"].clone();
    let fill = disk.at().join("fill");
    fs::create_dir(&fill).unwrap();
    while fs::write(fill.join(fs::read_dir(&fill).unwrap().count().to_string()), "").is_ok() {}
    assert!(Command::new("kill").args(["-KILL", &dead.to_string()]).status().unwrap().success());
    house.until("the death to be told", || house.status()["creature_pid"] != dead);
    let doctor = house.ask(&["doctor"]);
    assert!(!doctor.status.success(), "{}", said(&doctor));
    let seen = line(&said(&doctor), &["disk", "0 MiB free"]);
    let stopped = house.ask(&["stop"]);
    assert!(stopped.status.success(), "{}", said(&stopped));
    assert_eq!(guardian.wait(), 0);
    assert_eq!(house.told("fall").len(), 0, "nothing is put back for it");
    fs::remove_dir_all(&fill).unwrap();
    let guardian = house.start();
    house.until("a life", || house.status()["blessed"] == true);
    guardian.stop();
    Seen::So(seen)
}

/// Found: what the system counts as free a quota does not give; deaths for it were the code's, and the doctor saw nothing.
/// A filter stands in for it: whatever writes so much at once is refused as over the quota.
fn quota() -> Seen {
    let house = House::new("think alive; blessed; exit 1");
    let condition = Condition { filters: vec![large_writes_refused(libc::EDQUOT)], ..Condition::default() };
    let settings = house.read("owner.toml");
    house.write("owner.toml", &settings.replace("disk_free_mib = 0", "disk_free_mib = 1"));
    let guardian = house.start_by(condition.command(&house, &[]));
    let log = || fs::read_to_string(&guardian.log).unwrap_or_default();
    house.until("some deaths", || {
        log().matches("blamed on disk").count() >= 4 || log().contains("blamed on code")
    });
    assert!(!log().contains("blamed on code"), "{}", log());
    let doctor = condition.command(&house, &["doctor"]).output().unwrap();
    assert!(!doctor.status.success(), "{}", said(&doctor));
    let seen = line(&said(&doctor), &["disk", "0 MiB free"]);
    assert_eq!(house.told("fall").len(), 0, "nothing is put back for it");
    guardian.stop();
    house.write_life(SOUND);
    house.commit("a creature that goes on");
    let guardian = house.start();
    house.until("a life", || house.status()["blessed"] == true);
    guardian.stop();
    Seen::So(seen)
}
