//! Judges a look at a watch: nothing, something to tell as old → new, or that it cannot be told. Pure.
//!
//! Invariant: a look that cannot be read changes nothing that is known; the same change is told once.

use super::number::number;
use ground::text::{keep_last, one_line, shorten};
use mind::conversation::fingerprint;
use regex::Regex;
use serde::{Deserialize, Serialize};

/// Characters of a text that is kept to be compared, and of a value that is told.
const MOST_KEPT: usize = 8_000;
const MOST_TOLD: usize = 160;

/// Keys of a feed's items that are remembered.
const MOST_KEYS: usize = 600;

/// Condition on which a watch tells.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// Its value is another one; of a feed, an item is new.
    #[default]
    Changed,
    Appears,
    Disappears,
    Below(f64),
    Above(f64),
}

impl Condition {
    /// Reads `changed`, `appears`, `disappears`, `below 40`, `above 3.5`; some words more mean the same.
    pub fn read(said: &str) -> Option<Self> {
        let said = said.trim().to_lowercase();
        let of = |words: &[&str]| words.iter().find_map(|word| number(said.strip_prefix(word)?));
        match said.as_str() {
            "" | "changed" | "changes" | "new" => Some(Condition::Changed),
            "appears" | "found" => Some(Condition::Appears),
            "disappears" | "gone" => Some(Condition::Disappears),
            _ => of(&["number below", "below", "under", "<"])
                .map(Condition::Below)
                .or_else(|| of(&["number above", "above", "over", ">"]).map(Condition::Above)),
        }
    }

    pub fn name(&self) -> String {
        match self {
            Condition::Changed => "changed".to_owned(),
            Condition::Appears => "appears".to_owned(),
            Condition::Disappears => "disappears".to_owned(),
            Condition::Below(most) => format!("is below {most}"),
            Condition::Above(least) => format!("is above {least}"),
        }
    }
}

/// State of a watch as its looks have left it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Seen {
    /// The value as it was told or first seen.
    pub value: Option<String>,
    /// Whether the condition held.
    pub holds: Option<bool>,
    /// A mark of a state that is believed once a second look finds the same.
    pub unsure: String,
    /// Marks of a feed's items.
    pub keys: Vec<String>,
    /// Something is to be told that had to wait.
    pub waits: bool,
}

/// Verdict on a look.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    Nothing,
    /// Look again soon: what was seen is told if it stays so.
    Unsure,
    Tell {
        old: String,
        new: String,
    },
    /// The value is not there to be read.
    Unreadable(String),
}

/// Judges a text that was looked at; `seen` is brought up to date but for what `may_tell` holds back.
pub fn judge(when: &Condition, find: Option<&Regex>, text: &str, seen: &mut Seen, may_tell: bool) -> Verdict {
    if text.trim().is_empty() {
        return Verdict::Unreadable("it is empty".to_owned());
    }
    let value = value(find, text);
    match when {
        Condition::Changed => changed(find.is_some(), value, seen, may_tell),
        Condition::Appears => held(value.is_some(), value, seen, may_tell, true),
        Condition::Disappears => {
            let gone = value.is_none();
            if gone && seen.holds == Some(false) && seen.unsure.is_empty() {
                seen.unsure = "gone".to_owned();
                return Verdict::Unsure;
            }
            let known = if gone { seen.value.clone() } else { value };
            held(gone, known, seen, may_tell, false)
        }
        Condition::Below(_) | Condition::Above(_) => {
            let Some(found) = value.as_deref().and_then(number) else {
                return Verdict::Unreadable("no number is found in it".to_owned());
            };
            let holds = match when {
                Condition::Below(most) => found < *most,
                Condition::Above(least) => found > *least,
                _ => false,
            };
            held(holds, value, seen, may_tell, true)
        }
    }
}

