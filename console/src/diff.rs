//! `diff`: changes the creature made to itself: a life's commit against the one before, or a commit against its parent.

use crate::edits::{ByCommit, Fell};
use anyhow::{Context, Result, bail};
use git2::{Diff, DiffFormat, DiffOptions, Tree};
use house::bounds::{self, NAME_CHARS, TOLD_CHARS, brief};
use house::records::history::{Death, Event};
use house::records::{self, text, view::field};
use house::terminal;
use house::{House, moments};
use repo::tree::short;
use repo::{COMPARED_BYTES, Repo, Version};
use serde_json::{Value, json};

/// Files that are listed, and lines of the change that are shown.
const MOST_FILES: usize = 200;
const MOST_LINES: usize = 4_000;
const LINE_CHARS: usize = 2_000;
/// Paths that a commit of the creature's may change; of a life only the first counts.
const OWN: [&str; 3] = ["creature", "self", "PURPOSE.md"];

/// Two versions that are compared.
struct Compared {
    /// None where there was nothing before.
    before: Option<Version>,
    after: Version,
    /// Its description, told first.
    told: String,
    life: Option<u64>,
    paths: &'static [&'static str],
}

/// A change: its facts, its lines with their colours, and whether there are more lines.
pub struct Change {
    pub facts: Value,
    pub lines: Vec<(&'static str, String)>,
    pub cut: bool,
}

pub fn show(house: &House, which: Option<&str>, as_json: bool) -> Result<u8> {
    let Some(Change { mut facts, lines, cut }) = change(house, which)? else {
        let none = "it has changed nothing in itself so far: no commit of its own changes creature/";
        if as_json {
            terminal::json(&json!({"commit": null, "told": none}))
        } else {
            terminal::line(none)
        }
        return Ok(0);
    };
    if as_json {
        if let Some(fields) = facts.as_object_mut() {
            let patch: String = lines.iter().map(|(_, line)| format!("{line}\n")).collect();
            fields.insert("patch".into(), patch.into());
            fields.insert("only_the_first_lines".into(), cut.into());
        }
        terminal::json(&facts);
    } else {
        tell(&facts, &lines, cut);
    }
    Ok(0)
}

/// The change that is meant; none where nothing was changed so far.
pub fn change(house: &House, which: Option<&str>) -> Result<Option<Change>> {
    let repo = Repo::open(house)?;
    let Some(compared) = chosen(house, &repo, which)? else { return Ok(None) };
    of(house, &repo, &compared).map(Some)
}

/// The change of the commit with this name, never of a life with that number.
pub fn commit(house: &House, name: &str) -> Result<Change> {
    let repo = Repo::open(house)?;
    let compared = of_commit(&repo, name, "a commit against the one before", &OWN)?;
    of(house, &repo, &compared)
}

/// Returns the change in `creature/` from the present commit to this version.
pub fn back_to(house: &House, name: &str) -> Result<Change> {
    let repo = Repo::open(house)?;
    let (before, after) = (Some(repo.head()?), repo.rollback_target(Some(name))?);
    let told = "what is committed now against it".to_owned();
    of(house, &repo, &Compared { before, after, told, life: None, paths: &OWN[..1] })
}

fn of(house: &House, repo: &Repo, compared: &Compared) -> Result<Change> {
    let diff = difference(repo, compared)?;
    let (lines, cut) = lines(&diff);
    let commit = repo.find(&compared.after.commit.to_string())?;
    let came = came(house, repo, compared.after);
    let facts = json!({
        "commit": compared.after.commit.to_string(),
        "before": compared.before.map(|before| before.commit.to_string()),
        "life": compared.life, "told": compared.told, "summary": summary(&commit),
        "at": jiff::Timestamp::from_second(commit.time().seconds()).map(|at| at.to_string()).unwrap_or_default(),
        "came": came, "files": files(&diff),
    });
    Ok(Change { facts, lines, cut })
}

/// Chooses the versions to compare: of a life by its number, of a commit by its name, or else of the newest self-edit.
fn chosen(house: &House, repo: &Repo, which: Option<&str>) -> Result<Option<Compared>> {
    let Some(which) = which else {
        let Some(commit) = repo.newest_edit()? else { return Ok(None) };
        let name = commit.id().to_string();
        return of_commit(repo, &name, "its newest self-edit", &OWN[..1]).map(Some);
    };
    if let Ok(life) = which.parse::<u64>()
        && let Some(compared) = of_life(house, repo, life)?
    {
        return Ok(Some(compared));
    }
    let found = of_commit(repo, which, "a commit against the one before", &OWN);
    match which.parse::<u64>() {
        Ok(life) if found.is_err() => {
            bail!("life {life} is not in .self/history.jsonl, and no commit is called that")
        }
        _ => found.map(Some),
    }
}

fn of_commit(repo: &Repo, name: &str, told: &str, paths: &'static [&'static str]) -> Result<Compared> {
    let after = repo.resolve(name)?;
    let commit = repo.find(&after.commit.to_string())?;
    let before = commit.parent_id(0).ok().and_then(|parent| repo.resolve(&parent.to_string()).ok());
    Ok(Compared { before, after, told: told.to_owned(), life: None, paths })
}

