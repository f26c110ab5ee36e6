//! `backup`: one checked file of the house as it is now, made even while a creature runs; `restore` is its other half.

pub mod archive;
pub mod bundle;
pub mod history;
pub mod ledgers;
pub mod moment;
pub mod parts;
pub mod restore;

use crate::commands::options;
use anyhow::{Context, Result, ensure};
use archive::Writer;
use house::terminal::{self, typed};
use house::{House, clock, files, instance};
use moment::{Content, Found, Taken};
use nix::fcntl::OFlag;
use parts::Part;
use repo::Repo;
use repo::tree::short;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The folder in which the owner called `./feral`, which changes into the house itself.
const FROM: &str = "FERAL_FROM";
/// Largest single file that is taken along.
const MOST_FILE_BYTES: u64 = 8 << 30;

/// Result of a backup.
struct Made {
    at: PathBuf,
    bytes: u64,
    files: usize,
    commit: String,
    branch: String,
    left_out: usize,
}

/// Makes a backup and says what it holds.
pub fn backup(house: &House, wanted: &options::Backup) -> Result<u8> {
    let to = place(house, wanted.file.as_deref())?;
    let made = make(house, &to, wanted.with_secrets)?;
    let lives = instance::running(house).is_some();
    if wanted.form.json {
        terminal::json(
            &json!({"file": made.at, "bytes": made.bytes, "files": made.files, "commit": made.commit,
            "branch": made.branch, "left_out": made.left_out, "with_secrets": wanted.with_secrets, "while_it_ran": lives}),
        );
        return Ok(0);
    }
    let at = made.at.display();
    terminal::field(
        "backup",
        &format!("{at}, {}, for you alone (mode 600), read back and checked", size(made.bytes)),
    );
    terminal::field(
        "of",
        &format!(
            "{} at {}, {} files: repository, papers, memory, records{}",
            made.branch,
            made.commit,
            made.files,
            if lives { "; it went on running meanwhile" } else { "" }
        ),
    );
    let keys = if wanted.with_secrets {
        "your keys and tokens are in it: keep it as you keep those"
    } else {
        "your keys and tokens (.env), and what programs of MCP servers keep, such as logins; --with-secrets takes them along"
    };
    terminal::field(if wanted.with_secrets { "beware" } else { "left out" }, keys);
    if made.left_out > 0 {
        terminal::field(
            "left out",
            &format!("{} links, pipes and names that no archive holds well", made.left_out),
        );
    }
    terminal::field("restore", &typed(&format!("restore {at}")));
    Ok(0)
}

/// Path of the backup: beside the house unless a file is named, and never in it, where its creature reads.
fn place(house: &House, named: Option<&str>) -> Result<PathBuf> {
    let root = house.root().canonicalize()?;
    let to = match named {
        Some(name) => from_here(name)?,
        None => {
            let house = root.file_name().unwrap_or_default().to_string_lossy().into_owned();
            root.with_file_name(format!("{house}-{}.tar.gz", clock::name().replace('.', "-")))
        }
    };
    let name = to.file_name().with_context(|| format!("{} names no file", to.display()))?.to_owned();
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = folder.canonicalize().with_context(|| format!("there is no folder {}", folder.display()))?;
    let state = house.state_folder().canonicalize();
    ensure!(
        !folder.starts_with(&root) && !state.is_ok_and(|state| folder.starts_with(state)),
        "{} lies in the house, where its creature reads; name a file elsewhere: {}",
        folder.display(),
        typed("backup /elsewhere/house.tar.gz")
    );
    let to = folder.join(name);
    ensure!(
        std::fs::symlink_metadata(&to).is_err(),
        "{} is there already, and is not written over",
        to.display()
    );
    Ok(to)
}

/// A path as it was typed, from where the owner stood.
pub fn from_here(name: &str) -> Result<PathBuf> {
    let here = std::env::var_os(FROM).map_or_else(std::env::current_dir, |from| Ok(PathBuf::from(from)))?;
    Ok(here.join(name))
}

fn make(house: &House, to: &Path, with_secrets: bool) -> Result<Made> {
    let folder = to.parent().context("no folder")?;
    let mut part = to.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    let _ = std::fs::remove_file(&part);
    let file = files::open_by(File::options().read(true).write(true).create_new(true).mode(0o600), &part)
        .with_context(|| {
            let example = typed("backup /elsewhere/house.tar.gz");
            format!("failed to write in {}; name a file elsewhere: {example}", folder.display())
        })?;
    let written = write(house, file, folder, with_secrets).and_then(|(mut made, mut file)| {
        // Read back from the disk, not believed.
        archive::read(&mut file, u64::MAX, |_, _, _| Ok(())).context("the backup could not be read back")?;
        made.bytes = file.metadata()?.len();
        std::fs::rename(&part, to).with_context(|| format!("failed to put {} in place", to.display()))?;
        files::sync_folder(to)?;
        made.at = to.to_owned();
        Ok(made)
    });
    if written.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    written
}

