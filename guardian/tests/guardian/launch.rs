//! The launcher of walls by itself: it ends as its program did, in whatever order the processes get to run.

use house::settings::Settings;
use nix::errno::Errno;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use processes::child;
use processes::child::{Bond, Occupant, Start, Tree};
use processes::granted::Granted;
use processes::prepare;
use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use trials::{House, SOUND};
use walls::Walls;
use walls::spec::Spec;

/// Starts a tree of its own, its launcher stopped wherever it forks until what it forked has ended.
fn launch_slowly(program: &[&str]) -> WaitStatus {
    let spec = serde_json::to_string(&Spec { tree: true, root: "/".into(), ..Spec::default() }).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_guardian"));
    command.args(["wall", &spec, "--"]).args(program);
    // SAFETY: one system call between fork and exec.
    #[allow(unsafe_code)]
    unsafe {
        command.pre_exec(|| Ok(ptrace::traceme()?));
    }
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let launcher = Pid::from_raw(command.spawn().unwrap().id() as i32);
    let _ended = Ended(launcher);
    assert!(matches!(waitpid(launcher, None).unwrap(), WaitStatus::Stopped(..)), "at its first step");
    ptrace::setoptions(launcher, Options::PTRACE_O_TRACEFORK | Options::PTRACE_O_EXITKILL).unwrap();
    ptrace::cont(launcher, None).unwrap();
    let forked = waitpid(launcher, None).unwrap();
    assert!(matches!(forked, WaitStatus::PtraceEvent(..)), "{forked:?}");
    let init = Pid::from_raw(ptrace::getevent(launcher).unwrap() as i32);
    waitpid(init, Some(WaitPidFlag::__WALL)).unwrap();
    ptrace::detach(init, None).unwrap();
    until("the init to end", || has_ended(init));
    ptrace::detach(launcher, None).unwrap();
    let mut status = WaitStatus::StillAlive;
    until("the launcher to end", || {
        status = match waitpid(launcher, Some(WaitPidFlag::WNOHANG)) {
            Err(Errno::EINTR) => WaitStatus::StillAlive,
            other => other.unwrap(),
        };
        status != WaitStatus::StillAlive
    });
    status
}

/// Gone, or still to be reaped by whoever it fell to.
fn has_ended(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with('Z'))
}

/// If the test fails before it is.
struct Ended(Pid);

impl Drop for Ended {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _ = kill(self.0, Signal::SIGKILL);
        }
    }
}

fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let found = trials::looked_for(|| condition().then_some(()));
    assert!(found.is_some(), "waited in vain: {what}");
}

/// Found: on a busy machine the init could end before the launcher listened, which then waited for ever: no start, no
/// `doctor` came to an end.
#[test]
fn a_tree_that_ends_before_its_launcher_listens_is_no_wait_for_ever() {
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let ended = |status| match status {
        WaitStatus::Exited(_, code) => code,
        WaitStatus::Signaled(_, signal, _) => -(signal as i32),
        other => panic!("{other:?}"),
    };
    assert_eq!(ended(launch_slowly(&["/bin/true"])), 0);
    assert_eq!(ended(launch_slowly(&["/bin/sh", "-c", "exit 7"])), 7);
    assert_eq!(ended(launch_slowly(&["/bin/sh", "-c", "kill -9 $$"])), -9);
}

fn start(house: &house::House, walls: &Walls, program: &str, args: &[&str]) -> Tree {
    let null = || File::options().write(true).open("/dev/null").unwrap();
    std::fs::create_dir_all(house.creature_lock().parent().unwrap()).unwrap();
    let bond = Bond::new(house, File::create(house.creature_lock()).unwrap()).unwrap();
    let start = Start {
        occupant: Occupant::Life,
        program: program.into(),
        args: args.iter().map(|arg| arg.to_string()).collect(),
        extra: vec![],
        walls,
        granted: Granted::default(),
        broker: None,
        stdout: null(),
        stderr: null(),
    };
    // What ties it to its guardian: this test ends after it.
    let bond = Box::leak(Box::new(bond));
    child::start(house, bond, start).unwrap()
}

/// The first process of a namespace loses every signal that it neither handles nor holds back.
#[test]
fn a_tree_that_is_asked_to_end_before_its_program_runs_ends() {
    let beside = House::new(SOUND);
    let house = house::House::new(&beside.root);
    let guardian = env!("CARGO_BIN_EXE_guardian").into();
    let walls = prepare::find_walls(&house, &Settings::default().asked(), guardian, false).unwrap();
    for _ in 0..20 {
        let tree = start(&house, &walls, "sleep", &["1000"]);
        tree.terminate();
        until("its tree to end", || has_ended(tree.pid));
    }
}

/// A life that writes to a file nobody reads would pass for one that thinks nothing.
#[test]
fn memory_moved_aside_during_a_launch_is_seen() {
    let beside = House::new(SOUND);
    let launcher = beside.folder.path().join("launcher");
    let (guardian, memory) = (env!("CARGO_BIN_EXE_guardian"), ".self/memory.jsonl");
    let script = format!(
        "#!/bin/sh\n[ -e {memory} ] && [ -e moving ] && mv {memory} .self/moved.jsonl\nexec {guardian} \"$@\"\n"
    );
    std::fs::write(&launcher, script).unwrap();
    std::fs::set_permissions(&launcher, PermissionsExt::from_mode(0o755)).unwrap();
    let house = house::House::new(&beside.root);
    let walls = prepare::find_walls(&house, &Settings::default().asked(), launcher, false).unwrap();
    beside.write("moving", "");
    let tree = start(&house, &walls, "true", &[]);
    until("the launcher to have moved it", || beside.path(".self/moved.jsonl").exists());
    assert_ne!(tree.given, prepare::lying(&house));
    until("its tree to end", || has_ended(tree.pid));
}
