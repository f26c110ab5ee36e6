//! Places a file's hunks in its real text: exactly, or nearly and unique, or not at all. Pure.
//!
//! Invariant: a hunk lands where its whole old side stands, trailing spaces aside. Of several exact places it
//! takes the one its header names if the header's counts fit its body, or the first below the line its header
//! quotes; else it is refused.
//! Invariant: every hunk is placed in the text as it was, so no hunk can land in what another one wrote.
//! Invariant: lines a hunk only keeps stay byte for byte as the file has them.

use super::diff::{Act, FilePatch, Hunk, Line};
use super::nearest::{self, nearest};
use std::collections::{BTreeMap, BTreeSet};

/// Way in which a hunk found its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pass {
    Exact,
    /// Exact and unique, but not where its header said.
    Moved,
    /// Unique when spaces at the ends of lines are ignored.
    Trailing,
    /// Its new side stands there already.
    AlreadyApplied,
}

impl Pass {
    pub fn name(self) -> &'static str {
        match self {
            Pass::Exact => "exact",
            Pass::Moved => "exact, moved",
            Pass::Trailing => "trailing spaces ignored",
            Pass::AlreadyApplied => "already applied",
        }
    }
}

/// Place where a hunk landed: its line in the old text, from 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placed {
    pub pass: Pass,
    pub line: usize,
}

/// A hunk that found no place.
#[derive(Clone, Debug, PartialEq)]
pub struct Miss {
    /// Number of the hunk in the file, from 1.
    pub hunk: usize,
    /// Line of the patch at which it begins; 0 where the patch has no hunk.
    pub number: usize,
    /// Reason for the miss, with line numbers.
    pub why: String,
    /// The real text near the place, numbered.
    pub around: String,
}

/// A file's text after a patch; none means deleted.
#[derive(Clone, Debug, PartialEq)]
pub struct Applied {
    pub text: Option<String>,
    pub placed: Vec<Placed>,
}

/// Applies all hunks of one file to its text, none meaning that there is no file.
pub fn apply(patch: &FilePatch, text: Option<&str>) -> Result<Applied, Miss> {
    let miss = |why: &str| Err(bare(1, patch.hunks.first(), why));
    match (patch.act, text) {
        (Act::Create, None) => create(patch),
        (Act::Create, Some(text)) => match create(patch)?.text {
            Some(new) if new == text => whole(Some(new), Pass::AlreadyApplied),
            Some(_) if text.is_empty() => create(patch),
            _ => miss("the file exists already, with other text; patch it as it is"),
        },
        (Act::Delete, None) => whole(None, Pass::AlreadyApplied),
        (Act::Modify, None) if makes_all(&patch.hunks) => create(patch),
        (Act::Modify, None) => miss("there is no such file; to create it begin with `--- /dev/null`"),
        (Act::Modify, Some(_)) if patch.hunks.is_empty() => miss("its part of the patch has no hunks"),
        (Act::Modify, Some(text)) => modify(&patch.hunks, text),
        (Act::Delete, Some(text)) => delete(patch, text),
    }
}

/// A miss without lines to show.
fn bare(at: usize, hunk: Option<&Hunk>, why: &str) -> Miss {
    Miss { hunk: at, number: hunk.map_or(0, |hunk| hunk.number), why: why.to_owned(), around: String::new() }
}

/// Whether the hunks are of a file that was not there: they begin at line 0 and have no old side.
fn makes_all(hunks: &[Hunk]) -> bool {
    !hunks.is_empty() && hunks.iter().all(|hunk| hunk.stated == Some(0) && hunk.expects().is_empty())
}

/// A file that is made or deleted whole.
fn whole(text: Option<String>, pass: Pass) -> Result<Applied, Miss> {
    Ok(Applied { text, placed: vec![Placed { pass, line: 1 }] })
}

fn create(patch: &FilePatch) -> Result<Applied, Miss> {
    let mut text = String::new();
    for (at, hunk) in patch.hunks.iter().enumerate() {
        if !hunk.expects().is_empty() {
            let unsigned =
                hunk.lines.iter().find(|line| !matches!(line, Line::Add(_))).map_or("", Line::text);
            let why = format!("a new file's patch has lines that do not begin with +: `{unsigned}`");
            return Err(bare(at + 1, Some(hunk), &why));
        }
        hunk.lines.iter().for_each(|line| {
            text.push_str(line.text());
            text.push('\n');
        });
        if hunk.new_unended {
            text.pop();
        }
    }
    whole(Some(text), Pass::Exact)
}

