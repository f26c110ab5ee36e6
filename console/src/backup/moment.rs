//! The house's state as it was at one moment, taken beside the creature that lives there.
//!
//! Files that change are read again until none changed meanwhile; files that grow are cut at their last whole line.

use super::parts::{self, Part};
use anyhow::{Context, Result, bail};
use house::files::{self, Mark};
use house::openat::Folder;
use house::{House, interrupt};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;
use std::time::Duration;

/// Most looks at the house until nothing changes, and the time between: a minute in all.
const LOOKS: usize = 600;
const BETWEEN: Duration = Duration::from_millis(100);
/// Most bytes held in memory of files that are replaced whole.
const MOST_HELD_BYTES: u64 = 128 << 20;
/// Bytes looked at in one step for a file's last line end.
const STEP_BYTES: u64 = 64 << 10;
/// Files that change all the time and mean nothing to a later life.
const RESTLESS: [&str; 1] = [".self/mind/feed.jsonl"];

/// A file of the moment.
pub struct Taken {
    pub runs: bool,
    pub content: Content,
}

pub enum Content {
    Whole(Vec<u8>),
    /// A file that grows, and so many bytes of it.
    Lines(File, u64),
}

/// The broker's folder, which is a link where a guardian ran.
const BROKER: &str = ".self/broker";

/// Every file of the moment, by its path in the house.
pub fn take(house: &House, takes: &dyn Fn(&str) -> bool) -> Result<BTreeMap<String, Taken>> {
    for _ in 0..LOOKS {
        interrupt::check()?;
        let (before, taken) = look(house, takes, true)?;
        let (after, _) = look(house, takes, false)?;
        if before == after {
            return Ok(taken);
        }
        std::thread::sleep(BETWEEN);
    }
    bail!("the house did not stand still for a moment within a minute; pause it, or try again later")
}

type Seen = (BTreeMap<String, Option<Mark>>, BTreeMap<String, Taken>);

fn look(house: &House, takes: &dyn Fn(&str) -> bool, reads: bool) -> Result<Seen> {
    let (mut marks, mut taken, mut held) = (BTreeMap::new(), BTreeMap::new(), 0_u64);
    each(house, &mut |found| {
        let path = found.path;
        if !parts::is_of_one_moment(path) || !takes(path) || !found.is_file {
            return Ok(());
        }
        let at = found.folder.at(found.name);
        let mark = files::mark(&at);
        if !RESTLESS.contains(&path) {
            marks.insert(path.to_owned(), mark);
        }
        if !reads {
            return Ok(());
        }
        // Gone since the folder was listed: the second look sees that too.
        let Ok(Some(mut file)) = files::open(&at) else { return Ok(()) };
        let runs = file.metadata()?.permissions().mode() & 0o100 != 0;
        let content = if parts::grows(path) {
            let bytes = whole_lines(&file)?;
            file.seek(SeekFrom::Start(0))?;
            Content::Lines(file, bytes)
        } else {
            let mut bytes = Vec::new();
            (&mut file).take(MOST_HELD_BYTES.saturating_sub(held) + 1).read_to_end(&mut bytes)?;
            held += bytes.len() as u64;
            anyhow::ensure!(
                held <= MOST_HELD_BYTES,
                "{path} and its like are more than {} MiB",
                MOST_HELD_BYTES >> 20
            );
            Content::Whole(bytes)
        };
        taken.insert(path.to_owned(), Taken { runs, content });
        Ok(())
    })?;
    Ok((marks, taken))
}

/// The length of a file up to its last line end.
fn whole_lines(file: &File) -> Result<u64> {
    let mut end = file.metadata()?.len();
    while end > 0 {
        let from = end.saturating_sub(STEP_BYTES);
        let mut bytes = vec![0; usize::try_from(end - from)?];
        file.read_exact_at(&mut bytes, from)?;
        if let Some(at) = bytes.iter().rposition(|byte| *byte == b'\n') {
            return Ok(from + at as u64 + 1);
        }
        end = from;
    }
    Ok(0)
}

/// An entry of an open folder that is no folder.
pub struct Found<'a> {
    pub path: &'a str,
    pub folder: &'a Folder,
    pub name: &'a OsString,
    pub is_file: bool,
}

/// Every entry below `.self`, the broker's folder among them, through no link but that one.
pub fn each(house: &House, visit: &mut dyn FnMut(Found) -> Result<()>) -> Result<()> {
    for (path, at) in [(".self", house.state_folder()), (BROKER, house.broker())] {
        match Folder::open(&at) {
            Ok(folder) => below(&folder, path, visit)?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).with_context(|| format!("failed to open {}", at.display())),
        }
    }
    Ok(())
}

/// Every entry below a folder of the root.
pub fn each_below(house: &House, name: &str, visit: &mut dyn FnMut(Found) -> Result<()>) -> Result<()> {
    let root = Folder::open(house.root())?;
    match root.inner(name.as_ref()) {
        Ok(folder) => below(&folder, name, visit),
        Err(_) => Ok(()),
    }
}

fn below(folder: &Folder, path: &str, visit: &mut dyn FnMut(Found) -> Result<()>) -> Result<()> {
    for name in folder.names().with_context(|| format!("failed to list {path}"))? {
        interrupt::check()?;
        let name = name.with_context(|| format!("failed to list {path}"))?;
        let Ok(meta) = fs::symlink_metadata(folder.at(&name)) else { continue };
        let text = name.to_string_lossy();
        let inner = format!("{path}/{text}");
        // It is walked by itself, also where no guardian has put a link in its place yet.
        if meta.is_dir() && inner == BROKER {
            continue;
        }
        if meta.is_dir() && name.to_str().is_some() && parts::part(&inner) != Part::Leave {
            if !folder.is_deep()
                && let Ok(next) = folder.inner(Path::new(&name).as_os_str())
            {
                below(&next, &inner, visit)?;
            }
            continue;
        }
        if meta.is_dir() {
            continue;
        }
        let is_file = meta.is_file() && name.to_str().is_some() && parts::is_sound(&inner);
        visit(Found { path: &inner, folder, name: &name, is_file })?;
    }
    Ok(())
}
