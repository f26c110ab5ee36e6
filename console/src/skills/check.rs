//! `skills check`: each skill before every rule, and what it would have run; exit status 1 where one is not as it should be.

use super::form::{FOLDER, Finding, Grade, OURS, judge};
use super::place::{self, Of, Place};
use super::runs::Runs;
use anyhow::Result;
use house::House;
use house::files;
use house::terminal;
use serde_json::{Value, json};
use std::path::Path;

/// Bytes of a skill's file; the creature reads no larger file of the repository.
const MOST_BYTES: u64 = 1 << 20;

/// A skill, judged.
pub struct Checked {
    pub place: Place,
    pub about: String,
    findings: Vec<Finding>,
}

/// Checks the skill that is named, or all there are.
pub fn check(house: &House, which: Option<&str>, as_json: bool) -> Result<u8> {
    let places = match which {
        Some(which) => vec![place::named(house, which)?],
        None => place::all(house),
    };
    let all: Vec<Checked> = places.iter().map(checked).collect();
    let ok = all.iter().all(Checked::is_good);
    if as_json {
        let skills: Vec<Value> = all.iter().map(Checked::whole).collect();
        terminal::json(&json!({"ok": ok, "skills": skills}));
    } else {
        all.iter().for_each(Checked::tell);
        if all.is_empty() {
            terminal::line("there are no skills to check");
        }
    }
    Ok(u8::from(!ok))
}

/// Judges what lies at a place.
pub fn checked(place: &Place) -> Checked {
    let (mut findings, mut about) = (Vec::new(), String::new());
    let mut says = |grade, rule, source, said: String| findings.push(Finding { grade, rule, source, said });
    if place.at.is_symlink() {
        let said = "it is a link: a skill is a folder of its own".to_owned();
        says(Grade::Unused, "link", OURS, said);
    } else {
        match text_of(&place.at) {
            Err((grade, rule, source, said)) => says(grade, rule, source, said),
            Ok((text, is_small)) => {
                if is_small && place.of != Of::Elsewhere {
                    says(Grade::Unused, "file-name", FOLDER, "its file is skill.md, not SKILL.md".to_owned());
                }
                let judged = judge(&text, &place.name);
                about = judged.about;
                findings.extend(judged.findings);
            }
        }
    }
    if place.is_hidden {
        let said = format!("the owner has a skill {} too, and that goes first", place.name);
        findings.push(Finding { grade: Grade::Unused, rule: "two-of-one-name", source: OURS, said });
    }
    Checked { place: place.clone(), about, findings }
}

/// The text of a skill, and whether its file's name is in small letters; else the finding why there is none.
fn text_of(folder: &Path) -> Result<(String, bool), (Grade, &'static str, &'static str, String)> {
    for (name, is_small) in [("SKILL.md", false), ("skill.md", true)] {
        let unread = |error: anyhow::Error| {
            (Grade::Unused, "file-read", OURS, format!("its {name} cannot be read: {error:#}"))
        };
        let Some(bytes) = files::read_most(&folder.join(name), MOST_BYTES).map_err(unread)? else { continue };
        let text = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            (Grade::Wrong, "file-text", FOLDER, format!("its {name} is no text in UTF-8, from byte {at} on"))
        })?;
        return Ok((text, is_small));
    }
    Err((Grade::Wrong, "file-missing", FOLDER, "there is no SKILL.md in it".to_owned()))
}

impl Checked {
    /// Whether it keeps to the form, and the creature is shown it.
    pub fn is_good(&self) -> bool {
        self.is_valid() && self.why_unused().is_none()
    }

    fn is_valid(&self) -> bool {
        self.findings.iter().all(|finding| finding.grade != Grade::Wrong)
    }

    /// Why the creature is not shown it; none where it is.
    pub fn why_unused(&self) -> Option<&str> {
        let unused = self.findings.iter().find(|finding| finding.grade == Grade::Unused);
        // Without a description it is named nowhere.
        let is_why = |one: &&Finding| {
            one.grade == Grade::Wrong && !one.rule.starts_with("name") && one.rule != "fields"
        };
        let none = || self.findings.iter().find(is_why).filter(|_| self.about.is_empty());
        unused.or_else(none).map(|finding| finding.said.as_str())
    }

    /// Facts that a list tells of it, for programs.
    pub fn head(&self) -> Value {
        let Place { of, shown, name, .. } = &self.place;
        json!({
            "name": name, "path": shown, "of": of.word(), "description": self.about,
            "valid": self.is_valid(), "shown": *of != Of::Elsewhere && self.why_unused().is_none(),
            "why_not": self.why_unused(),
        })
    }

    fn whole(&self) -> Value {
        let finding = |one: &Finding| json!({"grade": one.grade.word(), "rule": one.rule, "said": one.said, "source": one.source});
        let mut whole = self.head();
        if let Value::Object(fields) = &mut whole {
            fields.insert("findings".to_owned(), self.findings.iter().map(finding).collect());
            fields.insert("runs".to_owned(), self.runs().as_json());
        }
        whole
    }

    fn runs(&self) -> Runs {
        if self.place.at.is_symlink() { Runs::default() } else { Runs::of(&self.place.at) }
    }

    fn tell(&self) {
        let is_seen = self.place.of != Of::Elsewhere;
        let verdict = match (self.is_valid(), self.why_unused()) {
            (false, _) if !is_seen => "not right in form",
            (true, None) => "ok",
            (true, Some(_)) => "right in form, and not shown to the creature",
            (false, None) => "not right in form; the creature is shown it all the same",
            (false, Some(_)) => "not right in form, and not shown to the creature",
        };
        terminal::line(&format!("{}: {verdict}", self.place.shown));
        for Finding { grade, said, source, .. } in &self.findings {
            terminal::below(1, &format!("{} {said} ({source})", grade.word()));
        }
        let runs = self.runs();
        if runs.is_empty() {
            return terminal::below(1, "runs nothing that could be found");
        }
        for (path, by) in &runs.files {
            terminal::below(1, &format!("runs {path}: {by}"));
        }
        for (path, command) in &runs.commands {
            terminal::below(1, &format!("says {path}: {command}"));
        }
        for (path, language) in &runs.blocks {
            terminal::below(1, &format!("says {path}: a block of {language}"));
        }
        if runs.left_out > 0 {
            terminal::below(1, &format!("and {} more", runs.left_out));
        }
    }
}
