//! `repo.map` and `repo.outline`: the repository by files and a file by items, to know where to begin to read.

use super::arguments::Arguments;
use super::page;
use super::repo_look::{readable, text_of};
use super::tool_context::{ToolContext, with};
use super::{outline, repo_look, tree};
use crate::fault::Fault;
use ground::files;
use ground::text::first;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Characters of what a first line says.
const MOST_ABOUT: usize = 140;

/// The longest file whose lines are counted, in bytes.
const MOST_READ: u64 = 1024 * 1024;

/// Characters kept free for the fields of an answer around the map.
const FRAME: usize = 500;

/// The files of one folder, as lines.
#[derive(Default)]
struct Folder {
    files: Vec<String>,
    lines: usize,
    folded: bool,
}

impl Folder {
    fn chars(&self) -> usize {
        if self.folded { 0 } else { self.files.iter().map(|line| line.chars().count() + 3).sum() }
    }

    fn lines_of(&self, name: &str) -> Vec<String> {
        let (files, lines) = (self.files.len(), self.lines);
        let sum = format!("{name}/ ({files} files, {lines} lines)");
        match self.folded {
            true => vec![format!("{sum}: too long to show here; repo.map {{folder: {name}}} does")],
            false => std::iter::once(sum).chain(self.files.iter().map(|line| format!("  {line}"))).collect(),
        }
    }
}

pub fn map(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let path = readable(args, args.maybe_text("folder").unwrap_or("creature"))?;
    let (root, shown) = repo_look::tree(tools, &path);
    let top = root.join(&path);
    if !top.exists() {
        return Err(args.fault(format!("finds nothing at {path}")));
    }
    let (found, whole) = tree::files(&top, &path);
    let mut folders: BTreeMap<(bool, String), Folder> = BTreeMap::new();
    for file in &found {
        let (folder, name) = file.name.rsplit_once('/').unwrap_or((".", &file.name));
        let (lines, told) = described(file, name);
        // Tests come after what they test.
        let tests = folder.split('/').any(|part| matches!(part, "tests" | "benches"));
        let of = folders.entry((tests, folder.to_owned())).or_default();
        of.lines += lines;
        of.files.push(told);
    }
    fold(&mut folders, &path, tools.belt.most_shown.saturating_sub(FRAME));
    let lines: Vec<String> = folders.iter().flat_map(|((_, name), folder)| folder.lines_of(name)).collect();
    let note = (!whole).then_some("there are more files than can be walked: map a folder");
    let map = page::page(args, &path, &lines.join("\n"))?;
    Ok(repo_look::of_tree(with(map, json!({"files": found.len(), "note": note})), shown))
}

/// Folds the longest folder to one line, tests first, until all fits; the folder that was asked for stays whole.
fn fold(folders: &mut BTreeMap<(bool, String), Folder>, asked: &str, most: usize) {
    loop {
        let heads: usize = folders.keys().map(|(_, name)| name.chars().count() + 90).sum();
        let chars: usize = folders.values().map(Folder::chars).sum();
        if heads + chars <= most {
            return;
        }
        let open = folders.iter_mut().filter(|((_, name), folder)| !folder.folded && name != asked);
        let Some((_, longest)) = open.max_by_key(|((tests, _), folder)| (*tests, folder.chars())) else {
            return;
        };
        longest.folded = true;
    }
}

/// Returns how many lines a file has, and its entry in the map.
fn described(file: &tree::Found, name: &str) -> (usize, String) {
    let bytes = file.path.metadata().map_or(0, |found| found.len());
    let text = (bytes <= MOST_READ).then(|| files::whole(&file.path, MOST_READ).ok()).flatten();
    let Some(text) = text.and_then(|bytes| String::from_utf8(bytes).ok()) else {
        return (0, format!("{name} ({bytes} bytes, no text of at most 1 MiB)"));
    };
    let lines = text.lines().count();
    let kind = name.rsplit_once('.').map_or("", |(_, kind)| kind);
    let line = text.lines().next().filter(|_| matches!(kind, "rs" | "md" | "toml" | "sh"));
    let about = line.unwrap_or_default().trim_start_matches(['/', '!', '#', ' ']);
    let colon = if about.is_empty() { "" } else { ": " };
    (lines, format!("{name} ({lines} lines){colon}{}", first(about, MOST_ABOUT)))
}

pub fn outline(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let (path, text) = text_of(tools, args, args.text("path"))?;
    let lines = outline::lines(&path, &text);
    if lines.is_empty() {
        return Err(Fault::new(format!("{path} has no items or headings to show"), "repo.read reads it"));
    }
    let (_, shown) = repo_look::tree(tools, &path);
    Ok(repo_look::of_tree(page::page(args, &path, &lines.join("\n"))?, shown))
}
