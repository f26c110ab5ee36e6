//! The wall around system calls: a table of refused ones. Everything else is allowed.
//!
//! Invariant: a refused call fails with "operation not permitted"; a call of another architecture ends the process.

use crate::init::PROGRAM;
use crate::spec::Spec;
use anyhow::{Context, Result};
use libc::*;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};
use std::collections::BTreeMap;

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: TargetArch = TargetArch::x86_64;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: TargetArch = TargetArch::aarch64;

/// Refused whatever the arguments.
const NEVER: &[i64] = &[
    // Other processes' memory, descriptors and execution.
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_process_madvise,
    SYS_pidfd_getfd,
    SYS_kcmp,
    SYS_migrate_pages,
    SYS_move_pages,
    SYS_process_mrelease,
    // Ways around this filter, or large kernel interfaces that are often exploited.
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_fanotify_init,
    SYS_lookup_dcookie,
    SYS_nfsservctl,
    SYS_syslog,
    SYS_vhangup,
    SYS_acct,
    // Mounts, roots and namespaces.
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_unshare,
    SYS_setns,
    SYS_fsopen,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fspick,
    SYS_move_mount,
    SYS_open_tree,
    SYS_mount_setattr,
    SYS_open_by_handle_at,
    SYS_name_to_handle_at,
    // Keys, modules, the machine, its disks and its clocks.
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_kexec_file_load,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_quotactl,
    SYS_quotactl_fd,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_adjtimex,
    SYS_clock_adjtime,
    SYS_sethostname,
    SYS_setdomainname,
    // Memory and queues shared with other programs of the owner's.
    SYS_shmget,
    SYS_shmat,
    SYS_shmctl,
    SYS_msgget,
    SYS_msgsnd,
    SYS_msgrcv,
    SYS_msgctl,
    SYS_semget,
    SYS_semop,
    SYS_semctl,
    SYS_semtimedop,
    SYS_mq_open,
    SYS_mq_unlink,
    #[cfg(target_arch = "x86_64")]
    SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    SYS_modify_ldt,
    #[cfg(target_arch = "x86_64")]
    SYS_uselib,
];

/// Answered as unknown system calls, so that callers fall back: their arguments lie in memory, which a filter cannot
/// read.
const UNKNOWN: &[i64] = &[SYS_clone3, SYS_openat2];

/// Commands allowed to `fcntl`; every other command is refused, those of later kernels too. Leases (`F_SETLEASE`,
/// `F_SETDELEG`) make each process that opens the file wait, by the minute; `F_NOTIFY`, `F_SETOWN` and `F_SETSIG` have
/// signals sent, to others too.
const DESCRIPTOR_COMMANDS: [i32; 26] = [
    F_DUPFD,
    F_DUPFD_CLOEXEC,
    F_GETFD,
    F_SETFD,
    F_GETFL,
    F_SETFL,
    F_GETLK,
    F_SETLK,
    F_SETLKW,
    F_OFD_GETLK,
    F_OFD_SETLK,
    F_OFD_SETLKW,
    F_GETOWN,
    F_GETLEASE,
    F_SETPIPE_SZ,
    F_GETPIPE_SZ,
    F_ADD_SEALS,
    F_GET_SEALS,
    // As the kernel numbers them in its `fcntl.h`, without names in the library: F_GETSIG, F_GETOWN_EX, F_DUPFD_QUERY,
    // F_CREATED_QUERY, and hints of how long data lives.
    11,
    16,
    1_027,
    1_028,
    1_035,
    1_036,
    1_037,
    1_038,
];
const FIOSETOWN: u64 = 0x8901;
const SIOCSPGRP: u64 = 0x8902;

/// New namespaces, by `clone`.
const NAMESPACES: [i32; 7] =
    [CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET];
/// The bits of a socket's type argument that name the type; the rest are flags.
const KIND: u64 = 0xf;

/// A condition on one argument: its index, comparison, value. Only the lower half of the argument is compared.
type Is = (u8, SeccompCmpOp, u64);

