//! The form of a skill, rule by rule: what it demands, what it advises, and what this house cannot use. Pure.
//!
//! What is demanded is what the form's own validator demands, so that a verdict here is its verdict (`scripts/trials
//! skills`); what else the specification says is advice.

use super::front::{Front, Kind, read};
use house::printable;

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grade {
    /// The form demands otherwise.
    Wrong,
    /// The creature is not shown this skill.
    Unused,
    /// It would be better otherwise.
    Advice,
}

impl Grade {
    pub fn word(self) -> &'static str {
        match self {
            Grade::Wrong => "wrong",
            Grade::Unused => "unused",
            Grade::Advice => "advice",
        }
    }
}

/// Finding of a rule at a skill, and where the rule stands.
#[derive(Debug, PartialEq)]
pub struct Finding {
    pub grade: Grade,
    pub rule: &'static str,
    pub source: &'static str,
    pub said: String,
}

macro_rules! specification {
    ($part:literal) => {
        concat!("https://agentskills.io/specification#", $part)
    };
}

const NAME: &str = specification!("name-field");
const DESCRIPTION: &str = specification!("description-field");
const COMPATIBILITY: &str = specification!("compatibility-field");
const METADATA: &str = specification!("metadata-field");
const TOOLS: &str = specification!("allowed-tools-field");
const LICENSE: &str = specification!("license-field");
const FRONT: &str = specification!("frontmatter");
const LEVELS: &str = specification!("progressive-disclosure");
pub const FOLDER: &str = specification!("directory-structure");
/// Rules that are this house's own.
pub const OURS: &str = "docs/skills.md";

/// Every field of the form.
const FIELDS: [&str; 6] = ["name", "description", "license", "allowed-tools", "metadata", "compatibility"];
const MOST_NAME: usize = 64;
const MOST_DESCRIPTION: usize = 1_024;
const MOST_COMPATIBILITY: usize = 500;
/// Lines that a skill's file should stay below.
const MOST_LINES: usize = 500;

/// Text of a skill as it was judged.
#[derive(Debug, Default)]
pub struct Judged {
    pub findings: Vec<Finding>,
    /// Its description in one line; empty where none can be read.
    pub about: String,
}

impl Judged {
    fn says(&mut self, grade: Grade, rule: &'static str, source: &'static str, said: impl Into<String>) {
        self.findings.push(Finding { grade, rule, source, said: said.into() });
    }
}

/// Judges the text of a skill in a folder of this name.
pub fn judge(text: &str, folder: &str) -> Judged {
    let mut judged = Judged::default();
    match read(text) {
        Ok(front) => fields(&mut judged, &front, folder),
        Err(why) => judged.says(
            Grade::Wrong,
            "front-matter",
            FRONT,
            format!("its front matter cannot be read: {why}"),
        ),
    }
    let lines = text.lines().count();
    if lines > MOST_LINES {
        let said = format!(
            "SKILL.md has {lines} lines; below {MOST_LINES}, with the rest in files that it names, costs less"
        );
        judged.says(Grade::Advice, "length", LEVELS, said);
    }
    let hidden =
        |line: &&str| printable::spelled(&printable::plain_spaces(line)) != printable::plain_spaces(line);
    if let Some(at) = text.lines().position(|line| hidden(&line)) {
        let said = format!(
            "line {} of SKILL.md holds letters that nobody sees: look at it before you trust it",
            at + 1
        );
        judged.says(Grade::Advice, "hidden-letters", OURS, said);
    }
    judged
}

fn fields(judged: &mut Judged, front: &Front<'_>, folder: &str) {
    let value = |name: &str| front.fields.iter().find(|(field, _)| field == name).map(|(_, value)| value);
    for (field, _) in front.fields.iter().filter(|(field, _)| !FIELDS.contains(&field.as_str())) {
        let said = format!("the form has no field `{}`; put it below `metadata`", printable::flat(field));
        judged.says(Grade::Wrong, "fields", FRONT, said);
    }
    match value("name") {
        None => judged.says(
            Grade::Wrong,
            "name-missing",
            NAME,
            format!("there is no `name`; it should be {folder}"),
        ),
        Some(Kind::Text(name)) if !name.trim().is_empty() => named(judged, name.trim(), folder),
        Some(_) => judged.says(Grade::Wrong, "name-text", NAME, "`name` is no text"),
    }
    match value("description") {
        None => judged.says(Grade::Wrong, "description-missing", DESCRIPTION, "there is no `description`"),
        Some(Kind::Text(text)) if !text.trim().is_empty() => {
            judged.about = printable::flat(text);
            let letters = text.chars().count();
            if letters > MOST_DESCRIPTION {
                let said = format!("`description` has {letters} characters; the most is {MOST_DESCRIPTION}");
                judged.says(Grade::Wrong, "description-length", DESCRIPTION, said);
            }
        }
        Some(_) => judged.says(Grade::Wrong, "description-text", DESCRIPTION, "`description` is no text"),
    }
    match value("compatibility") {
        Some(Kind::Text(text)) if text.is_empty() => {
            judged.says(
                Grade::Advice,
                "compatibility-empty",
                COMPATIBILITY,
                "`compatibility` is empty: leave it out",
            );
        }
        Some(Kind::Text(text)) if text.chars().count() > MOST_COMPATIBILITY => {
            let said = format!("`compatibility` has more than {MOST_COMPATIBILITY} characters");
            judged.says(Grade::Wrong, "compatibility-length", COMPATIBILITY, said);
        }
        Some(Kind::Text(_)) | None => {}
        Some(_) => {
            judged.says(Grade::Wrong, "compatibility-text", COMPATIBILITY, "`compatibility` is no text")
        }
    }
    if value("metadata").is_some_and(|kind| *kind != Kind::Texts) {
        judged.says(Grade::Advice, "metadata-texts", METADATA, "`metadata` should be texts by name");
    }
    for (field, source) in [("license", LICENSE), ("allowed-tools", TOOLS)] {
        if value(field).is_some_and(|kind| !matches!(kind, Kind::Text(_))) {
            judged.says(Grade::Advice, "one-text", source, format!("`{field}` should be one text"));
        }
    }
    if value("allowed-tools").is_some() {
        let said = "`allowed-tools` allows nothing here: what the creature may do stands in owner.toml";
        judged.says(Grade::Advice, "allowed-tools", OURS, said);
    }
    if front.body.trim().is_empty() {
        judged.says(Grade::Advice, "body", FRONT, "nothing stands below its front matter");
    }
}

fn named(judged: &mut Judged, name: &str, folder: &str) {
    let mut wrong = |rule, said: String| judged.says(Grade::Wrong, rule, NAME, said);
    let shown = printable::flat(name);
    if name.chars().count() > MOST_NAME {
        wrong("name-length", format!("`name` has more than {MOST_NAME} characters"));
    }
    if name != name.to_lowercase() {
        wrong("name-case", format!("`name` is {shown}, and has to be in lower case"));
    }
    if name.starts_with('-') || name.ends_with('-') {
        wrong("name-ends", format!("`name` is {shown}, and may not begin or end with a hyphen"));
    }
    if name.contains("--") {
        wrong("name-hyphens", format!("`name` is {shown}, and may not have two hyphens in a row"));
    }
    if !name.chars().all(|letter| letter == '-' || letter.is_alphanumeric()) {
        wrong("name-letters", format!("`name` is {shown}; letters, digits and hyphens are all it may have"));
    }
    if name != folder {
        wrong(
            "name-folder",
            format!("`name` is {shown}, and its folder is called {}", printable::flat(folder)),
        );
    }
}