/// The commit a life was born of, against the one the life before it had; none where history does not know the life.
fn of_life(house: &House, repo: &Repo, life: u64) -> Result<Option<Compared>> {
    let mut earlier: Option<(u64, String)> = None;
    let mut born = None;
    for event in records::of(&house.history()) {
        let Event::Life(of) = Event::of(&event) else { continue };
        if of.life() == life {
            born = Some(of.commit().to_owned());
        } else if (1..life).contains(&of.life()) {
            earlier = Some((of.life(), of.commit().to_owned()));
        }
    }
    let Some(born) = born else { return Ok(None) };
    let gone = || format!("the commit of life {life} is not in this repository any more");
    let after = repo.resolve(&born).with_context(gone)?;
    let Some((number, commit)) = earlier else {
        let told = format!("life {life}, the first on record");
        let mut compared = of_commit(repo, &born, &told, &OWN[..1])?;
        compared.life = Some(life);
        return Ok(Some(compared));
    };
    let before =
        repo.resolve(&commit).with_context(|| format!("the commit of life {number} is not here any more"))?;
    let told = match before.tree == after.tree {
        true => format!("life {life} was born of the same creature/ as life {number}"),
        false => format!("life {life} against life {number}"),
    };
    Ok(Some(Compared { before: Some(before), after, told, life: Some(life), paths: &OWN[..1] }))
}

fn difference<'a>(repo: &'a Repo, compared: &Compared) -> Result<Diff<'a>> {
    let tree = |version: Version| -> Result<Tree<'_>> { Ok(repo.git.find_commit(version.commit)?.tree()?) };
    let mut options = DiffOptions::new();
    options.max_size(COMPARED_BYTES);
    for path in compared.paths {
        options.pathspec(path);
    }
    let before = compared.before.map(tree).transpose()?;
    let after = tree(compared.after)?;
    Ok(repo.git.diff_tree_to_tree(before.as_ref(), Some(&after), Some(&mut options))?)
}

/// The files that differ, with the lines that came and went.
fn files(diff: &Diff) -> Vec<Value> {
    let files = diff.deltas().enumerate().take(MOST_FILES).map(|(at, delta)| {
        let path = delta.new_file().path().or(delta.old_file().path());
        let path = path.map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
        let stats = git2::Patch::from_diff(diff, at).ok().flatten().and_then(|patch| patch.line_stats().ok());
        let (_, added, removed) = stats.unwrap_or_default();
        json!({"path": path, "how": format!("{:?}", delta.status()).to_lowercase(), "added": added, "removed": removed})
    });
    files.collect()
}

