//! `repo.search` and `files.search`: finds a regular expression in files, with the lines around each hit.
//!
//! Invariant: bounded in files, bytes and hits; what was passed over is said.

use super::arguments::Arguments;
use super::tool_context::{ToolContext, with};
use super::{files, page, repo_look, tree};
use crate::fault::Fault;
use regex::{Regex, RegexBuilder};
use serde_json::{Value, json};

/// Characters of a pattern, and hits of one search.
const MOST_PATTERN: usize = 1_000;
const MOST_HITS: usize = 2_000;

/// Bytes of one file, and of all that one search reads, which takes an unoptimised build seconds.
const MOST_FILE: u64 = 2 << 20;
const MOST_BYTES: u64 = 32 << 20;

/// Characters of a line that is shown.
const MOST_LINE: usize = 400;

/// Lines and counts of a search so far.
#[derive(Default)]
struct Finds {
    lines: Vec<String>,
    hits: usize,
    files: usize,
    bytes: u64,
    /// Files passed over: too long, or no UTF-8 text.
    too_long: usize,
    /// The search ended at one of its bounds.
    broken_off: bool,
}

pub fn repo(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let (mut places, mut shown) = (Vec::new(), None);
    for path in args.maybe_text("path").map_or(vec!["creature", "self"], |path| vec![path]) {
        let path = repo_look::readable(args, path)?;
        match repo_look::real(tools, args, &path) {
            Ok(_) => {
                let (root, of) = repo_look::tree(tools, &path);
                shown = shown.or(of);
                places.push((root.join(&path), path));
            }
            Err(fault) if args.maybe_text("path").is_some() => return Err(fault),
            Err(_) => {}
        }
    }
    let found = places.iter().map(|(at, name)| tree::files(at, name));
    let names = places.iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>().join(", ");
    Ok(repo_look::of_tree(search(args, &names, found)?, shown))
}

pub fn workspace(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let path = args.maybe_text("path").unwrap_or_default();
    let at = files::inside(tools, args, path)?;
    if !at.exists() {
        return Err(args.fault(format!("finds nothing at `{path}`")));
    }
    let name = files::shown(tools, &at);
    search(args, &name, std::iter::once(tree::files(&at, &name)))
}

fn search(
    args: &Arguments,
    name: &str,
    places: impl Iterator<Item = (Vec<tree::Found>, bool)>,
) -> Result<Value, Fault> {
    let (pattern, context) = (args.text("pattern"), args.number("context").unwrap_or_default());
    if pattern.chars().count() > MOST_PATTERN {
        return Err(args.fault(format!("takes at most {MOST_PATTERN} characters as `pattern`")));
    }
    let build = |pattern: &str| RegexBuilder::new(pattern).multi_line(true).size_limit(1 << 20).build();
    let (pattern, plain) = match build(pattern) {
        Ok(pattern) => (pattern, None),
        Err(why) => {
            let plain = build(&regex::escape(pattern));
            (plain.map_err(|_| args.fault(format!("cannot use this `pattern`: {why}")))?, Some(why))
        }
    };
    let mut finds = Finds::default();
    let mut walked = true;
    for (files, whole) in places {
        walked &= whole;
        files.iter().for_each(|file| finds.look(file, &pattern, context));
    }
    let mut notes = Vec::new();
    if let Some(why) = plain {
        let why = why.to_string();
        let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ");
        notes.push(format!("searched as plain text, for it is no regular expression: {why}"));
    }
    if finds.too_long > 0 {
        notes.push(format!("{} files are no text of at most 2 MiB and were passed over", finds.too_long));
    }
    if finds.broken_off || !walked {
        notes.push(
            "there is more than one search goes through: give a `path` or a narrower pattern".to_owned(),
        );
    }
    let note = (!notes.is_empty()).then(|| notes.join("; "));
    let searched = json!({"hits": finds.hits, "files_searched": finds.files, "note": note});
    Ok(with(page::page(args, name, &finds.lines.join("\n"))?, searched))
}

impl Finds {
    fn look(&mut self, file: &tree::Found, pattern: &Regex, context: usize) {
        if self.hits >= MOST_HITS || self.bytes >= MOST_BYTES {
            self.broken_off = true;
            return;
        }
        let short = file.path.metadata().is_ok_and(|found| found.is_file() && found.len() <= MOST_FILE);
        let text = short.then(|| ground::files::whole(&file.path, MOST_FILE).ok()).flatten();
        let Some(text) = text.and_then(|bytes| String::from_utf8(bytes).ok()) else {
            self.too_long += 1;
            return;
        };
        self.files += 1;
        self.bytes += text.len() as u64;
        let hits = hits(&text, pattern, MOST_HITS - self.hits);
        if hits.is_empty() {
            return;
        }
        self.hits += hits.len();
        let lines: Vec<&str> = text.lines().collect();
        let mut next = 0;
        for (nth, hit) in hits.iter().enumerate() {
            let first = hit.saturating_sub(context).max(next);
            if context > 0 && first > next && (nth > 0 || !self.lines.is_empty()) {
                self.lines.push("--".to_owned());
            }
            // The context of one hit ends where the next hit is told.
            let last = hits.get(nth + 1).map_or(hit + context, |after| (hit + context).min(after - 1));
            for at in first..=last.min(lines.len().saturating_sub(1)) {
                let mark = if at == *hit { ':' } else { '-' };
                let line = page::cut(lines.get(at).copied().unwrap_or_default(), MOST_LINE);
                self.lines.push(format!("{}{mark}{}{mark} {line}", file.name, at + 1));
            }
            next = last + 1;
        }
    }
}

/// The lines in which a match begins, counted from 0, each once.
fn hits(text: &str, pattern: &Regex, most: usize) -> Vec<usize> {
    let (mut hits, mut from, mut line, mut counted) = (Vec::new(), 0, 0, 0);
    while let Some(found) = pattern.find_at(text, from).filter(|_| hits.len() < most) {
        let start = found.start();
        line += text.get(counted..start).unwrap_or_default().matches('\n').count();
        counted = start;
        if start >= text.len() && text.ends_with('\n') {
            break;
        }
        hits.push(line);
        match text.get(start..).and_then(|rest| rest.find('\n')) {
            Some(end) => from = start + end + 1,
            None => break,
        }
        if from > text.len() {
            break;
        }
    }
    hits
}
