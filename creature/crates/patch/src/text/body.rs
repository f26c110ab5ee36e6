//! Finds where a hunk's lines end: by the counts of its header, else by what can belong to no hunk. Pure.
//!
//! Invariant: no line that begins with + or - is left out in silence; where it stays open whether it belongs to the
//! hunk, the patch is refused with the line.

use super::diff::Line;
use ground::fault::Fault;

/// Head of a hunk: what is known before its first line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Head {
    /// Lines of the old and the new side, by its header.
    pub counts: Option<(usize, usize)>,
    /// It makes a new file, so that it has no old side.
    pub creates: bool,
    /// The patch stands in a fenced block that was opened before it.
    pub fenced: bool,
}

/// A hunk's lines, and the index of the first line after them.
#[derive(Debug, Default)]
pub struct Body {
    pub lines: Vec<Line>,
    pub old_unended: bool,
    pub new_unended: bool,
    pub counts_fit: bool,
    pub next: usize,
}

/// Reads the body that begins at `from`.
pub fn read(all: &[&str], from: usize, head: Head) -> Result<Body, Fault> {
    let met = met(all, from, head);
    let limit = (from..all.len()).find(|at| ends(all, *at, met)).unwrap_or(all.len());
    let end = match met.filter(|met| *met <= limit) {
        Some(met) => after_counts(all, met, limit, head.fenced)?,
        None => from + without_counts(all.get(from..limit).unwrap_or_default(), head),
    };
    let mut body = Body { next: end, ..Body::default() };
    let without_old = has_no_old(head);
    for line in all.get(from..end).unwrap_or_default() {
        if line.starts_with("\\ ") {
            body.old_unended |= matches!(body.lines.last(), Some(Line::Remove(_) | Line::Keep(_)));
            body.new_unended = !matches!(body.lines.last(), None | Some(Line::Remove(_)));
        } else {
            body.lines.push(one(line, without_old));
        }
    }
    body.counts_fit = head.counts == Some(tally(&body.lines));
    if all.iter().skip(end).all(|line| blank(line)) {
        not_cut(&body, head, from)?;
    }
    Ok(body)
}

/// Refuses a hunk with which the patch ends before the counts are full: what is missing may be a change.
fn not_cut(body: &Body, head: Head, from: usize) -> Result<(), Fault> {
    let (old, new) = tally(&body.lines);
    match head.counts {
        Some((most_old, most_new)) if !body.counts_fit && old <= most_old && new <= most_new => {
            let what = format!(
                "the patch ends after {old} old and {new} new lines of this hunk, its header counts {most_old} and {most_new}"
            );
            let hint = "was it cut short? send it whole; if it is, count anew, or write `@@` without numbers";
            Err(refused(from.saturating_sub(1), &what, hint))
        }
        _ => Ok(()),
    }
}

fn has_no_old(head: Head) -> bool {
    head.creates || head.counts.is_some_and(|(old, _)| old == 0)
}

/// Reads a line; a blank or unprefixed one is a kept line that lost its space, which must stand in the file as it is.
fn one(line: &str, without_old: bool) -> Line {
    let mut rest = line.chars();
    match rest.next() {
        Some('+') => Line::Add(rest.as_str().to_owned()),
        Some('-') => Line::Remove(rest.as_str().to_owned()),
        Some(' ') => Line::Keep(rest.as_str().to_owned()),
        _ if blank(line) && without_old => Line::Add(line.to_owned()),
        _ => Line::Keep(line.to_owned()),
    }
}

fn tally(lines: &[Line]) -> (usize, usize) {
    let old = lines.iter().filter(|line| !matches!(line, Line::Add(_))).count();
    let new = lines.iter().filter(|line| !matches!(line, Line::Remove(_))).count();
    (old, new)
}

/// The index after the line with which both counts are full; none where they never are at once.
fn met(all: &[&str], from: usize, head: Head) -> Option<usize> {
    let (mut old, mut new) = head.counts?;
    for at in from..=all.len() {
        if (old, new) == (0, 0) {
            let marked = all.get(at).is_some_and(|line| line.starts_with("\\ "));
            return Some(at + usize::from(marked));
        }
        let line = all.get(at)?;
        if line.starts_with("\\ ") {
            continue;
        }
        let line = one(line, has_no_old(head));
        old = old.checked_sub(usize::from(!matches!(line, Line::Add(_))))?;
        new = new.checked_sub(usize::from(!matches!(line, Line::Remove(_))))?;
    }
    None
}

/// Whether this line begins another hunk or file, whatever the counts say.
fn ends(all: &[&str], at: usize, met: Option<usize>) -> bool {
    let begins = |at: usize, prefix: &str| all.get(at).is_some_and(|line| line.starts_with(prefix));
    if begins(at, "@@") || begins(at, "diff --") || all.get(at).is_some_and(|line| envelope(line)) {
        return true;
    }
    // A removed line that began with `-- ` looks like the name of a file.
    let named = begins(at, "--- ") && begins(at + 1, "+++ ");
    match met {
        Some(met) if at == met => named || (begins(at, "--- ") && begins(at + 1, "@@")),
        // Counts that are too large by one swallow the next file's names; those look like paths.
        Some(met) if at < met => named && begins(at + 2, "@@") && path_like(all, at),
        _ => named && (begins(at + 2, "@@") || all.get(at + 2).is_none_or(|line| line.is_empty())),
    }
}

