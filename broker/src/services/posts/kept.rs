//! Pictures of posts, kept by their digest from the request to the sending, which may wait for the owner.
//!
//! Invariant: bytes are sent only if they have the digest that was approved.

use super::post::Picture;
use crate::approvals::asks::Asks;
use crate::ground::files;
use crate::ground::refusal::Unfit;
use house::House;
use house::printable::hex;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// Bytes of all pictures that are kept.
const MOST_BYTES: u64 = 256 << 20;
/// A picture that no ask names goes after so long.
const LONGEST: Duration = Duration::from_secs(3_600);
const ENDING: &str = "picture";

/// The folder of posts under way.
pub fn folder(house: &House) -> PathBuf {
    house.broker().join("posts")
}

fn place(house: &House, picture: &Picture) -> PathBuf {
    folder(house).join(format!("{}.{ENDING}", picture.sha256))
}

/// Keeps a picture's bytes.
pub fn keep(house: &House, asks: &Asks, picture: &Picture, bytes: &[u8]) -> Result<(), Unfit> {
    let unkept = |error: anyhow::Error| {
        tracing::error!("a picture is not kept: {error:#}");
        Unfit::new(
            "the picture could not be kept, so nothing was posted",
            "is the disk full? try again later",
        )
    };
    fs::create_dir_all(folder(house)).map_err(|error| unkept(error.into()))?;
    if swept(house, asks) + bytes.len() as u64 > MOST_BYTES {
        let error = format!("the pictures of posts that wait have more than {MOST_BYTES} bytes");
        return Err(Unfit::new(error, "the owner has to answer what waits first; others go within an hour"));
    }
    files::replace_secret(&place(house, picture), bytes).map_err(unkept)
}

/// The bytes that were approved.
pub fn bytes(house: &House, picture: &Picture) -> Result<Vec<u8>, Unfit> {
    let read = house::files::read_most(&place(house, picture), picture.bytes as u64).ok().flatten();
    read.filter(|bytes| hex(&Sha256::digest(bytes)) == picture.sha256).ok_or_else(|| {
        let error = format!("the picture {:?} is not kept any more as it was asked for", picture.name);
        Unfit::new(error, "ask for the post anew")
    })
}

/// Bytes that are kept, once what nobody needs is gone.
fn swept(house: &House, asks: &Asks) -> u64 {
    let mut sum = 0;
    for entry in fs::read_dir(folder(house)).into_iter().flatten().flatten() {
        let (path, Ok(found)) = (entry.path(), entry.metadata()) else { continue };
        let is_old = found.modified().ok().and_then(|at| at.elapsed().ok()).is_some_and(|age| age > LONGEST);
        let digest = path.file_stem().unwrap_or_default().to_string_lossy();
        let is_needed = || asks.any_open(|act| act.call().is_some_and(|call| call.body.contains(&*digest)));
        let is_state = path.extension().is_some_and(|ending| ending == "json");
        if is_state || !is_old || is_needed() || fs::remove_file(&path).is_err() {
            sum += found.len();
        }
    }
    sum
}
