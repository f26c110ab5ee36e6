//! The folders of programs behind the walls: the owner's `PATH`, with what version managers run in place of their shims.
//!
//! A shim is a script that looks for the real program by its manager, in a home that is hidden there: pyenv, rbenv and nodenv
//! keep `versions/NAME/bin` beside `shims/` and the chosen name in `version`; asdf and mise keep `installs/TOOL/NAME/bin`
//! (github.com/pyenv/pyenv, "Understanding shims"; asdf-vm.com, "Directory structure"; mise.jdx.dev, "Directory structure").

use ground::files;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Programs whose links may lead to where they are installed: uv puts such into `~/.local/bin`.
const LINKED: [&str; 4] = ["python3", "python", "node", "npm"];
/// Beginnings of names of library folders that an interpreter reads.
const INTERPRETED: [&str; 4] = ["python", "node_modules", "ruby", "perl"];
/// The longest file that names a version, in bytes.
const MOST_NAMED: u64 = 4_096;

/// Returns `PATH` as it is passed on.
pub fn path() -> OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).flat_map(|folder| meant(&folder)).collect();
    std::env::join_paths(folders).unwrap_or(path)
}

/// Returns the folders of `PATH`, and the libraries of interpreters there: they are read beside their `bin`.
pub fn folders(home: &Path) -> Vec<PathBuf> {
    let path = path();
    let named: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let linked = LINKED
        .iter()
        .filter_map(|name| named.iter().map(|folder| folder.join(name)).find(|file| file.exists()));
    let linked = linked.filter_map(|file| Some(file.canonicalize().ok()?.parent()?.to_path_buf()));
    let bins: Vec<PathBuf> = named.iter().cloned().chain(linked).collect();
    let around: Vec<PathBuf> = bins.iter().flat_map(|bin| libraries(bin, home)).collect();
    bins.into_iter().chain(around).collect()
}

/// Returns the folders meant by a folder of `PATH`: for shims, the `bin` folders of the chosen versions.
fn meant(folder: &Path) -> Vec<PathBuf> {
    let Some(root) = folder.parent().filter(|_| folder.file_name().is_some_and(|name| name == "shims"))
    else {
        return vec![folder.to_path_buf()];
    };
    let mut bins = chosen(root);
    for tool in below(&root.join("installs")) {
        bins.extend(newest(&tool));
    }
    // One that is laid out otherwise stays as it is.
    if bins.is_empty() { vec![folder.to_path_buf()] } else { bins }
}

/// The versions that the file `version` names, else the newest.
fn chosen(root: &Path) -> Vec<PathBuf> {
    let versions = root.join("versions");
    let named = files::read_most(&root.join("version"), MOST_NAMED).ok().flatten().unwrap_or_default();
    let named = String::from_utf8_lossy(&named).into_owned();
    let bins = named.split_whitespace().filter(|name| !name.contains('/') && *name != "..");
    let bins: Vec<PathBuf> =
        bins.map(|name| versions.join(name).join("bin")).filter(|bin| bin.is_dir()).collect();
    if bins.is_empty() { newest(&versions).into_iter().collect() } else { bins }
}

/// The `bin` of the newest version in a folder of versions.
fn newest(versions: &Path) -> Option<PathBuf> {
    let number = |folder: &PathBuf| -> Vec<u64> {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.split(|letter: char| !letter.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
    };
    below(versions)
        .into_iter()
        .filter(|folder| folder.join("bin").is_dir())
        .max_by_key(number)
        .map(|found| found.join("bin"))
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}

/// Libraries of the interpreter of a `bin`, and what says where a virtual environment stems from; none of the owner's own
/// `~/.local`, which holds more than programs.
fn libraries(bin: &Path, home: &Path) -> Vec<PathBuf> {
    let Ok(bin) = bin.canonicalize() else { return Vec::new() };
    let Some(around) = bin.parent().filter(|_| bin.file_name().is_some_and(|name| name == "bin")) else {
        return Vec::new();
    };
    let known = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        INTERPRETED.iter().any(|begins| name.starts_with(begins))
    };
    let is_own = around == home || around == home.join(".local");
    if is_own || !below(&around.join("lib")).iter().any(known) {
        return Vec::new();
    }
    let parts = ["lib", "lib64", "include", "pyvenv.cfg"].map(|name| around.join(name));
    parts.into_iter().filter(|path| path.exists()).collect()
}
