//! Follows one process through its steps that change files or processes, and kills it at a chosen one.
//!
//! Only that process is traced, the guardian's steward: what it starts runs freely. Needs leave to trace, and says so where
//! it is refused.
#![allow(unsafe_code, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
// The numbers of requests and calls are of one type with one C library and of another with the next.
#![allow(clippy::disallowed_methods, clippy::unnecessary_cast)]

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use trials::Guardian;

/// Where to kill: at the `time`-th occurrence of a step, or of any where it is empty, before the kernel carries it out or right after.
#[derive(Clone, Debug)]
pub struct Kill {
    pub step: String,
    pub time: usize,
    pub after: bool,
}

impl std::fmt::Display for Kill {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let when = if self.after { "after" } else { "before" };
        write!(formatter, "killed {when} `{}` (occurrence {})", self.step, self.time)
    }
}

/// The steps that were seen, and whether the kill came at the step it was meant for.
#[derive(Debug)]
pub struct Trace {
    pub steps: Vec<String>,
    pub hit: bool,
}

/// A thread that traces: ptrace answers only the thread that attached.
pub struct Tracer(JoinHandle<Trace>);

impl Tracer {
    /// Attaches to a guardian's steward and lets it go on; where there is none yet, to the first child of the guardian's
    /// process. Panics with what to do where tracing is not allowed.
    pub fn attach(guardian: &Guardian, root: &Path, kill: Option<Kill>) -> Self {
        let (ready, attached) = channel();
        let (root, pid, is_there) = (root.to_owned(), guardian.acting(), guardian.steward().is_some());
        let thread = std::thread::spawn(move || follow(pid, is_there, root, kill, &ready));
        if let Err(error) = attached.recv().expect("the tracer thread went away") {
            panic!(
                "ptrace is not allowed here ({error}), so killing the guardian at each step cannot be tried; \
                 allow it: CAP_SYS_PTRACE in a container, kernel.yama.ptrace_scope at most 1"
            );
        }
        Self(thread)
    }

    /// Whether the traced process is gone.
    pub fn is_over(&self) -> bool {
        self.0.is_finished()
    }

    /// Waits until the traced process is gone.
    pub fn join(self) -> Trace {
        self.0.join().expect("the tracer thread died")
    }
}

/// One ptrace request that reads nothing back.
fn ask(request: u32, pid: i32, data: usize) -> std::io::Result<()> {
    // SAFETY: none of the requests made through here hands the kernel a pointer.
    let answer = unsafe { libc::ptrace(request as _, pid, 0_usize, data) };
    if answer == -1 { Err(std::io::Error::last_os_error()) } else { Ok(()) }
}

fn follow(
    mut pid: i32,
    mut is_steward: bool,
    root: PathBuf,
    kill: Option<Kill>,
    ready: &Sender<std::io::Result<()>>,
) -> Trace {
    let mut trace = Trace { steps: vec![], hit: false };
    let forks = libc::PTRACE_O_TRACEFORK | libc::PTRACE_O_TRACEVFORK | libc::PTRACE_O_TRACECLONE;
    let options = libc::PTRACE_O_TRACESYSGOOD | if is_steward { libc::PTRACE_O_EXITKILL } else { forks };
    let seized = ask(libc::PTRACE_SEIZE as u32, pid, options as usize)
        .and_then(|()| ask(libc::PTRACE_INTERRUPT as u32, pid, 0));
    let refused = seized.is_err();
    let _ = ready.send(seized);
    if refused {
        return trace;
    }
    let mut process = Process { pid, root };
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut kill_on_return = false;
    loop {
        let mut status = 0;
        // SAFETY: `status` outlives the call. Only this one process is waited for, never all.
        if unsafe { libc::waitpid(pid, &mut status, libc::__WALL) } == -1 {
            return trace;
        }
        if !libc::WIFSTOPPED(status) {
            return trace;
        }
        let (signal, event) = (libc::WSTOPSIG(status), status >> 16);
        if !is_steward {
            (pid, is_steward) = process.goes_on_to_its_child(event, signal);
            continue;
        }
        let stopping = [libc::SIGSTOP, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU].contains(&signal);
        if signal == libc::SIGTRAP | 0x80 {
            match process.at() {
                At::Entry(Some(step)) => {
                    let time = seen.entry(step.clone()).or_default();
                    *time += 1;
                    let (time, all) = (*time, trace.steps.len() + 1);
                    let due = |kill: &&Kill| {
                        (kill.step == step && kill.time == time) || (kill.step.is_empty() && kill.time == all)
                    };
                    if let Some(kill) = kill.as_ref().filter(due) {
                        trace.hit = true;
                        kill_on_return = kill.after;
                        if !kill.after {
                            process.kill();
                        }
                    }
                    trace.steps.push(step);
                }
                At::Return if kill_on_return => process.kill(),
                At::Entry(None) | At::Return => {}
            }
        }
        // A step's own stop carries no signal; any other stop is a signal that the process is to get.
        let (request, passed) = match (signal == libc::SIGTRAP | 0x80, event) {
            (true, _) => (libc::PTRACE_SYSCALL, 0),
            (false, libc::PTRACE_EVENT_STOP) if stopping => (libc::PTRACE_LISTEN, 0),
            (false, 0) => (libc::PTRACE_SYSCALL, signal),
            (false, _) => (libc::PTRACE_SYSCALL, 0),
        };
        // It may have been killed meanwhile: then the next wait tells.
        let _ = ask(request as u32, pid, passed as usize);
    }
}

