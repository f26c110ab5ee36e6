//! `rollback --dry-run` and `--list`: changes a rollback would make, and the rungs there are; nothing is changed.

use crate::diff::titled;
use anyhow::Result;
use house::bounds::NAME_CHARS;
use house::records::{text, view::field};
use house::terminal::{self, typed};
use house::{House, moments, printable};
use repo::tree::{self, short};
use repo::{Repo, Version};
use serde_json::{Value, json};
use std::path::Path;

/// Commits and files that are named.
const MOST_NAMED: usize = 50;

pub fn dry_run(house: &House, name: Option<&str>, as_json: bool) -> Result<u8> {
    let facts = facts(house, name)?;
    if as_json {
        terminal::json(&facts);
    } else {
        tell(&facts, name);
    }
    Ok(0)
}

/// Tells the changes a rollback would make; an order that the guardian would refuse is an error here too.
pub fn facts(house: &House, name: Option<&str>) -> Result<Value> {
    let repo = Repo::open(house)?;
    let (head, to) = (repo.head()?, repo.rollback_target(name)?);
    let before = repo.git.find_tree(head.tree)?;
    let after = repo.git.find_tree(to.tree)?;
    let (files, added, removed) = repo.tree_stat(Some(&before), &after)?;
    let unsaved = tree::differences(&repo.git, Some(&before), &house.creature())?;
    let undone = commits(&repo, head, to)?;
    let again = commits(&repo, to, head)?;
    let is_same = head.tree == to.tree && unsaved.is_empty() && !repo.is_fallen(to.tree);
    let unsaved: Vec<String> = unsaved
        .iter()
        .take(MOST_NAMED)
        .map(|path| printable::path(&Path::new("creature").join(path)))
        .collect();
    Ok(json!({
        "head": head.commit.to_string(), "to": to.commit.to_string(), "to_told": titled(&repo.find(&to.commit.to_string())?),
        "nothing_to_do": is_same, "fell_before": repo.is_fallen(to.tree),
        "undone": undone, "brought_back": again, "files": files, "added": added, "removed": removed,
        "uncommitted": unsaved,
    }))
}

/// The commits of one version that the other does not have and that change `creature/`.
fn commits(repo: &Repo, of: Version, not_of: Version) -> Result<Vec<String>> {
    let commits = repo.changes_between(of.commit, not_of.commit)?;
    Ok(commits.iter().take(MOST_NAMED).map(titled).collect())
}

fn tell(facts: &Value, name: Option<&str>) {
    let texts = |name: &str| field::<Vec<&str>>(facts, name);
    let number = |name: &str| field::<u64>(facts, name);
    let is = |name: &str| field::<bool>(facts, name);
    terminal::field("would put", &format!("creature/ back to {}", text(facts, "to_told")));
    if is("nothing_to_do") {
        terminal::line("creature/ is already what that has; nothing would be done");
        return;
    }
    if is("fell_before") {
        terminal::below(1, "it fell before; it would be tried once more, as you ask for it");
    }
    let (files, added, removed) = (number("files"), number("added"), number("removed"));
    terminal::field(
        "changes",
        &format!("{files} files, +{added} -{removed} lines, as one new commit; no commit is lost"),
    );
    for (list, told) in [("undone", "undone"), ("brought_back", "again")] {
        let commits = texts(list);
        if !commits.is_empty() {
            terminal::field(told, &format!("{} commits that changed creature/", commits.len()));
            commits.iter().for_each(|commit| terminal::below(1, commit));
        }
    }
    let unsaved = texts("uncommitted");
    if !unsaved.is_empty() {
        terminal::field(
            "kept",
            "edits of creature/ that are not committed, under refs/guardian/rescued/ first:",
        );
        unsaved.iter().for_each(|path| terminal::below(1, path));
    }
    let order = name.map_or("rollback".to_owned(), |name| format!("rollback {name}"));
    terminal::line(&format!("nothing was changed; to do it: {}", typed(&order)));
}

/// The rungs of the ladder as one document, the newest first.
pub fn ladder(house: &House) -> Result<Value> {
    let repo = Repo::open(house)?;
    let head = repo.head()?;
    let next = repo.rollback_target(None).ok();
    let rungs: Vec<Value> = repo
        .rungs()?
        .iter()
        .rev()
        .filter_map(|rung| {
            let commit = repo.find(&rung.version.commit.to_string()).ok()?;
            let at = jiff::Timestamp::from_second(commit.time().seconds()).map(|at| at.to_string());
            Some(json!({
                "rung": rung.number(), "commit": commit.id().to_string(), "at": at.unwrap_or_default(),
                "told": titled(&commit), "is_head": rung.version.tree == head.tree,
                "is_next": next.is_some_and(|next| next.commit == rung.version.commit),
            }))
        })
        .collect();
    Ok(json!({"head": short(head.commit), "rungs": rungs}))
}

pub fn list(house: &House, as_json: bool) -> Result<u8> {
    let ladder = ladder(house)?;
    if as_json {
        terminal::json(&ladder);
        return Ok(0);
    }
    let rungs: &[Value] = field(&ladder, "rungs");
    if rungs.is_empty() {
        terminal::line("no commit is blessed so far: there is no rung to go back to");
        return Ok(0);
    }
    for rung in rungs {
        let is = |name: &str| field::<bool>(rung, name);
        let mark = match (is("is_head"), is("is_next")) {
            (true, _) => " (creature/ is this now)",
            (_, true) => " (a plain rollback goes here)",
            _ => "",
        };
        let number: u64 = field(rung, "rung");
        let told: String = text(rung, "told").chars().take(NAME_CHARS).collect();
        let at = moments::near(text(rung, "at"));
        terminal::field(&format!("rung {number}"), &format!("{told}, {at}{mark}"));
    }
    terminal::line(&format!("what one would change: {}", typed("rollback --dry-run RUNG")));
    Ok(0)
}