/// Judges a value that is to differ from the one that was told.
fn changed(exact: bool, value: Option<String>, seen: &mut Seen, may_tell: bool) -> Verdict {
    let Some(new) = value else {
        return Verdict::Unreadable("what is looked for is not found in it".to_owned());
    };
    let Some(old) = seen.value.clone() else {
        seen.value = Some(new);
        return Verdict::Nothing;
    };
    if old == new {
        seen.unsure.clear();
        seen.waits = false;
        return Verdict::Nothing;
    }
    let mark = fingerprint(&[&new]);
    // A whole page that is another one for a moment may be an error that looks like a page.
    if !exact && seen.unsure != mark {
        seen.unsure = mark;
        return Verdict::Unsure;
    }
    if !may_tell {
        seen.waits = true;
        return Verdict::Nothing;
    }
    let (old, told) = if exact { (old, new.clone()) } else { difference(&old, &new) };
    *seen = Seen { value: Some(new), ..Seen::default() };
    Verdict::Tell { old: brief(&old), new: brief(&told) }
}

/// Judges a condition that is to begin to hold; `at_first`: it is also told where it holds at the first look.
fn held(holds: bool, value: Option<String>, seen: &mut Seen, may_tell: bool, at_first: bool) -> Verdict {
    seen.unsure.clear();
    let before = seen.holds;
    let begins = holds && (before == Some(false) || (at_first && before.is_none()));
    if begins && !may_tell {
        seen.waits = true;
        return Verdict::Nothing;
    }
    let old = std::mem::replace(&mut seen.value, value.clone()).or(value.clone());
    (seen.holds, seen.waits) = (Some(holds), false);
    if !begins {
        return Verdict::Nothing;
    }
    let name = |value: Option<String>| value.map_or("nothing".to_owned(), |value| brief(&value));
    let (old, new) = match (before, at_first) {
        (None, _) => (String::new(), name(value)),
        (Some(_), true) if old == value => ("nothing".to_owned(), name(value)),
        (Some(_), true) => (name(old), name(value)),
        (Some(_), false) => (name(old), "nothing".to_owned()),
    };
    Verdict::Tell { old, new }
}

/// Judges the items of a feed, each its mark and its words; tells those that are new and match.
pub fn items(find: Option<&Regex>, items: &[(String, String)], seen: &mut Seen, may_tell: bool) -> Verdict {
    // A feed may be empty when it is first looked at.
    let first = seen.keys.is_empty() && seen.holds.is_none();
    let is_new = |(key, _): &&(String, String)| !seen.keys.contains(key);
    let new: Vec<&(String, String)> = items.iter().filter(is_new).collect();
    let told: Vec<&str> = new
        .iter()
        .map(|(_, words)| words.as_str())
        .filter(|words| find.is_none_or(|find| find.is_match(words)))
        .collect();
    if !first && !told.is_empty() && !may_tell {
        seen.waits = true;
        return Verdict::Nothing;
    }
    let text = told.iter().take(5).map(|words| brief(words)).collect::<Vec<_>>().join("; ");
    let more = told.len().saturating_sub(5);
    let told_now = !first && !told.is_empty();
    let keys: Vec<String> = new.iter().map(|(key, _)| key.clone()).collect();
    seen.keys.extend(keys);
    keep_last(&mut seen.keys, MOST_KEYS.max(items.len()));
    (seen.holds, seen.waits) = (Some(true), false);
    if !told_now {
        return Verdict::Nothing;
    }
    let new = if more > 0 { format!("{text}; and {more} more") } else { text };
    Verdict::Tell { old: String::new(), new }
}

fn value(find: Option<&Regex>, text: &str) -> Option<String> {
    let Some(find) = find else {
        let plain =
            text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
        return Some(plain.chars().take(MOST_KEPT).collect());
    };
    let found = find.captures(text)?;
    let value = found.get(1).or_else(|| found.get(0))?.as_str();
    let value = one_line(value);
    Some(value.chars().take(MOST_KEPT).collect())
}

/// The first line of each that the other has not.
fn difference(old: &str, new: &str) -> (String, String) {
    let other = |from: &str, to: &str| {
        let known: Vec<&str> = to.lines().collect();
        from.lines().find(|line| !known.contains(line)).unwrap_or_default().to_owned()
    };
    (other(old, new), other(new, old))
}

/// A value on one line, short enough to be told.
pub(super) fn brief(value: &str) -> String {
    shorten(&one_line(value), MOST_TOLD)
}