enum At {
    Entry(Option<String>),
    Return,
}

struct Process {
    pid: i32,
    root: PathBuf,
}

impl Process {
    /// Has the guardian's first process go on, and at its first fork follows that child, its steward, instead; the process
    /// that is followed, and whether it is the steward.
    fn goes_on_to_its_child(&mut self, event: i32, signal: i32) -> (i32, bool) {
        if ![libc::PTRACE_EVENT_FORK, libc::PTRACE_EVENT_VFORK, libc::PTRACE_EVENT_CLONE].contains(&event) {
            let passed = if event == 0 && signal != libc::SIGTRAP { signal } else { 0 };
            let _ = ask(libc::PTRACE_CONT as u32, self.pid, passed as usize);
            return (self.pid, false);
        }
        let (mut child, mut status): (libc::c_ulong, _) = (0, 0);
        // SAFETY: the kernel writes one number.
        unsafe { libc::ptrace(libc::PTRACE_GETEVENTMSG as _, self.pid, 0_usize, &raw mut child) };
        let _ = ask(libc::PTRACE_DETACH as u32, self.pid, 0);
        self.pid = child as i32;
        // SAFETY: `status` outlives the call.
        unsafe { libc::waitpid(self.pid, &mut status, libc::__WALL) };
        // Its own children run freely.
        let options = libc::PTRACE_O_TRACESYSGOOD | libc::PTRACE_O_EXITKILL;
        let _ = ask(libc::PTRACE_SETOPTIONS as u32, self.pid, options as usize);
        let _ = ask(libc::PTRACE_SYSCALL as u32, self.pid, 0);
        (self.pid, true)
    }

    fn kill(&self) {
        // SAFETY: the process is stopped under our trace, so its number cannot have passed to another.
        unsafe { libc::kill(self.pid, libc::SIGKILL) };
    }

    fn at(&self) -> At {
        // `struct ptrace_syscall_info`, the same on every architecture: kind, two pointers, number, six arguments.
        let mut info = [0_u64; 16];
        let size = size_of_val(&info);
        let request = libc::PTRACE_GET_SYSCALL_INFO;
        // SAFETY: the kernel writes at most `size` bytes to `info`.
        let got = unsafe { libc::ptrace(request as _, self.pid, size, info.as_mut_ptr()) };
        let kind = info[0].to_ne_bytes()[0];
        if got < 80 || kind != 1 {
            return At::Return;
        }
        let mut arguments = [0; 6];
        arguments.copy_from_slice(&info[4..10]);
        At::Entry(self.step(info[3] as i64, arguments))
    }

