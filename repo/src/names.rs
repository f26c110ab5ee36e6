//! File names that git refuses in a tree, index or checkout, because git or some file system gives them a special meaning.
//!
//! The rules are those of git's own checks (`is_ntfs_dotgit`, `is_hfs_dotgit` and the like), applied on every system.

/// Whether git accepts this name in trees, indexes and checkouts.
pub fn git_takes(name: &[u8]) -> bool {
    let is_own = |part: &[u8]| matches!(without_stream(part).as_slice(), b".git" | b"git~1");
    // Windows takes a backslash for a separator, so each part counts as a name.
    let own = name.split(|letter| *letter == b'\\').any(is_own) || is_on_mac(name, ".git");
    !own && !is_known_as(name, "gitmodules", "gi7eba")
}

/// Whether git would read the file as `.gitattributes`, rules on how to write files.
pub fn is_attributes(name: &[u8]) -> bool {
    is_known_as(name, "gitattributes", "gi7d29")
}

/// Whether a name means `.long` on some file system: exactly, or by NTFS's short name for it.
fn is_known_as(name: &[u8], long: &str, short: &str) -> bool {
    let plain = without_stream(name);
    let Some(rest) = plain.strip_prefix(b".") else {
        return is_shortened(&plain, long, short) || is_on_mac(name, &format!(".{long}"));
    };
    rest == long.as_bytes() || is_on_mac(name, &format!(".{long}"))
}

/// An NTFS short name: six letters of `long` and `~1` to `~4`; or a part of `short`, `~` and a number, eight letters
/// in all.
fn is_shortened(plain: &[u8], long: &str, short: &str) -> bool {
    let Some(at) = plain.iter().position(|letter| *letter == b'~') else { return false };
    let (head, number) = plain.split_at(at);
    let number = number.get(1..).unwrap_or_default();
    let numbered = number.first().is_some_and(|first| (b'1'..=b'9').contains(first))
        && number.iter().all(u8::is_ascii_digit);
    let usual = head.len() == 6 && long.as_bytes().starts_with(head) && number <= b"4".as_slice();
    plain.len() == 8 && numbered && (usual || short.as_bytes().starts_with(head))
}

/// The name in lower case as Windows reads it: without trailing spaces and dots, and without a colon and what
/// follows.
fn without_stream(name: &[u8]) -> Vec<u8> {
    let name = name.split(|letter| *letter == b':').next().unwrap_or_default();
    let end = name.iter().rposition(|letter| !matches!(letter, b'.' | b' ')).map_or(0, |at| at + 1);
    name.get(..end).unwrap_or_default().to_ascii_lowercase()
}

/// Whether macOS reads the name as `own`: it ignores invisible letters and everything after invalid text.
fn is_on_mac(name: &[u8], own: &str) -> bool {
    let unseen = |letter: &char| matches!(u32::from(*letter), 0x200C..=0x200F | 0x202A..=0x202E | 0x206A..=0x206F | 0xFEFF);
    let text = name.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    let letters = text.chars().take_while(|letter| !matches!(letter, '\u{FFFE}' | '\u{FFFF}'));
    letters.filter(|letter| !unseen(letter)).collect::<String>().eq_ignore_ascii_case(own)
}
