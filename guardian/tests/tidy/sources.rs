//! The text of the house as the tidy test sees it: its files, their functions, dependencies and written-down paths.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm
)]

use std::fs;
use std::path::{Component, Path, PathBuf};

/// A text file of the house.
pub struct Source {
    /// From the root, with `/` between.
    pub path: String,
    pub text: String,
}

impl Source {
    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Part of what runs, not of what tries it.
    pub fn is_production(&self) -> bool {
        self.is_rust() && (self.path.contains("/src/") || self.path.ends_with("/build.rs"))
    }

    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }
}

/// Whether the creature has rewritten itself here: then its folders are its own affair, and only the stable workspace's are held.
pub fn is_lived_in() -> bool {
    let args = ["log", "--format=%h", "--grep=^self: ", "-n", "1", "--", "creature"];
    let log = std::process::Command::new("git").args(args).current_dir(root()).output();
    log.is_ok_and(|log| log.status.success() && !log.stdout.is_empty())
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Every text file but state, build output and the papers the creature writes while it runs.
pub fn sources() -> Vec<Source> {
    let (root, mut found) = (root(), Vec::new());
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            let path_here =
                path.strip_prefix(&root).unwrap().to_str().expect("a file name is not UTF-8").to_owned();
            let name = entry.file_name().into_string().unwrap();
            let skipped = matches!(name.as_str(), ".git" | ".env" | "owner.toml")
                || matches!(
                    path_here.as_str(),
                    ".self" | "self" | "target" | "creature/target" | "hands/target"
                );
            if kind.is_dir() && !skipped {
                folders.push(path);
            } else if kind.is_file()
                && !skipped
                && let Ok(text) = fs::read_to_string(&path)
            {
                found.push(Source { path: path_here, text });
            }
        }
    }
    assert!(found.len() > 50, "only {} files under {}; is this the house?", found.len(), root.display());
    found.sort_by(|one, other| one.path.cmp(&other.path));
    found
}

/// First line, name and length of each function, by the indentation rustfmt leaves.
pub fn functions(text: &str) -> Vec<(usize, String, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let (indent, Some(name)) = (line.len() - line.trim_start().len(), function_name(line)) else {
            continue;
        };
        if line.ends_with(['}', ';']) {
            found.push((index + 1, name, 1));
            continue;
        }
        let ends = |line: &&str| {
            let (margin, rest) = line.split_at_checked(indent).unwrap_or(("x", ""));
            margin.trim().is_empty() && (rest == "}" || (rest.starts_with(')') && rest.ends_with(';')))
        };
        let length = lines[index + 1..].iter().position(ends).map_or(lines.len() - index, |at| at + 2);
        found.push((index + 1, name, length));
    }
    found
}

fn function_name(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    loop {
        let word = words.next()?;
        if word == "fn" {
            let name = words.next()?.split(['(', '<']).next()?;
            return Some(name.to_owned());
        }
        let before =
            word.starts_with("pub") || matches!(word, "const" | "async" | "unsafe" | "extern" | "\"C\"");
        if !before && !matches!(word, "crate)" | "super)") {
            return None;
        }
    }
}

/// Names in every table of dependencies of a manifest, each with that table's name.
pub fn dependencies(manifest: &Source) -> Vec<(String, String)> {
    fn gather(table: &toml::Table, found: &mut Vec<(String, String)>) {
        for (key, value) in table {
            let Some(inner) = value.as_table() else { continue };
            if key.ends_with("dependencies") {
                found.extend(inner.keys().map(|name| (name.clone(), key.clone())));
            } else {
                gather(inner, found);
            }
        }
    }
    let mut found = Vec::new();
    if manifest.path.ends_with("Cargo.toml") {
        let table = manifest.text.parse::<toml::Table>();
        gather(&table.unwrap_or_else(|error| panic!("{}: {error}", manifest.path)), &mut found);
    }
    found
}

/// A path without `.` and `..`, as far as that goes without looking.
pub fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if plain.file_name().is_some() => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

/// The paths in the table of files: those spelled out, and those named beside the folder they are in.
pub fn written_down(map: &str) -> Vec<String> {
    let mut written = Vec::new();
    for row in map.lines().filter(|line| line.starts_with("| `.self/")) {
        let names: Vec<&str> = row.split('`').skip(1).step_by(2).collect();
        let folders = names.iter().filter(|name| name.starts_with(".self/") && name.ends_with('/'));
        for folder in folders {
            written.extend(
                names.iter().filter(|name| !name.starts_with('.')).map(|name| format!("{folder}{name}")),
            );
        }
        written.extend(names.iter().filter(|name| name.starts_with(".self/")).map(|name| (*name).to_owned()));
    }
    written
}
