//! Self-change: edits its own pace for a reason in its wakes, measures it, takes back what did not help. Pure.
//!
//! Invariant: at most one edit per life and per 40 thoughts, within the bounds of its pace, and none that failed.
//! An edit is taken back in the next quiet life, once, and without being measured in turn.

use super::pace::Pace;
use super::sources;
use super::state::{Origin, Trial, WINDOW, Wake};
use super::task::failed;
use super::text::{clip, span, word};
use super::turn::Turn;
use serde_json::{Value, json};

/// Evidence that the last wakes give.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// Wakes looked at, at most `WINDOW`; how many were idle or eventful, 0 where sources set the rest.
    pub wakes: usize,
    pub idle: usize,
    pub eventful: usize,
    /// Seconds from one wake to the next, on average.
    pub each_s: i64,
    pub failed_looks: u32,
    /// Seconds since the first failed look.
    pub failing_s: i64,
}

/// Idle or eventful wakes of a window that are reason for an edit.
const ENOUGH: usize = 12;

/// Failed looks at sources that are reason for an edit.
const ENOUGH_FAILURES: u32 = 6;

/// Thoughts from one edit to the next.
const COOLING: u64 = 40;

/// Wakes a life must have had before it edits itself: until then it is hardly blessed.
const SETTLED_WAKES: usize = 3;

/// Newest records, which must hold no death.
const QUIET_RECORDS: usize = 20;

/// An idle rest below this is not worth shortening, in seconds.
const LONG_REST_S: u64 = 60;

const IDLE_REST: &str = "IDLE_REST_S";
const BACKOFF: &str = "SOURCE_BACKOFF_S";

/// Keeps what this thought shows of its wake. An idle wake may leave no record: the state alone counts it.
pub fn count(turn: &mut Turn) {
    let (idle, life, at_s) = (!turn.acts(), turn.moment.life, turn.now_s);
    let eventful = turn.tools().any(|tool| matches!(tool, "notes.append" | "memory.append"));
    let goes_on = turn.moment.round > 0;
    let wakes = &mut turn.state.change.wakes;
    match wakes.last_mut().filter(|last| goes_on && last.life == life) {
        Some(last) => (last.idle, last.eventful) = (last.idle && idle, last.eventful || eventful),
        None => wakes.push(Wake { life, at_s, idle, eventful }),
    }
}

fn gather(turn: &Turn) -> Evidence {
    let wakes = &turn.state.change.wakes;
    let last = wakes.get(wakes.len().saturating_sub(WINDOW)..).unwrap_or_default();
    // Where there are sources to follow they set the rest, and the idle rest changes nothing.
    let paced = sources::next_due(turn).is_none();
    let count = |holds: fn(&Wake) -> bool| last.iter().filter(|wake| paced && holds(wake)).count();
    let since = |at_s: i64| turn.now_s.saturating_sub(at_s).max(0);
    let first_s = last.first().map_or(turn.now_s, |first| first.at_s);
    Evidence {
        wakes: last.len(),
        idle: count(|wake| wake.idle),
        eventful: count(|wake| wake.eventful),
        each_s: since(first_s) / i64::try_from(last.len().max(1)).unwrap_or(1),
        failed_looks: turn.state.change.failed_looks,
        failing_s: since(turn.state.change.failing_since_s),
    }
}

