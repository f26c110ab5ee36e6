//! Skills: folders that say how to do a thing, found and read as far as a prompt needs them; each oddity is told in words.
//!
//! The form is that of <https://agentskills.io/specification>; `console skills check` judges all of it, here counts only
//! what a skill cannot do without. Invariant: whatever lies there, what is read is bounded and in one order, no link is
//! followed, and a folder that is none costs the others nothing.

use ground::files;
use ground::text::first;
use saphyr_parser::{Event, Parser};
use std::collections::BTreeMap;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};

/// The file of a skill that says what it is for and how.
pub const FILE: &str = "SKILL.md";

/// The owner's folder of skills, and the creature's own.
const OWNERS: &str = "skills";
const OWN: &str = "self/skills";

/// Characters of a name and of a description, by the form.
const MOST_NAME: usize = 64;
pub const MOST_ABOUT: usize = 1_024;

/// Skills of one folder that are looked at.
const MOST_SKILLS: usize = 500;

/// Bytes of a skill's file: more is not shown by pages either; and of its head, in which the front matter ends.
const MOST_BYTES: u64 = 1 << 20;
const HEAD: u64 = 16 << 10;

/// Skill as a prompt shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Skill {
    /// Path from the root: of its folder, or of a note in the older form, a file alone.
    pub path: String,
    /// Purpose, in one line.
    pub about: String,
    /// Its text.
    pub file: PathBuf,
}

impl Skill {
    /// Its line in a prompt.
    pub fn line(&self) -> String {
        format!("{}: {}", self.path, self.about)
    }
}

/// All skills of a house, each list by name, and what is odd about those that are not as they should be.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shelves {
    pub owners: Vec<Skill>,
    pub own: Vec<Skill>,
    pub odd: Vec<String>,
}

/// Looks at the owner's skills and at its own below the root of a house.
pub fn shelves(root: &Path) -> Shelves {
    let mut odd = Vec::new();
    let owners = shelf(root, OWNERS, &mut odd);
    let mut own = shelf(root, OWN, &mut odd);
    own.retain(|name, skill| {
        let is_hidden = owners.contains_key(name);
        if is_hidden {
            odd.push(format!("{} is not shown: your owner has a skill of that name", skill.path));
        }
        !is_hidden
    });
    Shelves { owners: owners.into_values().collect(), own: own.into_values().collect(), odd }
}

/// Whether a name may be a skill's: 1 to 64 lowercase letters, digits and single hyphens within.
pub fn is_name(name: &str) -> bool {
    let plain = |letter: char| letter == '-' || (letter.is_alphanumeric() && !letter.is_uppercase());
    (1..=MOST_NAME).contains(&name.chars().count())
        && name.chars().all(plain)
        && !name.starts_with('-')
        && !name.ends_with('-')
        && !name.contains("--")
}

/// The fields of a front matter that are plain texts, and where in the text the body begins.
pub fn front(text: &str) -> Result<(BTreeMap<String, String>, usize), String> {
    let is_mark = |line: &str| line.trim_end() == "---";
    let mut lines = text.split_inclusive('\n');
    let mut at =
        lines.next().filter(|line| is_mark(line)).map(str::len).ok_or("does not begin with `---`")?;
    let begin = at;
    for line in lines {
        if is_mark(line) {
            let yaml = text.get(begin..at).unwrap_or_default();
            return Ok((fields(yaml)?, at + line.len()));
        }
        at += line.len();
    }
    Err("has no second `---` that ends its front matter".to_owned())
}

fn fields(yaml: &str) -> Result<BTreeMap<String, String>, String> {
    let (mut found, mut depth, mut key) = (BTreeMap::new(), 0_usize, None);
    for event in Parser::new_from_str(yaml) {
        let (event, _) = event.map_err(|error| {
            format!(
                "has a front matter that is no YAML: line {}, {}",
                error.marker().line() + 1,
                error.info()
            )
        })?;
        match event {
            Event::MappingStart(..) => depth += 1,
            Event::SequenceStart(..) | Event::Scalar(..) if depth == 0 => {
                return Err("has a front matter without fields".to_owned());
            }
            Event::SequenceStart(..) => depth += 1,
            Event::MappingEnd | Event::SequenceEnd => {
                depth = depth.saturating_sub(1);
                // The value of a field that is no text.
                key = key.filter(|_| depth > 1);
            }
            Event::Scalar(text, ..) if depth == 1 => match key.take() {
                None => key = Some(text.into_owned()),
                Some(key) => _ = found.insert(key, text.into_owned()),
            },
            Event::Alias(_) if depth == 1 => key = None,
            _ => {}
        }
    }
    Ok(found)
}

