//! Unified diffs: reads what models write (fenced, miscounted, without prefixes or numbers), writes its own. Pure.
//!
//! Invariant: what cannot be read is an error naming the line; nothing is guessed about content, only about form.

use git2::{DiffOptions, Patch};
use ground::fault::Fault;
use std::path::Path;

/// What a patch does to one file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Act {
    Modify,
    Create,
    Delete,
}

/// One file's part of a patch.
#[derive(Clone, Debug, PartialEq)]
pub struct FilePatch {
    pub path: String,
    pub act: Act,
    pub hunks: Vec<Hunk>,
}

/// One hunk: the lines it expects, and those it puts in their place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hunk {
    /// Line of the old file it claims to start at, from 1.
    pub stated: Option<usize>,
    /// Its header's counts fit its body, so its numbers were probably not made up.
    pub counts_fit: bool,
    pub lines: Vec<Line>,
    /// The new side's last line is marked as ending without a newline.
    pub new_unended: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    Keep(String),
    Remove(String),
    Add(String),
}

impl Hunk {
    /// The lines it expects to find.
    pub fn expects(&self) -> Vec<&str> {
        let old = self.lines.iter().filter_map(|line| match line {
            Line::Keep(text) | Line::Remove(text) => Some(text.as_str()),
            Line::Add(_) => None,
        });
        old.collect()
    }

    /// The lines that stand there after it.
    pub fn result_lines(&self) -> Vec<&str> {
        let new = self.lines.iter().filter_map(|line| match line {
            Line::Keep(text) | Line::Add(text) => Some(text.as_str()),
            Line::Remove(_) => None,
        });
        new.collect()
    }
}

const HINT: &str =
    "send a unified diff: `--- a/path`, `+++ b/path`, `@@`, then lines that begin with space, - or +";

/// Reads a patch; files named twice are one file with all their hunks.
pub fn parse(text: &str) -> Result<Vec<FilePatch>, Fault> {
    let lines: Vec<&str> = text.lines().map(|line| line.trim_end_matches('\r')).collect();
    let mut reader = Reader::default();
    for (at, line) in lines.iter().enumerate() {
        let rest = lines.get(at..).unwrap_or_default();
        reader.line(line, rest, at + 1)?;
    }
    reader.end_file()?;
    if reader.files.is_empty() {
        return Err(Fault::new("the patch names no file and has no hunks", HINT));
    }
    Ok(reader.files)
}

/// The file being read, not yet settled.
#[derive(Debug, Default)]
struct Open {
    old: Option<String>,
    new: Option<String>,
    created: bool,
    deleted: bool,
    hunks: Vec<(Hunk, Option<(usize, usize)>)>,
    line: usize,
}

#[derive(Default)]
struct Reader {
    files: Vec<FilePatch>,
    open: Option<Open>,
    in_hunk: bool,
}

impl Reader {
    fn line(&mut self, line: &str, rest: &[&str], number: usize) -> Result<(), Fault> {
        if line.starts_with("```") {
            self.in_hunk = false;
            return Ok(());
        }
        if let Some(paths) = line.strip_prefix("diff --git ") {
            self.start_file(number)?;
            if let (Some(open), Some((old, new))) = (&mut self.open, paths.split_once(" b/")) {
                (open.old, open.new) = (Some(clean(old)), Some(clean(new)));
            }
            return Ok(());
        }
        if line.starts_with("--- ") && begins_file(rest, self.in_hunk) {
            // After `diff --git` this line is still about the same file.
            if self.in_hunk || self.open.as_ref().is_none_or(|open| !open.hunks.is_empty()) {
                self.start_file(number)?;
            }
        }
        if !self.in_hunk && self.header(line, number)? {
            return Ok(());
        }
        if line.starts_with("@@") {
            return self.start_hunk(line, number);
        }
        if self.in_hunk {
            self.body(line);
        }
        // Outside hunks anything else is talk, `index` or mode lines.
        Ok(())
    }

