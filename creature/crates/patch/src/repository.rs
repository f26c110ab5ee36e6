//! The house's git repository, opened without the owner's own settings of git.

use git2::{ConfigLevel, Repository};
use ground::paths::House;
use std::sync::Once;

/// Opens it. The owner's own settings of git may not be readable from within the walls, and unreadable ones would be an
/// error; nothing that is read here depends on them.
pub fn open(house: &House) -> Result<Repository, git2::Error> {
    static ALONE: Once = Once::new();
    ALONE.call_once(|| {
        for level in [ConfigLevel::System, ConfigLevel::XDG, ConfigLevel::Global] {
            // Sound: the runtime has one thread, which makes all calls of git2, and this is the first of them.
            let _ = unsafe { git2::opts::set_search_path(level, "") };
        }
    });
    Repository::open(house.root())
}
