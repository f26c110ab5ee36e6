//! How cargo made this program, wherever its target folder is: guardian, broker and console are made alike, beside each other.

use ground::{House, files};
use std::path::{Path, PathBuf};

/// Most bytes that are read of the list of a program's sources.
const SOURCES_BYTES: u64 = 1 << 20;

/// How a program of the stable workspace was made: another one made alike lies beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    pub profile: String,
    pub target: PathBuf,
    /// The target triple, where one is configured.
    pub triple: Option<String>,
}

impl Made {
    /// Returns how this process's program was made.
    pub fn me(house: &House) -> Option<Self> {
        Self::of(house, &std::env::current_exe().ok()?)
    }

    /// `None` where the program was not made of this house's source.
    pub fn of(house: &House, program: &Path) -> Option<Self> {
        let folder = program.parent()?;
        let (name, above) = (folder.file_name()?.to_string_lossy().into_owned(), folder.parent()?);
        // Cargo names this one folder differently from its profile.
        let profile = if name == "debug" { "dev".to_owned() } else { name };
        // With a target triple the folder lies one deeper; cargo marks the target folder itself.
        let marked = |folder: &Path| folder.join(".rustc_info.json").is_file();
        let (target, triple) = match above.parent() {
            Some(target) if !marked(above) && marked(target) => {
                (target, Some(above.file_name()?.to_string_lossy().into_owned()))
            }
            _ => (above, None),
        };
        // Cargo's list of what a program was made of; a space within a path is written `\ `.
        let sources = files::tail(&program.with_extension("d"), SOURCES_BYTES);
        let source = house.root().join("guardian/src/main.rs").display().to_string().replace(' ', "\\ ");
        let is_ours = target == house.root().join("target")
            || sources.split_once(": ").is_some_and(|(_, of)| of.contains(&source));
        is_ours.then(|| Made { profile, target: target.to_owned(), triple })
    }

    pub fn args(&self, package: &str) -> Vec<String> {
        let target = self.target.display().to_string();
        let args = ["build", "--package", package, "--profile", &self.profile, "--target-dir", &target];
        let triple = self.triple.iter().flat_map(|triple| ["--target", triple]);
        args.into_iter().chain(triple).map(str::to_owned).collect()
    }
}

/// The path of a program that lies in this one's folder, whether it is there or not.
pub fn beside(name: &str) -> Option<PathBuf> {
    Some(std::env::current_exe().ok()?.with_file_name(name))
}

pub fn cargo() -> PathBuf {
    std::env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from)
}

/// The arguments of every cargo call on the creature. Run from the house's root, so that cargo settings in `creature/`
/// have no effect.
pub fn cargo_args(verb: &str) -> Vec<String> {
    [verb, "--manifest-path", "creature/Cargo.toml", "--target-dir", "target/creature"]
        .map(str::to_owned)
        .to_vec()
}
