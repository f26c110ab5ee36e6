//! The owner's words: each is answered, by a fact, by an outcome, or by saying that it was not understood. Pure.

use super::abilities::{self, Said};
use super::facts::{self, Fact};
use super::state::{Job, Origin};
use super::text::{clip, hash, word};
use super::turn::Turn;
use super::{digest, found, offer, tasks};
use agenda::{directive, goals};
use ground::text::shorten;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use mind::moment::{Moment, main_thread};
use serde_json::Value;

/// Seconds for which the owner, once told of all that instinct can do, is not told of it again.
const KNOWS_S: i64 = 86_400;

const SAFE: &str = "I run in safe mode after repeated deaths and can only talk; \
    ask again when that is over.";

const PHASED: &str = "That stands on my agenda as a goal, step by step. On instinct I do the steps I know by name \
    (`read`, `feed`, `search`, `note`, `draft`, `snapshot`, `map`); the others wait for a mind that reads.";

const UNCHANGED: &str =
    "That changes nothing: there is nothing of the kind to take back, or I keep too many orders already.";

/// Hashes of the moment's words; equal words have different ones.
pub fn hashes(moment: &Moment) -> Vec<u64> {
    let mut hashes: Vec<u64> = Vec::new();
    for word in &moment.words {
        let named = |n: usize| hash(&format!("{n} {} {}", word.at, word.text));
        let mut all = (0..=hashes.len()).map(named);
        let new = all.find(|hash| !hashes.contains(hash));
        hashes.push(new.unwrap_or_default());
    }
    hashes
}

pub fn drive(turn: &mut Turn) {
    let moment = turn.moment;
    for (said, word_hash) in moment.words.iter().zip(hashes(moment)) {
        if turn.state.mark_dealt_with(word_hash) {
            turn.state.unanswered.push(said.text.clone());
            if said.thread != main_thread() {
                turn.state.threads.insert(hash(&said.text), said.thread.clone());
            }
        }
    }
    let mut unknown: Vec<(String, String)> = Vec::new();
    while !turn.is_nearly_full() && !turn.state.unanswered.is_empty() {
        let said = turn.state.unanswered.remove(0);
        turn.thread = turn.state.threads.get(&hash(&said)).cloned().unwrap_or_else(main_thread);
        answer(&said, &mut unknown, turn);
    }
    // One answer a thread for all that was not understood: each is named, and one answer each would be a flood.
    while let Some((thread, _)) = unknown.first().cloned() {
        let mine = unknown.extract_if(.., |(on, _)| *on == thread).map(|(_, said)| said);
        let said = mine.collect::<Vec<_>>().join(", ");
        let text = not_understood(&said, turn);
        turn.tell(&text, &thread);
    }
    turn.thread.clone_from(&moment.thread);
}

/// Tells what instinct can do, in full once a day, and else in a line.
fn not_understood(said: &str, turn: &mut Turn) -> String {
    let known_s = turn.now_s.saturating_sub(turn.state.helped_at_s);
    if (0..KNOWS_S).contains(&known_s) {
        return format!("I do not understand {said}; `help` tells what I can do on instinct.");
    }
    turn.state.helped_at_s = turn.now_s;
    format!("I do not understand {said}. {}", abilities::help())
}

fn answer(said: &str, unknown: &mut Vec<(String, String)>, turn: &mut Turn) {
    turn.intend("answer the owner");
    turn.say(format!("The owner says: \"{}\".", clip(said, 160)));
    if offer::answer(said, turn) || digest::answer(said, turn) {
        return;
    }
    let asked = abilities::understand(said);
    if let Some(Said::Tell(fact)) = asked {
        turn.say("I tell how things stand.");
        return tell(fact, turn);
    }
    let now = Timestamp::from_second(turn.now_s).unwrap_or_default();
    // A directive that changes something was noted when it was heard, and is no longer among the words.
    if directive::understand(said, now, &TimeZone::UTC).is_some() {
        turn.say("I know what that asks of me, and it changed nothing.");
        let orders = facts::told(Fact::Orders, turn);
        let unchanged = format!("{UNCHANGED} {orders}");
        return turn.tell_owner(if turn.moment.safe { SAFE } else { &unchanged });
    }
    let title = shorten(said, 120);
    if goals::phases(said).is_some() && turn.moment.stack.iter().any(|line| line.title == title) {
        turn.say("That is a goal of several steps, and stands on my agenda.");
        return turn.tell_owner(PHASED);
    }
    let known = asked.and_then(|asked| if let Said::Do(task) = asked { Some(task) } else { None });
    let Some(task) = known.or_else(|| abilities::question(said)) else {
        turn.say("I cannot understand that and say what I can do.");
        return unknown.push((turn.thread.clone(), format!("\"{}\"", clip(said, 60))));
    };
    if turn.moment.safe {
        return turn.tell_owner(SAFE);
    }
    match tasks::begin(task, Origin::Owner, turn) {
        Ok(()) => turn.say("I know how to do that and begin."),
        Err(why) => {
            let text = in_its_place(format!("I did not do it: {why}."), turn);
            turn.tell_owner(&text);
        }
    }
}

fn tell(fact: Fact, turn: &mut Turn) {
    if fact == Fact::Help {
        turn.state.helped_at_s = turn.now_s;
    }
    let told = facts::told(fact, turn);
    let told = if fact == Fact::Status { told } else { in_its_place(told, turn) };
    turn.tell_owner(&told);
}

/// The text, with why instinct answers where a model should.
fn in_its_place(text: String, turn: &Turn) -> String {
    match turn.moment.outage.as_str() {
        "" => text,
        outage => format!("{text} I answer on instinct, in the model's place: {outage}."),
    }
}

/// Tells the owner what came of a job.
pub fn settled(job: &Job, result: &Value, turn: &mut Turn) {
    turn.intend("tell the owner what came of it");
    let text = match tasks::finish(job, result, turn) {
        None => return,
        Some(Ok(outcome)) => match job.tool.as_str() {
            "self.examine" => outcome,
            "web.search" | "knowledge.search" | "reminder.list" => format!("{outcome}."),
            _ => format!("Done: {outcome}."),
        },
        Some(Err(why)) if tasks::failed(result).is_none() => format!("I did not do it: {why}."),
        Some(Err(error)) if job.tool == "web.search" => found::no_search(&error, word(result, "hint")),
        Some(Err(error)) => format!("{} failed: {error}. {}", job.tool, clip(word(result, "hint"), 200)),
    };
    let text = in_its_place(text.trim_end().to_owned(), turn);
    turn.say(format!("For the owner: {text}"));
    turn.tell(&text, &job.thread);
}
