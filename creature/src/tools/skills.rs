//! `skill.*`: small documents on how to do things, written by the creature for itself and loaded by name.

use super::arguments::Arguments;
use super::knowledge::paper;
use super::papers::replace;
use super::tool_context::ToolContext;
use crate::fault::Fault;
use ground::papers;
use ground::text::first;
use serde_json::{Value, json};

/// Characters of one skill, and how many there may be.
const MOST_CHARS: usize = 16_000;
const MOST_SKILLS: usize = 200;

pub fn write(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let (path, text) = (paper(tools, args, "skills")?, args.text("text"));
    if text.chars().count() > MOST_CHARS {
        return Err(args.fault(format!("takes at most {MOST_CHARS} characters; a skill is small")));
    }
    let new = !tools.store.house.root().join(&path).exists();
    if new && knowledge::papers(&tools.store.house.skills()).len() >= MOST_SKILLS {
        return Err(args.fault(format!("would make more than {MOST_SKILLS} skills; gather some into one")));
    }
    replace(tools, &path, text)?;
    Ok(json!({"path": path, "chars": text.chars().count(), "new": new}))
}

pub fn load(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let path = paper(tools, args, "skills")?;
    let file = tools.store.house.root().join(&path);
    if !file.is_file() {
        return Err(Fault::new(format!("there is no {path}"), "skill.list names them all"));
    }
    let found = papers::read(&file);
    Ok(json!({"path": path, "text": found.text, "odd": found.problem}))
}

/// Lists skills, each with its first line, which says what it is for.
pub fn list(tools: &mut ToolContext<'_>, _: &Arguments) -> Result<Value, Fault> {
    let all = knowledge::papers(&tools.store.house.skills());
    let skill = |path: &std::path::PathBuf| {
        let text = papers::read(path).text;
        let about =
            text.lines().map(|line| line.trim_start_matches(['#', ' '])).find(|line| !line.is_empty());
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        json!({"name": name, "about": first(about.unwrap_or_default(), 120), "chars": text.chars().count()})
    };
    let skills: Vec<Value> = all.iter().take(MOST_SKILLS).map(skill).collect();
    Ok(json!({"skills": skills}))
}