fn write(house: &House, file: File, folder: &Path, with_secrets: bool) -> Result<(Made, File)> {
    let takes = |path: &str| match parts::part(path) {
        Part::Leave => false,
        Part::Secret => with_secrets,
        Part::Knows | Part::Record => true,
    };
    let repo = Repo::open(house)?;
    let branch = repo.branch().context("HEAD names no branch")?;
    let moment = moment::take(house, &takes)?;
    // After the moment: every commit that the state names is there by now, and none is ever removed.
    let mut bundle = unnamed(folder)?;
    let head = bundle::write(&repo.git, &mut bundle)?;
    let about = json!({"version": 1, "at": clock::stamp(), "commit": head.to_string(), "branch": branch, "with_secrets": with_secrets});
    let back = file.try_clone()?;
    let mut out = Writer::new(file, clock::wall_ms() / 1_000);
    let text = about.to_string();
    out.add(archive::ABOUT, false, text.len() as u64, &mut text.as_bytes())?;
    let bytes = bundle.metadata()?.len();
    bundle.seek(SeekFrom::Start(0))?;
    out.add(archive::BUNDLE, false, bytes, &mut bundle)?;
    for (path, Taken { runs, content }) in moment {
        match content {
            Content::Whole(bytes) => out.add(&path, runs, bytes.len() as u64, &mut bytes.as_slice())?,
            Content::Lines(mut file, bytes) => out.add(&path, runs, bytes, &mut file)?,
        }
    }
    let mut left_out = 0;
    let mut rest = Rest { out: &mut out, spool: unnamed(folder)?, left_out: &mut left_out, takes: &takes };
    moment::each(house, &mut |found| {
        if parts::is_of_one_moment(found.path) { Ok(()) } else { rest.take(&found) }
    })?;
    for folder in ["self", "skills"] {
        moment::each_below(house, folder, &mut |found| rest.take(&found))?;
    }
    rest.of_the_root(house)?;
    let (files, bytes) = (out.files, out.bytes);
    out.finish()?;
    let commit = short(head);
    Ok((Made { at: PathBuf::new(), bytes, files, commit, branch, left_out }, back))
}

/// Files taken after the moment: no later life depends on when.
struct Rest<'a> {
    out: &'a mut Writer,
    spool: File,
    left_out: &'a mut usize,
    takes: &'a dyn Fn(&str) -> bool,
}

impl Rest<'_> {
    fn take(&mut self, found: &Found) -> Result<()> {
        if !(self.takes)(found.path) || found.path == ".self/broker" {
            return Ok(());
        }
        let file = files::open(&found.folder.at(found.name)).ok().flatten().filter(|_| found.is_file);
        let Some(mut file) = file else {
            *self.left_out += 1;
            return Ok(());
        };
        let runs = file.metadata()?.permissions().mode() & 0o100 != 0;
        self.add(found.path, runs, &mut file)
    }

    /// Through a file without a name: who lives there may change this one while it is read.
    fn add(&mut self, path: &str, runs: bool, file: &mut dyn Read) -> Result<()> {
        let (mut held, bytes) = archive::spooled(file, self.spool.try_clone()?, MOST_FILE_BYTES)?;
        self.out.add(path, runs, bytes, &mut held)
    }

    /// The owner's files of the root, by a link too where he keeps them elsewhere.
    fn of_the_root(&mut self, house: &House) -> Result<()> {
        for entry in std::fs::read_dir(house.root())?.flatten() {
            let Ok(name) = entry.file_name().into_string() else { continue };
            if name.contains('/') || !(self.takes)(&name) || !parts::is_sound(&name) {
                continue;
            }
            match files::open_owners(&entry.path()) {
                Ok(mut file) => self.add(&name, false, &mut file)?,
                Err(_) => *self.left_out += 1,
            }
        }
        Ok(())
    }
}

/// A file without a name: gone with this process, however that ends.
fn unnamed(folder: &Path) -> Result<File> {
    let mut options = File::options();
    options.read(true).write(true).mode(0o600).custom_flags(OFlag::O_TMPFILE.bits());
    #[allow(clippy::disallowed_methods)]
    let opened = options.open(folder);
    opened
        .or_else(|_| {
            let path = folder.join(format!(".{}.part", files::unused_name()));
            let file =
                files::open_by(File::options().read(true).write(true).create_new(true).mode(0o600), &path)?;
            std::fs::remove_file(&path)?;
            Ok(file)
        })
        .map_err(|error: std::io::Error| {
            anyhow::Error::new(error).context(format!("failed to write in {}", folder.display()))
        })
}

pub fn size(bytes: u64) -> String {
    let tenths = bytes * 10 / (1 << 20);
    if tenths == 0 {
        format!("{} KiB", bytes.div_ceil(1 << 10))
    } else {
        format!("{}.{} MiB", tenths / 10, tenths % 10)
    }
}

/// Reads `house.json` of an archive.
pub(crate) fn about(bytes: &[u8]) -> Result<Value> {
    let about: Value = serde_json::from_slice(bytes).context("what it is of cannot be read")?;
    ensure!(about.get("version") == Some(&1.into()), "it was made by a later version of this program");
    Ok(about)
}
