//! Kernels and containers that give less: filters stand in for them, put on before the guardian starts.

use super::conditions::{Condition, Mount, no_namespaces, refused};
use super::{Ends, Machine, Seen, line, not_here, said};
use crate::{House, SOUND};
use libc::*;
use std::fs;

pub const MACHINES: &[Machine] = &[
    Machine::new(
        "docker_root",
        "Docker's default filter, as root",
        Ends::Lacks("view; tree and network by less"),
        || {
            lives(
                &docker(false),
                &["view"],
                &["namespaces", "--security-opt seccomp=unconfined", "--cap-add SYS_ADMIN"],
            )
        },
    ),
    Machine::new(
        "docker_user",
        "Docker's default filter, as a plain user",
        Ends::Lacks("tree, view; network by a port"),
        || {
            lives(
                &docker(true),
                &["tree", "view"],
                &["--security-opt seccomp=unconfined", "systempaths=unconfined"],
            )
        },
    ),
    Machine::new(
        "namespaces_by_name_only",
        "user namespaces without rights (AppArmor on Ubuntu 24.04)",
        Ends::Lacks("tree, view; network by a port"),
        by_name_only,
    ),
    Machine::new(
        "no_landlock_no_namespaces",
        "a kernel without Landlock, namespaces and openat2, as a plain user",
        Ends::Lacks("files, signals, network, tree, view"),
        || {
            let condition = Condition { filters: other_kernel(), plain: true, ..Condition::default() };
            lives(
                &condition,
                &["files", "signals", "network", "tree", "view"],
                &["Landlock is not in this kernel"],
            )
        },
    ),
    Machine::new(
        "no_landlock_no_namespaces_root",
        "the same, as root",
        Ends::Lacks("files, signals, network, view"),
        || {
            let condition = Condition { filters: other_kernel(), ..Condition::default() };
            lives(&condition, &["files", "signals", "network", "view"], &["Landlock is not in this kernel"])
        },
    ),
    Machine::new(
        "landlock_filtered",
        "a container whose filter refuses Landlock and openat2 (an older engine)",
        Ends::Lacks("files, signals"),
        || {
            let filters = vec![refused(&LANDLOCK, EPERM), refused(&[SYS_openat2], EPERM)];
            let condition = Condition { filters, ..Condition::default() };
            lives(&condition, &["files", "signals"], &["Landlock is refused by a filter"])
        },
    ),
];

const LANDLOCK: [i64; 3] = [SYS_landlock_create_ruleset, SYS_landlock_add_rule, SYS_landlock_restrict_self];
const NAMESPACES: [i32; 7] =
    [CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET];

/// What Docker's default profile gives to nobody without CAP_SYS_ADMIN (github.com/moby/profiles, seccomp/default.json, 2026-06).
fn docker(plain: bool) -> Condition {
    let never = [
        SYS_mount,
        SYS_umount2,
        SYS_pivot_root,
        SYS_setns,
        SYS_unshare,
        SYS_fsopen,
        SYS_fsconfig,
        SYS_fsmount,
        SYS_fspick,
        SYS_move_mount,
        SYS_open_tree,
        SYS_mount_setattr,
        SYS_bpf,
        SYS_perf_event_open,
        SYS_keyctl,
        SYS_add_key,
        SYS_request_key,
        SYS_userfaultfd,
        SYS_open_by_handle_at,
        SYS_quotactl,
        SYS_acct,
        SYS_kexec_load,
        SYS_io_uring_setup,
    ];
    let filters = vec![refused(&never, EPERM), no_namespaces(&NAMESPACES), refused(&[SYS_clone3], ENOSYS)];
    Condition { filters, plain, ..Condition::default() }
}

/// Less than any kernel of today has: gVisor lacks Landlock alone, since it has openat2 (github.com/google/gvisor/issues/13439).
fn other_kernel() -> Vec<seccompiler::BpfProgram> {
    let unknown = [&LANDLOCK[..], &[SYS_openat2, SYS_clone3, SYS_bpf, SYS_io_uring_setup]].concat();
    let never = [SYS_mount, SYS_umount2, SYS_pivot_root, SYS_setns, SYS_unshare];
    vec![refused(&unknown, ENOSYS), refused(&never, EPERM), no_namespaces(&NAMESPACES)]
}

/// A user namespace can be made, and whoever is in it may do nothing more than before; the sysctl that says so is put where
/// the kernel has its own.
fn by_name_only() -> Seen {
    let never = [SYS_mount, SYS_umount2, SYS_pivot_root, SYS_setns, SYS_fsopen, SYS_open_tree];
    let others: Vec<i32> = NAMESPACES.into_iter().filter(|kind| *kind != CLONE_NEWUSER).collect();
    let sysctls = tempfile::tempdir().unwrap();
    fs::write(sysctls.path().join("apparmor_restrict_unprivileged_userns"), "1\n").unwrap();
    std::os::unix::fs::chown(sysctls.path(), Some(65_534), None).unwrap_or_default();
    let condition = Condition {
        mounts: vec![Mount::Other(sysctls.path().to_owned(), "/proc/sys/kernel".into())],
        filters: vec![refused(&never, EPERM), no_namespaces(&others)],
        plain: true,
    };
    lives(
        &condition,
        &["tree", "view"],
        &["kernel.apparmor_restrict_unprivileged_userns", "profile feral", "userns,", "apparmor_parser -r"],
    )
}

/// A creature lives without these walls and behind all others; the doctor and the start name them and the remedy.
fn lives(condition: &Condition, missing: &[&str], remedy: &[&str]) -> Seen {
    if !condition.plain && !nix::unistd::geteuid().is_root() {
        return not_here("only root can start as root");
    }
    if !condition.can_be_made() {
        return not_here("mounts or filters cannot be made here");
    }
    let house = House::new(SOUND);
    condition.give(&house);
    let guardian = house.start_by(condition.command(&house, &[]));
    house.until("a blessing", || house.status()["blessed"] == true);
    let features = house.status()["wall_features"].clone();
    for (wall, held) in features.as_object().unwrap() {
        let held = held.as_str().unwrap();
        let lacks = missing.contains(&wall.as_str());
        // These two are held by control groups where the machine has some to give.
        let by_groups = ["processes", "tree"].contains(&wall.as_str());
        assert!(held.starts_with("none") == lacks || by_groups, "{wall}: {held}");
    }
    let started = fs::read_to_string(&guardian.log).unwrap();
    guardian.stop();
    let doctor = said(&condition.command(&house, &["doctor"]).output().unwrap());
    for wall in missing.iter().filter(|wall| features[**wall].as_str().unwrap().starts_with("none")) {
        assert!(doctor.contains(&format!("{wall} (")), "{wall} is not named as missing: {doctor}");
    }
    line(&doctor, remedy);
    Seen::So(line(&started, remedy))
}