fn delete(patch: &FilePatch, text: &str) -> Result<Applied, Miss> {
    let lines = split(text);
    let named = patch.hunks.iter().flat_map(Hunk::expects);
    let same = named.map(str::trim_end).eq(lines.iter().map(|(line, _)| line.trim_end()));
    let keeps = patch.hunks.iter().any(|hunk| !hunk.result_lines().is_empty());
    if !patch.hunks.is_empty() && (!same || keeps) {
        let why = "the file to delete has other text than the patch removes";
        return Err(bare(1, patch.hunks.first(), why));
    }
    whole(None, Pass::Exact)
}

fn modify(hunks: &[Hunk], text: &str) -> Result<Applied, Miss> {
    let lines = split(text);
    let bare: Vec<&str> = lines.iter().map(|(line, _)| *line).collect();
    let mut edits = Edits::default();
    let mut found = Vec::new();
    for (at, hunk) in hunks.iter().enumerate() {
        let placed = locate(hunk, &lines, &bare).map_err(|why| miss(at, hunk, &bare, why))?;
        found.push(placed);
    }
    // One hunk found elsewhere than it said shows that this patch's numbers cannot choose between places.
    let moved = |at: usize| found.iter().enumerate().any(|(other, spot)| other != at && spot.moved);
    for (at, (hunk, spot)) in hunks.iter().zip(&found).enumerate() {
        if spot.others.len() > 1 && moved(at) {
            let why = ambiguous(&spot.others);
            return Err(miss(at, hunk, &bare, why));
        }
        if spot.placed.pass != Pass::AlreadyApplied && !edits.add(hunk, spot.placed.line - 1) {
            let why = "it changes the same lines as another hunk".to_owned();
            return Err(miss(at, hunk, &bare, why));
        }
    }
    Ok(Applied {
        text: Some(edits.write(&lines, text)),
        placed: found.iter().map(|spot| spot.placed).collect(),
    })
}

/// A hunk's place, with every exact place it could have had.
struct Spot {
    placed: Placed,
    moved: bool,
    others: Vec<usize>,
}

fn locate(hunk: &Hunk, lines: &[(&str, &str)], file: &[&str]) -> Result<Spot, String> {
    let (old, new) = (hunk.expects(), hunk.result_lines());
    if hunk.is_idle() {
        return Err("it changes nothing: no line differs between its two sides".to_owned());
    }
    let spot =
        |pass, at: usize, moved, others| Ok(Spot { placed: Placed { pass, line: at + 1 }, moved, others });
    if old.is_empty() {
        return match file.is_empty() || hunk.at_end {
            true => spot(Pass::Exact, file.len(), false, Vec::new()),
            false => Err("it has no lines to find its place by; add the lines around it".to_owned()),
        };
    }
    let stated = hunk.stated.and_then(|line| line.checked_sub(1));
    let mut exact = places(file, &old, |a, b| a == b);
    if exact.len() > 1 {
        narrow(hunk, file, &mut exact);
    }
    let certain = |at: &usize| exact.len() == 1 || (hunk.counts_fit && stated == Some(*at));
    let mut certain = exact.iter().copied().filter(certain);
    if let Some(at) = certain.find(|at| is_done(hunk, lines, *at)) {
        return spot(Pass::AlreadyApplied, at, false, Vec::new());
    }
    match exact.as_slice() {
        [at] if stated == Some(*at) => return spot(Pass::Exact, *at, false, exact),
        [at] => return spot(Pass::Moved, *at, stated.is_some(), exact),
        [] => {}
        _ => {
            return match stated.filter(|at| hunk.counts_fit && exact.contains(at)) {
                Some(at) => spot(Pass::Exact, at, false, exact),
                None => Err(ambiguous(&exact)),
            };
        }
    }
    let near = places(file, &old, |a, b| a.trim_end() == b.trim_end());
    match near.as_slice() {
        [at] => return spot(Pass::Trailing, *at, stated.is_some_and(|line| line != *at), Vec::new()),
        [] => {}
        _ => return Err(ambiguous(&near)),
    }
    // A short new side may stand anywhere: two telling lines, or the whole file, must agree to count as applied.
    let telling = new.iter().filter(|line| line.chars().any(char::is_alphanumeric)).count();
    let believable = (telling >= 2 && gap_is_known(hunk)) || new.len() == file.len();
    match places(file, &new, |a, b| a == b).as_slice() {
        [at] if believable => spot(Pass::AlreadyApplied, *at, false, Vec::new()),
        _ => Err(String::new()),
    }
}

