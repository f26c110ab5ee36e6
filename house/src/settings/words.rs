//! Words in settings: the known name closest to a mistyped one, and text that looks like a secret.

use crate::secret_beginnings;

/// Length from which on an unbroken word with digits is taken for a secret.
const LONGEST_WORD: usize = 24;
/// The same for a part between `_` and `-` that has letters of both cases.
const LONGEST_PART: usize = 16;
const LONGEST_SHOWN: usize = 40;
/// With more known names than this only the nearest is told, where there is one.
const MOST_LISTED: usize = 12;

/// True for text that looks like a key or a token.
pub fn looks_secret(text: &str) -> bool {
    let begins = |beginning: &str| text.len() >= beginning.len() + 8 && text.starts_with(beginning);
    secret_beginnings::of_settings().any(begins) || text.split(['/', ' ', ',', ':', '=']).any(is_random)
}

/// Long, with digits, and hardly a separator in it.
fn is_random(word: &str) -> bool {
    let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '_' | '-'));
    if word.len() < LONGEST_WORD || !plain || is_account(word) {
        return false;
    }
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let (upper, lower) =
        (word.chars().any(|c| c.is_ascii_uppercase()), word.chars().any(|c| c.is_ascii_lowercase()));
    let longest = word.split(['_', '-']).map(str::len).max().unwrap_or_default();
    digits >= 3 && (longest >= LONGEST_WORD || upper && lower && longest >= LONGEST_PART)
}

/// The address of an account on a chain, which rules for payments name: public, and shorter than any key of one.
fn is_account(word: &str) -> bool {
    let digits = word.strip_prefix("0x").unwrap_or_default();
    digits.len() == 40 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A name that may be printed; `None` where a secret may stand in the place of a name.
pub fn shown(name: &str) -> Option<&str> {
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
    (plain && !name.is_empty() && name.len() <= LONGEST_SHOWN && !looks_secret(name)).then_some(name)
}

/// A sentence with the name that was probably meant, and the known names.
pub fn suggest(word: &str, known: &[&str]) -> String {
    let all =
        if known.is_empty() { "there is none".to_owned() } else { format!("there is {}", known.join(", ")) };
    match nearest(word, known) {
        Some(nearest) if (2..=MOST_LISTED).contains(&known.len()) => format!("did you mean {nearest}? {all}"),
        Some(nearest) => format!("did you mean {nearest}?"),
        None => all,
    }
}

/// The known name that takes the fewest changes; `None` where even that one is too different.
pub fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let word: String = word.to_lowercase().chars().take(100).collect();
    let measured = known.iter().map(|name| (strsim::osa_distance(&word, &name.to_lowercase()), *name));
    let near = |(count, name): &(usize, &str)| {
        let part = word.len() > 2 && name.contains(&word) || name.len() > 2 && word.contains(name);
        let longest = name.len().max(word.len());
        // Of words that share no letter at all none is meant by the other.
        part || *count <= (longest / 2).max(1) && *count < longest
    };
    measured.filter(near).min_by_key(|(count, _)| *count).map(|(_, name)| name)
}
