//! Secrets by their look: keys, tokens, cards and logins, told apart from paths, refs, times and numbers.
//!
//! Invariant: in doubt a long word is hidden rather than a key shown; but paths, refs, times and numbers stay.

pub(super) const HIDDEN: &str = "[hidden]";

/// Beginnings of keys of well-known services.
const PREFIXES: &str = "sk- sk_ pk_live_ rk_live_ ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- xoxa- xoxb- \
    xoxp- xapp- AKIA ASIA AIza ya29. eyJ hf_ npm_ pypi- SG. dop_v1_ AGE-SECRET-KEY- whsec_";

/// Characters that follow such a beginning at least.
const SHORTEST: usize = 8;

/// The longest private key, its first and last line included, in bytes.
const LONGEST_BLOCK: usize = 16_384;

/// Words before the hash of a commit, which looks like a key and is none.
pub(super) const COMMITS: [&str; 8] =
    ["commit", "commits", "head", "parent", "ref", "rescued", "revision", "tree"];

pub(super) fn is_commit(word: &str) -> bool {
    let name = word.trim_matches(|c: char| !c.is_alphanumeric());
    name.len() == 40 && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Whether a word is such a label with its hash: `"commit":"…"`.
pub(super) fn names_commit(word: &str) -> bool {
    let named = word.split_once([':', '=']);
    let bare = |name: &str| name.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    named.is_some_and(|(name, value)| COMMITS.contains(&&*bare(name)) && is_commit(value))
}

/// Whether a run is the address of an account on a chain: public, and what one pays to. A key of one has 64 digits.
pub(super) fn is_account(run: &str) -> bool {
    let digits = run.trim_end_matches(['.', '-']).strip_prefix("0x").unwrap_or_default();
    digits.len() == 40 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether a run is a path, a ref, a date or a name of several words: each part is a word, a number or a time.
pub(super) fn is_path(run: &str) -> bool {
    run.split(['/', '.', '-', '_']).all(|part| is_part(part) || (run.starts_with("refs/") && is_commit(part)))
}

fn is_part(part: &str) -> bool {
    let all = |text: &str, is: fn(&u8) -> bool| text.bytes().all(|byte| is(&byte));
    let number = part.trim_start_matches(|c: char| c.is_ascii_lowercase());
    let word = part.get(1..).is_some_and(|rest| all(rest, u8::is_ascii_lowercase))
        && all(part, u8::is_ascii_alphabetic);
    let time =
        part.trim_end_matches('Z').split('T').all(|time| time.len() <= 8 && all(time, u8::is_ascii_digit));
    let counted = number.len() <= 6 && all(number, u8::is_ascii_digit) && part.len() <= 12;
    part.len() < 32 && (part.is_empty() || word || time || counted || all(part, u8::is_ascii_uppercase))
        || part.len() <= 12 && all(part, u8::is_ascii_digit)
}

/// Whether a number is a payment card's: it has a valid check digit, and does not begin as clocks and counters do.
fn is_card(number: &str) -> bool {
    let digits: Vec<u32> = number.chars().rev().map_while(|c| c.to_digit(10)).collect();
    let sum: u32 = digits
        .iter()
        .zip([1, 2].iter().cycle())
        .map(|(digit, times)| digit * times / 10 + digit * times % 10)
        .sum();
    digits.len() == number.len()
        && (13..=19).contains(&digits.len())
        && number.starts_with(['2', '3', '4', '5', '6'])
        && sum.is_multiple_of(10)
}

/// The text with private keys hidden, from their `-----BEGIN` line to their `-----END` line.
pub(super) fn without_blocks(text: &str) -> String {
    let (mut rest, mut kept) = (text, String::new());
    while let Some(at) = rest.find("-----BEGIN") {
        kept += rest.get(..at).unwrap_or_default();
        let inner = rest.get(at..).unwrap_or_default();
        let (begins, after) = inner.split_at("-----BEGIN".len());
        let titled = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == ' ';
        if !after.trim_start_matches(titled).starts_with("-----") {
            kept += begins;
            rest = after;
            continue;
        }
        kept += HIDDEN;
        let end = inner.find("-----END").filter(|end| *end <= LONGEST_BLOCK).and_then(|end| {
            let after = end + "-----END".len();
            inner.get(after..)?.find("-----").map(|dashes| after + dashes + "-----".len())
        });
        rest = match end {
            Some(end) => inner.get(end..).unwrap_or_default(),
            None => without_body(after.trim_start_matches(titled).trim_start_matches('-')),
        };
    }
    kept + rest
}

/// The text behind the first line of a key without an end: the lines of the key go, what follows them stays.
fn without_body(text: &str) -> &str {
    let mut rest = text;
    loop {
        let line = rest.trim_start();
        let line = line.strip_prefix("\\n").unwrap_or(line);
        let after = line.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || "+/=".contains(c));
        if line.len() - after.len() < SHORTEST {
            return rest;
        }
        rest = after;
    }
}

/// An address without the name and password in it.
pub(super) fn without_login(word: &str) -> String {
    let Some((scheme, rest)) = word.split_once("://") else { return word.to_owned() };
    let host = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest.get(..host).and_then(|host| host.rfind('@')) {
        Some(at) => format!("{scheme}://{HIDDEN}{}", rest.get(at..).unwrap_or_default()),
        None => word.to_owned(),
    }
}

/// The run of letters, hidden from where it begins to look like a key.
pub(super) fn key(run: &str) -> String {
    // Most words return here: every thought waits until all its words are checked.
    if run.len() <= SHORTEST {
        return run.to_owned();
    }
    let begins = |(at, _): &(usize, char)| {
        let (before, rest) = run.split_at(*at);
        let apart = !before.ends_with(|c: char| c.is_ascii_alphanumeric());
        let known = |prefix: &str| rest.starts_with(prefix) && rest.len() >= prefix.len() + SHORTEST;
        apart && PREFIXES.split(' ').any(known)
    };
    if let Some((at, _)) = run.char_indices().find(begins) {
        return format!("{}{HIDDEN}", run.get(..at).unwrap_or_default());
    }
    let long = |part: &str| {
        let any = |is: fn(&char) -> bool| part.chars().any(|c| is(&c));
        let mixed =
            any(char::is_ascii_digit) && any(char::is_ascii_lowercase) && any(char::is_ascii_uppercase);
        let hex = part.len() >= 32 && part.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
        part.len() >= 20 && mixed || hex || is_card(part)
    };
    let solid = |part: &str| part.len() >= 32 && part.chars().any(|c| c.is_ascii_digit());
    let looks = run.split('.').any(long) || run.split(|c: char| !c.is_ascii_alphanumeric()).any(solid);
    let is_key = looks && (is_card(run) || !is_path(run));
    if is_key { HIDDEN.to_owned() } else { run.to_owned() }
}
