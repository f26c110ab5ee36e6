//! Removes flags, access lists, attributes and unusual modes that would keep files and folders from being used.
//!
//! Attributes of the system and its administrator (`security.*`, `trusted.*`) are not touched.

use std::ffi::{CStr, c_int, c_long};
use std::fs::{File, Permissions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::ptr;

/// Extended attributes that are removed: access lists, and whatever any user may attach.
const ACCESS_LISTS: [&[u8]; 2] = [b"system.posix_acl_access", b"system.posix_acl_default"];
const ATTACHED: &[u8] = b"user.";
/// Set-user-id, set-group-id and sticky bits, and writable by everybody.
const ODD_FOR_A_FILE: u32 = 0o7002;
/// Set-group-id is allowed on folders: some owners share them with a group that way.
const ODD_FOR_A_FOLDER: u32 = 0o5002;
const NEEDED_OF_A_FILE: u32 = 0o600;
const NEEDED_OF_A_FOLDER: u32 = 0o700;
/// Inode flags "immutable" and "append only", on file systems that have them.
const FIXED: c_int = 0x10 | 0x20;

/// Removes from an open file or folder whatever keeps it, or entries made in it, from being changed or removed. As
/// far as permitted: a failure shows when the caller's next step fails.
pub fn free(held: &File) {
    unfix(held);
    strip(held);
}

/// As `free`, and gives the owner its permissions back: without them only root could keep or remove what lies in the
/// folder.
pub fn free_folder(folder: &File) {
    unfix(folder);
    let mode = mode(folder);
    let wanted = (mode | NEEDED_OF_A_FOLDER) & !ODD_FOR_A_FOLDER;
    if wanted != mode {
        let _ = folder.set_permissions(Permissions::from_mode(wanted));
    }
    strip(folder);
}

/// As `free`, and resets a mode that git would not give the file.
pub fn free_file(file: &File, executable: bool) {
    unfix(file);
    let mode = mode(file);
    if mode & ODD_FOR_A_FILE != 0 || mode & NEEDED_OF_A_FILE != NEEDED_OF_A_FILE {
        let _ = file.set_permissions(usual(executable));
    }
    // Only a writable file can lose its attributes.
    strip(file);
}

/// The mode git gives a file.
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
        // SAFETY: the name is zero-terminated, and the descriptor is open.
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

/// Names of the attached attributes that can be removed.
fn attributes(held: &File) -> Vec<std::ffi::CString> {
    let descriptor = held.as_raw_fd();
    // SAFETY: without a buffer the kernel only says how long the list is.
    #[allow(unsafe_code)]
    let length = unsafe { libc::flistxattr(descriptor, ptr::null_mut(), 0) };
    let Ok(length @ 1..) = usize::try_from(length) else { return vec![] };
    let mut list = vec![0_u8; length];
    // SAFETY: the kernel writes at most `length` bytes; if the list has grown since, the call fails.
    #[allow(unsafe_code)]
    let length = unsafe { libc::flistxattr(descriptor, list.as_mut_ptr().cast(), length) };
    list.truncate(usize::try_from(length).unwrap_or(0));
    let names =
        list.split_inclusive(|byte| *byte == 0).filter_map(|name| CStr::from_bytes_with_nul(name).ok());
    let struck =
        |name: &&CStr| name.to_bytes().starts_with(ATTACHED) || ACCESS_LISTS.contains(&name.to_bytes());
    names.filter(struck).map(CStr::to_owned).collect()
}
