//! Names of folders as IMAP writes them, a modified UTF-7 (RFC 3501, 5.1.3), and as people do; pure.

use base64::Engine;
use base64::alphabet::IMAP_MUTF7;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD};

const BASE64: GeneralPurpose = GeneralPurpose::new(&IMAP_MUTF7, NO_PAD);

/// A name as people read it; one that is not well written stays as it is.
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

/// A name as IMAP writes it.
pub fn written(name: &str) -> String {
    let (mut out, mut coded) = (String::new(), Vec::new());
    let flush = |out: &mut String, coded: &mut Vec<u8>| {
        if !coded.is_empty() {
            out.push_str(&format!("&{}-", BASE64.encode(&coded)));
            coded.clear();
        }
    };
    for letter in name.chars() {
        if matches!(letter, ' '..='~') {
            flush(&mut out, &mut coded);
            out.push(letter);
            if letter == '&' {
                out.push('-');
            }
        } else {
            let mut units = [0; 2];
            coded.extend(letter.encode_utf16(&mut units).iter().flat_map(|unit| unit.to_be_bytes()));
        }
    }
    flush(&mut out, &mut coded);
    out
}
