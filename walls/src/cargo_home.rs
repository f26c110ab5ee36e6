//! A Cargo home for the creature: its own registry cache, filled from the owner's, so that offline builds keep working.
//!
//! Sources and archives are links into the owner's cache, which is only read; the index is copied, for cargo writes to it.
//! Invariant: no credential is carried over, and nothing of the owner's is written or hard-linked.

use anyhow::{Context, Result};
use ground::files;
use ground::openat::Folder;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::io::Read;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Parts of key names that mark credentials or programs that fetch them.
const SECRET: [&str; 5] = ["token", "secret", "credential", "password", "api_key"];
/// Names of cargo's configuration in a `.cargo` folder and in its home; the first that is there counts (The Cargo Book,
/// Configuration).
const NAMES: [&str; 2] = ["config", "config.toml"];
/// Settings that are not carried over, by section: programs that stand between cargo and compiler or program, which the
/// sandbox may not run or which want a socket; and places where cargo would look for nothing or may not write.
const LEFT_OUT: [(&str, &[&str]); 1] = [(
    "build",
    &["rustc-wrapper", "rustc-workspace-wrapper", "target", "target-dir", "build-dir", "dep-info-basedir"],
)];
/// The same in each section of a `[target]`.
const LEFT_OUT_OF_TARGETS: [&str; 1] = ["runner"];
/// The file cargo leaves in a source folder that is unpacked completely.
const WHOLE: &str = ".cargo-ok";

/// The home filled last, and the lock file it was filled for.
static SEEDED: Mutex<Option<(PathBuf, Option<files::Mark>)>> = Mutex::new(None);

/// A Cargo home to be filled.
#[derive(Clone, Copy, Debug)]
pub struct Home<'a> {
    /// A folder that no walled process can replace by a link.
    pub within: &'a Path,
    /// The home, relative to `within`: opened without following links.
    pub path: &'a Path,
    /// The `Cargo.lock` that names the packages.
    pub lock: &'a Path,
}

/// The Cargo home of the owner; where `HOME` is unset the list of users says whose that is, as for cargo itself.
pub fn owners() -> PathBuf {
    let named = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    named.unwrap_or_else(|| std::env::home_dir().unwrap_or_default().join(".cargo"))
}

/// Cargo's configuration files in the folders above one, the nearest first. Cargo reads them whatever its home is, and
/// gives up where it may not.
pub fn above(folder: &Path) -> Vec<PathBuf> {
    let folders = folder.ancestors().skip(1).map(|above| above.join(".cargo"));
    let files = folders.flat_map(|folder| NAMES.map(|name| folder.join(name)));
    files.filter(|path| path.is_file()).collect()
}

/// The configuration in a Cargo home.
pub(crate) fn home_settings(home: &Path) -> Option<PathBuf> {
    NAMES.map(|name| home.join(name)).into_iter().find(|path| path.is_file())
}

/// Makes the home and fills in what is missing; takes milliseconds when all is there. Anything in the way is removed. The
/// result is what the owner is to know of his settings, each time they changed.
pub fn prepare(home: Home) -> Result<Vec<String>> {
    let theirs = owners();
    if home.within.join(home.path) == theirs {
        return Ok(vec![]);
    }
    let within =
        Folder::open(home.within).with_context(|| format!("failed to open {}", home.within.display()))?;
    let ours = within.make(home.path).context("failed to make cargo's home")?;
    ours.make(Path::new("git")).context("failed to make git/ in cargo's home")?;
    let root = home.within.parent().unwrap_or(home.within);
    let told = configure(&theirs, root, &ours).context("failed to carry the owner's cargo settings over")?;
    let packages = packages(&files::tail(home.lock, 2 << 20));
    let mut registries = vec![];
    for entry in fs::read_dir(theirs.join("registry/cache")).into_iter().flatten().flatten() {
        registries.push(entry.file_name());
    }
    for name in registries {
        let registry =
            Registry { theirs: theirs.join("registry"), ours: ours.make(Path::new("registry"))?, name };
        registry.seed(&packages).with_context(|| format!("failed to seed {}", registry.name.display()))?;
    }
    Ok(told)
}

/// As `prepare`, unless this process did it for the same lock file already and the home is still there.
pub fn prepare_once(home: Home) -> Result<Vec<String>> {
    let path = home.within.join(home.path);
    let lock = (path.clone(), files::mark(home.lock));
    let mut seeded = SEEDED.lock().unwrap_or_else(PoisonError::into_inner);
    if seeded.as_ref() == Some(&lock) && path.join("registry/index").is_dir() {
        return Ok(vec![]);
    }
    let told = prepare(home)?;
    *seeded = Some(lock);
    Ok(told)
}