fn path_like(all: &[&str], at: usize) -> bool {
    let side = |at: usize, prefix: &str| {
        let name = all.get(at).and_then(|line| line.get(4..)).unwrap_or_default();
        name.starts_with("/dev/null") || name.trim_start_matches('"').starts_with(prefix)
    };
    side(at, "a/") && side(at + 1, "b/")
}

/// Whether a line is one of the `*** ` lines of the other form.
pub fn envelope(line: &str) -> bool {
    let said = line.strip_prefix("*** ").unwrap_or_default();
    ["Begin Patch", "End Patch", "Update File:", "Add File:", "Delete File:", "Move to:", "End of File"]
        .iter()
        .any(|known| said.starts_with(known))
}

fn blank(line: &str) -> bool {
    line.trim_end_matches('\r').is_empty()
}

fn fence(line: &str) -> bool {
    line.starts_with("```")
}

fn changes(line: &str) -> bool {
    line.starts_with(['+', '-'])
}

/// Whether a line has the form of a hunk's line.
fn prefixed(line: &str) -> bool {
    blank(line) || changes(line) || line.starts_with(' ') || line.starts_with("\\ ")
}

/// Whether a mail's signature stands here, which git puts below a patch.
pub fn signature(all: &[&str], at: usize) -> bool {
    let version = all.get(at + 1).is_some_and(|next| next.starts_with(|first: char| first.is_ascii_digit()));
    all.get(at).is_some_and(|line| *line == "-- " || (line.trim_end() == "--" && version))
}

/// The end of a hunk whose counts are full at `met`: there, or at `limit` where the counts were too small.
fn after_counts(all: &[&str], met: usize, limit: usize, fenced: bool) -> Result<usize, Fault> {
    let rest = |from: usize| (from..limit).filter(|at| all.get(*at).is_some_and(|line| !blank(line)));
    let line = |at: usize| all.get(at).copied().unwrap_or_default();
    let Some(first) = rest(met).next() else { return Ok(met) };
    if signature(all, first) {
        return Ok(met);
    }
    let change = rest(first).find(|at| changes(line(*at)));
    if fence(line(first)) && fenced && !rest(first + 1).any(|at| fence(line(at))) {
        return Ok(met);
    }
    if rest(met).all(|at| prefixed(line(at))) {
        return Ok(rest(met).next_back().map_or(met, |last| last + 1));
    }
    if let Some(at) = change {
        let what = format!("`{}` comes after as many lines as the hunk's header counts", line(at));
        return Err(refused(at, &what, "count the hunk's lines anew, or leave out the words after it"));
    }
    let known = ["Index: ", "From ", "Only in ", "EOF", "PATCH", "```", " "];
    if first == met && !known.iter().any(|known| line(first).starts_with(known)) {
        let what = format!("`{}` begins with neither a space, + nor -", line(first));
        let hint =
            "give it its sign if it belongs to the hunk, else leave it out or put an empty line before it";
        return Err(refused(first, &what, hint));
    }
    Ok(met)
}

/// Counts the lines of a hunk whose header does not count them, or counts them wrongly.
fn without_counts(lines: &[&str], head: Head) -> usize {
    let line = |at: usize| lines.get(at).copied().unwrap_or_default();
    let last_change = (0..lines.len()).rev().find(|at| changes(line(*at)));
    let mut end = lines.len();
    // The one fence that is left of a fenced block closes it.
    let fences: Vec<usize> = (0..end).filter(|at| fence(line(*at))).collect();
    if let ([only], true) = (fences.as_slice(), head.fenced)
        && last_change.is_none_or(|change| change < *only)
    {
        end = *only;
    } else if let (Some(last), true) = (fences.last(), head.fenced)
        && (last + 1..end).all(|at| blank(line(at)))
    {
        end = *last;
    }
    if let Some(at) = (0..end).rev().find(|at| signature(lines, *at))
        && (at + 1..end).all(|at| !prefixed(line(at)) || blank(line(at)))
    {
        end = at;
    }
    // Words below an empty line are none of a file's, unless a change comes after them.
    let after = last_change.filter(|_| !head.creates).map_or(end, |change| change + 1);
    let words = |at: usize| {
        let next = (at..end).find(|at| !blank(line(*at)));
        blank(line(at)) && next.is_some_and(|next| !prefixed(line(next)))
    };
    end = (after..end).find(|at| words(*at)).unwrap_or(end);
    while end > 0 && blank(line(end - 1)) {
        end -= 1;
    }
    end
}

/// A fault that names a line of the patch by its index.
pub fn refused(at: usize, what: &str, hint: &str) -> Fault {
    Fault::new(format!("line {} of the patch: {what}", at + 1), hint)
}
