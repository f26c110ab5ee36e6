//! The papers of owner and creature, `PURPOSE.md` and `self/`: found, read and written through no link, within bounds.
//!
//! Invariant: what one of the two wrote is never overwritten unread by the other.

use anyhow::{Context, Result, bail};
use house::openat::Folder;
use house::printable::hex;
use house::{House, files, printable};
use sha2::{Digest, Sha256};
use std::path::Path;

/// Papers that are listed, and folders within one another.
const MOST_PAPERS: usize = 2_000;
const MOST_DEPTH: usize = 6;
const PURPOSE: &str = "PURPOSE.md";
const FOLDER: &str = "self";

/// A paper as it is: its text, and the hash by which it is known again.
pub struct Paper {
    pub text: String,
    pub hash: String,
    /// Whether a form gives back every letter of it.
    pub fits_a_form: bool,
}

/// Result of writing a paper.
pub enum Written {
    Done,
    /// It is another one by now, and was left so.
    Other(Paper),
    /// It is gone by now.
    Gone,
}

/// The names of all papers, in order.
pub fn list(house: &House) -> Vec<String> {
    let mut found = Vec::new();
    if house.purpose().is_file() {
        found.push(PURPOSE.to_owned());
    }
    if let Ok(folder) = Folder::open(house.root()).and_then(|root| root.folder(Path::new(FOLDER))) {
        let mut below = Vec::new();
        walk(&folder, FOLDER, MOST_DEPTH, &mut below);
        below.sort();
        found.extend(below);
    }
    found
}

fn walk(folder: &Folder, path: &str, depth: usize, found: &mut Vec<String>) {
    let Ok(names) = folder.names() else { return };
    for name in names.flatten() {
        let Some(text) = name.to_str().filter(|text| is_name(text)) else { continue };
        if found.len() >= MOST_PAPERS {
            return;
        }
        let path = format!("{path}/{text}");
        match std::fs::symlink_metadata(folder.at(text)) {
            Ok(meta) if meta.is_file() => found.push(path),
            Ok(meta) if meta.is_dir() && depth > 0 => {
                if let Ok(inner) = folder.inner(&name) {
                    walk(&inner, &path, depth - 1, found);
                }
            }
            Ok(_) | Err(_) => {}
        }
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains('/') && !name.ends_with(files::BEING_WRITTEN)
}

/// The folder a paper lies in, and its name there.
fn place<'a>(house: &House, path: &'a str) -> Result<(Folder, &'a str)> {
    let parts: Vec<&str> = path.split('/').collect();
    let is_one = match parts.as_slice() {
        [one] => *one == PURPOSE,
        [first, rest @ ..] => {
            *first == FOLDER && rest.len() <= MOST_DEPTH + 1 && rest.iter().all(|part| is_name(part))
        }
        [] => false,
    };
    if !is_one {
        bail!("no paper is called so");
    }
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let root = Folder::open(house.root()).context("failed to open the house")?;
    let folder = root.folder(Path::new(folder)).context("no paper is called so")?;
    Ok((folder, name))
}

fn paper(bytes: &[u8]) -> Result<Paper> {
    let Ok(text) = std::str::from_utf8(bytes) else { bail!("it is no text in UTF-8") };
    let plain = text.replace('\t', " ");
    let fits_a_form = !text.contains('\r') && printable::spelled(&plain) == plain;
    Ok(Paper { text: text.to_owned(), hash: hex(&Sha256::digest(bytes)), fits_a_form })
}

/// A paper; `None` where there is none.
pub fn read(house: &House, path: &str) -> Result<Option<Paper>> {
    let Ok((folder, name)) = place(house, path) else { return Ok(None) };
    files::read_small(&folder.at(name))?.map(|bytes| paper(&bytes)).transpose()
}

/// Writes a paper that was read as the one with this hash, whole.
pub fn write(house: &House, path: &str, hash: &str, text: &str) -> Result<Written> {
    if text.len() as u64 > files::SMALL_FILE_BYTES {
        bail!("a paper has at most {} KiB", files::SMALL_FILE_BYTES >> 10);
    }
    let (folder, name) = place(house, path)?;
    let at = folder.at(name);
    let is_same = |bytes: &[u8]| hex(&Sha256::digest(bytes)) == hash;
    match files::replace_expected(&at, is_same, text.as_bytes())? {
        files::Replaced::Done => Ok(Written::Done),
        files::Replaced::Other(bytes) => Ok(Written::Other(paper(&bytes)?)),
        files::Replaced::Gone => Ok(Written::Gone),
    }
}