/// The skills in a folder, by name.
fn shelf(root: &Path, place: &str, odd: &mut Vec<String>) -> BTreeMap<String, Skill> {
    let mut found = BTreeMap::new();
    let folder = root.join(place);
    if folder.is_symlink() {
        odd.push(format!("{place} is a link, and no skill in it is looked at"));
        return found;
    }
    let mut entries: Vec<DirEntry> = files::entries(&folder).collect();
    entries.sort_by_key(DirEntry::file_name);
    let mut looked = 0;
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Ok(kind) = entry.file_type() else { continue };
        let is_note = place == OWN && kind.is_file() && name.ends_with(".md");
        if name.starts_with('.') || (kind.is_file() && !is_note) {
            continue;
        }
        looked += 1;
        if looked > MOST_SKILLS {
            odd.push(format!(
                "{place} holds more than {MOST_SKILLS} skills: those after them by name are not shown"
            ));
            break;
        }
        let bare = if is_note { name.trim_end_matches(".md") } else { &name };
        let path = format!("{place}/{name}");
        let skill = match () {
            () if kind.is_symlink() => Err("is a link: a skill is a folder of its own".to_owned()),
            () if is_note => note(&entry.path()),
            () if !is_name(bare) => Err(format!(
                "is not called as a skill is: at most {MOST_NAME} lowercase letters, digits and single hyphens within"
            )),
            () => about(&entry.path().join(FILE), bare, &path, odd),
        };
        let file = if is_note { entry.path() } else { entry.path().join(FILE) };
        match skill {
            // A folder goes before a note of the same name: the note sorts after it.
            Ok(about) => _ = found.entry(bare.to_owned()).or_insert(Skill { path, about, file }),
            Err(why) => odd.push(format!("{} {why}", plain(&path, 160))),
        }
    }
    found
}

/// Reads what a skill is for, in one line; its other oddities are told beside.
fn about(file: &Path, name: &str, path: &str, odd: &mut Vec<String>) -> Result<String, String> {
    let unread = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => format!("has no {FILE}"),
        _ if files::is_in_the_way(&error) => format!("has a {FILE} that is no file of its own"),
        _ => format!("has a {FILE} that cannot be read: {error}"),
    };
    let (bytes, size) = files::head(file, 0, HEAD).map_err(unread)?;
    if size > MOST_BYTES {
        return Err(format!("has a {FILE} of {size} bytes; the most is {MOST_BYTES}"));
    }
    let (fields, _) =
        front(&String::from_utf8_lossy(&bytes)).map_err(|why| format!("has a {FILE} that {why}"))?;
    let about = plain(fields.get("description").map_or("", String::as_str), MOST_ABOUT);
    if about.is_empty() {
        return Err(format!("has a {FILE} without a `description`"));
    }
    let said = fields.get("name").map_or("", String::as_str).trim();
    if said != name {
        odd.push(format!("{path} calls itself `{}`; it goes by the name of its folder", plain(said, 80)));
    }
    Ok(about)
}

/// Reads what a note in the older form is for: its first line.
fn note(file: &Path) -> Result<String, String> {
    let (bytes, _) = files::head(file, 0, HEAD).map_err(|error| format!("cannot be read: {error}"))?;
    Ok(title(&String::from_utf8_lossy(&bytes)))
}

/// The first line of a text that says something, without the signs of a heading.
pub fn title(text: &str) -> String {
    let line =
        text.lines().map(|line| line.trim_start_matches(['#', ' '])).find(|line| !line.trim().is_empty());
    plain(line.unwrap_or_default(), MOST_ABOUT)
}

/// Makes one line of at most `most` characters, with nothing in it that a reader cannot see.
fn plain(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    first(&line.chars().filter(|letter| !letter.is_control()).collect::<String>(), most)
}
