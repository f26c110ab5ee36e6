//! Commands as the owner types them: by cargo, by the launcher `feral`, or in the window, so that hints can be copied.

use crate::printable;

/// Set for commands that run within the window.
pub const IN_WINDOW: &str = "FERAL_IN_WINDOW";
/// Set by the launcher `feral`: how it was called.
const CALLED: &str = "FERAL_CALLED";
/// Longest such name.
const CALLED_CHARS: usize = 200;
/// Command that starts the guardian.
pub const STARTS: &str = "cargo run -p guardian";

/// A command as the owner types it: in the window, by the launcher, or by cargo.
pub fn typed(command: &str) -> String {
    if std::env::var_os(IN_WINDOW).is_some() {
        return format!("/{command}");
    }
    let is_name = |name: &String| {
        !name.is_empty()
            && name.len() <= CALLED_CHARS
            && !name.contains(char::is_whitespace)
            && printable::exactly(name) == *name
    };
    match std::env::var(CALLED).ok().filter(is_name) {
        Some(name) => format!("{name} {command}"),
        None => format!("{STARTS} -- {command}"),
    }
}

/// The commands that another process named, as they are typed where this one was called.
pub fn hinted(told: &str) -> String {
    told.replace(&format!("{STARTS} -- "), &typed(""))
}