/// Counts the packages of this lock file that no registry cache of the owner's holds.
pub fn missing(lock: &str) -> usize {
    let cache = owners().join("registry/cache");
    let held: Vec<PathBuf> =
        fs::read_dir(cache).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    let is_held = |(name, version): &(String, String)| {
        held.iter().any(|cache| cache.join(format!("{name}-{version}.crate")).is_file())
    };
    packages(lock).iter().filter(|package| !is_held(package)).count()
}

/// Registry: its part of the owner's cache and of the creature's.
struct Registry {
    theirs: PathBuf,
    ours: Folder,
    name: OsString,
}

impl Registry {
    fn seed(&self, packages: &BTreeSet<(String, String)>) -> Result<()> {
        let [index, cache, src] = ["index", "cache", "src"].map(|part| Path::new(part).join(&self.name));
        let theirs = self.theirs.join(&index);
        let ours = self.ours.make(&index)?;
        refresh(&theirs.join("config.json"), &ours, "config.json")?;
        let names: BTreeSet<&str> = packages.iter().map(|(name, _)| name.as_str()).collect();
        for name in names {
            let (folder, name) = index_place(name);
            let theirs = theirs.join(".cache").join(&folder).join(&name);
            if theirs.is_file() {
                refresh(&theirs, &ours.make(&Path::new(".cache").join(folder))?, &name)?;
            }
        }
        let (archives, sources) = (self.ours.make(&cache)?, self.ours.make(&src)?);
        for (name, version) in packages {
            let package = format!("{name}-{version}");
            let archive = format!("{package}.crate");
            link(&self.theirs.join(&cache).join(&archive), &archives, &archive)?;
            let source = self.theirs.join(&src).join(&package);
            // Cargo would go on unpacking a half-unpacked source, through the link into the owner's cache.
            if source.join(WHOLE).is_file() {
                link(&source, &sources, &package)?;
            }
        }
        Ok(())
    }
}

/// Folder and file of a package in a registry's index, by the letters its name begins with.
pub fn index_place(name: &str) -> (String, String) {
    let name = name.to_lowercase();
    let part = |from, to| name.get(from..to).unwrap_or_default();
    let folder = match name.len() {
        0..=2 => name.len().to_string(),
        3 => format!("3/{}", part(0, 1)),
        _ => format!("{}/{}", part(0, 2), part(2, 4)),
    };
    (folder, name)
}

/// Name and version of every package in a lock file that comes from a registry.
pub fn packages(lock: &str) -> BTreeSet<(String, String)> {
    let field = |part: &str, name: &str| {
        let value = part.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = \""))?;
        let value = value.strip_suffix('"')?;
        // Name and version become file names.
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
        (value.chars().all(plain) && !value.starts_with('.')).then(|| value.to_owned())
    };
    let from_registry = |part: &&str| {
        ["registry", "sparse"].iter().any(|kind| part.contains(&format!("\nsource = \"{kind}+")))
    };
    let parts = lock.split("[[package]]").filter(from_registry);
    parts.filter_map(|part| Some((field(part, "name")?, field(part, "version")?))).collect()
}

/// Copies the owner's file, unless the copy is as new.
fn refresh(theirs: &Path, ours: &Folder, name: &str) -> Result<()> {
    let Ok(newest) = fs::metadata(theirs).and_then(|meta| meta.modified()) else { return Ok(()) };
    match fs::symlink_metadata(ours.at(name)) {
        Ok(meta) if meta.is_file() && meta.modified().is_ok_and(|ours| ours >= newest) => return Ok(()),
        Ok(meta) if !meta.is_file() => ours.remove_all(name)?,
        _ => {}
    }
    let mut copy = files::create(&ours.at(name))?;
    io::copy(&mut files::open_owners(theirs)?, &mut copy)
        .with_context(|| format!("failed to copy {name}"))?;
    Ok(())
}

/// Links to the owner's file, replacing any other link. A file that cargo itself put there stays.
fn link(theirs: &Path, ours: &Folder, name: &str) -> Result<()> {
    match fs::read_link(ours.at(name)) {
        Ok(to) if to == theirs => return Ok(()),
        Ok(_) => fs::remove_file(ours.at(name)).with_context(|| format!("failed to remove {name}"))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(_) => return Ok(()),
    }
    if !theirs.exists() {
        return Ok(());
    }
    symlink(theirs, ours.at(name)).with_context(|| format!("failed to link {name}"))
}