/// The change line by line, each with its colour; and whether there are more than are shown.
fn lines(diff: &Diff) -> (Vec<(&'static str, String)>, bool) {
    let mut lines = Vec::new();
    let whole = diff.print(DiffFormat::Patch, |_, _, line| {
        let (paint, mark) = match line.origin() {
            '+' => ("32", "+"),
            '-' => ("31", "-"),
            ' ' => ("", " "),
            'H' => ("36", ""),
            'F' => ("1", ""),
            _ => ("90", ""),
        };
        let text = String::from_utf8_lossy(line.content());
        for part in text.trim_end_matches('\n').split('\n') {
            lines.push((paint, format!("{mark}{}", brief(part, LINE_CHARS))));
        }
        lines.len() < MOST_LINES
    });
    (lines, whole.is_err())
}

/// Tells what became of a commit, by the guardian's records, and where its tree stands now.
fn came(house: &House, repo: &Repo, version: Version) -> Vec<String> {
    let name = version.commit.to_string();
    let is_of = |event: &Value| ["commit", "from_commit"].iter().any(|field| text(event, field) == name);
    let mut edits = ByCommit::default();
    // Also of a commit of the owner's that never ran.
    edits.at(&name, "");
    records::of(&house.history()).filter(is_of).for_each(|event| edits.take(&event));
    records::of(&house.deaths()).filter(is_of).for_each(|death| edits.died(Death(&death)));
    let edit = edits.all.into_iter().find(|edit| edit.commit == name).unwrap_or_default();
    let mut came = Vec::new();
    came.extend(edit.lives.map(|(first, last)| match first == last {
        true => format!("life {first}"),
        false => format!("lives {first} to {last}"),
    }));
    came.extend((!edit.tests.is_empty()).then(|| format!("its tests {}", edit.tests_told)));
    came.extend(
        (!edit.proved_at.is_empty()).then(|| format!("blessed at {}", moments::near(&edit.proved_at))),
    );
    let fell = |fell: Fell| format!("fell at {}: {}", moments::near(&fell.at), brief(&fell.told, TOLD_CHARS));
    came.extend(edit.fell.map(fell));
    came.extend((edit.deaths > 0).then(|| format!("{} deaths", edit.deaths)));
    let rung = repo
        .rungs()
        .ok()
        .and_then(|rungs| rungs.into_iter().rev().find(|rung| rung.version.tree == version.tree));
    came.extend(rung.map(|rung| format!("stands on the ladder as rung {}", rung.number())));
    came.extend(repo.is_fallen(version.tree).then(|| "counts as fallen".to_owned()));
    if came.is_empty() {
        came.push("nothing is on record of what came of it".into());
    }
    came
}

fn tell(facts: &Value, lines: &[(&'static str, String)], cut: bool) {
    let said = |name: &str| text(facts, name);
    let name = |name: &str| bounds::short(said(name));
    let since = if said("before").is_empty() { String::new() } else { format!(" since {}", name("before")) };
    terminal::field("what", &format!("{}: {}{since}", said("told"), name("commit")));
    terminal::field("summary", &format!("{} ({})", said("summary"), moments::near(said("at"))));
    terminal::field("came", &field::<Vec<&str>>(facts, "came").join("; "));
    let files: &[Value] = field(facts, "files");
    let count = |name: &str| files.iter().map(|file| field::<u64>(file, name)).sum::<u64>();
    let told = format!("{}, +{} -{}", files.len(), count("added"), count("removed"));
    terminal::field("files", &told);
    for file in files {
        let count = |name: &str| field::<u64>(file, name);
        let path = brief(text(file, "path"), NAME_CHARS);
        terminal::below(
            1,
            &format!("{} {path} +{} -{}", text(file, "how"), count("added"), count("removed")),
        );
    }
    lines.iter().for_each(|(paint, line)| terminal::painted(paint, line));
    if cut {
        let range = if said("before").is_empty() {
            name("commit").to_owned()
        } else {
            format!("{} {}", name("before"), name("commit"))
        };
        terminal::line(&format!(
            "… only the first {MOST_LINES} lines; all of it: git diff {range} -- creature"
        ));
    }
}

fn summary(commit: &git2::Commit) -> String {
    brief(&String::from_utf8_lossy(commit.summary_bytes().unwrap_or_default()), NAME_CHARS)
}

/// The beginning of a commit's name and its summary, for lists of commits.
pub fn titled(commit: &git2::Commit) -> String {
    format!("{} {}", short(commit.id()), summary(commit))
}