    /// What a system call is about to change in the house, in words that are the same in every run.
    fn step(&self, number: i64, a: [u64; 6]) -> Option<String> {
        let here = libc::AT_FDCWD as u64;
        let creates = |flags: u64| flags & (libc::O_CREAT | libc::O_TRUNC) as u64 != 0;
        let (name, path) = match number {
            libc::SYS_clone | libc::SYS_clone3 => return Some("fork".into()),
            libc::SYS_kill if a[1] != 0 => return Some(format!("kill -{}", a[1])),
            libc::SYS_write | libc::SYS_pwrite64 | libc::SYS_writev => ("write", self.open_file(a[0])),
            libc::SYS_sendfile => ("copy", self.open_file(a[0])),
            libc::SYS_copy_file_range => ("copy", self.open_file(a[2])),
            libc::SYS_fsync | libc::SYS_fdatasync => ("sync", self.open_file(a[0])),
            libc::SYS_ftruncate => ("truncate", self.open_file(a[0])),
            libc::SYS_fchmod => ("chmod", self.open_file(a[0])),
            libc::SYS_openat if creates(a[2]) => ("create", self.path(a[0], a[1])),
            libc::SYS_fchmodat => ("chmod", self.path(a[0], a[1])),
            libc::SYS_mkdirat => ("mkdir", self.path(a[0], a[1])),
            libc::SYS_unlinkat => ("unlink", self.path(a[0], a[1])),
            libc::SYS_symlinkat => ("symlink", self.path(a[1], a[2])),
            libc::SYS_linkat | libc::SYS_renameat | libc::SYS_renameat2 => ("rename", self.path(a[2], a[3])),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_open if creates(a[1]) => ("create", self.path(here, a[0])),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_creat => ("create", self.path(here, a[0])),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_mkdir => ("mkdir", self.path(here, a[0])),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_chmod => ("chmod", self.path(here, a[0])),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_unlink | libc::SYS_rmdir => ("unlink", self.path(here, a[0])),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_link | libc::SYS_rename => ("rename", self.path(here, a[1])),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_symlink => ("symlink", self.path(here, a[1])),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_fork | libc::SYS_vfork => return Some("fork".into()),
            _ => return None,
        };
        let _ = here;
        let path = path?;
        let inside = path.strip_prefix(&self.root).ok()?;
        Some(format!("{name} {}", without_names_of_the_moment(inside)))
    }

    fn open_file(&self, descriptor: u64) -> Option<PathBuf> {
        std::fs::read_link(format!("/proc/{}/fd/{}", self.pid, descriptor as i32)).ok()
    }

    fn path(&self, folder: u64, address: u64) -> Option<PathBuf> {
        let memory = File::open(format!("/proc/{}/mem", self.pid)).ok()?;
        let mut bytes = Vec::new();
        let mut one = [0_u8; 64];
        while !bytes.contains(&0) {
            let read =
                memory.read_at(&mut one, address + bytes.len() as u64).ok().filter(|read| *read > 0)?;
            bytes.extend_from_slice(&one[..read]);
        }
        let text = bytes.split(|byte| *byte == 0).next().map(String::from_utf8_lossy)?;
        let folder = if folder as i32 == libc::AT_FDCWD {
            std::fs::read_link(format!("/proc/{}/cwd", self.pid)).ok()?
        } else {
            self.open_file(folder)?
        };
        // A name in a folder that is held open.
        let held = text.strip_prefix("/proc/self/fd/").and_then(|rest| rest.split_once('/'));
        match held.and_then(|(number, name)| Some((number.parse().ok()?, name))) {
            Some((number, name)) => Some(self.open_file(number)?.join(name)),
            None => Some(folder.join(text.as_ref())),
        }
    }
}

/// Object names, times and temporary names differ from run to run and say nothing of the step.
fn without_names_of_the_moment(path: &Path) -> String {
    let part = |part: std::borrow::Cow<'_, str>| {
        let hex = part.bytes().take_while(u8::is_ascii_hexdigit).count();
        let time = part.starts_with("20") && part.contains('T') && part.contains('Z');
        match (hex, part.len()) {
            (2, 2) => "xx".to_owned(),
            (38.., _) => format!("x{}", &part[hex..]),
            _ if time => format!("time{}", part.split_once('Z').map_or("", |(_, rest)| rest)),
            _ if part.contains("tmp_object") || part.contains("pack_git2") => "new".to_owned(),
            _ if part.ends_with(".aside") => "new.aside".to_owned(),
            _ if part.starts_with("pack-") => "pack".to_owned(),
            _ => part.into_owned(),
        }
    };
    path.iter().map(|name| part(name.to_string_lossy())).collect::<Vec<_>>().join("/")
}
