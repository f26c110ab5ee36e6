//! The owner's list and notes, line by line: shown, ticked off, struck out; and what was made last, to take it back. Pure.

use super::likeness::has_all;
use super::state::{Job, Made};
use super::table::text;
use super::task::{TO_DO, Task};
use super::text::{clip, listed, number, word};
use super::turn::Turn;
use ground::checklist::{boxed, relined};
use jiff::civil::DateTime;
use serde_json::{Value, json};

/// The lines of a paper, for the owner.
pub fn shown(paper: &str, result: &Value) -> String {
    let lines: Vec<&str> = word(result, "text").lines().filter(|line| !entry(line).is_empty()).collect();
    let some = |lines: Vec<&&str>| {
        let lines: Vec<String> = lines.into_iter().map(|line| clip(entry(line), 160)).collect();
        listed(&lines)
    };
    if paper == TO_DO {
        let open: Vec<&&str> = lines.iter().filter(|line| is_open(line)).collect();
        let done = match lines.len() - open.len() {
            0 => String::new(),
            done => format!(" {done} done."),
        };
        return match open.len() {
            0 => text("list_none", &[("done", &done)]),
            _ => text("list", &[("lines", &some(open)), ("done", &done)]),
        };
    }
    // The map it takes of itself is no note of the owner's.
    let notes: Vec<&&str> = lines.iter().rev().filter(|line| !line.contains("; its map begins:")).collect();
    if notes.is_empty() {
        return "I have no notes yet; `note that …` makes one".to_owned();
    }
    format!("My notes, the newest first: {}. More is in self/scratch.md and self/notes/", some(notes))
}

/// Ticks off or strikes out the one line that is meant; none where the paper is to be written first.
pub fn struck(job: &Job, result: &Value, turn: &mut Turn) -> Option<Result<String, String>> {
    let mut parts = job.about.splitn(3, ' ');
    let (how, paper, which) = (parts.next()?, parts.next()?.to_owned(), parts.next()?);
    // What was not read whole must not be written whole.
    let is_whole = number(result, "lines") == number(result, "lines_total");
    let paper_text = result.get("text").and_then(Value::as_str).filter(|_| is_whole);
    let Some(text) = paper_text else {
        return Some(Err(format!(
            "self/{paper}.md is too long for me to write back whole: strike the line there"
        )));
    };
    let ticks = how == "tick";
    let has = |line: &str| entry(line).to_lowercase() == which.to_lowercase() || has_all(entry(line), which);
    let candidates: Vec<&str> =
        text.lines().map(str::trim_end).filter(|line| has(line) && (!ticks || is_open(line))).collect();
    let line = match candidates.as_slice() {
        [line] => *line,
        [] => return Some(Err(format!("no line of self/{paper}.md has \"{}\"", clip(which, 60)))),
        many => {
            let many: Vec<String> = many.iter().map(|line| clip(entry(line), 80)).collect();
            return Some(Err(format!("{} lines have that: {}; say more of it", many.len(), listed(&many))));
        }
    };
    let ticked = line.replacen("[ ]", "[x]", 1);
    let kept = relined(text, line, ticks.then_some(&ticked)).unwrap_or_default();
    let done = if ticks { "done" } else { "struck out" };
    let told = format!("\"{}\" is {done}", clip(entry(line), 160));
    turn.ask(job.origin.clone(), "notes.write", json!({"name": paper, "text": kept}), &told);
    None
}

/// Returns the task that takes back the thing made last for the owner, by its own time or that of the newest order.
pub fn last_made(turn: &mut Turn) -> Option<Task> {
    let order = turn.moment.directives.first().and_then(|line| {
        let id = line.split(' ').next()?.to_owned();
        let said = line.split("\", said ").nth(1)?.get(..16)?.replace(' ', "T");
        let said = said.parse::<DateTime>().ok()?.to_zoned(turn.zone()).ok()?;
        Some((said.timestamp().as_second(), id))
    });
    // Orders are dated to the minute.
    let newer = |at_s: i64| order.as_ref().is_none_or(|(said_s, _)| at_s.div_euclid(60) * 60 > *said_s);
    match turn.state.last.take() {
        Some(Made { kind, what, at_s }) if newer(at_s) => match kind.as_str() {
            "reminder" => Task::of("drop", what),
            "todo" => Task::of("todo_drop", what),
            "note" => Task::of("unnote", what),
            "follow" => Task::of("unfollow", what),
            _ => None,
        },
        _ => order.and_then(|(_, id)| Task::of("drop", id)),
    }
}

fn is_open(line: &str) -> bool {
    boxed(line).0 == Some(true)
}

/// Returns the words of a line, without its mark, its box and its date.
fn entry(line: &str) -> &str {
    let (_, bare) = boxed(line);
    let is_dated = bare.get(..16).is_some_and(|date| date.parse::<DateTime>().is_ok());
    let undated = bare.get(16..).and_then(|rest| rest.strip_prefix(": ")).filter(|_| is_dated);
    if bare.starts_with('#') { "" } else { undated.unwrap_or(bare) }
}
