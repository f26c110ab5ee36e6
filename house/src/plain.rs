//! Files and folders made plain: no flags, access lists, attributes or odd modes that would keep them from being used.
//!
//! What the system and its administrator add (`security.*`, `trusted.*`) is not touched.

use std::ffi::{CStr, c_int, c_long};
use std::fs::{File, Permissions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::ptr;

/// Who may do what by lists of names, and whatever else anybody may attach.
const ACCESS_LISTS: [&[u8]; 2] = [b"system.posix_acl_access", b"system.posix_acl_default"];
const ATTACHED: &[u8] = b"user.";
/// Set-user-id, set-group-id and sticky; and that everybody may write.
const ODD_FOR_A_FILE: u32 = 0o7002;
/// A folder may hand its group on: some owners share their folders so.
const ODD_FOR_A_FOLDER: u32 = 0o5002;
const NEEDED_OF_A_FILE: u32 = 0o600;
const NEEDED_OF_A_FOLDER: u32 = 0o700;
/// Not to be changed, or only at its end: inode flags, of file systems that have them.
const FIXED: c_int = 0x10 | 0x20;

/// Takes off an open file or folder whatever would keep it, or what is made in it, from being changed or removed.
/// As far as we have the right; whoever then finds that it was not far enough says so.
pub fn free(held: &File) {
    unfix(held);
    strip(held);
}

/// The same of a folder, and its mode: what its maker may not enter, nobody but root could keep or remove.
pub fn free_folder(folder: &File) {
    unfix(folder);
    let mode = mode(folder);
    let wanted = (mode | NEEDED_OF_A_FOLDER) & !ODD_FOR_A_FOLDER;
    if wanted != mode {
        let _ = folder.set_permissions(Permissions::from_mode(wanted));
    }
    strip(folder);
}

/// The same of a file, and its mode where that is one git would not give it.
pub fn free_file(file: &File, executable: bool) {
    unfix(file);
    let mode = mode(file);
    if mode & ODD_FOR_A_FILE != 0 || mode & NEEDED_OF_A_FILE != NEEDED_OF_A_FILE {
        let _ = file.set_permissions(usual(executable));
    }
    // Only what may be written may be rid of them.
    strip(file);
}

/// As git would have it.
pub fn usual(executable: bool) -> Permissions {
    Permissions::from_mode(if executable { 0o755 } else { 0o644 })
}

fn mode(held: &File) -> u32 {
    held.metadata().map_or(0, |meta| meta.permissions().mode() & 0o7777)
}

fn unfix(held: &File) {
    if let Some(flags) = flags(held).filter(|flags| flags & FIXED != 0) {
        set_flags(held, flags & !FIXED);
    }
}

fn strip(held: &File) {
    for name in attributes(held) {
        // SAFETY: the name ends with a zero, and the descriptor is open.
        #[allow(unsafe_code)]
        unsafe {
            libc::fremovexattr(held.as_raw_fd(), name.as_ptr())
        };
    }
}

fn flags(held: &File) -> Option<c_int> {
    // The kernel writes an `int`, whatever the request's name says.
    let mut flags: [c_int; size_of::<c_long>() / size_of::<c_int>()] = Default::default();
    // SAFETY: the kernel writes no more than the array holds.
    #[allow(unsafe_code)]
    let done = unsafe { libc::ioctl(held.as_raw_fd(), libc::FS_IOC_GETFLAGS as _, flags.as_mut_ptr()) };
    flags.first().copied().filter(|_| done == 0)
}

fn set_flags(held: &File, flags: c_int) {
    let flags: [c_int; 2] = [flags, 0];
    // SAFETY: the kernel reads one `int`.
    #[allow(unsafe_code)]
    unsafe {
        libc::ioctl(held.as_raw_fd(), libc::FS_IOC_SETFLAGS as _, flags.as_ptr())
    };
}

/// Names of what is attached and can be taken off.
fn attributes(held: &File) -> Vec<std::ffi::CString> {
    let descriptor = held.as_raw_fd();
    // SAFETY: without a buffer the kernel only says how long the list is.
    #[allow(unsafe_code)]
    let length = unsafe { libc::flistxattr(descriptor, ptr::null_mut(), 0) };
    let Ok(length @ 1..) = usize::try_from(length) else { return vec![] };
    let mut list = vec![0_u8; length];
    // SAFETY: the kernel writes at most `length` bytes; what came since makes it fail.
    #[allow(unsafe_code)]
    let length = unsafe { libc::flistxattr(descriptor, list.as_mut_ptr().cast(), length) };
    list.truncate(usize::try_from(length).unwrap_or(0));
    let names =
        list.split_inclusive(|byte| *byte == 0).filter_map(|name| CStr::from_bytes_with_nul(name).ok());
    let struck =
        |name: &&CStr| name.to_bytes().starts_with(ATTACHED) || ACCESS_LISTS.contains(&name.to_bytes());
    names.filter(struck).map(CStr::to_owned).collect()
}
