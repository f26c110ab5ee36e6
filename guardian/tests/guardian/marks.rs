//! What files and folders may carry beside their mode: access lists, attributes, and flags of the file system.

use std::ffi::CString;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
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
    let file = File::open(path).unwrap();
    let flags = [flags, 0];
    // SAFETY: the kernel reads one `int`.
    #[allow(unsafe_code)]
    let done = unsafe { libc::ioctl(file.as_raw_fd(), libc::FS_IOC_SETFLAGS as _, flags.as_ptr()) };
    done == 0
}
