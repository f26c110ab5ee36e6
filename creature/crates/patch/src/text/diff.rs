//! Reads patches as models write them: unified or in the `*** Begin Patch` form, fenced, miscounted. Pure.
//!
//! Invariant: what cannot be read is an error naming the line; nothing is guessed about content, only about form.
//! Sources: git-diff(1) and git-apply(1) for unified ones; the other form is that of OpenAI's `apply_patch` tool
//! (github.com/openai/codex, codex-rs/apply-patch/apply_patch_tool_instructions.md).

use super::body::{self, Head, refused};
use super::names;
use ground::fault::Fault;

/// Act of a patch on a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Act {
    Modify,
    Create,
    Delete,
}

/// The file whose text a renamed or copied one begins with.
#[derive(Clone, Debug, PartialEq)]
pub struct Origin {
    pub path: String,
    /// True for a copy.
    pub stays: bool,
}

/// Part of a patch for one file.
#[derive(Clone, Debug, PartialEq)]
pub struct FilePatch {
    pub path: String,
    pub act: Act,
    pub origin: Option<Origin>,
    pub hunks: Vec<Hunk>,
}

/// Hunk of a patch: the lines it expects, and those it puts in their place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hunk {
    /// Line of the patch its header is, from 1.
    pub number: usize,
    /// Line of the old file it claims to start at, from 1.
    pub stated: Option<usize>,
    /// Its header's counts fit its body, so its numbers were probably not made up.
    pub counts_fit: bool,
    /// Lines of the file that its header names instead of numbers: it stands below them.
    pub below: Vec<String>,
    /// It is marked as standing at the file's end.
    pub at_end: bool,
    pub lines: Vec<Line>,
    /// The last line of a side is marked as ending without a newline.
    pub old_unended: bool,
    pub new_unended: bool,
}

/// A line without its sign; `\r` at its end is kept where the patch itself has other ends of lines.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    Keep(String),
    Remove(String),
    Add(String),
}

impl Hunk {
    /// The lines it expects to find.
    pub fn expects(&self) -> Vec<&str> {
        self.side(|line| !matches!(line, Line::Add(_)), self.old_unended)
    }

    /// The lines that stand there after it.
    pub fn result_lines(&self) -> Vec<&str> {
        self.side(|line| !matches!(line, Line::Remove(_)), self.new_unended)
    }

    /// Lines without their ends; what stands at the end of a line without a newline is no part of one.
    fn side(&self, of: fn(&Line) -> bool, unended: bool) -> Vec<&str> {
        let mut lines: Vec<&str> = self.lines.iter().filter(|line| of(line)).map(Line::text).collect();
        let ended = lines.len() - usize::from(unended && !lines.is_empty());
        let ends = lines.iter_mut().take(ended);
        ends.for_each(|line| *line = line.strip_suffix('\r').unwrap_or(line));
        lines
    }

    /// Whether it changes nothing, not even ends of lines.
    pub fn is_idle(&self) -> bool {
        let side = |of: fn(&Line) -> bool| self.lines.iter().filter(move |line| of(line)).map(Line::text);
        self.old_unended == self.new_unended
            && side(|line| !matches!(line, Line::Add(_))).eq(side(|line| !matches!(line, Line::Remove(_))))
    }

    /// Whether it shows the ends of the old lines, so that those of its added lines are meant as they are.
    pub fn shows_ends(&self) -> bool {
        self.lines.iter().any(|line| !matches!(line, Line::Add(_)) && line.text().ends_with('\r'))
    }
}

impl Line {
    pub fn text(&self) -> &str {
        match self {
            Line::Keep(text) | Line::Remove(text) | Line::Add(text) => text,
        }
    }
}

/// Beginnings of the lines that name the old file and the new one.
const SIDES: [&str; 2] = ["--- ", "+++ "];

const HINT: &str = "send a unified diff: `--- a/path`, `+++ b/path`, `@@`, then lines that begin with space, - or +; or send `old` and `new` by repo.edit or files.edit";

