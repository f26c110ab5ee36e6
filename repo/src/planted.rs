//! Files that the owner's own tools read, and run programs by, wherever he stands: not the creature's to leave behind.
//!
//! Below `creature/` and `self/` such a name stays only as HEAD has it, and HEAD gets it from the owner alone: a commit of
//! the creature's never takes it in. Anything else is moved aside, never deleted, when no creature lives.

use crate::Repo;
use crate::limits::KEPT_ENTRIES;
use crate::tree::{self, Found};
use crate::{names, restore};
use anyhow::{Context, Result};
use git2::build::TreeUpdateBuilder;
use git2::{ObjectType, Tree, TreeEntry, TreeWalkMode, TreeWalkResult};
use house::openat::Folder;
use house::repair::Aside;
use house::{interrupt, printable};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Where the creature writes and the owner's tools look.
const PLACES: [&str; 2] = ["creature", "self"];
/// Mode of a commit of another repository within a tree.
const GITLINK: i32 = 0o160_000;
/// Paths of one kind that are told one by one.
const FEW: usize = 4;

/// Names, and the tool that reads them in the folder where it is started or in one above; the tools' own manuals say so:
/// git's gitrepository-layout and gitmodules, hgrc(5), jj's Settings, The Cargo Book (Configuration), nextest's
/// Configuration, The rustup book (Overrides), rust-analyzer's manual (Configuration), direnv(1), autoenv's and dotenv's
/// manuals, mise's and asdf's Configuration, Visual Studio Code's Workspaces, `:help exrc` of Vim and Neovim, Emacs's
/// manual (Directory Variables), Zed's and Helix's Configuration, GNU make's manual (Makefile Names), just's and Task's
/// manuals, nix-shell(1) and nix-develop, Bazel's manual (bazelrc), gdb's and lldb's manuals on their init files.
const READERS: &[(&str, &[&str])] = &[
    ("hg or jj", &[".hg", ".jj"]),
    ("cargo", &[".cargo", ".config"]),
    ("rustup", &["rust-toolchain", "rust-toolchain.toml"]),
    ("rust-analyzer", &["rust-analyzer.toml", ".rust-analyzer.toml", ".rust-analyzer"]),
    ("direnv", &[".envrc", ".env", ".autoenv.zsh"]),
    (
        "mise",
        &[
            "mise.toml",
            ".mise.toml",
            "mise.local.toml",
            ".mise.local.toml",
            "mise",
            ".mise",
            ".tool-versions",
        ],
    ),
    (
        "an editor",
        &[
            ".vscode",
            ".idea",
            ".fleet",
            ".zed",
            ".helix",
            ".exrc",
            ".vimrc",
            ".nvimrc",
            ".nvim.lua",
            ".lvimrc",
        ],
    ),
    ("an editor", &[".dir-locals.el", ".dir-locals-2.el", ".devcontainer", ".devcontainer.json"]),
    (
        "make",
        &["makefile", "gnumakefile", "justfile", ".justfile", "taskfile.yml", "taskfile.yaml", "bacon.toml"],
    ),
    ("nix or bazel", &["flake.nix", "shell.nix", "default.nix", ".bazelrc"]),
    ("a debugger", &[".gdbinit", ".lldbinit"]),
];
/// Endings of names that editors open as a whole.
const ENDINGS: [&str; 2] = [".code-workspace", ".sublime-project"];
/// Entries that make a folder a repository; git follows links to them, and takes an executable file for `objects`.
const REPOSITORY: [&str; 3] = ["HEAD", "objects", "refs"];

/// The tool that would read a path in the house, by any of its names below `creature/` or `self/`.
pub fn reader(path: &Path) -> Option<&'static str> {
    path.iter().skip(1).find_map(reader_of)
}

fn reader_of(name: &OsStr) -> Option<&'static str> {
    if !names::git_takes(name.as_bytes()) {
        return Some("git");
    }
    let name = name.to_string_lossy().to_ascii_lowercase();
    let known = READERS.iter().find(|(_, names)| names.contains(&name.as_str())).map(|(tool, _)| *tool);
    known.or_else(|| ENDINGS.iter().any(|ending| name.ends_with(ending)).then_some("an editor"))
}