/// The edit the evidence asks for; none where it asks for none, or the bounds are reached.
pub fn propose(seen: &Evidence, pace: &Pace) -> Option<Trial> {
    let (wakes, each_s, fails) = (seen.wakes, seen.each_s, seen.failed_looks);
    let (rest, wait) = (pace.idle_rest_s, pace.source_backoff_s);
    let wakes_that =
        |n: usize, did: &str| format!("{n} of the last {wakes} wakes {did}, one every {each_s} s");
    let (name, from, to, before_s, why) = if wakes >= WINDOW && seen.idle >= ENOUGH {
        let why = wakes_that(seen.idle, "found nothing to do");
        (IDLE_REST, rest, rest.saturating_mul(3) / 2, each_s, why)
    } else if wakes >= WINDOW && seen.eventful >= ENOUGH && rest > LONG_REST_S {
        (IDLE_REST, rest, rest / 3 * 2, each_s, wakes_that(seen.eventful, "brought something"))
    } else if fails >= ENOUGH_FAILURES {
        let why = format!("{fails} looks at sources failed within {}", span(seen.failing_s));
        (BACKOFF, wait, wait.saturating_mul(3) / 2, seen.failing_s / i64::from(fails), why)
    } else {
        return None;
    };
    let more = to > from;
    let bounds = if name == BACKOFF { pace.source_backoff_bounds_s } else { pace.idle_rest_bounds_s };
    let to = to.max(bounds.0).min(bounds.1);
    // A value the owner put beyond the bounds is not drawn back by a reason for the opposite.
    let wanted = if more { to > from } else { to < from };
    let name = name.to_owned();
    wanted.then(|| Trial { name, from, to, why, before_s, more, ..Trial::default() })
}

pub fn drive(turn: &mut Turn) {
    if turn.moment.round != 0 || !is_calm(turn) {
        return;
    }
    let back = turn.state.change.back.take().filter(|back| runs(&back.name, &turn.pace) == back.from);
    let since = |last: u64| turn.moment.thoughts_before.abs_diff(last);
    let cooled = turn.state.change.last_thought.is_none_or(|last| since(last) >= COOLING);
    let proposed = back.or_else(|| cooled.then(|| propose(&gather(turn), &turn.pace)).flatten());
    let Some(mut trial) = proposed else { return };
    let edit = trial.edit();
    if turn.state.change.refused.contains(&edit) || failed_before(turn, &edit) {
        return;
    }
    trial.life = turn.moment.life;
    let line = |value: u64| format!("pub const {}: u64 = {value};", trial.name);
    let (old, new) = (line(trial.from), line(trial.to));
    let edits = json!([{"path": "creature/src/pace.rs", "old": old, "new": new}]);
    let summary = format!("{edit}: {}", trial.why);
    turn.does(
        format!("edit my own source: {edit}"),
        format!("I edit my own source, for {}: {edit}.", trial.why),
    );
    let longest = turn.moment.rest_s.1;
    if trial.name == IDLE_REST && longest <= trial.from {
        turn.say(format!("The owner's longest rest, {longest} s, still goes first."));
    }
    turn.state.change.last_life = Some(turn.moment.life);
    turn.state.change.last_thought = Some(turn.moment.thoughts_before);
    turn.state.change.trial = Some(trial);
    let args = json!({"edits": edits, "summary": summary});
    turn.ask(Origin::Change, "repo.edit", args, "creature/src/pace.rs");
}

/// The value of this constant that this life was built with.
fn runs(name: &str, pace: &Pace) -> u64 {
    if name == IDLE_REST { pace.idle_rest_s } else { pace.source_backoff_s }
}

/// Whether this life has settled, with no death, news or draft about, and has not edited itself.
fn is_calm(turn: &Turn) -> bool {
    let (moment, change) = (turn.moment, &turn.state.change);
    let here = change.wakes.iter().filter(|wake| wake.life == moment.life).count();
    let mut newest = moment.records.iter().rev().take(QUIET_RECORDS);
    let quiet = moment.news.is_empty() && newest.all(|record| record.kind != "death");
    // The state may have been lost; memory knows of this life's edits as well.
    let tried = moment.records.iter().any(|record| {
        let own = record.kind == "self_change" && record.life == moment.life;
        own && word(&record.data, "stage") != "born"
    });
    let tried = tried || change.last_life == Some(moment.life) || change.trial.is_some();
    // A draft is another mind's work, unfinished.
    quiet && !tried && here >= SETTLED_WAKES && moment.draft.is_empty()
}

