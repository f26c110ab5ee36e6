//! `owner.toml`, strictly: the guardian's sections, the creature's, and the names of all the others.
//!
//! Invariant: a mistake anywhere in it is an error that names file, line, key and the nearest valid name, never a default.
//! What stands in the broker's sections is the broker's to judge: `broker --check`.

use crate::limits::Limits;
use anyhow::{Context, Result};
use house::{House, files};
use serde::Deserialize;
use serde::de::{Error, IgnoredAny};
use std::collections::BTreeMap;
use std::path::PathBuf;
use walls::Choice;

/// What the owner wants, as far as it concerns the guardian.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    pub limits: Limits,
    pub walls: Choice,
    pub sandbox: Sandbox,
}

/// `[sandbox]`: what the owner adds to the walls' rules.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sandbox {
    /// Folders the creature may read and run from, beyond the house and the system; absolute.
    #[serde(deserialize_with = "absolute")]
    pub read: Vec<PathBuf>,
}

/// The whole file. Sections of others are here so that their names are known.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[allow(dead_code)]
struct Whole {
    limits: Limits,
    walls: Choice,
    sandbox: Sandbox,
    taint: Taint,
    rest: Rest,
    self_edit: SelfEdit,
    agenda: Agenda,
    sessions: Sessions,
    dream: Dream,
    files: FilesOfTools,
    permissions: BTreeMap<String, Permission>,
    model: IgnoredAny,
    budget: IgnoredAny,
    autonomy: IgnoredAny,
    prices: IgnoredAny,
    services: IgnoredAny,
    janee: IgnoredAny,
    web: IgnoredAny,
    search: IgnoredAny,
    x: IgnoredAny,
}

/// The broker's, as a word at the top.
#[derive(Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Taint {
    #[default]
    Ask,
    Allow,
}

/// The creature's; what is out of bounds it takes to the nearest bound by itself.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[allow(dead_code)]
struct Rest {
    shortest_s: u64,
    longest_s: u64,
    quiet_s: u64,
}

/// The creature's, as `Rest`: only a word it does not know is a mistake.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[allow(dead_code)]
struct Agenda {
    order: Vec<Category>,
    #[serde(deserialize_with = "dollars")]
    ask_above_usd: f64,
    #[serde(deserialize_with = "dollars")]
    goal_cost_usd: f64,
    messages_per_hour: u32,
    #[serde(deserialize_with = "zone")]
    time_zone: String,
    rounds: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Category {
    Goals,
    Opportunities,
    Tasks,
    Gaps,
    Presence,
    Knowledge,
    Scanning,
}

/// The creature's, as `Rest`.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[allow(dead_code)]
struct Sessions {
    at_once: u32,
}

/// The creature's.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[allow(dead_code)]
struct Dream {
    #[serde(deserialize_with = "time_of_day")]
    at: String,
    model: String,
}

/// The creature's, `[files]`.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[allow(dead_code)]
struct FilesOfTools {
    risky: bool,
    risky_root: String,
    most_entries: u32,
    most_bytes: u64,
}

/// The creature's, for a tool by its name: which tools there are, it decides.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Permission {
    Always,
    Owner,
    Never,
}

/// The creature's, as `Rest`.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[allow(dead_code)]
struct SelfEdit {
    build_s: u64,
    test_s: u64,
    rehearsal_s: u64,
}

/// The owner's settings; none are all defaults.
pub fn load(house: &House) -> Result<Settings> {
    let path = house.owner_settings();
    let Some(bytes) = files::read_small(&path)? else { return Ok(Settings::default()) };
    let text = String::from_utf8(bytes).with_context(|| format!("{} is not UTF-8 text", path.display()))?;
    read(&text).map_err(|mistake| anyhow::anyhow!("{}, {mistake}", path.display()))
}

/// Reads a text; what is wrong with it, beginning with its line.
pub fn read(text: &str) -> Result<Settings, String> {
    match toml::from_str::<Whole>(text) {
        Ok(whole) => Ok(Settings { limits: whole.limits, walls: whole.walls, sandbox: whole.sandbox }),
        Err(error) => {
            let at = error.span().map_or(0, |span| span.start);
            Err(mistake(text, at, error.message()))
        }
    }
}

