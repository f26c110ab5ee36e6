//! What files and folders may carry beside their mode: access lists, attributes, and flags of the file system.

use std::ffi::CString;
use std::fs::{File, Metadata};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Not to be changed, and only to be added to.
pub const IMMUTABLE: i32 = 0x10;
pub const APPEND_ONLY: i32 = 0x20;

/// An access list by which nobody may do anything with what is made in this folder.
pub fn deny_all_by_default(folder: &Path) {
    set_attribute(folder, "system.posix_acl_default", &access_list([0, 0, 0])).unwrap();
}

/// For owner, group and others.
pub fn access_list(rights: [u8; 3]) -> Vec<u8> {
    let mut list = vec![2, 0, 0, 0];
    for (tag, rights) in [1_u8, 4, 32].into_iter().zip(rights) {
        list.extend([tag, 0, rights, 0, 0xff, 0xff, 0xff, 0xff]);
    }
    list
}

/// Sets an extended attribute; no link is followed.
pub fn set_attribute(path: &Path, name: &str, value: &[u8]) -> std::io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes()).unwrap();
    let name = CString::new(name).unwrap();
    // SAFETY: all three outlive the call, and the length is the value's.
    #[allow(unsafe_code)]
    let done =
        unsafe { libc::lsetxattr(path.as_ptr(), name.as_ptr(), value.as_ptr().cast(), value.len(), 0) };
    if done == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// A folder that nothing can be made in, until this is dropped.
pub struct Fixed<'a>(&'a Path);

impl<'a> Fixed<'a> {
    /// None where the file system knows no such flags, or this user may not set them.
    pub fn new(path: &'a Path) -> Option<Self> {
        set_flags(path, IMMUTABLE).then(|| Self(path))
    }
}

impl Drop for Fixed<'_> {
    fn drop(&mut self) {
        set_flags(self.0, 0);
    }
}

/// Sets the flags of a file or folder, if that can be done.
pub fn set_flags(path: &Path, flags: i32) -> bool {
    let Ok(file) = File::open(path) else { return false };
    let flags = [flags, 0];
    // SAFETY: the kernel reads one `int`.
    #[allow(unsafe_code)]
    let done = unsafe { libc::ioctl(file.as_raw_fd(), libc::FS_IOC_SETFLAGS as _, flags.as_ptr()) };
    done == 0
}

/// What is attached to a file or folder, but for what the system attaches.
pub fn of(path: &Path, meta: &Metadata) -> Vec<String> {
    let mut list = [0_u8; 65_536];
    let named = CString::new(path.as_os_str().as_bytes()).unwrap();
    // SAFETY: the kernel writes at most as many bytes as there are.
    #[allow(unsafe_code)]
    let length = unsafe { libc::llistxattr(named.as_ptr(), list.as_mut_ptr().cast(), list.len()) };
    let names = list[..usize::try_from(length).unwrap_or(0)].split(|byte| *byte == 0);
    let names = names.map(|name| String::from_utf8_lossy(name).into_owned());
    let mut found: Vec<String> =
        names.filter(|name| name.starts_with("user.") || name.starts_with("system.posix_acl")).collect();
    if meta.is_file() || meta.is_dir() {
        let mut flags = [0_i32; 2];
        let file =
            File::open(path).unwrap_or_else(|error| panic!("{path:?}, mode {:o}: {error}", meta.mode()));
        // SAFETY: the kernel writes one `int`.
        #[allow(unsafe_code)]
        let done = unsafe { libc::ioctl(file.as_raw_fd(), libc::FS_IOC_GETFLAGS as _, flags.as_mut_ptr()) };
        if done == 0 && flags[0] & (IMMUTABLE | APPEND_ONLY) != 0 {
            found.push(format!("flags {:x}", flags[0]));
        }
    }
    found
}
