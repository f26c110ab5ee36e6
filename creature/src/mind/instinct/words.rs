//! The owner's words: does the few things it knows by name, says plainly when it does not understand. Pure.

use super::state::{Job, Origin};
use super::text::{clip, number, word};
use super::turn::Turn;
use super::{digest, idle, offer, tasks};
use crate::mind::context::shorten;
use crate::mind::moment::Moment;
use agenda::{directive, goals};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

/// What it answers to words it does not know.
const ABLE: &str = "I run on instinct, without a model, and cannot understand free text. \
    From a message I can do: `status`; `note <text>`; `read <url>`; `feed <url>`; `draft <text>`; \
    `draft about <topic>`; `remind me <when> to <what>`; `snapshot`; `map`; and a fenced ```diff block, which I apply to my own \
    source by the self-edit protocol. I keep to `focus on <what> this week`, `check <what> every 10 minutes`, \
    `only message me about <what>`, `pause until friday`, `resume`. To steer me further, edit PURPOSE.md or \
    self/HEARTBEAT.md; for a mind that reads, give me a model in owner.toml.";

const SAFE: &str = "I run in safe mode after repeated deaths and can only talk; \
    ask again when that is over.";

const PHASED: &str = "That stands on my agenda as a goal, step by step. On instinct I do the steps I know by name \
    (`read`, `feed`, `note`, `draft`, `snapshot`, `map`); the others wait for a mind that reads.";

const UNCHANGED: &str = "That changes nothing: there is nothing of the kind to take back, or I keep too many orders already. \
    What holds stands in `.self/mind/agenda.json`, under directives.";

/// Numbers of the words in the moment; the same words twice have two.
pub fn numbers(moment: &Moment) -> Vec<u64> {
    let mut numbers: Vec<u64> = Vec::new();
    for word in &moment.words {
        let named = |n: usize| number(&format!("{n} {} {}", word.at, word.text));
        let mut all = (0..=numbers.len()).map(named);
        let new = all.find(|number| !numbers.contains(number));
        numbers.push(new.unwrap_or_default());
    }
    numbers
}

pub fn drive(turn: &mut Turn) {
    let moment = turn.moment;
    for (said, number) in moment.words.iter().zip(numbers(moment)) {
        if turn.state.deal_with(number) {
            turn.state.unanswered.push(said.text.clone());
        }
    }
    let mut unknown = Vec::new();
    while !turn.full() && !turn.state.unanswered.is_empty() {
        let said = turn.state.unanswered.remove(0);
        answer(&said, &mut unknown, turn);
    }
    // One answer for all: the same again and again would be a flood.
    match unknown.as_slice() {
        [] => {}
        [_] => turn.tell_owner(ABLE),
        all => turn.tell_owner(&format!("{ABLE} That goes for each of these: {}.", all.join(", "))),
    }
}

pub fn is_status(said: &str) -> bool {
    said.trim_matches(|c: char| !c.is_alphanumeric()).eq_ignore_ascii_case("status")
}

fn answer(said: &str, unknown: &mut Vec<String>, turn: &mut Turn) {
    turn.intend("answer the owner");
    turn.say(format!("The owner says: \"{}\".", clip(said, 160)));
    if is_status(said) {
        let facts = idle::facts(turn);
        turn.say("I tell how things stand.");
        return turn.tell_owner(&facts);
    }
    if offer::answer(said, turn) || digest::answer(said, turn) {
        return;
    }
    let now = Timestamp::from_second(turn.now_s).unwrap_or_default();
    // What could be noted was, at hearing, and is no longer among the words.
    if directive::understand(said, now, &TimeZone::UTC).is_some() {
        turn.say("I know what that asks of me, and it changed nothing.");
        return turn.tell_owner(if turn.moment.safe { SAFE } else { UNCHANGED });
    }
    let title = shorten(said, 120);
    if goals::phases(said).is_some() && turn.moment.stack.iter().any(|line| line.title == title) {
        turn.say("That is a goal of several steps, and stands on my agenda.");
        return turn.tell_owner(PHASED);
    }
    let Some(task) = tasks::parse(said) else {
        turn.say("I cannot understand that and say what I can do.");
        return unknown.push(format!("\"{}\"", clip(said, 60)));
    };
    if turn.moment.safe {
        return turn.tell_owner(SAFE);
    }
    match tasks::begin(task, Origin::Owner, turn) {
        Ok(()) => turn.say("I know how to do that and begin."),
        Err(why) => turn.tell_owner(&format!("I did not do it: {why}.")),
    }
}

/// Tells the owner what came of it.
pub fn settled(job: &Job, result: &Value, turn: &mut Turn) {
    turn.intend("tell the owner what came of it");
    let text = match tasks::finish(job, result, turn) {
        None => return,
        Some(Ok(outcome)) => format!("Done: {outcome}."),
        Some(Err(error)) => format!("{} failed: {error}. {}", job.tool, clip(word(result, "hint"), 200)),
    };
    turn.say(format!("For the owner: {text}"));
    turn.tell(&text, &job.thread);
}
