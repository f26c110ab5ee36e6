//! The repository in a backup: all of its branches, tags and the guardian's refs, as one of git's own bundles.
//!
//! Version 2 (gitformat-bundle(5)): a line that says so, a line for each ref, an empty line, a pack. `git clone FILE` reads it.

use anyhow::{Context, Result, bail, ensure};
use git2::{ObjectType, Oid, Repository};
use std::io::{BufRead, BufReader, Read, Write};

const SIGNATURE: &str = "# v2 git bundle";
/// Most refs, and bytes of a line that names one.
const MOST_REFS: usize = 100_000;
const MOST_LINE_BYTES: u64 = 4_096;

/// Writes the refs as they are now with all that they lead to; returns the commit of HEAD.
pub fn write(repo: &Repository, into: &mut impl Write) -> Result<Oid> {
    if repo.is_shallow() {
        bail!(
            "the history of this clone is cut short, and could not be put back: git fetch --unshallow, then again"
        );
    }
    let head = repo.head()?.peel_to_commit()?.id();
    let mut refs = vec![(head, "HEAD".to_owned())];
    let (mut walk, mut pack) = (repo.revwalk()?, repo.packbuilder()?);
    walk.push(head)?;
    for reference in repo.references()? {
        let Ok(reference) = reference else { continue };
        let (Some(id), Ok(name)) = (reference.target(), reference.name()) else { continue };
        if name.starts_with("refs/remotes/") {
            continue;
        }
        let object =
            repo.find_object(id, None).with_context(|| format!("{name} leads to what is missing"))?;
        match object.peel_to_commit() {
            Ok(commit) => walk.push(commit.id())?,
            Err(_) => pack.insert_recursive(id, None)?,
        }
        if object.kind() == Some(ObjectType::Tag) {
            pack.insert_object(id, None)?;
        }
        refs.push((id, name.to_owned()));
    }
    // Beside a life, on few processors.
    pack.set_threads(1);
    pack.insert_walk(&mut walk).context("failed to walk the history")?;
    let lines: String = refs.iter().map(|(id, name)| format!("{id} {name}\n")).collect();
    write!(into, "{SIGNATURE}\n{lines}\n")?;
    let mut failed = None;
    let packed = pack.foreach(|bytes| match into.write_all(bytes) {
        Ok(()) => true,
        Err(error) => {
            failed = Some(error);
            false
        }
    });
    failed.map_or(Ok(()), |error| Err(error).context("failed to write the repository"))?;
    packed.context("failed to pack the repository: `git fsck` says what is damaged")?;
    Ok(head)
}

/// Takes in the objects of a bundle, and returns the refs it names; no ref of the repository is touched.
pub fn take_in(repo: &Repository, from: &mut impl Read) -> Result<Vec<(Oid, String)>> {
    let mut from = BufReader::new(from);
    let mut refs = Vec::new();
    ensure!(line(&mut from)? == SIGNATURE, "its repository is no bundle of git's, version 2");
    loop {
        let line = line(&mut from)?;
        if line.is_empty() {
            break;
        }
        let (id, name) = line.split_once(' ').context("its bundle cannot be read")?;
        ensure!(!id.starts_with('-'), "its bundle is a part of another");
        let id = Oid::from_str(id).context("its bundle cannot be read")?;
        ensure!(
            name == "HEAD" || git2::Reference::is_valid_name(name),
            "its bundle names {name:?}, which is no ref"
        );
        refs.push((id, name.to_owned()));
        ensure!(refs.len() <= MOST_REFS, "its bundle has more than {MOST_REFS} refs");
    }
    let odb = repo.odb()?;
    let mut pack = odb.packwriter()?;
    std::io::copy(&mut from, &mut pack).context("its repository cannot be taken in")?;
    pack.commit().context("its repository cannot be taken in")?;
    Ok(refs)
}

fn line(from: &mut impl BufRead) -> Result<String> {
    let mut bytes = Vec::new();
    from.take(MOST_LINE_BYTES).read_until(b'\n', &mut bytes)?;
    let text = String::from_utf8(bytes).context("its bundle cannot be read")?;
    Ok(text.strip_suffix('\n').context("its bundle is cut off, or a line of it too long")?.to_owned())
}
