//! Rules of what the creature may read, run and write: the house's paths, the toolchain, and common system folders.
//!
//! Invariant: no rule covers a name beginning with `.env`, the broker's folder, or the owner's home as a whole.

use crate::programs;
use ground::{House, apart, files};
use std::path::{Path, PathBuf};
use walls::cargo_named::{Named, Outside};
use walls::spec::{Access, Rule, View};
use walls::{Place, cargo_home};

/// System folders with programs, libraries, compilers and linkers.
const SYSTEM: &str = "/usr /lib /lib32 /lib64 /libx32 /bin /sbin /nix/store /etc/alternatives";
/// System settings that programs, TLS and name resolution need (the version of Debian: pip, which ends where that cannot be
/// read). None holds a secret.
const SETTINGS: &str = "/etc/ld.so.cache /etc/ld.so.conf /etc/ld.so.conf.d /etc/ld.so.preload /etc/ssl \
    /etc/ca-certificates /etc/ca-certificates.conf /etc/pki /etc/resolv.conf /etc/hosts /etc/host.conf /etc/gai.conf \
    /etc/nsswitch.conf /etc/localtime /etc/timezone /etc/passwd /etc/group /etc/os-release /etc/protocols /etc/services \
    /etc/mime.types /etc/gitconfig /etc/locale.conf /etc/bash.bashrc /etc/profile /etc/terminfo /etc/magic /etc/inputrc \
    /etc/debian_version /proc /sys/devices/system/cpu /sys/fs/cgroup /sys/kernel/mm/transparent_hugepage";
const DEVICES: &str = "/dev/null /dev/zero /dev/full /dev/random /dev/urandom";

/// Writable files of the state. They exist before a life begins, since it may not create files beside them.
pub const FILES: [&str; 2] = [".self/memory.jsonl", ".self/heartbeat"];
/// Writable folders of the house. Of the build folder only those cargo writes to: the folder itself also holds
/// `cargo-home`.
pub const FOLDERS: [&str; 12] = [
    "creature",
    "self",
    ".self/mind",
    ".self/snapshots",
    ".self/workspace",
    "target/creature/debug",
    "target/creature/release",
    "target/creature/doc",
    // Where the creature builds and tests its draft.
    "target/creature/draft",
    "target/creature/tmp",
    "target/creature/cargo-home/registry",
    "target/creature/cargo-home/git",
];
/// Files that cargo rewrites in place.
pub const CARGO_FILES: [&str; 3] = [
    "target/creature/.rustc_info.json",
    "target/creature/cargo-home/.package-cache",
    "target/creature/cargo-home/.package-cache-mutate",
];
/// The guardian's folder: hidden by the view. Without one it can be read: it holds no secret, and must stay where the
/// kept binaries are run from.
const HIDDEN: &str = ".self/guardian";
const KEPT_BINARIES: &str = ".self/guardian/binaries";
/// Longest file that names a folder of git's, in bytes.
const MOST_NAMED: u64 = 4_096;

/// The house as the creature's place; `more` are folders the owner adds.
pub struct CreaturePlace {
    pub house: House,
    pub more: Vec<PathBuf>,
}

impl Place for CreaturePlace {
    fn root(&self) -> &Path {
        self.house.root()
    }

    fn name(&self) -> String {
        format!("feral-{}", self.house.identity())
    }

    fn rules(&self) -> Vec<Rule> {
        rules(&self.house, &self.more)
    }

    fn view(&self) -> View {
        let mut hidden =
            vec![moved(&self.house, HIDDEN.into()), apart::folder(&self.house), self.house.broker()];
        let entries = std::fs::read_dir(self.house.root()).into_iter().flatten().flatten();
        // Landlock grants them to nobody; these are hidden for where there is none.
        hidden.extend(entries.map(|entry| entry.path()).filter(|path| is_keys(path)));
        let emptied = cargo_home::above(self.house.root());
        let shown = vec![moved(&self.house, KEPT_BINARIES.into())];
        View { hidden, shown, emptied, ..View::default() }
    }
}

pub(crate) fn is_keys(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b".env"))
}

/// The system as every walled program sees it: programs to run, settings to read, harmless devices.
pub fn system() -> impl Iterator<Item = Rule> {
    let all = [(Access::Run, SYSTEM), (Access::Read, SETTINGS), (Access::Fill, DEVICES)];
    all.into_iter().flat_map(|(access, paths)| {
        paths.split_whitespace().map(move |path| Rule { access, path: path.into() })
    })
}

