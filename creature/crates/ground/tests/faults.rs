//! What a fault says to do next.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

use ground::fault::{Fault, unwritable};
use std::io::{Error, ErrorKind};

/// Found: "is the disk full?" was asked of whoever was just told that it is.
#[test]
fn a_full_disk_is_no_question() {
    for number in [28, 122] {
        let full = Error::from_raw_os_error(number);
        let fault = Fault::caused("keep dream.json", &full, "is the disk full?");
        assert!(fault.hint.starts_with("the disk is full: ") && fault.hint.contains("target/"), "{fault:?}");
        assert_eq!(unwritable(full.kind(), false), fault.hint);
    }
    let refused =
        Fault::caused("keep dream.json", &Error::from(ErrorKind::PermissionDenied), "is the disk full?");
    assert_eq!(refused.hint, "is the disk full?");
}