/// Largest settings of cargo's that are carried over, in bytes.
const MOST_SETTINGS_BYTES: u64 = 1 << 20;

pub(crate) fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    files::open_owners(path)?.take(MOST_SETTINGS_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

/// Writes the owner's cargo settings without secrets, and the lock files cargo expects; the creature cannot change
/// them. The settings are those of the owner's home and of the folders above `root`, which lie there for nobody inside.
fn configure(theirs: &Path, root: &Path, ours: &Folder) -> Result<Vec<String>> {
    let home = home_settings(theirs);
    let above = above(root).into_iter().rev().filter(|path| path.parent() != Some(theirs));
    let mut whole = toml::Table::new();
    let (mut left_out, mut told) = (BTreeSet::new(), Vec::new());
    for path in home.into_iter().chain(above) {
        // A path in such a file is seen from the folder that holds its own.
        let folder = path.parent().and_then(Path::parent).unwrap_or(Path::new("/"));
        match read(&path).ok().and_then(|text| carried(&text, folder, &mut left_out)) {
            Some(table) => join(&mut whole, table),
            None => {
                told.push(format!("{} cannot be read as cargo's configuration: left out", path.display()))
            }
        }
    }
    let plain = toml::to_string(&whole)?;
    let there = files::read_small(&ours.at("config.toml")).ok().flatten();
    if there.as_deref() != Some(plain.as_bytes()) {
        if !left_out.is_empty() {
            let names = Vec::from_iter(left_out).join(", ");
            told.push(format!("{names} of your cargo configuration cannot work in the sandbox: left out"));
        }
        let _ = ours.remove_all("config.toml");
        files::replace_unsynced(&ours.at("config.toml"), plain.as_bytes())?;
    } else {
        told.clear();
    }
    for lock in [".package-cache", ".package-cache-mutate"] {
        if files::mark(&ours.at(lock)).is_none() {
            let _ = ours.remove_all(lock);
            files::create(&ours.at(lock))?;
        }
    }
    Ok(told)
}

/// A cargo configuration for use in the creature's home: without anything that looks secret and without the owner's
/// proxy, since the creature's proxy is the broker. Replacement folders for registries become absolute, as seen from
/// `folder`; `left_out` gets the names of settings that cannot work inside.
pub fn carried(text: &str, folder: &Path, left_out: &mut BTreeSet<String>) -> Option<toml::Table> {
    let mut table: toml::Table = toml::from_str(text).ok()?;
    prune(&mut table);
    let sources = table
        .get_mut("source")
        .and_then(toml::Value::as_table_mut)
        .into_iter()
        .flat_map(|all| all.iter_mut());
    for source in sources.filter_map(|(_, source)| source.as_table_mut()) {
        for name in ["directory", "local-registry"] {
            if let Some(toml::Value::String(path)) = source.get_mut(name) {
                *path = folder.join(&*path).display().to_string();
            }
        }
    }
    if let Some(toml::Value::Table(http)) = table.get_mut("http") {
        http.remove("proxy");
    }
    let mut leave_out = |section: &mut toml::Table, within: &str, names: &[&str]| {
        for name in names.iter().filter(|name| section.remove(**name).is_some()) {
            left_out.insert(format!("{within}.{name}"));
        }
    };
    for (section, names) in LEFT_OUT {
        if let Some(toml::Value::Table(inner)) = table.get_mut(section) {
            leave_out(inner, section, names);
        }
    }
    let targets = table.get_mut("target").and_then(toml::Value::as_table_mut);
    for (name, target) in targets.into_iter().flat_map(|targets| targets.iter_mut()) {
        if let toml::Value::Table(target) = target {
            leave_out(target, &format!("target.{name}"), &LEFT_OUT_OF_TARGETS);
        }
    }
    Some(table)
}

/// Adds the settings of a nearer file: it counts where both say something, and lists are joined, its part last (The Cargo
/// Book, Configuration, Hierarchical structure).
fn join(far: &mut toml::Table, near: toml::Table) {
    for (key, value) in near {
        match (far.get_mut(&key), value) {
            (Some(toml::Value::Table(far)), toml::Value::Table(near)) => join(far, near),
            (Some(toml::Value::Array(far)), toml::Value::Array(near)) => far.extend(near),
            (_, value) => _ = far.insert(key, value),
        }
    }
}

fn prune(table: &mut toml::Table) {
    table.retain(|key, _| SECRET.iter().all(|secret| !key.to_lowercase().contains(secret)));
    for (_, value) in table.iter_mut() {
        if let toml::Value::Table(inner) = value {
            prune(inner);
        }
    }
}
