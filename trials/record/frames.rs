//! A recording as frames, and how long each is shown: rows that tell something stand long enough to be read, waiting is cut. Pure.

use super::cast::Cast;
use std::collections::HashSet;
use vt100::Color;

/// A screen as it stood, and since when.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    pub at_ms: u64,
    pub rows: Vec<Vec<Run>>,
    /// Column and row of the cursor, where it is seen.
    pub cursor: Option<(u16, u16)>,
}

/// Letters of one look, and the columns they take.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Run {
    pub column: u16,
    pub columns: u16,
    pub text: String,
    pub look: Look,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Look {
    /// Of the sixteen colours; none: the terminal's own.
    pub colour: Option<u8>,
    pub bold: bool,
    pub dim: bool,
}

/// A frame, and how long the film shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    pub frame: Frame,
    pub shown_ms: u64,
}

/// What follows sooner belongs to the same drawing.
const SETTLED_MS: u64 = 30;
/// A row that tells something is shown this long, and longer by its letters.
const TOLD_MS: u64 = 400;
const LETTER_MS: u64 = 8;
const MOST_TOLD_MS: u64 = 1_900;
/// A key as it is typed.
const TYPED_MS: u64 = 40;
/// A frame that tells nothing new: the status as it goes on.
const OTHER_MS: u64 = 70;
/// Frames that tell nothing new, between two that do.
const MOST_OTHERS: usize = 8;
/// The last frame stands before the film begins again.
const LAST_MS: u64 = 4_000;

/// Every screen that stood for a moment.
pub fn of(cast: &Cast) -> Vec<Frame> {
    let mut parser = vt100::Parser::new(cast.rows, cast.columns, 0);
    let mut frames: Vec<Frame> = Vec::new();
    for (number, (at_ms, text)) in cast.events.iter().enumerate() {
        parser.process(text.as_bytes());
        let next = cast.events.get(number + 1);
        if next.is_some_and(|(next_ms, _)| next_ms - at_ms < SETTLED_MS) {
            continue;
        }
        let screen = parser.screen();
        let rows = (0..cast.rows).map(|row| runs(screen, row)).collect();
        let (row, column) = screen.cursor_position();
        let cursor = (!screen.hide_cursor()).then_some((column, row));
        if frames.last().is_none_or(|last| last.rows != rows || last.cursor != cursor) {
            frames.push(Frame { at_ms: *at_ms, rows, cursor });
        }
    }
    frames
}

/// A row as runs of one look, without the blanks at its end.
fn runs(screen: &vt100::Screen, row: u16) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for column in 0..screen.size().1 {
        let Some(cell) = screen.cell(row, column).filter(|cell| !cell.is_wide_continuation()) else {
            continue;
        };
        let colour = match cell.fgcolor() {
            Color::Idx(number) if number < 16 => Some(number),
            Color::Default | Color::Idx(_) | Color::Rgb(..) => None,
        };
        let look = Look { colour, bold: cell.bold(), dim: cell.dim() };
        let text = if cell.has_contents() { cell.contents() } else { " " };
        let columns = 1 + u16::from(cell.is_wide());
        match runs.last_mut() {
            Some(run) if run.look == look && run.column + run.columns == column => {
                run.text.push_str(text);
                run.columns += columns;
            }
            _ => runs.push(Run { column, columns, text: text.to_owned(), look }),
        }
    }
    while let Some(run) = runs.last_mut() {
        let (whole, kept) = (run.text.chars().count(), run.text.trim_end().chars().count());
        run.text.truncate(run.text.trim_end().len());
        run.columns -= (whole - kept) as u16;
        if !run.text.is_empty() {
            break;
        }
        runs.pop();
    }
    runs
}

/// The frames of the film: all that tell something, each key, and a few of those between.
pub fn scenes(frames: &[Frame]) -> Vec<Scene> {
    let mut seen = HashSet::new();
    let (mut scenes, mut others): (Vec<Scene>, Vec<&Frame>) = (Vec::new(), Vec::new());
    for (number, frame) in frames.iter().enumerate() {
        let letters = new_letters(frame, &mut seen);
        let before = number.checked_sub(1).and_then(|before| frames.get(before));
        let shown_ms = match letters {
            0 if before.is_some_and(|before| is_typed(before, frame)) => TYPED_MS,
            0 => {
                others.push(frame);
                continue;
            }
            letters => (TOLD_MS + LETTER_MS * letters).min(MOST_TOLD_MS),
        };
        scenes.extend(few(&others));
        others.clear();
        scenes.push(Scene { frame: frame.clone(), shown_ms });
    }
    scenes.extend(few(&others));
    if let Some(last) = scenes.last_mut() {
        last.shown_ms = LAST_MS;
    }
    scenes
}

/// Whether the line with the cursor is another one than before.
fn is_typed(before: &Frame, frame: &Frame) -> bool {
    let line = |frame: &Frame| {
        let (_, row) = frame.cursor?;
        frame.rows.get(usize::from(row)).cloned()
    };
    matches!((line(before), line(frame)), (Some(before), Some(now)) if before != now)
        && before.cursor != frame.cursor
}

/// Letters of rows that begin with a time and were in no frame before, and of those they go on in.
fn new_letters(frame: &Frame, seen: &mut HashSet<String>) -> u64 {
    let mut letters = 0;
    let mut goes_on = false;
    for row in &frame.rows {
        let text: String = row.iter().map(|run| run.text.as_str()).collect();
        let indent =
            row.first().map_or(0, |run| run.column as usize + run.text.len() - run.text.trim_start().len());
        goes_on = match is_dated(&text) {
            true => seen.insert(text.clone()),
            false => goes_on && indent >= 10,
        };
        letters += if goes_on { text.trim().chars().count() as u64 } else { 0 };
    }
    letters
}

/// `15:18:27 …`.
fn is_dated(text: &str) -> bool {
    let time = text.as_bytes().get(..9).unwrap_or_default();
    !time.is_empty()
        && time.iter().enumerate().all(|(at, byte)| match at {
            2 | 5 => *byte == b':',
            8 => *byte == b' ',
            _ => byte.is_ascii_digit(),
        })
}

/// At most so many of these, evenly, the last of them always.
fn few(others: &[&Frame]) -> Vec<Scene> {
    let kept = others.len().min(MOST_OTHERS);
    let at = |number: usize| (number + 1) * others.len() / kept - 1;
    (0..kept).map(|number| Scene { frame: others[at(number)].clone(), shown_ms: OTHER_MS }).collect()
}