/// Whether git takes a folder itself for a repository, where somebody stands in it.
pub fn is_bare_repository(folder: &Folder) -> bool {
    REPOSITORY.iter().all(|name| fs::symlink_metadata(folder.at(name)).is_ok())
}

impl Repo {
    /// Moves planted files aside, and takes commits of other repositories out of HEAD and index. To be called while no
    /// creature lives. `told` gets a line for people for each thing done, also where another failed.
    pub fn clear_planted(&self, told: &mut Vec<String>) -> Result<()> {
        let swept = self.sweep(told);
        interrupt::check()?;
        let gitlinks = self.take_gitlinks_out();
        told.extend(gitlinks.as_ref().ok().cloned().flatten());
        swept.and(gitlinks.map(|_| ()))
    }

    fn sweep(&self, told: &mut Vec<String>) -> Result<()> {
        let mut stuck = None;
        let whole = self.git.head().and_then(|head| head.peel_to_tree()).ok();
        for name in PLACES {
            let Some(held) = tree::open(&self.house.root().join(name)).ok().flatten() else { continue };
            let known = whole.as_ref().and_then(|whole| self.git.find_tree(whole.get_name(name)?.id()).ok());
            let mut sweep =
                Sweep { repo: self, aside: Aside::new(&self.house, name), found: vec![], stuck, looked: 0 };
            let swept = sweep.folder(&held, Path::new(name), known.as_ref());
            stuck = sweep.stuck.or(swept.err());
            let Some(place) = sweep.aside.place else { continue };
            let few = sweep.found.iter().take(FEW);
            let few: Vec<String> =
                few.map(|(path, tool)| format!("{} ({tool})", printable::path(path))).collect();
            let more = sweep.found.len() - few.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            told.push(format!(
                "{}{more} would run programs of the creature's by your own tools: kept in {}",
                few.join(", "),
                place.display()
            ));
        }
        stuck.map_or(Ok(()), Err)
    }

    /// Takes commits of other repositories below `creature/` and `self/` out of HEAD and index: git would look for that
    /// repository's settings there, and run the programs they name.
    fn take_gitlinks_out(&self) -> Result<Option<String>> {
        let mut index = self.git.index()?;
        index.read(true)?;
        let is_ours = |path: &Path| PLACES.iter().any(|place| path.starts_with(place));
        let path_of = |bytes: &[u8]| PathBuf::from(OsStr::from_bytes(bytes));
        let staged =
            index.iter().filter(|entry| entry.mode == GITLINK as u32).map(|entry| path_of(&entry.path));
        let staged: Vec<PathBuf> = staged.filter(|path| is_ours(path)).collect();
        let mut paths = staged.clone();
        if self.under_way().is_none()
            && let Ok(parent) = self.git.head().and_then(|head| head.peel_to_commit())
        {
            let whole = parent.tree()?;
            let committed: Vec<PathBuf> =
                gitlinks(&whole)?.into_iter().filter(|path| is_ours(path)).collect();
            if !committed.is_empty() {
                let mut update = TreeUpdateBuilder::new();
                committed.iter().for_each(|path| _ = update.remove(path));
                let without = update.create_updated(&self.git, &whole).context("failed to write a tree")?;
                let message = "guardian: a commit of another repository is no part of this one";
                self.advance(&parent, without, message)?;
            }
            paths.extend(committed);
        }
        if !staged.is_empty() {
            self.unlocking(|| {
                let mut index = self.git.index()?;
                index.read(true)?;
                staged.iter().try_for_each(|path| index.remove_path(path))?;
                index.write()
            })
            .context("failed to take a commit of another repository out of the index")?;
        }
        let Some(first) = paths.first() else { return Ok(None) };
        let first = printable::path(first);
        Ok(Some(format!(
            "{first} was in git as a repository of its own, whose settings git would obey; its files stay, git has it no more"
        )))
    }
}

