//! Bodies that the client did not unpack, since their coding is named otherwise than `gzip`. Pure.

use crate::ground::refusal::Refusal;
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use std::io::Read;

/// Codings asked for; another coding that comes all the same is refused by its name.
pub const CODINGS: &str = "gzip, deflate";

/// The body behind its codings, at most `most` bytes of it, and whether it is longer; refused by the coding's name.
/// Source: RFC 9110, 8.4.1: names have no case, `x-gzip` is `gzip`, and the last one was put on last.
pub fn unpacked(codings: &str, packed: Vec<u8>, most: usize) -> Result<(Vec<u8>, bool), Refusal> {
    let (mut bytes, mut cut) = (packed, false);
    for coding in codings.split(',').rev() {
        let coding = coding.trim().to_ascii_lowercase();
        let (whole, longer) = match coding.as_str() {
            "" | "identity" => continue,
            "gzip" | "x-gzip" => at_most(MultiGzDecoder::new(bytes.as_slice()), most),
            // Some servers mean zlib by it, as the standard does, others what is inside.
            "deflate" if bytes.first().is_some_and(|first| first & 15 == 8) => {
                at_most(ZlibDecoder::new(bytes.as_slice()), most)
            }
            "deflate" => at_most(DeflateDecoder::new(bytes.as_slice()), most),
            other => return Err(refused(other)),
        };
        if whole.is_empty() && !bytes.is_empty() {
            return Err(refused(&coding));
        }
        (bytes, cut) = (whole, cut || longer);
    }
    Ok((bytes, cut))
}

/// Reads as much as can be read; a body that was cut off ends where it was cut.
fn at_most(reader: impl Read, most: usize) -> (Vec<u8>, bool) {
    let mut bytes = Vec::new();
    // What was unpacked before an error is in `bytes`.
    let ended = reader.take(most as u64 + 1).read_to_end(&mut bytes).is_ok();
    let longer = bytes.len() > most;
    bytes.truncate(most);
    (bytes, longer || !ended)
}

fn refused(coding: &str) -> Refusal {
    let coding: String = coding.chars().take(40).collect();
    let message = format!("the page is packed as `{coding}`, which cannot be unpacked");
    let hint = "the site packs what was not asked for; try another address";
    Refusal::new(502, "unreadable_coding", message, hint)
}
