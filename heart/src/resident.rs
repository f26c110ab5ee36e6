//! Keeps in memory what the heart runs after its start, so that no disk is waited for there; the rest is given back.

use crate::course::{Course, Gone, Heard};
use crate::held::{Look, Sleep};
use crate::wire::Said;
use ground::{files, hunt};
use nix::fcntl::OFlag;
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::unistd::{ForkResult, Pid, fork, getppid, pipe2, read, write};
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::time::Duration;

/// Gives back the pages that the start alone ran: what runs again brings its own back.
pub fn give_back() {
    let smaps = files::system("/proc/self/smaps").unwrap_or_default();
    let mut mapped = None;
    for line in smaps.lines() {
        let mut words = line.split_ascii_whitespace();
        match (words.next(), words.next()) {
            (Some(place), Some("r-xp" | "r--p")) if line.contains(" /") => mapped = range(place),
            // Pages that the linker wrote into before they could not be written any more are the process's own.
            (Some("Anonymous:"), Some(own)) => {
                let Some(unwritten) = mapped.take().filter(|_| own == "0") else { continue };
                // SAFETY: mapped from a file and never written, so each page comes back as it is.
                #[allow(unsafe_code)]
                unsafe {
                    libc::madvise(unwritten.start as *mut _, unwritten.len(), libc::MADV_DONTNEED);
                }
            }
            _ => {}
        }
    }
}

/// Runs what must never wait: the decisions about a keeper that hangs and is gone, and the end of a process.
pub fn rehearse() {
    let look = Look { sleep: Sleep::Asleep, taken_ms: 0, place: String::new() };
    let gone = Heard::Gone(Gone::Killed(String::new()));
    let mut course = Course::new(0);
    for heard in [Heard::Tick, Heard::Said(Said::Ready), Heard::Looked(look), gone, Heard::Swept] {
        course.step(0, heard);
    }
    // Whoever started this program may have children in it already.
    let others = hunt::all_of(Pid::this());
    let Ok((is_ready, ready)) = pipe2(OFlag::O_CLOEXEC) else { return };
    let heart = Pid::this();
    // SAFETY: this process has one thread, so the copy may go on with the same code; it runs no destructor at its end.
    #[allow(unsafe_code)]
    if let Ok(ForkResult::Child) = unsafe { fork() } {
        // It holds the house's lock too, and is stopped before it is killed: from before that on it ends with the heart.
        let _ = prctl::set_pdeathsig(Signal::SIGKILL);
        if getppid() == heart && write(&ready, &[1]).is_ok() {
            std::thread::sleep(Duration::from_secs(1));
        }
        // SAFETY: ends this process.
        unsafe { libc::_exit(0) }
    }
    drop(ready);
    let _ = read(&is_ready, &mut [0]);
    hunt::sweep(&others, &mut Vec::new());
}

/// The kernel's table of this process's pages; opened before other processes may no longer inspect this one.
pub struct Pages(File);

impl Pages {
    pub fn open() -> Option<Self> {
        // The kernel's own, behind no link of anybody's.
        #[allow(clippy::disallowed_methods)]
        File::open("/proc/self/pagemap").ok().map(Self)
    }

    /// Keeps every page that is mapped now. Where the limit on locked memory is lower (`ulimit -l`), it goes on without.
    pub fn keep(&self) {
        // SAFETY: asks for a number.
        #[allow(unsafe_code)]
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let is_mapped = |at: &usize| {
            let mut entry = [0_u8; 8];
            let read = self.0.read_exact_at(&mut entry, (at / page * 8) as u64);
            // The highest bit: it is present (proc_pid_pagemap(5)).
            read.is_ok() && u64::from_ne_bytes(entry) >> 63 == 1
        };
        let maps = files::system("/proc/self/maps").unwrap_or_default();
        let mapped = maps.lines().filter_map(|line| range(line.split(' ').next()?));
        mapped.flat_map(|place| place.step_by(page)).filter(is_mapped).all(|at| {
            // SAFETY: a page of this process's own.
            #[allow(unsafe_code)]
            unsafe {
                libc::mlock(at as *const _, page) == 0
            }
        });
    }
}

/// Reads a range of addresses as `/proc` writes it.
fn range(place: &str) -> Option<Range<usize>> {
    let (from, to) = place.split_once('-')?;
    Some(usize::from_str_radix(from, 16).ok()?..usize::from_str_radix(to, 16).ok()?)
}