/// `line 3, [limits] baet_s: there is no such key; the nearest is beat_s`.
fn mistake(text: &str, at: usize, message: &str) -> String {
    let before = text.get(..at).unwrap_or_default();
    let number = before.matches('\n').count() + 1;
    let line = text.lines().nth(number - 1).unwrap_or_default().trim();
    let header = |line: &str| line.strip_prefix('[')?.split(']').next().map(|name| format!("[{name}]"));
    let section = text.lines().take(number - 1).filter_map(|line| header(line.trim())).last();
    let key = line.split_once('=').map(|(key, _)| key.trim().to_owned()).filter(|_| !line.starts_with('['));
    let place = match (section.filter(|_| !line.starts_with('[')), key) {
        (Some(section), Some(key)) => format!(", {section} {key}"),
        (Some(part), None) | (None, Some(part)) => format!(", {part}"),
        (None, None) => header(line).map(|header| format!(", {header}")).unwrap_or_default(),
    };
    // The names themselves stand in what serde says: `unknown field `x`, expected one of `a`, `b``.
    let mut names = message.split('`').skip(1).step_by(2);
    let said = match names.next().filter(|_| message.starts_with("unknown field")) {
        Some(unknown) => {
            let known: Vec<&str> = names.collect();
            let what = if line.starts_with('[') { "section" } else { "key" };
            format!("there is no {what} {unknown}{}", nearest(unknown, &known))
        }
        None => message.lines().next().unwrap_or_default().to_owned(),
    };
    format!("line {number}{place}: {said}")
}

/// `; the nearest is …`, or all there are where none is near.
pub fn nearest(name: &str, known: &[&str]) -> String {
    let near = known.iter().map(|other| (distance(name, other), *other)).min();
    match near {
        Some((far, other)) if far <= name.chars().count().div_ceil(3).max(2) => {
            format!("; the nearest is {other}")
        }
        _ => format!("; there are {}", known.join(", ")),
    }
}

/// How many letters must be put in, taken out, changed or swapped with their neighbour to make one word the other.
fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=other.len()).collect()];
    for (i, a) in one.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in other.iter().enumerate() {
            let at = |row: &[usize], j: usize| row.get(j).copied().unwrap_or(usize::MAX / 2);
            let above = rows.last().map_or(&[][..], Vec::as_slice);
            let mut least =
                (at(above, j) + usize::from(a != b)).min(at(above, j + 1) + 1).min(at(&row, j) + 1);
            let swapped = i > 0 && j > 0 && one.get(i - 1) == Some(b) && other.get(j - 1) == Some(a);
            if let Some(before) = rows.get(i.wrapping_sub(1)).filter(|_| swapped) {
                least = least.min(at(before, j - 1) + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows.last().and_then(|row| row.last()).copied().unwrap_or(0)
}

fn absolute<'de, D: serde::Deserializer<'de>>(source: D) -> Result<Vec<PathBuf>, D::Error> {
    let folders = Vec::<PathBuf>::deserialize(source)?;
    match folders.iter().find(|folder| !folder.is_absolute()) {
        Some(folder) => Err(D::Error::custom(format!("{} is not an absolute path", folder.display()))),
        None => Ok(folders),
    }
}

fn dollars<'de, D: serde::Deserializer<'de>>(source: D) -> Result<f64, D::Error> {
    let dollars = f64::deserialize(source)?;
    if dollars.is_finite() && dollars >= 0.0 {
        Ok(dollars)
    } else {
        Err(D::Error::custom("must be 0 or more USD"))
    }
}

/// Where this machine has no zones at all, every name may be one.
fn zone<'de, D: serde::Deserializer<'de>>(source: D) -> Result<String, D::Error> {
    let name = String::deserialize(source)?;
    let known: Vec<String> = jiff::tz::db().available().map(|name| name.to_string()).collect();
    if known.is_empty() || jiff::tz::TimeZone::get(&name).is_ok() {
        return Ok(name);
    }
    let city = |known: &&String| {
        known.rsplit('/').next().is_some_and(|city| city.eq_ignore_ascii_case(&name.replace(' ', "_")))
    };
    let hint = known
        .iter()
        .find(city)
        .map_or("names are like Europe/Berlin".into(), |near| format!("did you mean {near}?"));
    Err(D::Error::custom(format!("there is no time zone {name:?}; {hint}")))
}

fn time_of_day<'de, D: serde::Deserializer<'de>>(source: D) -> Result<String, D::Error> {
    let time = String::deserialize(source)?;
    let part =
        |text: &str, most: u8| text.len() == 2 && text.parse::<u8>().is_ok_and(|number| number <= most);
    match time.split_once(':') {
        Some((hour, minute)) if part(hour, 23) && part(minute, 59) => Ok(time),
        _ => Err(D::Error::custom(format!("{time:?} is no time of day, as in \"01:00\""))),
    }
}