/// Every rule of this house, given its folders now.
fn rules(house: &House, more: &[PathBuf]) -> Vec<Rule> {
    let mut rules = Vec::new();
    let mut add = |access, path: PathBuf| rules.push(Rule { access, path: moved(house, path) });
    add(Access::List, PathBuf::new());
    let entries = std::fs::read_dir(house.root()).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let text = name.to_string_lossy();
        let own = ["target", "creature", "self"].contains(&text.as_ref());
        // Beside `.self` lies the broker's folder.
        if !own && ![".env", ".self"].iter().any(|private| text.starts_with(private)) {
            add(Access::Read, PathBuf::from(name));
        }
    }
    add(Access::Read, ".self".into());
    add(Access::Run, KEPT_BINARIES.into());
    add(Access::Run, "target/creature".into());
    FOLDERS.iter().for_each(|path| add(Access::Write, path.into()));
    FILES.iter().chain(&CARGO_FILES).for_each(|path| add(Access::Fill, path.into()));
    outside_git(house).into_iter().for_each(|path| add(Access::Read, path));
    system().for_each(|rule| add(rule.access, rule.path));
    toolchain(house).into_iter().for_each(|(access, path)| add(access, path));
    more.iter().for_each(|path| add(Access::Run, path.clone()));
    rules
}

/// The target of a link, where the owner keeps `.self` or `target` on another disk: the creature cannot change that
/// link.
fn moved(house: &House, path: PathBuf) -> PathBuf {
    let mut parts = path.components();
    let Some(first) = parts.next().filter(|_| path.is_relative()) else { return path };
    let first = house.root().join(first);
    if !first.is_symlink() {
        return path;
    }
    first.canonicalize().map_or(path.clone(), |to| to.join(parts.as_path()))
}

/// The repository's folders outside the house: in a linked work tree `.git` is a file that names its own, and `commondir` in
/// there the one that all work trees share (gitrepository-layout(5)).
fn outside_git(house: &House) -> Vec<PathBuf> {
    if house.root().join(".git").is_dir() {
        return vec![];
    }
    let named = |folder: &Path, file: &str, begins: &str| {
        let text = files::read_most(&folder.join(file), MOST_NAMED).ok()??;
        let text = String::from_utf8(text).ok()?;
        folder.join(text.trim_end().strip_prefix(begins)?).canonicalize().ok()
    };
    let Some(own) = named(house.root(), ".git", "gitdir: ") else { return vec![] };
    let common = named(&own, "commondir", "");
    std::iter::once(own).chain(common).collect()
}

fn toolchain(house: &House) -> Vec<(Access, PathBuf)> {
    let rustup = rustup_home();
    let cargo = cargo_home::owners();
    let mut found = vec![(Access::Read, cargo.join("registry")), (Access::Run, cargo.join("bin"))];
    if let Some(rustup) = rustup {
        found.push((Access::Run, rustup.join("toolchains")));
        found.push((Access::Read, rustup.join("settings.toml")));
    }
    let program = std::env::var_os("CARGO").map(PathBuf::from);
    let beside = program.as_deref().and_then(Path::parent).map(Path::to_path_buf);
    found.extend(program.map(|program| (Access::Run, program)));
    let home = home();
    let folders = programs::folders(&home).into_iter().chain(beside);
    // A folder that contains the owner's home or the house cannot be granted as a folder of programs.
    let holds = |folder: &Path| home.starts_with(folder) || house.root().starts_with(folder);
    let folders = folders.filter_map(|folder| folder.canonicalize().ok()).filter(|folder| !holds(folder));
    found.extend(folders.map(|folder| (Access::Run, folder)));
    // What the owner's settings name: a linker with what lies beside it, and sources that are no registry's.
    let named = Outside::of(house.root());
    let around = |named: Named| named.path.canonicalize().ok()?.parent().map(Path::to_path_buf);
    let programs = named.programs.into_iter().filter_map(around).filter(|folder| !holds(folder));
    found.extend(programs.map(|folder| (Access::Run, folder)));
    let folders = named.folders.into_iter().filter_map(|named| named.path.canonicalize().ok());
    found.extend(folders.filter(|folder| !holds(folder)).map(|folder| (Access::Read, folder)));
    for name in ["SSL_CERT_FILE", "SSL_CERT_DIR", "CARGO_HTTP_CAINFO"] {
        found.extend(std::env::var_os(name).map(|path| (Access::Read, PathBuf::from(path))));
    }
    found.retain(|(_, path)| path.is_absolute());
    found
}

fn home() -> PathBuf {
    // Where `HOME` is unset the list of users says it, as cargo and rustup have it.
    let home = std::env::home_dir().unwrap_or_default();
    home.canonicalize().unwrap_or(home)
}

/// Folder of the owner's toolchains; set explicitly, since the creature's `HOME` is another.
pub fn rustup_home() -> Option<PathBuf> {
    let named = std::env::var_os("RUSTUP_HOME").map(PathBuf::from);
    named.or_else(|| Some(home().join(".rustup"))).filter(|path| path.is_dir())
}
