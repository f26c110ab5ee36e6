//! The checklist in `self/HEARTBEAT.md`: does open items, ticks them off, marks what it cannot do. Pure.

use super::sources::backoff_s;
use super::state::{Job, Origin};
use super::table::text;
use super::text::{LONGEST_WRITTEN, clip, hash, span};
use super::turn::Turn;
use super::{tasks, understand};
use ground::checklist::{REMARK, item, items, relined};
use serde_json::{Value, json};

/// Tries of an item before it is marked as failed.
const TRIES: u32 = 3;

/// Items given up that one message names.
const MOST_TOLD: usize = 3;

pub fn drive(turn: &mut Turn) {
    let items = items(&turn.moment.checklist);
    let open = |handled: &u64| items.iter().any(|item| hash(&item.line) == *handled);
    turn.state.handled.retain(open);
    let mut left = Vec::new();
    for item in &items {
        let due = turn.state.is_due(&item.line, turn.now_s, item.every_s.unwrap_or(0));
        if !due || turn.state.handled.contains(&hash(&item.line)) {
            continue;
        }
        let origin = Origin::Item(item.line.clone());
        let begun = match understand::task(&item.text) {
            Some(task) => tasks::begin(&task, origin, turn),
            None => Err("I know only read, feed, note, draft, remind me, snapshot and map".to_owned()),
        };
        if let Err(why) = begun {
            give_up(&item.line, &why, turn);
            left.push((clip(&item.line, 100), why));
            continue;
        }
        turn.does(
            format!("checklist: {}", clip(&item.text, 120)),
            format!("On the checklist: {}.", clip(&item.text, 160)),
        );
        break;
    }
    tell_left(&left, turn);
}

/// Says once, in one message, what the owner's list asks for in vain.
fn tell_left(left: &[(String, String)], turn: &mut Turn) {
    if left.is_empty() {
        return;
    }
    let mut text = text("checklist_left", &[]);
    for (line, why) in left.iter().take(MOST_TOLD) {
        text += &format!("\n{line} ({})", clip(why, 120));
    }
    if left.len() > MOST_TOLD {
        text += &format!("\nand {} more", left.len() - MOST_TOLD);
    }
    turn.call("owner.message", json!({"kind": "broken", "text": text}));
}

/// Ticks the item off, paces it, or gives it up.
pub fn settled(line: &str, job: &Job, result: &Value, turn: &mut Turn) {
    turn.intend("bring the checklist up to date");
    let Some(outcome) = tasks::finish(job, result, turn) else { return };
    let Some(item) = item(line) else { return };
    let what = clip(&item.text, 100);
    let pace = turn.state.source(line);
    pace.fails = if outcome.is_ok() { 0 } else { pace.fails.saturating_add(1) };
    let fails = pace.fails;
    let wait_s = match (fails, item.every_s) {
        (0, every_s) => every_s.unwrap_or(0),
        _ => backoff_s(turn.pace, fails),
    };
    pace.next_s = turn.now_s.saturating_add(wait_s);
    if item.every_s.is_none() && (fails == 0 || fails >= TRIES) {
        turn.state.sources.remove(line);
    }
    match outcome {
        Ok(outcome) => {
            turn.say(format!("\"{what}\" is done: {outcome}."));
            if item.every_s.is_none() {
                let done = line.replacen("[ ]", "[x]", 1);
                let outcome = clip(&outcome, 160);
                rewrite(line, &format!("{done} ({}: {outcome})", turn.date), turn);
            }
        }
        Err(error) if item.every_s.is_none() && fails >= TRIES => {
            let why = format!("failed {fails} times, last: {error}");
            give_up(line, &why, turn);
            tell_left(&[(clip(line, 100), why)], turn);
        }
        Err(error) => {
            let wait = span(wait_s);
            turn.say(format!("\"{what}\" failed: {error}. Next try in {wait}."));
        }
    }
}

/// Marks an item once, with the reason; it stays open for a mind that can do it.
fn give_up(line: &str, why: &str, turn: &mut Turn) {
    let (why, date) = (clip(why, 200), &turn.date);
    let marked = format!("{line} {REMARK} {date}: {why}; delete this remark and I try again)");
    turn.does("mark what I cannot do on the checklist", format!("\"{}\" I leave: {why}.", clip(line, 100)));
    rewrite(line, &marked, turn);
}

/// Replaces one line; whatever comes of it, the item is not begun again while it stands as it is.
fn rewrite(line: &str, new: &str, turn: &mut Turn) {
    turn.state.handled.push(hash(line));
    // An error's text must not open a comment that swallows the rest of the list.
    let new = new.replace("<!--", "<!");
    let text = turn.checklist.as_ref().unwrap_or(&turn.moment.checklist);
    if text.len() > LONGEST_WRITTEN {
        return turn.say("self/HEARTBEAT.md is too long for me to write back whole; I leave it.");
    }
    match relined(text, line, Some(&new)) {
        Some(written) => turn.checklist = Some(written),
        None => turn.say("That line is no longer in self/HEARTBEAT.md; I leave the file alone."),
    }
}
