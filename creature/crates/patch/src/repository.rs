//! The house's git repository, opened without the owner's own settings of git.

use git2::{ConfigLevel, ObjectType, Repository, TreeWalkMode, TreeWalkResult};
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

/// Whether the source that was committed last has a function of this name; none where git cannot say.
pub fn has_function(house: &House, name: &str) -> Option<bool> {
    let repo = open(house).ok()?;
    let tree = repo.head().and_then(|head| head.peel_to_tree()).ok()?;
    let source = tree.get_name("creature")?.to_object(&repo).and_then(|found| found.peel_to_tree()).ok()?;
    let (mut found, called) = (false, format!("fn {name}("));
    let _ = source.walk(TreeWalkMode::PreOrder, |_, entry| {
        let is_rust =
            entry.kind() == Some(ObjectType::Blob) && entry.name().is_ok_and(|name| name.ends_with(".rs"));
        if let (true, Ok(blob)) = (is_rust, repo.find_blob(entry.id())) {
            found |= String::from_utf8_lossy(blob.content()).contains(&called);
        }
        if found { TreeWalkResult::Abort } else { TreeWalkResult::Ok }
    });
    Some(found)
}
