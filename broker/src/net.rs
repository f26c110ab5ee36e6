//! The network: clients and tunnels for outward calls, certificates, name resolution, and answers read within bounds.

pub mod destination;
pub mod outward;
pub mod passing;
pub mod resolve;
pub mod tls;
pub mod tunnel;

use reqwest::{Error, Response};
use std::iter::successors;

/// Adds the body to `bytes`, as far as `most` bytes of it; returns whether it is longer.
pub async fn read_most(answer: &mut Response, most: usize, bytes: &mut Vec<u8>) -> Result<bool, Error> {
    while let Some(piece) = answer.chunk().await? {
        let room = most.saturating_sub(bytes.len());
        bytes.extend_from_slice(piece.get(..room).unwrap_or(&piece));
        if piece.len() > room {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The causes of an error, the innermost last; none of them holds the address, in which a password may be.
pub fn causes(error: &Error) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
    successors(std::error::Error::source(error), |cause| cause.source())
}

/// The causes of an error in a line.
pub fn told(error: &Error) -> String {
    let mut words: Vec<String> = causes(error).map(ToString::to_string).collect();
    words.dedup();
    words.join(": ")
}
