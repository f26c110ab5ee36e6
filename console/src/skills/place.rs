//! Where skills lie: the owner's `skills/`, the creature's `self/skills/`, or a path that is named. Looks, follows no link.

use anyhow::{Result, bail};
use house::House;
use house::terminal::typed;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Entries of one folder that are looked at.
const MOST: usize = 2_000;
const OWNERS: &str = "skills";
const OWN: &str = "self/skills";

/// Author of a skill.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Of {
    Owner,
    /// The creature's own.
    Own,
    /// A folder elsewhere, which the creature does not see.
    Elsewhere,
}

impl Of {
    pub fn word(self) -> &'static str {
        match self {
            Of::Owner => "owner",
            Of::Own => "own",
            Of::Elsewhere => "elsewhere",
        }
    }
}

/// Entry that is a skill, or stands where one should.
#[derive(Clone, Debug)]
pub struct Place {
    pub of: Of,
    /// Path from the house's root, or as it was named.
    pub shown: String,
    pub name: String,
    pub at: PathBuf,
    /// The owner has a skill of this name.
    pub is_hidden: bool,
}

/// Every entry of both folders that is or could be a skill, each folder's by name.
pub fn all(house: &House) -> Vec<Place> {
    let owners = below(house, OWNERS, Of::Owner);
    let names: BTreeSet<&str> = owners.iter().map(|place| place.name.as_str()).collect();
    let mut own = below(house, OWN, Of::Own);
    own.iter_mut().for_each(|place| place.is_hidden = names.contains(place.name.as_str()));
    drop(names);
    owners.into_iter().chain(own).collect()
}

/// The skill of this name, the owner's first, or the one at this path.
pub fn named(house: &House, named: &str) -> Result<Place> {
    let known = all(house);
    if let Some(place) =
        known.iter().find(|place| place.name == named || place.shown == named.trim_end_matches('/'))
    {
        return Ok(place.clone());
    }
    let path = Path::new(named);
    let is_file = path.file_name().is_some_and(|name| name.eq_ignore_ascii_case("SKILL.md"));
    let folder = if is_file { path.parent().unwrap_or(path) } else { path };
    // By its real path a folder has a name, also as `.`.
    let Some(at) = folder.canonicalize().ok().filter(|at| at.is_dir()) else {
        bail!(
            "there is no skill {named}, in skills/, in self/skills/ or as a folder; {} names all",
            typed("skills")
        );
    };
    let name = at.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Place { of: Of::Elsewhere, shown: named.to_owned(), name, at, is_hidden: false })
}

fn below(house: &House, folder: &str, of: Of) -> Vec<Place> {
    let place = house.root().join(folder);
    if place.is_symlink() {
        return Vec::new();
    }
    let entries = std::fs::read_dir(&place).into_iter().flatten().flatten().take(MOST);
    let skill = |entry: std::fs::DirEntry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        let shown = format!("{folder}/{name}");
        (!is_file && !name.starts_with('.')).then(|| Place {
            of,
            shown,
            name,
            at: entry.path(),
            is_hidden: false,
        })
    };
    let mut found: Vec<Place> = entries.filter_map(skill).collect();
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found
}
