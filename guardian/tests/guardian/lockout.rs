//! Nothing locks a house: what a stop, a container or a move leaves behind is settled at the next start, and nobody's work is lost.

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use trials::{Guardian, House, SOUND, becomes};

const HOLDS: &str = "think x; echo unfinished > creature/held.txt; think y; live";

/// Stops it in order with an edit of the creature's that is not committed.
fn leaves_an_edit(house: &House) {
    let guardian = house.start();
    house.until("its edit", || house.thoughts().len() == 2);
    guardian.stop();
    assert_eq!(house.read("creature/held.txt"), "unfinished\n", "a stop touches nothing");
}

fn goes_on_with_the_edit_kept(house: &House) {
    let guardian = house.start();
    house.until("the next life", || house.told("life").len() == 2);
    let kept = house.told("rescued")[0]["ref"].as_str().unwrap().to_owned();
    assert_eq!(house.git(&["show", &format!("{kept}:creature/held.txt")]), "unfinished");
    assert!(fs::read_to_string(&guardian.log).unwrap().contains(&kept), "the owner is told where it is");
    guardian.stop();
}

/// Found by living with it: after an edit held over an orderly stop (a reboot, say) the next start refused with git commands.
#[test]
fn an_edit_held_over_an_orderly_stop_does_not_lock_the_house() {
    let house = House::new(HOLDS);
    leaves_an_edit(&house);
    goes_on_with_the_edit_kept(&house);
}

/// The same, and the house is copied to another place meanwhile: all its files have other numbers.
#[test]
fn an_edit_held_over_a_stop_and_a_move_does_not_lock_the_house() {
    let house = House::new(HOLDS);
    leaves_an_edit(&house);
    let copy = house.root.with_file_name("copied");
    assert!(Command::new("cp").args(["-a"]).args([&house.root, &copy]).status().unwrap().success());
    fs::remove_dir_all(&house.root).unwrap();
    fs::rename(&copy, &house.root).unwrap();
    goes_on_with_the_edit_kept(&house);
}

/// What changed after the stop is the owner's, and not touched.
#[test]
fn an_edit_of_the_owners_after_a_stop_is_refused_and_stays() {
    let house = House::new(HOLDS);
    leaves_an_edit(&house);
    house.write("creature/held.txt", "the owner's own work\n");
    let refused = house.ask(&[]);
    assert_eq!(refused.status.code(), Some(100));
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("held.txt") && said.contains("git add -f creature"), "{said}");
    assert_eq!(house.read("creature/held.txt"), "the owner's own work\n");
}

fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

/// Found in a container: as its first process a guardian was taken for dead, and no self-edit was ever born.
#[test]
fn a_guardian_that_is_process_1_has_a_creature_that_is_reborn() {
    if !is_root() {
        return;
    }
    let house = House::new(&becomes(SOUND));
    let plain = house.command(&[]);
    let mut command = Command::new("unshare");
    command.args(["--pid", "--fork", "--kill-child", "--mount-proc"]).arg(plain.get_program());
    command.current_dir(&house.root).envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let guardian = house.start_by(command);
    house.until("a blessed second life", || house.status()["blessed"] == true && house.status()["life"] == 2);
    assert_eq!(house.status()["guardian_pid"], 1);
    guardian.signal("-KILL");
}

/// Starts a guardian that sees its house at a path where another guardian sees another house.
fn start_at(house: &House, place: &Path) -> Guardian {
    let (from, to) = (house.root.clone(), place.to_owned());
    let mut command = house.command(&[]);
    // SAFETY: plain system calls on paths made before; nothing else runs in the copy of this process.
    #[allow(unsafe_code)]
    unsafe {
        command.pre_exec(move || {
            unshare(CloneFlags::CLONE_NEWNS)?;
            let none = None::<&str>;
            mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none)?;
            mount(Some(&from), &to, none, MsFlags::MS_BIND, none)?;
            nix::unistd::chdir(&to)?;
            Ok(())
        });
    }
    house.start_by(command)
}

/// Found with two containers: each guardian ended the other's creature, for both houses were at the same path.
#[test]
fn two_houses_at_one_path_leave_each_other_alone() {
    if !is_root() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let (one, other) = (House::new(SOUND), House::new(SOUND));
    let first = start_at(&one, place.path());
    one.until("a life", || one.status()["blessed"] == true);
    let second = start_at(&other, place.path());
    other.until("a life beside it", || other.status()["blessed"] == true);
    second.kill_only();
    let third = start_at(&other, place.path());
    other.until("another life", || other.told("life").len() == 2 && other.status()["blessed"] == true);
    assert_eq!((one.told("life").len(), one.deaths().len()), (1, 0), "the one house never noticed the other");
    assert_eq!(third.stop() + first.stop(), 0);
}