/// System calls refused when all conditions of a row hold; a call may have several rows.
fn sometimes(open_network: bool, unix: bool) -> Vec<(i64, Vec<Is>)> {
    use SeccompCmpOp::{Eq, MaskedEq, Ne};
    // UDP is what names are resolved by.
    let protocols = [0, IPPROTO_TCP as u64].into_iter().chain(open_network.then_some(IPPROTO_UDP as u64));
    let families = [AF_INET as u64, AF_INET6 as u64].into_iter().chain(unix.then_some(AF_UNIX as u64));
    let mut rows: Vec<(i64, Vec<Is>)> = vec![
        // No sockets but TCP over IPv4 and IPv6: MPTCP and SCTP escape rules on ports, UDP has none where those hold.
        (SYS_socket, families.map(|family| (0, Ne, family)).collect()),
        (SYS_socket, protocols.map(|protocol| (2, Ne, protocol)).collect()),
        (SYS_socketpair, vec![(0, Ne, AF_UNIX as u64)]),
        // MSG_FASTOPEN: a first packet that connects without a call to `connect`.
        (SYS_sendto, vec![(3, MaskedEq(MSG_FASTOPEN as u64), MSG_FASTOPEN as u64)]),
        (SYS_sendmsg, vec![(2, MaskedEq(MSG_FASTOPEN as u64), MSG_FASTOPEN as u64)]),
        (SYS_sendmmsg, vec![(3, MaskedEq(MSG_FASTOPEN as u64), MSG_FASTOPEN as u64)]),
        // Input faked into another program's terminal.
        (SYS_ioctl, vec![(1, Eq, TIOCSTI)]),
        (SYS_ioctl, vec![(1, Eq, TIOCLINUX)]),
        // Signals to others, as by `F_SETOWN`.
        (SYS_ioctl, vec![(1, Eq, FIOSETOWN)]),
        (SYS_ioctl, vec![(1, Eq, SIOCSPGRP)]),
        (SYS_fcntl, DESCRIPTOR_COMMANDS.map(|command| (1, Ne, command as u64)).to_vec()),
        // Memory layouts without protections; 0xffffffff only asks.
        (SYS_personality, vec![(0, Ne, 0), (0, Ne, 0xffff_ffff)]),
        // Limits and priorities of other processes: a limit of zero on the guardian would end it.
        (SYS_prlimit64, vec![(0, Ne, 0)]),
        (SYS_setpriority, vec![(0, Ne, 0)]),
        (SYS_setpriority, vec![(1, Ne, 0)]),
        (SYS_ioprio_set, vec![(0, Ne, 1)]),
        (SYS_ioprio_set, vec![(1, Ne, 0)]),
        (SYS_sched_setaffinity, vec![(0, Ne, 0)]),
        (SYS_sched_setscheduler, vec![(0, Ne, 0)]),
        (SYS_sched_setparam, vec![(0, Ne, 0)]),
        (SYS_sched_setattr, vec![(0, Ne, 0)]),
    ];
    for kind in (0..=KIND).filter(|kind| *kind != SOCK_STREAM as u64) {
        if !(open_network && kind == SOCK_DGRAM as u64) {
            rows.push((SYS_socket, vec![(1, MaskedEq(KIND), kind)]));
        }
        // A pair of datagram sockets could be reconnected to anybody's socket.
        if kind != SOCK_SEQPACKET as u64 {
            rows.push((SYS_socketpair, vec![(1, MaskedEq(KIND), kind)]));
        }
    }
    for device in [S_IFCHR, S_IFBLK] {
        rows.push((SYS_mknodat, vec![(2, MaskedEq(u64::from(S_IFMT)), u64::from(device))]));
        #[cfg(target_arch = "x86_64")]
        rows.push((SYS_mknod, vec![(1, MaskedEq(u64::from(S_IFMT)), u64::from(device))]));
    }
    rows.extend([S_ISUID, S_ISGID].into_iter().flat_map(|bit| files_that_run_as_others(u64::from(bit))));
    for namespace in NAMESPACES {
        let flag = namespace as u32 as u64;
        rows.push((SYS_clone, vec![(0, MaskedEq(flag), flag)]));
    }
    rows
}

