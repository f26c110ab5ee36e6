//! Files that go out: those of the workspace that an answer links to, and exact bytes of asks.
//!
//! Invariant: a file is opened beneath the workspace, through no link, and only where it is a regular one within the bound.

use crate::channel::Outgoing;
use crate::outbox::Enclosed;
use crate::received;
use anyhow::{Context, Result, bail, ensure};
use console::markdown::options;
use house::openat::beneath;
use house::{House, asks, files};
use nix::fcntl::OFlag;
use nix::fcntl::ResolveFlag;
use pulldown_cmark::{Event, Parser, Tag};
use std::io::Read;
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Component, Path, PathBuf};

/// Files of one answer.
const MOST_FILES: usize = 5;
/// Beginnings of a path in the workspace, as a creature may write it.
const BEFORE: [&str; 3] = [".self/workspace/", "workspace/", "./"];

/// The paths in the workspace that an answer links to and that lie there: `![chart](results/chart.png)`. Each once.
pub fn linked(house: &House, markdown: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for event in Parser::new_ext(markdown, options()) {
        let (Event::Start(Tag::Link { dest_url, .. }) | Event::Start(Tag::Image { dest_url, .. })) = event
        else {
            continue;
        };
        let Some(path) = inside(&dest_url) else { continue };
        if found.len() < MOST_FILES && !found.contains(&path) && open(house, &path).is_ok() {
            found.push(path);
        }
    }
    found
}

/// A relative path without a step upward; `None` for an address and for anything else.
fn inside(said: &str) -> Option<String> {
    let mut path = said;
    while let Some(rest) = BEFORE.iter().find_map(|before| path.strip_prefix(before)) {
        path = rest;
    }
    let is_plain = !path.is_empty()
        && !path.contains("://")
        && !path.starts_with('#')
        && path.len() <= 500
        && Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    is_plain.then(|| path.to_owned())
}

/// Reads what goes with a message, at most `most` bytes.
pub fn read(house: &House, enclosed: &Enclosed, most: u64) -> Result<Outgoing> {
    match enclosed {
        Enclosed::Workspace(path) => {
            let (file, bytes) = open(house, path)?;
            ensure!(bytes <= most, "{path} has {bytes} bytes, and at most {most} can be sent here");
            let mut read = Vec::new();
            file.take(most + 1).read_to_end(&mut read).with_context(|| format!("failed to read {path}"))?;
            ensure!(read.len() as u64 <= most, "{path} grew beyond {most} bytes while it was read");
            let name = PathBuf::from(path).file_name().unwrap_or_default().to_string_lossy().into_owned();
            Ok(Outgoing { name: received::harmless(&name), bytes: read.into() })
        }
        Enclosed::Ask { id, digest } => {
            let (of, text) = exactly(house, id)?;
            ensure!(of == *digest, "what ask {id} would do has changed since");
            let bytes = text.into_bytes();
            ensure!(
                bytes.len() as u64 <= most,
                "ask {id} has {} bytes, and at most {most} can be sent here",
                bytes.len()
            );
            Ok(Outgoing { name: format!("ask-{}.txt", received::harmless(id)), bytes: bytes.into() })
        }
        Enclosed::Text { name, text } => {
            let bytes = text.len() as u64;
            ensure!(bytes <= most, "it has {bytes} bytes, and at most {most} can be sent here as a file");
            Ok(Outgoing { name: received::harmless(name), bytes: text.clone().into_bytes().into() })
        }
    }
}

/// The digest of an ask and its exact bytes.
pub fn exactly(house: &House, id: &str) -> Result<(String, String)> {
    let stored = asks::stored(house, id)?;
    let digest = house::records::text(&stored, "digest").to_owned();
    let act = stored.get("act").with_context(|| format!("what is stored of ask {id} holds no act"))?;
    Ok((digest, act.to_string()))
}

/// Opens a regular file of the workspace, and its length.
fn open(house: &House, path: &str) -> Result<(std::fs::File, u64)> {
    let root = files::open_folder(&house.workspace()).context("failed to open the workspace")?;
    let found = beneath(root.as_fd(), Path::new(path), OFlag::O_NOFOLLOW, ResolveFlag::RESOLVE_NO_XDEV);
    let found = found.with_context(|| format!("{path} cannot be opened in the workspace"))?;
    let at = PathBuf::from(format!("/proc/self/fd/{}", found.as_raw_fd()));
    // The handle leads to what was found, whatever has the name by now.
    let meta = std::fs::metadata(&at).with_context(|| format!("failed to look at {path}"))?;
    if !meta.is_file() {
        bail!("{path} is no regular file");
    }
    let file = files::open_owners(&at).with_context(|| format!("failed to read {path}"))?;
    Ok((file, meta.len()))
}