/// Leaves of several places the one that the hunk's header, or its mark of the end, tells apart.
fn narrow(hunk: &Hunk, file: &[&str], exact: &mut Vec<usize>) {
    let mut from = 0;
    for quoted in &hunk.below {
        let same = |at: &usize| file.get(*at).is_some_and(|line| line.trim() == quoted.as_str());
        let mut found = (from..file.len()).filter(same);
        // A line that stands there twice tells nothing.
        let (Some(at), None) = (found.next(), found.next()) else { return };
        from = at;
    }
    if !hunk.below.is_empty() {
        exact.retain(|at| *at >= from);
        exact.truncate(1);
    } else if hunk.at_end {
        let ends = file.len() - hunk.expects().len();
        exact.retain(|at| *at == ends);
    }
}

/// Whether lines on both sides tell where removed ones would stand: without them a misquoted line looks removed.
fn gap_is_known(hunk: &Hunk) -> bool {
    let blank = |line: &Line| matches!(line, Line::Keep(text) | Line::Add(text) | Line::Remove(text) if text.trim().is_empty());
    let removed = |line: &Line| matches!(line, Line::Remove(_));
    let telling = |line: Option<&Line>| line.is_some_and(|line| !blank(line));
    let first = hunk.lines.iter().position(removed);
    let last = hunk.lines.iter().rposition(removed);
    let (Some(first), Some(last)) = (first, last) else {
        return true;
    };
    let before = first.checked_sub(1).and_then(|at| hunk.lines.get(at));
    telling(before) && telling(hunk.lines.get(last + 1))
}

/// Whether a hunk that only adds has its lines there already, next to the place its old side has; with the ends that
/// it shows, for a line may differ from its neighbour in nothing else.
fn is_done(hunk: &Hunk, lines: &[(&str, &str)], at: usize) -> bool {
    if hunk.lines.iter().any(|line| matches!(line, Line::Remove(_))) {
        return false;
    }
    let leading = hunk.lines.iter().take_while(|line| matches!(line, Line::Add(_))).count();
    let shows_ends = hunk.shows_ends();
    let same = |new: &Line, (line, end): &(&str, &str)| match (new.text().strip_suffix('\r'), *end) {
        (Some(new), "\r\n") => new == *line,
        _ => new.text() == *line && !(shows_ends && *end == "\r\n"),
    };
    let start = at.checked_sub(leading);
    let there = start.and_then(|start| lines.get(start..start + hunk.lines.len()));
    there.is_some_and(|there| hunk.lines.iter().zip(there).all(|(new, old)| same(new, old)))
}

/// Every place in the file where the block stands, in time in proportion to both, for a file may say one line ten thousand
/// times: the search of Knuth, Morris and Pratt.
fn places(file: &[&str], block: &[&str], same: impl Fn(&str, &str) -> bool) -> Vec<usize> {
    if block.is_empty() {
        return Vec::new();
    }
    let is_next = |held: usize, line: &str| block.get(held).is_some_and(|next| same(next, line));
    let follow = |ends: &[usize], mut held: usize, line: &str| {
        while held > 0 && !is_next(held, line) {
            held = ends.get(held - 1).copied().unwrap_or(0);
        }
        held + usize::from(is_next(held, line))
    };
    // With how many lines of its own beginning each beginning of the block ends.
    let mut ends = vec![0];
    for line in block.iter().skip(1) {
        ends.push(follow(&ends, ends.last().copied().unwrap_or(0), line));
    }
    let (mut held, mut found) = (0, Vec::new());
    for (at, line) in file.iter().enumerate() {
        held = follow(&ends, held, line);
        found.extend((held == block.len()).then(|| at + 1 - held));
    }
    found
}

fn ambiguous(found: &[usize]) -> String {
    let lines: Vec<usize> = found.iter().map(|at| at + 1).collect();
    format!("its old lines stand in {}; add more lines around it", nearest::places(&lines))
}

