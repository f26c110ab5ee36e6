//! Names of files in the headers of a patch: quoted as git quotes them, with or without a prefix and a time stamp. Pure.

/// Prefixes that git puts before names: `a/` and `b/`, those of `diff.mnemonicPrefix`, those of `--no-index`.
/// Source: git-config(1), diff.mnemonicPrefix.
const PREFIXES: [&str; 8] = ["a/", "b/", "c/", "i/", "o/", "w/", "1/", "2/"];

/// The name in a `---` or `+++` line; none for `/dev/null`. An error says why it cannot be read.
pub fn of_side(raw: &str) -> Result<Option<String>, String> {
    let raw = raw.trim();
    let name = match raw.starts_with('"') {
        true => unquoted(raw)?.0,
        false => raw.split('\t').next().unwrap_or(raw).trim().to_owned(),
    };
    Ok((name != "/dev/null").then(|| bare(&name)))
}

/// A name without prefix, as in `rename from`, `*** Update File:`.
pub fn alone(raw: &str) -> Result<String, String> {
    let raw = raw.trim();
    if raw.starts_with('"') { unquoted(raw).map(|(name, _)| name) } else { Ok(raw.to_owned()) }
}

/// Both names of a `diff --git` line; none where spaces leave it open where the first ends.
pub fn of_both(raw: &str) -> Result<Option<(String, String)>, String> {
    let raw = raw.trim();
    if raw.starts_with('"') {
        let (old, rest) = unquoted(raw)?;
        return Ok(Some((bare(&old), bare(&alone(rest)?))));
    }
    if let Some((old, new)) = raw.split_once(" \"") {
        return Ok(Some((bare(old), bare(&unquoted(&format!("\"{new}"))?.0))));
    }
    let splits = raw.match_indices(' ').map(|(at, _)| raw.split_at(at));
    let pairs = splits.map(|(old, new)| (bare(old), bare(new.trim_start())));
    let same = pairs.into_iter().find(|(old, new)| old == new);
    Ok(same.or_else(|| raw.split_once(" b/").map(|(old, new)| (bare(old), new.to_owned()))))
}

fn bare(name: &str) -> String {
    let stripped = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix));
    stripped.unwrap_or(name).to_owned()
}

/// The name between quotes, its escapes read as C has them, and what follows it.
/// Source: git-config(1), core.quotePath, and git's quote.c.
fn unquoted(raw: &str) -> Result<(String, &str), String> {
    let broken = || format!("the quoted name {raw} cannot be read");
    let mut bytes = Vec::new();
    let mut chars = raw.char_indices().skip(1);
    while let Some((at, char)) = chars.next() {
        let byte = match char {
            '"' => {
                let name = String::from_utf8(bytes).map_err(|_| format!("the name {raw} is not UTF-8"))?;
                return Ok((name, raw.get(at + 1..).unwrap_or_default()));
            }
            '\\' => match chars.next().ok_or_else(broken)?.1 {
                'a' => 7,
                'b' => 8,
                't' => b'\t',
                'n' => b'\n',
                'v' => 11,
                'f' => 12,
                'r' => b'\r',
                quoted @ ('"' | '\\') => quoted as u8,
                '0'..='7' => {
                    let digits = raw.get(at + 1..at + 4).ok_or_else(broken)?;
                    let _ = (chars.next(), chars.next());
                    u8::from_str_radix(digits, 8).map_err(|_| broken())?
                }
                _ => return Err(broken()),
            },
            plain => {
                bytes.extend(plain.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
        };
        bytes.push(byte);
    }
    Err(broken())
}
