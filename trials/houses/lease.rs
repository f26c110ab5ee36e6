//! Leases on files: a program that opens such a file waits in the kernel until it is given back.

use nix::sys::signal::{SigHandler, Signal, signal};
use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A lease on a file: who opens it to write waits until it is given back, or for 45 s.
pub struct Lease(File);

impl Lease {
    pub fn of(path: &Path) -> Self {
        Self::new(File::open(path).unwrap(), libc::F_RDLCK)
    }

    /// Who opens it to read waits as well.
    pub fn write(path: &Path) -> Self {
        Self::new(OpenOptions::new().read(true).write(true).open(path).unwrap(), libc::F_WRLCK)
    }

    fn new(file: File, kind: i32) -> Self {
        // The holder is told by this signal, which ends a process that does not expect it.
        // SAFETY: the signal is ignored; no handler runs.
        #[allow(unsafe_code)]
        unsafe {
            signal(Signal::SIGIO, SigHandler::SigIgn).unwrap();
        }
        // SAFETY: a plain system call on a descriptor that is open.
        #[allow(unsafe_code)]
        let done = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, kind) };
        assert_eq!(done, 0, "{}", std::io::Error::last_os_error());
        Self(file)
    }

    /// Whether somebody asked for it to be given back, and the kernel has not yet taken it away for taking too long.
    pub fn is_waited_for(&self) -> bool {
        let number = format!(":{} ", self.0.metadata().unwrap().ino());
        let locks = std::fs::read_to_string("/proc/locks").unwrap();
        locks.lines().any(|line| line.contains("BREAKING") && line.contains(&number))
    }
}