/// Reads a patch; files named twice are one file with all their hunks.
pub fn parse(text: &str) -> Result<Vec<FilePatch>, Fault> {
    let mut lines: Vec<&str> = text.split('\n').collect();
    let header = |line: &&&str| line.starts_with("@@") || line.starts_with("*** ");
    // A patch whose own lines end with \r\n tells nothing of the file's.
    if lines.iter().find(header).is_some_and(|line| line.ends_with('\r')) {
        lines.iter_mut().for_each(|line| *line = line.trim_end_matches('\r'));
    }
    if lines.last() == Some(&"") {
        lines.pop();
    }
    let mut reader = Reader { lines, ..Reader::default() };
    let mut at = 0;
    while at < reader.lines.len() {
        at = reader.line(at)?;
    }
    reader.end_file()?;
    if let Some(begun) = reader.envelope {
        let hint = "was it cut short? nothing was changed; send it whole";
        return Err(refused(begun, "`*** Begin Patch` without `*** End Patch`", hint));
    }
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
    /// Named by `rename from`, `copy from`, or as the file that is moved.
    origin: Option<Origin>,
    hunks: Vec<Hunk>,
    claims_empty: bool,
    /// A hunk may begin without a header: the names have just been read.
    bare_hunk: bool,
    line: usize,
}

#[derive(Default)]
struct Reader<'a> {
    lines: Vec<&'a str>,
    files: Vec<FilePatch>,
    open: Option<Open>,
    fenced: bool,
    /// Index of a `*** Begin Patch` that has not ended.
    envelope: Option<usize>,
}