/// Calls that make a file with this bit, set-user-id or set-group-id.
fn files_that_run_as_others(bit: u64) -> Vec<(i64, Vec<Is>)> {
    use SeccompCmpOp::MaskedEq;
    let with = |argument: u8| (argument, MaskedEq(bit), bit);
    let flag = |argument: u8, flag: i32| (argument, MaskedEq(flag as u64), flag as u64);
    let mut rows = vec![
        (SYS_fchmod, vec![with(1)]),
        (SYS_fchmodat, vec![with(2)]),
        (SYS_fchmodat2, vec![with(2)]),
        (SYS_mknodat, vec![with(2)]),
        (SYS_openat, vec![flag(2, O_CREAT), with(3)]),
        (SYS_openat, vec![flag(2, O_TMPFILE), with(3)]),
    ];
    #[cfg(target_arch = "x86_64")]
    rows.extend([
        (SYS_chmod, vec![with(1)]),
        (SYS_mknod, vec![with(1)]),
        (SYS_creat, vec![with(1)]),
        (SYS_open, vec![flag(1, O_CREAT), with(2)]),
        (SYS_open, vec![flag(1, O_TMPFILE), with(2)]),
    ]);
    rows
}

/// Calls by which a process in the tree could kill the tree's program, so that a kill shows that it came from
/// outside: by its number, its group's, everybody's, and by the calls that name a process otherwise.
fn kills_of_the_program() -> Vec<(i64, Vec<Is>)> {
    use SeccompCmpOp::Eq;
    const KILL: u64 = SIGKILL as u64;
    let dword = |number: i64| u64::from(number as u32);
    let program = PROGRAM as i64;
    let mut rows: Vec<(i64, Vec<Is>)> =
        [program, -program, 0, -1].map(|who| (SYS_kill, vec![(0, Eq, dword(who)), (1, Eq, KILL)])).to_vec();
    rows.extend([
        (SYS_tkill, vec![(1, Eq, KILL)]),
        (SYS_tgkill, vec![(0, Eq, PROGRAM), (2, Eq, KILL)]),
        (SYS_rt_sigqueueinfo, vec![(0, Eq, PROGRAM), (1, Eq, KILL)]),
        (SYS_rt_tgsigqueueinfo, vec![(0, Eq, PROGRAM), (2, Eq, KILL)]),
        (SYS_pidfd_send_signal, vec![(1, Eq, KILL)]),
    ]);
    rows
}

/// Applies the filters; they cannot be removed. Also refused: `listen` where the network is shared and not open,
/// and killing the program where the tree has a namespace of its own.
pub fn filter(spec: &Spec) -> Result<()> {
    let mut refused: BTreeMap<i64, Vec<SeccompRule>> = NEVER.iter().map(|call| (*call, vec![])).collect();
    let own_tree = spec.tree.then(kills_of_the_program).into_iter().flatten();
    for (call, row) in sometimes(spec.open, spec.unix).into_iter().chain(own_tree) {
        let conditions = row.into_iter().map(|(number, operator, value)| {
            SeccompCondition::new(number, SeccompCmpArgLen::Dword, operator, value)
        });
        let rule = SeccompRule::new(conditions.collect::<Result<_, _>>().context("failed to read a row")?);
        refused.entry(call).or_default().push(rule.context("failed to read a row")?);
    }
    if spec.net.is_none() && !spec.open {
        refused.insert(SYS_listen, vec![]);
    }
    let unknown = UNKNOWN.iter().map(|call| (*call, vec![])).collect();
    for (rules, errno) in [(refused, EPERM), (unknown, ENOSYS)] {
        let action = SeccompAction::Errno(errno as u32);
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, action, ARCHITECTURE);
        let program: BpfProgram =
            filter.and_then(TryInto::try_into).context("failed to make a filter of the table")?;
        seccompiler::apply_filter(&program).context("failed to put the filter up")?;
    }
    seccompiler::apply_filter(&no_x32_calls()).context("failed to put the filter up")
}

/// Refuses x86-64's second numbering of the same calls (x32), which the tables above do not cover.
fn no_x32_calls() -> BpfProgram {
    const NUMBERS_BEGIN: u32 = 0x4000_0000;
    let instruction = |code: u32, jf: u8, k: u32| sock_filter { code: code as u16, jt: 0, jf, k };
    vec![
        instruction(BPF_LD | BPF_W | BPF_ABS, 0, 0),
        instruction(BPF_JMP | BPF_JGE | BPF_K, 1, NUMBERS_BEGIN),
        instruction(BPF_RET | BPF_K, 0, SECCOMP_RET_ERRNO | EPERM as u32),
        instruction(BPF_RET | BPF_K, 0, SECCOMP_RET_ALLOW),
    ]
}
