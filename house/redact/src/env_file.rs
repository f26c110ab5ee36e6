//! The house's `.env`: its variables and their values, read as the broker and everything that strikes secrets takes them.

use anyhow::{Context, Result, anyhow, bail};
use house::House;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;

/// Most bytes of `.env` that are read.
const MOST_FILE_BYTES: u64 = 1 << 20;

/// The variables in `.env` in their order, one of two values twice; none if there is no such file. An error never quotes
/// the file.
// Opened here, for what is no file is told in words of its own.
#[allow(clippy::disallowed_methods)]
pub fn read(house: &House) -> Result<Vec<(String, String)>> {
    let mut text = String::new();
    // Opening a pipe would wait for a writer.
    match File::options().read(true).custom_flags(libc::O_NONBLOCK).open(house.secrets()) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(vec![]),
        Err(error) => return Err(error).context("failed to open .env"),
        Ok(file) => {
            use std::os::unix::fs::PermissionsExt;
            let meta = file.metadata().context("failed to look at .env")?;
            if !meta.is_file() {
                bail!(".env is no file; make it one with lines of NAME=value, or take it away");
            }
            let mode = meta.permissions().mode();
            if mode & 0o077 != 0 {
                tracing::warn!("others on this machine can read .env; mend it with: chmod 600 .env");
            }
            file.take(MOST_FILE_BYTES + 1).read_to_string(&mut text).context("failed to read .env")?;
        }
    }
    if text.len() as u64 > MOST_FILE_BYTES {
        bail!("failed to read .env: it is larger than {MOST_FILE_BYTES} bytes");
    }
    // Some editors put a byte-order mark before a text.
    let literal = literal(text.strip_prefix('\u{feff}').unwrap_or(&text));
    let pairs = dotenvy::from_read_iter(literal.as_bytes()).map(|pair| {
        pair.map_err(|error| match error {
            // The line may contain a secret, so only its number is told.
            dotenvy::Error::LineParse(line, _) => {
                // All of the line, or its value alone.
                let is_it = |found: &str| found.starts_with(&line) || found.ends_with(&line);
                let known = literal.lines().position(|found| !line.is_empty() && is_it(found.trim_end()));
                match known {
                    Some(at) => anyhow!(".env, line {}: not NAME=value; quote values with spaces", at + 1),
                    None => anyhow!(".env: a line is not NAME=value; quote values with spaces"),
                }
            }
            dotenvy::Error::Io(_) | dotenvy::Error::EnvVar(_) | _ => anyhow!("failed to read .env"),
        })
    });
    pairs.collect()
}

/// The text with every `$` escaped: passwords may contain it, and no other variable is to be inserted.
fn literal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut quote, mut before, mut comment, mut escaped) = (None, '\n', false, false);
    for c in text.chars() {
        match (c, quote) {
            ('\n', None) => comment = false,
            _ if comment => {}
            ('\\', None | Some('"')) if !escaped => {
                escaped = true;
                out.push(c);
                before = c;
                continue;
            }
            ('$', None | Some('"')) if !escaped => out.push('\\'),
            ('#', None) if before.is_whitespace() => comment = true,
            ('"' | '\'', None) if !escaped => quote = Some(c),
            ('"', Some('"')) if !escaped => quote = None,
            ('\'', Some('\'')) => quote = None,
            _ => {}
        }
        escaped = false;
        before = c;
        out.push(c);
    }
    out
}
