//! Names of folders as people read them, from the modified UTF-7 that IMAP writes (RFC 3501, 5.1.3); pure.

use base64::Engine;
use base64::alphabet::IMAP_MUTF7;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD};

const BASE64: GeneralPurpose = GeneralPurpose::new(&IMAP_MUTF7, NO_PAD);

/// Reads a name; one that is not well written stays as it is.
pub fn read(written: &str) -> String {
    decoded(written).unwrap_or_else(|| written.to_owned())
}

fn decoded(written: &str) -> Option<String> {
    let (mut read, mut rest) = (String::new(), written);
    while let Some((before, after)) = rest.split_once('&') {
        let (coded, next) = after.split_once('-')?;
        read.push_str(before);
        if coded.is_empty() {
            read.push('&');
        } else {
            let bytes = BASE64.decode(coded).ok()?;
            let (pairs, []) = bytes.as_chunks::<2>() else { return None };
            let units: Vec<u16> = pairs.iter().map(|pair| u16::from_be_bytes(*pair)).collect();
            read.push_str(&String::from_utf16(&units).ok()?);
        }
        rest = next;
    }
    read.push_str(rest);
    Some(read)
}