/// Describes a miss: the nearest block, and the first line in which it differs.
fn miss(at: usize, hunk: &Hunk, file: &[&str], why: String) -> Miss {
    let old = hunk.expects();
    let stated = hunk.stated.unwrap_or(1).saturating_sub(1);
    let Some(nearest) = nearest(file, &old, stated) else {
        let why = if why.is_empty() { "none of its old lines is in the file".to_owned() } else { why };
        return bare(at + 1, Some(hunk), &why);
    };
    let why = match why.is_empty() {
        false => why,
        true => format!(
            "the nearest block starts at line {} ({} of {} lines are the same); {}",
            nearest.start + 1,
            nearest.same,
            old.len(),
            nearest.difference()
        ),
    };
    Miss { around: nearest.shown(), ..bare(at + 1, Some(hunk), &why) }
}

/// Changes to a text by its own line numbers, gathered from all hunks before any is made.
#[derive(Default)]
struct Edits<'a> {
    removed: BTreeSet<usize>,
    /// Lines by the place before which they come; each with its end, where the patch tells it.
    added: BTreeMap<usize, Vec<(&'a str, Option<&'a str>)>>,
    unended: bool,
}

impl<'a> Edits<'a> {
    /// Takes a hunk whose old side starts at `at`; false when another hunk changes the same lines.
    fn add(&mut self, hunk: &'a Hunk, at: usize) -> bool {
        let mut here = at;
        let mut ours: BTreeMap<usize, Vec<(&'a str, Option<&'a str>)>> = BTreeMap::new();
        let told = hunk.shows_ends().then_some("\n");
        let new_side = |line: &Line| !matches!(line, Line::Remove(_));
        let unended = hunk.lines.iter().rposition(new_side).filter(|_| hunk.new_unended);
        for (number, line) in hunk.lines.iter().enumerate() {
            match line {
                Line::Keep(_) => here += 1,
                Line::Remove(_) if !self.removed.insert(here) => return false,
                Line::Remove(_) => here += 1,
                // Without a newline, what stands before it is no part of one.
                Line::Add(text) if unended == Some(number) => {
                    ours.entry(here).or_default().push((text, Some("")))
                }
                Line::Add(text) => ours.entry(here).or_default().push(match text.strip_suffix('\r') {
                    Some(text) => (text, Some("\r\n")),
                    None => (text.as_str(), told),
                }),
            }
        }
        if ours.keys().any(|place| self.added.contains_key(place)) {
            return false;
        }
        self.added.extend(ours);
        self.unended |= hunk.new_unended;
        true
    }

    fn write(&self, lines: &[(&str, &str)], text: &str) -> String {
        let mut made: Vec<(&str, &str)> = Vec::with_capacity(lines.len());
        let mut last_added = false;
        for at in 0..=lines.len() {
            let added = self.added.get(&at).into_iter().flatten();
            let before = made.len();
            made.extend(added.map(|(line, end)| (*line, end.unwrap_or(end_near(lines, at)))));
            last_added |= made.len() > before;
            if let Some(line) = lines.get(at).filter(|_| !self.removed.contains(&at)) {
                made.push(*line);
                last_added = false;
            }
        }
        let mut out = String::with_capacity(text.len() + 256);
        for (at, (line, end)) in made.iter().enumerate() {
            let last = at + 1 == made.len();
            out.push_str(line);
            out.push_str(match (last, end.is_empty()) {
                (true, _) if last_added && self.unended => "",
                (true, _) | (false, false) => end,
                (false, true) => end_near(lines, lines.len()),
            });
        }
        out
    }
}

/// The end of the line that stands above a place, or below it where none above has one.
fn end_near<'t>(lines: &[(&str, &'t str)], at: usize) -> &'t str {
    let (above, below) = lines.split_at(at.min(lines.len()));
    let mut near = above.iter().rev().chain(below).map(|(_, end)| *end);
    near.find(|end| !end.is_empty()).unwrap_or("\n")
}

/// Lines with their endings kept apart, so that texts with either kind of ending compare alike.
fn split(text: &str) -> Vec<(&str, &str)> {
    let ended = text.split_inclusive('\n');
    let parts = ended.map(|line| match line.strip_suffix('\n') {
        Some(bare) => match bare.strip_suffix('\r') {
            Some(barer) => (barer, "\r\n"),
            None => (bare, "\n"),
        },
        None => (line, ""),
    });
    parts.collect()
}