impl Reader<'_> {
    /// Reads what begins at this line; returns the index of the next line to read.
    fn line(&mut self, at: usize) -> Result<usize, Fault> {
        let line = self.lines.get(at).copied().unwrap_or_default();
        let line = line.trim_end_matches('\r');
        let bare_hunk = self.open.as_mut().is_some_and(|open| std::mem::take(&mut open.bare_hunk));
        if line.starts_with("@@") {
            return self.hunk(line, at, at + 1);
        }
        let read = self.envelope_line(line, at)? || self.header(line, at)?;
        if read || self.open.is_none() {
            if line.starts_with("```") {
                self.fenced = !self.fenced;
            }
        } else if line.starts_with("```") || body::signature(&self.lines, at) {
            self.fenced &= !line.starts_with("```");
            self.end_file()?;
        } else if bare_hunk && line.starts_with([' ', '+', '-']) {
            return self.hunk("@@", at, at);
        } else if line != "---" && (line.starts_with(['+', '-']) || line.starts_with("\\ ")) {
            return Err(refused(at, &format!("`{line}` stands in no hunk"), HINT));
        }
        // Anything else outside hunks is talk, `index` or `similarity` lines.
        Ok(at + 1)
    }

    fn start_file(&mut self, at: usize) -> Result<(), Fault> {
        self.end_file()?;
        self.open = Some(Open { line: at, ..Open::default() });
        Ok(())
    }

    /// Reads a line of the `*** Begin Patch` form; false when it is none.
    fn envelope_line(&mut self, line: &str, at: usize) -> Result<bool, Fault> {
        let Some(said) = line.strip_prefix("*** ").filter(|_| body::envelope(line)) else { return Ok(false) };
        let (what, path) = said.split_once(':').unwrap_or((said, ""));
        let path = names::alone(path).map_err(|why| refused(at, &why, HINT))?;
        match what.trim() {
            "Update File" | "Add File" | "Delete File" => {
                self.start_file(at)?;
                let (created, deleted) = (what == "Add File", what == "Delete File");
                let new = names::of_side(&path).map_err(|why| refused(at, &why, HINT))?;
                self.with_open(|open| {
                    (open.created, open.deleted, open.bare_hunk) = (created, deleted, !deleted);
                    open.new = new;
                });
            }
            "Move to" => self.with_open(|open| {
                open.origin = open.new.replace(path).map(|path| Origin { path, stays: false });
                open.bare_hunk = true;
            }),
            "End of File" => self.with_open(|open| {
                open.hunks.last_mut().into_iter().for_each(|hunk| hunk.at_end = true);
            }),
            "Begin Patch" => self.envelope = Some(at),
            _ => {
                self.end_file()?;
                self.envelope = None;
            }
        }
        Ok(true)
    }

    /// Reads a file header's line; false when it is none.
    fn header(&mut self, line: &str, at: usize) -> Result<bool, Fault> {
        let unread =
            |why: String| refused(at, &why, "git quotes names as C does, with three octal digits a byte");
        let fresh = self.open.as_ref().is_none_or(|open| !open.hunks.is_empty());
        if let Some(paths) = line.strip_prefix("diff --git ") {
            self.start_file(at)?;
            if let Some((old, new)) = names::of_both(paths).map_err(unread)? {
                self.with_open(|open| (open.old, open.new) = (Some(old), Some(new)));
            }
        } else if let Some((side, name)) = line.split_at_checked(4).filter(|(side, _)| SIDES.contains(side)) {
            let (name, is_new) = (names::of_side(name).map_err(unread)?, side == "+++ ");
            // After `diff --git` this line is still about the same file.
            if fresh {
                self.start_file(at)?;
            }
            self.with_open(|open| {
                let (known, is_gone) = match is_new {
                    true => (&mut open.new, &mut open.deleted),
                    false => (&mut open.old, &mut open.created),
                };
                *is_gone |= name.is_none();
                *known = name.or(known.take());
                open.bare_hunk |= is_new;
            });
        } else if let Some(mode) = line.strip_prefix("new file mode ") {
            plain(mode, line, at)?;
            self.with_open(|open| open.created = true);
        } else if line.starts_with("deleted file mode") {
            self.with_open(|open| open.deleted = true);
        } else if let Some((what, name)) =
            line.split_once(" from ").filter(|(what, _)| matches!(*what, "rename" | "copy"))
        {
            let path = names::alone(name).map_err(unread)?;
            let stays = what == "copy";
            self.with_open(|open| open.origin = Some(Origin { path, stays }));
        } else if let Some(name) = line.strip_prefix("rename to ").or_else(|| line.strip_prefix("copy to ")) {
            let path = names::alone(name).map_err(unread)?;
            self.with_open(|open| open.new = Some(path));
        } else {
            return self.unsupported(line, at).map(|()| false);
        }
        Ok(true)
    }

    /// Refuses lines of a header that ask for more than a text: without them the rest would be half of what is meant.
    fn unsupported(&self, line: &str, at: usize) -> Result<(), Fault> {
        let binary = line.starts_with("GIT binary patch")
            || (line.starts_with("Binary files ") && line.ends_with(" differ"));
        let context = line.starts_with("***************");
        let merge = line.starts_with("diff --cc ") || line.starts_with("diff --combined ");
        if merge || ((binary || context) && self.open.is_some()) {
            let what = format!("`{line}` is not supported");
            return Err(refused(at, &what, "send a plain unified diff of text files"));
        }
        match (&self.open, line.strip_prefix("new mode "), line.strip_prefix("index ")) {
            (Some(_), Some(_), _) => plain("", line, at),
            (Some(_), _, Some(index)) => match index.rsplit_once(' ') {
                Some((_, mode)) if matches!(mode, "120000" | "160000") => plain(mode, line, at),
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn with_open(&mut self, change: impl FnOnce(&mut Open)) {
        if let Some(open) = &mut self.open {
            change(open);
        }
    }

    /// Reads the hunk whose header is `line` and whose body begins at `from`; returns the index after it.
    fn hunk(&mut self, line: &str, at: usize, from: usize) -> Result<usize, Fault> {
        let Some(open) = &mut self.open else {
            return Err(refused(at, "a hunk without a file before it", HINT));
        };
        if line.starts_with("@@@") {
            let hint = "send a plain unified diff against the file as it is";
            return Err(refused(at, "a combined diff, of a merge, is not supported", hint));
        }
        let numbers = numbers(line);
        let counts = numbers.map(|(_, old, new)| (old, new));
        let stated = numbers.map(|(start, ..)| start);
        open.claims_empty |=
            open.hunks.is_empty() && stated == Some(0) && counts.is_some_and(|(old, _)| old == 0);
        let below = if numbers.is_none() { place(line) } else { None };
        let mut below: Vec<String> = below.into_iter().collect();
        // `@@ impl Life` before `@@ fn beat` tells where to look for the second.
        if open.hunks.last().is_some_and(|last| last.lines.is_empty() && !last.below.is_empty()) {
            let outer = open.hunks.pop().map_or(Vec::new(), |outer| outer.below);
            below.splice(0..0, outer);
        }
        let creates = open.created || (open.claims_empty && open.hunks.is_empty());
        let body = body::read(&self.lines, from, Head { counts, creates, fenced: self.fenced })?;
        open.hunks.push(Hunk {
            number: at + 1,
            stated,
            counts_fit: body.counts_fit,
            below,
            lines: body.lines,
            old_unended: body.old_unended,
            new_unended: body.new_unended,
            at_end: false,
        });
        Ok(body.next)
    }

    fn end_file(&mut self) -> Result<(), Fault> {
        let Some(open) = self.open.take() else {
            return Ok(());
        };
        let named = open.old.is_some() || open.new.is_some() || open.origin.is_some();
        if open.hunks.is_empty() && !open.created && !open.deleted && !named {
            return Ok(());
        }
        let fault = |what: &str| Err(refused(open.line, what, HINT));
        let (path, act) = match (&open.old, &open.new) {
            _ if open.created && open.deleted => return fault("a file both created and deleted"),
            (_, Some(path)) if open.origin.is_some() => (path.clone(), Act::Modify),
            (Some(old), Some(new)) if old != new => return fault("two different files in one header"),
            (_, Some(path)) if open.created => (path.clone(), Act::Create),
            (Some(path), _) | (None, Some(path)) if open.deleted => (path.clone(), Act::Delete),
            (None, Some(path)) if open.claims_empty => (path.clone(), Act::Create),
            (Some(path), _) | (None, Some(path)) => (path.clone(), Act::Modify),
            (None, None) => return fault("a file without a name"),
        };
        let origin = open.origin.filter(|origin| origin.path != path);
        self.add(FilePatch { path, act, origin, hunks: open.hunks });
        Ok(())
    }

    /// Takes a file; one that was named before, and not moved or made since, gets the hunks as well.
    fn add(&mut self, file: FilePatch) {
        let touches = |known: &&mut FilePatch| {
            known.path == file.path || known.origin.as_ref().is_some_and(|origin| origin.path == file.path)
        };
        let same = |known: &&mut FilePatch| known.act == file.act && known.origin.is_none();
        match self.files.iter_mut().rev().find(touches).filter(same).filter(|_| file.origin.is_none()) {
            Some(known) => known.hunks.extend(file.hunks),
            None => self.files.push(file),
        }
    }
}

/// Refuses a mode that a plain text file does not have.
fn plain(mode: &str, line: &str, at: usize) -> Result<(), Fault> {
    if matches!(mode.trim(), "100644" | "100664" | "100600") {
        return Ok(());
    }
    let what = format!("`{line}` is not supported: what is written here is a plain file");
    Err(refused(at, &what, "leave the line out, or ask your owner to set the mode"))
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

/// The line of the file that a header without numbers names.
fn place(line: &str) -> Option<String> {
    let named = line.trim_matches('@').trim();
    named.contains(char::is_alphanumeric).then(|| named.to_owned())
}
