//! The house that a folder lies in; a folder made to look like one within another's creature is none.

use crate::House;
use crate::refused::refuse;
use anyhow::Result;
use std::path::Path;

/// Folders of a house in which its creature writes, a house of its own making too.
const CREATURES: [&str; 4] = ["creature", "self", ".self", "target/creature"];

/// The house that contains a folder: the outermost, where one seems to lie in a folder of another's creature.
pub fn find_house(from: &Path) -> Result<House> {
    let is_house = |folder: &Path| {
        folder.join(".git").exists()
            && (folder.join("creature").exists() || folder.join("PURPOSE.md").exists())
    };
    let is_planted =
        |folder: &Path| folder.ancestors().skip(1).any(|above| is_house(above) && writes(above, folder));
    let repositories = from.ancestors().filter(|folder| folder.join(".git").exists());
    let mut repositories = repositories.filter(|folder| !is_planted(folder));
    match repositories.next() {
        Some(folder) if is_house(folder) => Ok(House::new(folder)),
        Some(folder) => {
            refuse(format!("{} is a git repository but no house: it has no creature/", folder.display()))
        }
        None => refuse(format!(
            "{} is not in a git repository, and the guardian lives in a clone of its own: git clone …, then start it in there",
            from.display()
        )),
    }
}

/// Whether a folder lies where the creature of the house at `root` writes.
pub fn writes(root: &Path, folder: &Path) -> bool {
    folder.strip_prefix(root).is_ok_and(|below| CREATURES.iter().any(|name| below.starts_with(name)))
}
