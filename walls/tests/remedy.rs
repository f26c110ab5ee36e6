//! What puts up missing walls is told by what the machine says: pure, so each kind of machine is a row.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use nix::errno::Errno;
use walls::level::{FILES, Level, NETWORK, SIGNALS, TREE, VIEW};
use walls::network;
use walls::remedy::Machine;

/// A level that lacks these walls.
fn lacking(walls: &[&str]) -> Level {
    let mut level = Level::hoped(&network::make(false).unwrap(), None);
    let all = [TREE, FILES, VIEW, NETWORK, SIGNALS];
    all.iter().for_each(|wall| level.find(wall, Ok("namespace".into())));
    walls.iter().for_each(|wall| level.find(wall, Err("a reason".into())));
    level
}

fn plain() -> Machine {
    Machine { landlock: 7, program: "/srv/a house/guardian".into(), ..Machine::default() }
}

#[test]
fn each_machine_is_told_what_puts_its_walls_up() {
    let namespaces = &[TREE, VIEW][..];
    let files = &[FILES, SIGNALS][..];
    let none = |errno| Machine { landlock: 0, no_landlock: Some(errno), ..plain() };
    let contained = Machine { container: true, filtered: true, ..plain() };
    let rows: [(Machine, &[&str], &[&str]); 10] = [
        (plain(), &[], &[]),
        (
            Machine { apparmor: true, ..plain() },
            namespaces,
            &[
                "kernel.apparmor_restrict_unprivileged_userns",
                "profile feral \"/srv/a house/guardian\"",
                "userns,",
            ],
        ),
        // Root has its namespaces without a profile.
        (Machine { apparmor: true, is_root: true, ..plain() }, namespaces, &["CONFIG_USER_NS"]),
        (
            Machine { apparmor: true, ..contained.clone() },
            namespaces,
            &["docker run", "systempaths=unconfined", "userns,"],
        ),
        (Machine { is_root: true, ..contained.clone() }, &[VIEW], &["docker run", "--cap-add SYS_ADMIN"]),
        (
            Machine { sysctl: Some("user.max_user_namespaces=15000"), ..plain() },
            namespaces,
            &["sudo sysctl user.max_user_namespaces=15000"],
        ),
        (none(Errno::ENOSYS), files, &["not in this kernel", "gVisor"]),
        (none(Errno::EOPNOTSUPP), files, &["not switched on", "lsm="]),
        (none(Errno::EPERM), files, &["refused by a filter"]),
        (Machine { landlock: 4, ..plain() }, &[SIGNALS], &["version 4 is too old"]),
    ];
    for (machine, missing, told) in rows {
        let remedies = machine.remedies(&lacking(missing));
        assert_eq!(remedies.is_empty(), told.is_empty(), "{missing:?}: {remedies:?}");
        let text = remedies.join("\n");
        told.iter().for_each(|part| assert!(text.contains(part), "{missing:?}: {part:?} is not in {text}"));
    }
}