    fn start_file(&mut self, number: usize) -> Result<(), Fault> {
        self.end_file()?;
        self.open = Some(Open { line: number, ..Open::default() });
        Ok(())
    }

    /// Reads a file header's line; false when it is none.
    fn header(&mut self, line: &str, number: usize) -> Result<bool, Fault> {
        if let Some(name) = line.strip_prefix("+++ ") {
            if self.open.as_ref().is_none_or(|open| !open.hunks.is_empty()) {
                self.start_file(number)?;
            }
            self.with_open(|open| match null(name) {
                true => open.deleted = true,
                false => open.new = Some(clean(name)),
            });
        } else if let Some(name) = line.strip_prefix("--- ") {
            self.with_open(|open| match null(name) {
                true => open.created = true,
                false => open.old = Some(clean(name)),
            });
        } else if line.starts_with("new file mode") {
            self.with_open(|open| open.created = true);
        } else if line.starts_with("deleted file mode") {
            self.with_open(|open| open.deleted = true);
        } else if line.starts_with("rename ") || line.starts_with("GIT binary patch") {
            let what = format!("line {number} of the patch: `{line}` is not supported");
            return Err(Fault::new(what, "delete the old file and create the new one"));
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn with_open(&mut self, change: impl FnOnce(&mut Open)) {
        if let Some(open) = &mut self.open {
            change(open);
        }
    }

    fn start_hunk(&mut self, line: &str, number: usize) -> Result<(), Fault> {
        let Some(open) = &mut self.open else {
            let what = format!("line {number} of the patch: a hunk without a file before it");
            return Err(Fault::new(what, HINT));
        };
        let (stated, counts) = match numbers(line) {
            Some((start, old, new)) => (Some(start), Some((old, new))),
            None => (None, None),
        };
        let hunk = Hunk { stated, ..Hunk::default() };
        open.hunks.push((hunk, counts));
        self.in_hunk = true;
        Ok(())
    }

    fn body(&mut self, line: &str) {
        let Some((hunk, _)) = self.open.as_mut().and_then(|open| open.hunks.last_mut()) else {
            return;
        };
        let mut rest = line.chars();
        let read = match rest.next() {
            Some('+') => Line::Add(rest.as_str().to_owned()),
            Some('-') => Line::Remove(rest.as_str().to_owned()),
            Some(' ') => Line::Keep(rest.as_str().to_owned()),
            Some('\\') => {
                hunk.new_unended = !matches!(hunk.lines.last(), None | Some(Line::Remove(_)));
                return;
            }
            // A blank or unprefixed line is taken for a kept one that lost its space; any other matches nothing.
            Some(_) | None => Line::Keep(line.to_owned()),
        };
        hunk.lines.push(read);
    }

    fn end_file(&mut self) -> Result<(), Fault> {
        self.in_hunk = false;
        let Some(mut open) = self.open.take() else {
            return Ok(());
        };
        if open.hunks.is_empty()
            && !open.created
            && !open.deleted
            && open.old == open.new
            && open.old.is_none()
        {
            return Ok(());
        }
        let fault = |what: &str| Err(Fault::new(format!("line {} of the patch: {what}", open.line), HINT));
        let first = open.hunks.first();
        let claims_empty = first
            .is_some_and(|(hunk, counts)| hunk.stated == Some(0) && counts.is_some_and(|(old, _)| old == 0));
        let (path, act) = match (&open.old, &open.new) {
            _ if open.created && open.deleted => return fault("a file both created and deleted"),
            (Some(old), Some(new)) if old != new => return fault("two different files in one header"),
            (_, Some(path)) if open.created => (path.clone(), Act::Create),
            (Some(path), _) if open.deleted => (path.clone(), Act::Delete),
            (None, Some(path)) if claims_empty => (path.clone(), Act::Create),
            (Some(path), _) | (None, Some(path)) => (path.clone(), Act::Modify),
            (None, None) => return fault("a file without a name"),
        };
        let hunks = open.hunks.drain(..).map(|(hunk, counts)| settle(hunk, counts, act)).collect();
        self.add(FilePatch { path, act, hunks });
        Ok(())
    }

    fn add(&mut self, file: FilePatch) {
        match self.files.iter_mut().find(|known| known.path == file.path && known.act == file.act) {
            Some(known) => known.hunks.extend(file.hunks),
            None => self.files.push(file),
        }
    }
}

/// Whether a line that begins with `--- ` names a file, and is not a removed line that began with `-- `.
fn begins_file(rest: &[&str], in_hunk: bool) -> bool {
    let after = |at: usize, prefix: &str| rest.get(at).is_some_and(|line| line.starts_with(prefix));
    !in_hunk || (after(1, "+++ ") && (after(2, "@@") || rest.get(2).is_none()))
}

/// Drops blank lines that only separate hunks, restores lost `+` in new files, and checks the counts.
fn settle(mut hunk: Hunk, counts: Option<(usize, usize)>, act: Act) -> Hunk {
    let fits = |hunk: &Hunk| counts == Some((hunk.expects().len(), hunk.result_lines().len()));
    let blank = Line::Keep(String::new());
    while !fits(&hunk) && hunk.lines.last() == Some(&blank) {
        hunk.lines.pop();
    }
    if act == Act::Create {
        let lost = hunk.lines.iter_mut().filter(|line| **line == blank);
        lost.for_each(|line| *line = Line::Add(String::new()));
    }
    hunk.counts_fit = fits(&hunk);
    hunk
}

/// Start of the old side and both counts, from `@@ -a,b +c,d @@`; none where they are missing or broken.
fn numbers(line: &str) -> Option<(usize, usize, usize)> {
    let mut words = line.trim_start_matches('@').split_whitespace();
    let side = |word: &str, sign: char| -> Option<(usize, usize)> {
        let word = word.strip_prefix(sign)?.trim_end_matches('@');
        let (start, count) = word.split_once(',').unwrap_or((word, "1"));
        Some((start.parse().ok()?, count.parse().ok()?))
    };
    let (start, old) = side(words.next()?, '-')?;
    let (_, new) = side(words.next()?, '+')?;
    Some((start, old, new))
}

fn null(name: &str) -> bool {
    name.split('\t').next().unwrap_or(name).trim() == "/dev/null"
}

/// A path without its time stamp, quotes and `a/` or `b/`.
fn clean(name: &str) -> String {
    let name = name.split('\t').next().unwrap_or(name).trim().trim_matches('"');
    let bare = name.strip_prefix("a/").or_else(|| name.strip_prefix("b/"));
    bare.unwrap_or(name).to_owned()
}

/// A change of one file as a unified diff with a few lines around it; none means that there is no file.
pub fn write(path: &str, before: Option<&[u8]>, after: Option<&[u8]>) -> String {
    let name = Path::new(path);
    let mut options = DiffOptions::new();
    options.context_lines(3);
    let (old, new) = (before.unwrap_or_default(), after.unwrap_or_default());
    let patch = Patch::from_buffers(old, Some(name), new, Some(name), Some(&mut options));
    let text = patch.and_then(|mut patch| patch.to_buf());
    let text = text.map_or(String::new(), |text| String::from_utf8_lossy(&text).into_owned());
    let body = text.find("@@").and_then(|at| text.get(at..)).unwrap_or_default();
    let (from, to) = match (before, after) {
        (None, _) => ("/dev/null".to_owned(), format!("b/{path}")),
        (_, None) => (format!("a/{path}"), "/dev/null".to_owned()),
        _ => (format!("a/{path}"), format!("b/{path}")),
    };
    format!("--- {from}\n+++ {to}\n{body}")
}