fn failed_before(turn: &Turn, edit: &str) -> bool {
    turn.moment.records.iter().any(|record| {
        record.kind == "self_change"
            && record.data.get("ok").and_then(Value::as_bool) == Some(false)
            && word(&record.data, "summary").contains(edit)
    })
}

/// Takes in what came of the edit in the life that made it: a rebirth to come, or a lesson.
pub fn settled(result: &Value, turn: &mut Turn) {
    let Some(trial) = turn.state.change.trial.take() else { return };
    let (edit, here) = (trial.edit(), trial.life == turn.moment.life);
    let Some(error) = failed(result) else {
        if here {
            turn.say(format!("My edit passed its rehearsal; my next life runs {edit}."));
        }
        turn.state.change.trial = Some(trial);
        return;
    };
    // Instinct mends no failed draft: another edit begins anew.
    turn.call("repo.drop", json!({}));
    turn.learn(
        "write down why my edit failed",
        &format!("My edit, {edit}, for {}, failed: {error}", trial.why),
    );
    // An edit cut off by the end of its life may still be good.
    if here {
        turn.state.change.refused.push(edit);
    }
}

/// Says after the rebirth what was changed and why, and some wakes later what came of it.
pub fn follow_up(turn: &mut Turn) {
    let Some(mut trial) = turn.state.change.trial.take() else { return };
    let mut jobs = turn.state.jobs.iter().filter(|job| job.origin == Origin::Change);
    let is_asked = trial.life == turn.moment.life || jobs.any(|job| turn.result(job).is_none());
    let edit = trial.edit();
    if !is_asked && runs(&trial.name, &turn.pace) != trial.to {
        let told = format!("My edit, {edit}, is not in what I run: it did not live, and I do not repeat it");
        turn.learn("write down what my edit came to", &told);
        return turn.state.change.refused.push(edit);
    }
    if !is_asked && trial.back {
        return turn
            .learn("say what I took back", &format!("I took my edit back: {edit}, for {}", trial.why));
    }
    match trial.born_at_s {
        _ if is_asked => {}
        None => {
            let told = clip(&format!("I changed myself, {edit}, for {}", trial.why), 400);
            let told = format!("{told}. The next {WINDOW} wakes show whether it helps");
            turn.learn("say what I changed in myself", &told);
            trial.born_at_s = Some(turn.now_s);
            turn.state.change.failed_looks = 0;
        }
        Some(born_at_s) => {
            trial.wakes = trial.wakes.saturating_add(u64::from(turn.moment.round == 0));
            if trial.wakes >= WINDOW as u64 {
                return verdict(trial, turn.now_s.saturating_sub(born_at_s), turn);
            }
        }
    }
    turn.state.change.trial = Some(trial);
}

/// Measures an edit, and takes it back unless its seconds went the way it meant by a tenth: less is noise.
fn verdict(trial: Trial, took_s: i64, turn: &mut Turn) {
    let (count, what) = match trial.name.as_str() {
        IDLE_REST => (WINDOW as i64, "wake to wake"),
        _ => (i64::from(turn.state.change.failed_looks.max(1)), "failure to failure"),
    };
    let (edit, before_s, after_s) = (trial.edit(), trial.before_s, took_s / count);
    let (less, more) = if trial.more { (before_s, after_s) } else { (after_s, before_s) };
    let helped = more.saturating_mul(10) >= less.saturating_mul(11) && more > less;
    let measured = format!("I measured my edit {edit}: from {what} {before_s} s before, {after_s} s since");
    let verdict = if helped { "it did" } else { "it did not do" };
    turn.learn("write down what my edit came to", &format!("{measured}: {verdict} what it was for"));
    if !helped {
        let why = format!("{edit} was measured: {after_s} s {what} after {before_s} s did not help");
        let (from, to, more) = (trial.to, trial.from, !trial.more);
        let back = Trial { name: trial.name, from, to, why, more, back: true, ..Trial::default() };
        turn.state.change.back = Some(back);
        turn.say("I take it back with my next edit.");
        turn.state.change.refused.push(edit);
    }
}
