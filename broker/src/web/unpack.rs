//! Unpacks a page, whatever case its coding is named in, up to the limit; pure.
//!
//! Invariant: no more than the limit and one small step beyond it is ever held, whatever was packed.

use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use std::io::Write;

/// What is asked for; another coding that comes all the same is refused by its name.
pub const CODINGS: &str = "gzip, deflate";
/// Packed bytes that are unpacked at once: they become a thousand times as many at most.
const STEP: usize = 1 << 10;

/// A page so far.
pub struct Unpacked {
    coding: Coding,
    most: usize,
    is_cut: bool,
}

enum Coding {
    None(Vec<u8>),
    Gzip(MultiGzDecoder<Vec<u8>>),
    /// Which of the two it is (RFC 9110, 8.4.1.2) its first byte says.
    Deflate,
    Zlib(ZlibDecoder<Vec<u8>>),
    Raw(DeflateDecoder<Vec<u8>>),
}

impl Unpacked {
    /// Names of codings have no letter case, and `x-gzip` is gzip (RFC 9110, 8.4.1). Fails with a coding that nobody
    /// asked for.
    pub fn new(headers: &HeaderMap, most: usize) -> Result<Self, String> {
        let named =
            headers.get_all(CONTENT_ENCODING).iter().map(|value| String::from_utf8_lossy(value.as_bytes()));
        let named = named.collect::<Vec<_>>().join(",").to_lowercase();
        let names: Vec<&str> = named.split(',').map(str::trim).collect();
        let coded = names.into_iter().filter(|name| !matches!(*name, "" | "identity"));
        let coding = match coded.collect::<Vec<_>>()[..] {
            [] => Coding::None(Vec::new()),
            ["gzip" | "x-gzip"] => Coding::Gzip(MultiGzDecoder::new(Vec::new())),
            ["deflate"] => Coding::Deflate,
            _ => return Err(format!("the page is packed as {named:?}, which was not asked for ({CODINGS})")),
        };
        Ok(Self { coding, most, is_cut: false })
    }

    /// Adds packed bytes; returns whether it is full.
    pub fn push(&mut self, bytes: &[u8]) -> Result<bool, String> {
        for step in bytes.chunks(STEP) {
            if let (Coding::Deflate, Some(first)) = (&self.coding, step.first()) {
                // A zlib stream begins with its method, 8, in the low half (RFC 1950, 2.2).
                self.coding = match first & 0x0F {
                    8 => Coding::Zlib(ZlibDecoder::new(Vec::new())),
                    _ => Coding::Raw(DeflateDecoder::new(Vec::new())),
                };
            }
            let written = match &mut self.coding {
                Coding::None(bytes) => bytes.write_all(step),
                Coding::Gzip(decoder) => decoder.write_all(step),
                Coding::Zlib(decoder) => decoder.write_all(step),
                Coding::Raw(decoder) => decoder.write_all(step),
                Coding::Deflate => Ok(()),
            };
            written.map_err(|error| format!("the page cannot be unpacked: {error}"))?;
            if self.len() > self.most {
                self.is_cut = true;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Length so far.
    pub fn len(&self) -> usize {
        match &self.coding {
            Coding::None(bytes) => bytes.len(),
            Coding::Gzip(decoder) => decoder.get_ref().len(),
            Coding::Zlib(decoder) => decoder.get_ref().len(),
            Coding::Raw(decoder) => decoder.get_ref().len(),
            Coding::Deflate => 0,
        }
    }

    /// The page up to the limit, and whether it was cut there; what came of a page that ends early counts.
    pub fn finish(self) -> (Vec<u8>, bool) {
        let mut bytes = match self.coding {
            Coding::None(bytes) => bytes,
            Coding::Gzip(mut decoder) => std::mem::take(flushed(&mut decoder).get_mut()),
            Coding::Zlib(mut decoder) => std::mem::take(flushed(&mut decoder).get_mut()),
            Coding::Raw(mut decoder) => std::mem::take(flushed(&mut decoder).get_mut()),
            Coding::Deflate => Vec::new(),
        };
        let is_cut = self.is_cut || bytes.len() > self.most;
        bytes.truncate(self.most);
        (bytes, is_cut)
    }
}

/// The decoder, with all it can unpack unpacked.
fn flushed<D: Write>(decoder: &mut D) -> &mut D {
    let _ = decoder.flush();
    decoder
}
