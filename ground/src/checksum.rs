//! SHA-256 of bytes and of files, in hexadecimal digits.

use crate::printable::hex;
use anyhow::Result;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::Read;

/// SHA-256, hexadecimal.
pub fn checksum(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// SHA-256 of all that a file holds, hexadecimal.
pub fn checksum_of(mut file: File) -> Result<String> {
    let (mut hasher, mut buffer) = (Sha256::new(), vec![0_u8; 64 << 10]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex(&hasher.finalize())),
            read => hasher.update(buffer.get(..read).unwrap_or_default()),
        }
    }
}
