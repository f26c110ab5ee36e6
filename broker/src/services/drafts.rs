//! Drafts: calls that a rule keeps for the owner instead of sending them, as files in `self/drafts/`.
//!
//! Invariant: the creature can write to that folder, so every part of the path is opened without following a link.

use crate::approvals::act::{Act, Call};
use crate::ground::clock::Clock;
use crate::services::posts::post::Post;
use anyhow::{Context, Result, bail};
use house::House;
use house::bounds::brief;
use nix::dir::Dir;
use nix::fcntl::{OFlag, open, openat};
use nix::sys::stat::{Mode, mkdirat};
use serde_json::Value;
use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;

/// Most drafts kept: nobody reads more.
const MOST_DRAFTS: usize = 1_000;
const MOST_NAME_CHARS: usize = 48;

/// Keeps a call as a draft; returns its path.
pub fn keep(house: &House, clock: &Clock, act: &Act, call: &Call) -> Result<String> {
    let folder = folder(house)?;
    let name = format!("{}-{}.md", clock.now().strftime("%Y%m%dT%H%M%S.%3fZ"), slug(&words(act, call)));
    let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let file = openat(&folder, name.as_str(), flags, Mode::from_bits_truncate(0o644))
        .with_context(|| format!("failed to create self/drafts/{name}"))?;
    let mut file = File::from(file);
    let written = file.write_all(text(clock, act, call).as_bytes()).and_then(|()| file.sync_all());
    written.with_context(|| format!("failed to write self/drafts/{name}"))?;
    Ok(format!("self/drafts/{name}"))
}

fn folder(house: &House) -> Result<OwnedFd> {
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let mut folder = open(house.root(), flags, Mode::empty()).context("failed to open the house")?;
    for name in ["self", "drafts"] {
        // The folder may exist already.
        let _ = mkdirat(&folder, name, Mode::from_bits_truncate(0o755));
        folder = openat(&folder, name, flags | OFlag::O_NOFOLLOW, Mode::empty()).with_context(|| {
            format!("failed to open {name} on the way to self/drafts; it must be a folder")
        })?;
    }
    let again = folder.try_clone().context("failed to look into self/drafts")?;
    let mut dir = Dir::from_fd(again).context("failed to look into self/drafts")?;
    if dir.iter().take(MOST_DRAFTS + 3).count() >= MOST_DRAFTS + 2 {
        bail!("self/drafts/ holds {MOST_DRAFTS} files; the owner has to look through them first");
    }
    Ok(folder)
}

fn text(clock: &Clock, act: &Act, call: &Call) -> String {
    let json = serde_json::from_str::<Value>(&call.body).unwrap_or_default();
    let named =
        [("reply_to", "/reply/in_reply_to_tweet_id"), ("reply_to", "/in_reply_to"), ("quote", "/quote")];
    let reply = named.iter().filter_map(|(name, place)| Some((name, json.pointer(place)?.as_str()?)));
    let reply: String = reply.map(|(name, to)| format!("{name}: {}\n", one_line(to))).collect();
    format!(
        "---\nfor: {}\nat: {}\nmethod: {}\npath: {}\n{reply}---\n\n{}\n",
        one_line(&call.service),
        clock.stamp(),
        call.method,
        one_line(&call.url),
        words(act, call)
    )
}

/// Returns the words for a reader: the texts of a post and its pictures by their digests, else the whole body.
fn words(act: &Act, call: &Call) -> String {
    if let (Act::Post(_), Ok(post)) = (act, serde_json::from_str::<Post>(&call.body)) {
        return post.words();
    }
    let json = serde_json::from_str::<Value>(&call.body).ok();
    let text = json.as_ref().and_then(|json| json.get("text")).and_then(Value::as_str);
    let only = json
        .as_ref()
        .and_then(Value::as_object)
        .is_some_and(|fields| fields.keys().all(|name| matches!(name.as_str(), "text" | "reply")));
    match (text, only, &json) {
        (Some(text), true, _) => text.to_owned(),
        (_, _, Some(json)) => serde_json::to_string_pretty(json).unwrap_or_else(|_| call.body.clone()),
        (_, _, None) => call.body.clone(),
    }
}

fn one_line(text: &str) -> String {
    brief(&text.split_whitespace().collect::<Vec<_>>().join(" "), 400)
}

/// The first words of a text, for a file name.
fn slug(text: &str) -> String {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let slug = words.take(6).collect::<Vec<_>>().join("-").to_ascii_lowercase();
    let slug: String = slug.chars().take(MOST_NAME_CHARS).collect();
    if slug.is_empty() { "draft".to_owned() } else { slug }
}
