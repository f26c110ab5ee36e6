//! How cargo made this program, wherever its target folder is: guardian, broker and console are made alike, beside each other.

use ground::{House, files};
use std::path::{Path, PathBuf};

/// Most bytes that are read of the list of a program's sources.
const SOURCES_BYTES: u64 = 1 << 20;
/// The folder of the hands' workspace, and of their builds within the target folder.
const HANDS: &str = "hands";

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
        let made = Self::laid(program)?;
        // Cargo's list of what a program was made of; a space within a path is written `\ `.
        let sources = files::tail(&program.with_extension("d"), SOURCES_BYTES);
        let source = house.root().join("guardian/src/main.rs").display().to_string().replace(' ', "\\ ");
        let is_ours = made.target == house.root().join("target")
            || sources.split_once(": ").is_some_and(|(_, of)| of.contains(&source));
        is_ours.then_some(made)
    }

    /// How a program was made, by where it lies.
    fn laid(program: &Path) -> Option<Self> {
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
        Some(Made { profile, target: target.to_owned(), triple })
    }

    /// The arguments of cargo for another program of the stable workspace.
    pub fn args(&self, package: &str) -> Vec<String> {
        self.args_at(&self.target, package)
    }

    /// The arguments of cargo, run in the house's root, for a hand: those are a workspace of their own.
    pub fn hand_args(&self, package: &str) -> Vec<String> {
        let mut args = self.args_at(&self.target.join(HANDS), package);
        args.extend(["--manifest-path".to_owned(), format!("{HANDS}/Cargo.toml")]);
        args
    }

    /// The path of a hand's program, whether it is there or not.
    pub fn hand(&self, name: &str) -> PathBuf {
        let profile = if self.profile == "dev" { "debug" } else { &self.profile };
        let folder = self.target.join(HANDS).join(self.triple.as_deref().unwrap_or_default()).join(profile);
        folder.join(format!("feral-{name}"))
    }

    fn args_at(&self, target: &Path, package: &str) -> Vec<String> {
        let target = target.display().to_string();
        let args = ["build", "--package", package, "--profile", &self.profile, "--target-dir", &target];
        let triple = self.triple.iter().flat_map(|triple| ["--target", triple]);
        args.into_iter().chain(triple).map(str::to_owned).collect()
    }
}

/// The path of a program that lies in this one's folder, whether it is there or not.
pub fn beside(name: &str) -> Option<PathBuf> {
    Some(std::env::current_exe().ok()?.with_file_name(name))
}

/// The path of a hand's program made as this one, whether it is there or not.
pub fn hand(name: &str) -> Option<PathBuf> {
    Some(Made::laid(&std::env::current_exe().ok()?)?.hand(name))
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