fn gitlinks(whole: &Tree) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    whole.walk(TreeWalkMode::PreOrder, |above, entry| {
        if interrupt::check().is_err() {
            return TreeWalkResult::Abort;
        }
        if entry.kind() == Some(ObjectType::Commit) {
            found.push(Path::new(above).join(OsStr::from_bytes(entry.name_bytes())));
        }
        let top = above.is_empty() && entry.kind() == Some(ObjectType::Tree);
        let passed = top && !PLACES.iter().any(|place| entry.name_bytes() == place.as_bytes());
        if passed { TreeWalkResult::Skip } else { TreeWalkResult::Ok }
    })?;
    interrupt::check()?;
    Ok(found)
}

struct Sweep<'a> {
    repo: &'a Repo,
    aside: Aside,
    found: Vec<(PathBuf, &'static str)>,
    /// Why the first entry that could not be moved stays; the others are moved all the same.
    stuck: Option<anyhow::Error>,
    looked: usize,
}

impl Sweep<'_> {
    fn folder(&mut self, folder: &Folder, path: &Path, known: Option<&Tree>) -> Result<()> {
        let is_bare = is_bare_repository(folder);
        for name in folder.names().into_iter().flatten().flatten() {
            interrupt::check()?;
            self.looked += 1;
            let Some(found) = tree::look(folder, &name, path == Path::new("creature")) else { continue };
            let path = path.join(&name);
            let entry = known.and_then(|known| known.get_name_bytes(name.as_bytes()));
            let below = entry.as_ref().and_then(|entry| self.repo.git.find_tree(entry.id()).ok());
            let part = is_bare && entry.is_none() && REPOSITORY.iter().any(|part| *part == name);
            let tool = if part { Some("git") } else { reader(&path) };
            match (found, folder.inner(&name)) {
                (Found::Cache, _) => {}
                (Found::Folder, Ok(inner)) => {
                    let tool =
                        tool.or_else(|| (below.is_none() && is_bare_repository(&inner)).then_some("git"));
                    // Nobody looks into what is too deep or too much, and git would: it goes as a whole. What HEAD has is
                    // never too much, wherever the file system lists it.
                    let unseen = inner.is_deep() || (below.is_none() && self.looked > KEPT_ENTRIES);
                    match tool.filter(|_| below.is_none()).or(unseen.then_some("git")) {
                        Some(tool) => self.take(folder, &name, path, tool, entry.as_ref()),
                        None => self.folder(&inner, &path, below.as_ref())?,
                    }
                }
                (found, _) => {
                    let Some(tool) = tool else { continue };
                    if !self.is_the_owners(folder, &name, found, entry.as_ref()) {
                        self.take(folder, &name, path, tool, entry.as_ref());
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether a file or link is as HEAD has it.
    fn is_the_owners(&self, folder: &Folder, name: &OsStr, found: Found, entry: Option<&TreeEntry>) -> bool {
        let (Found::Held(mode), Some(entry)) = (found, entry) else { return false };
        entry.filemode() == mode
            && tree::is_blob_there(&self.repo.git, folder, name, mode, entry.id()).unwrap_or(false)
    }

    /// Moves an entry aside, and writes the owner's file again where HEAD has one in its place.
    fn take(
        &mut self,
        folder: &Folder,
        name: &OsStr,
        path: PathBuf,
        tool: &'static str,
        entry: Option<&TreeEntry>,
    ) {
        if let Err(error) = self.aside.take(folder, name, &path) {
            self.stuck.get_or_insert(error);
            return;
        }
        if let Some(entry) = entry.filter(|entry| entry.kind() == Some(ObjectType::Blob))
            && let Err(error) = restore::put_file(&self.repo.git, entry, folder, name)
        {
            self.stuck.get_or_insert(error.context(format!("failed to put back {}", printable::path(&path))));
        }
        self.found.push((path, tool));
    }
}
