//! The owner's words: each is answered, by a fact, by an outcome, by a question back, or by saying that it was not understood. Pure.

use super::state::{Asked, Job, Origin};
use super::table::{Ability, TABLE, text};
use super::task::{Task, failed};
use super::tasks;
use super::text::{clip, hash, word};
use super::turn::Turn;
use super::understand::{self, Heard};
use super::{digest, facts, found, offer};
use agenda::directive::{self, DirectiveChange};
use agenda::goals;
use ground::text::shorten;
use mind::moment::{Moment, Word, main_thread};
use serde_json::Value;

/// Seconds for which a yes or a number answers what was asked, if it is the owner's next word.
const OPEN_S: i64 = 3_600;

/// Seconds after which `undo that` is no longer the last thing made.
const FRESH_S: i64 = 900;

/// The error of a call that a death cut off.
pub const CUT_OFF: &str = "I was cut off before it came to an end";

/// Hashes of the moment's words; equal words have different ones.
pub fn hashes(moment: &Moment) -> Vec<u64> {
    let words = moment.words.iter().enumerate();
    let hash_of = words.map(|(at, word)| {
        let before = moment.words.iter().take(at).filter(|one| one.at == word.at && one.text == word.text);
        hash(&format!("{} {} {}", before.count(), word.at, word.text))
    });
    hash_of.collect()
}

pub fn drive(turn: &mut Turn) {
    let moment = turn.moment;
    let hashes = hashes(moment);
    let lost = lost(moment, &hashes, turn);
    for (said, word_hash) in moment.words.iter().zip(&hashes) {
        let is_new = match said.at.is_empty() {
            true => turn.state.mark_dealt_with(*word_hash),
            false => turn.state.mark_taken(*word_hash),
        };
        if is_new {
            wait(said, turn);
        }
    }
    take_up(lost, turn);
    let mut unknown: Vec<Unknown> = Vec::new();
    while !turn.is_nearly_full() && !turn.state.unanswered.is_empty() {
        let said = turn.state.unanswered.remove(0);
        turn.thread = turn.state.threads.get(&hash(&said)).cloned().unwrap_or_else(main_thread);
        if !answer(&said, &mut unknown, turn) {
            turn.state.unanswered.insert(0, said);
            break;
        }
    }
    // One answer a thread for all that was not understood: each is named, and one answer each would be a flood.
    while let Some(thread) = unknown.first().map(|one| one.thread.clone()) {
        let mine: Vec<Unknown> = unknown.extract_if(.., |one| one.thread == thread).collect();
        let text = not_understood(&mine);
        turn.tell(&text, &thread);
    }
    turn.thread.clone_from(&moment.thread);
}

/// Puts a word where it waits for its answer.
fn wait(said: &Word, turn: &mut Turn) {
    turn.state.unanswered.push(said.text.clone());
    if said.thread != main_thread() {
        turn.state.threads.insert(hash(&said.text), said.thread.clone());
    }
}

/// Words that a life before this one took, which ended before it answered on their thread. Each is found once.
fn lost<'a>(moment: &'a Moment, hashes: &[u64], turn: &mut Turn) -> Vec<&'a Word> {
    let before = &mut turn.state.before;
    let found =
        moment.words.iter().zip(hashes).filter(|(_, hash)| before.contains(hash)).map(|(said, _)| said);
    let found: Vec<&Word> = found.collect();
    before.retain(|hash| !hashes.contains(hash));
    found.into_iter().filter(|said| !turn.state.unanswered.contains(&said.text)).collect()
}

/// Answers lost words anew, but for those that ask for an act: it may be done, so it is not done again, and the owner is told.
fn take_up(lost: Vec<&Word>, turn: &mut Turn) {
    let does = |said: &Word| match understand::hear(&said.text) {
        Heard::Certain(all) => all.iter().any(Task::does),
        Heard::Unsure(_) | Heard::Slip(_) | Heard::Unknown(_) => false,
    };
    let (mut acts, others): (Vec<&Word>, Vec<&Word>) = lost.into_iter().partition(|said| does(said));
    others.into_iter().for_each(|said| wait(said, turn));
    while let Some(thread) = acts.first().map(|said| said.thread.clone()) {
        let mine: Vec<String> = acts
            .extract_if(.., |said| said.thread == thread)
            .map(|said| format!("\"{}\"", clip(&said.text, 160)))
            .collect();
        // Those whose call is known are told by it.
        if mine.len() > turn.known_on(&thread) {
            let told = cut_off(&mine.join(", "));
            turn.say(format!("For the owner: {told}"));
            turn.tell(&told, &thread);
        }
    }
}

/// Says what a death cut off.
fn cut_off(what: &str) -> String {
    format!("{CUT_OFF}: {what}. It may be done or not; if it is not, say it again.")
}

/// A word that was not understood.
struct Unknown {
    thread: String,
    said: String,
    near: Vec<&'static Ability>,
    /// Sentence on how it is kept for a model; empty where it is not.
    kept: String,
}

/// Says what was not understood, what of that kind instinct can do, and what would understand it.
fn not_understood(all: &[Unknown]) -> String {
    let said: Vec<String> = all.iter().map(|one| format!("\"{}\"", clip(&one.said, 60))).collect();
    let near = all.iter().flat_map(|one| &one.near).filter(|one| !one.shown.is_empty()).take(2);
    let near: Vec<String> = near.map(|one| format!("`{}` ({})", one.shown, one.does)).collect();
    let near = match near.as_slice() {
        [] => String::new(),
        near => format!(" The nearest I can do: {}.", near.join(", ")),
    };
    let kept: String = all.iter().map(|one| one.kept.as_str()).collect();
    text("unknown", &[("said", &said.join(", ")), ("near", &near), ("kept", &kept)])
}

/// Answers a word of the owner's; false where there is no room left in this thought.
fn answer(said: &str, unknown: &mut Vec<Unknown>, turn: &mut Turn) -> bool {
    turn.does("answer the owner", format!("The owner says: \"{}\".", clip(said, 160)));
    if let Some((name, language)) = TABLE.language(&TABLE.scorer.words(said))
        && !turn.state.languages.iter().any(|told| told == name)
    {
        turn.state.languages.push(name.to_owned());
        turn.state.notice.clone_from(&language.told);
    }
    let Some(said) = chosen(said, turn) else { return true };
    // A directive that changes something was noted when it was heard, and is no longer among the words.
    if let Some(understood) = directive::understand(&said, turn.now(), &turn.zone()) {
        turn.say("I know what that asks of me, and it changed nothing.");
        let unchanged = match understood.change {
            _ if turn.moment.safe => text("safe", &[]),
            DirectiveChange::Lift { .. } => facts::nothing_held(turn),
            _ => text("unkept", &[]),
        };
        turn.tell_owner(&unchanged);
        return true;
    }
    let title = shorten(&said, 120);
    if goals::phases(&said).is_some() && turn.moment.stack.iter().any(|line| line.title == title) {
        turn.say("That is a goal of several steps, and stands on my agenda.");
        turn.tell_owner(&text("phased", &[]));
        return true;
    }
    match understand::hear(&said) {
        Heard::Certain(all) if turn.room() <= all.len() => return false,
        Heard::Certain(all) => certain(all, &said, turn),
        Heard::Unsure(choices) => ask_back(
            choices.iter().filter_map(|ability| ability.sentence()).map(str::to_owned).collect(),
            turn,
        ),
        Heard::Slip(meant) => ask_back(meant, turn),
        Heard::Unknown(near) => {
            turn.say("I cannot understand that and say what I can do.");
            let (thread, kept) = (turn.thread.clone(), facts::kept(&said, turn));
            unknown.push(Unknown { thread, said, near, kept });
        }
    }
    true
}

/// Does and tells all that is asked for; all that can be told at once is one answer.
fn certain(all: Vec<Task>, said: &str, turn: &mut Turn) {
    let mut told: Vec<String> = Vec::new();
    for task in all {
        let is_fresh =
            |turn: &Turn| turn.state.last.as_ref().is_some_and(|last| turn.now_s - last.at_s <= FRESH_S);
        match task.ability.name.as_str() {
            "undo_that" if is_fresh(turn) => {
                Task::of("cancel_that", "").iter().for_each(|task| begin(task, turn))
            }
            "digest" => told.push(digest::now(turn)),
            _ if task.does() => begin(&task, turn),
            _ => told.push(facts::answer(task.ability, said, turn)),
        }
    }
    if !told.is_empty() {
        turn.say("I tell how things stand.");
        turn.tell_owner(&in_its_place(&told.join("\n"), turn));
    }
}

fn begin(task: &Task, turn: &mut Turn) {
    if turn.moment.safe {
        return turn.tell_owner(&text("safe", &[]));
    }
    match tasks::begin(task, Origin::Owner, turn) {
        Ok(()) => turn.say("I know how to do that and begin."),
        Err(why) => turn.tell_owner(&in_its_place(&format!("I did not do it: {why}."), turn)),
    }
}

/// Asks which of these is meant.
fn ask_back(choices: Vec<String>, turn: &mut Turn) {
    turn.say("I am not sure what that means, and ask.");
    let numbered = choices.iter().enumerate().map(|(at, one)| format!("{} `{one}`", at + 1));
    let text = match numbered.collect::<Vec<_>>().join(", ").rsplit_once(", ") {
        Some((first, last)) => format!("Did you mean {first} or {last}? The number says which."),
        None => format!("Did you mean `{}`? `yes` says so.", choices.concat()),
    };
    turn.state.asked = Some(Asked { at_s: turn.now_s, choices });
    turn.tell_owner(&text);
}

/// The words, or the choice that they name of those put to the owner; none where that is answered already. Only the
/// next word answers, and not for long: the owner may not have seen the question before it. A bare yes answers an
/// approval that was asked for since.
fn chosen(said: &str, turn: &mut Turn) -> Option<String> {
    let asked = turn.state.asked.take().filter(|asked| {
        let is_answered = turn.messages("approval").any(|at| at.as_second() > asked.at_s);
        (0..=OPEN_S).contains(&(turn.now_s - asked.at_s)) && !is_answered
    });
    let Some(asked) = asked else { return Some(said.to_owned()) };
    let number = said.trim().trim_matches(['.', '!', ')', '(']).parse::<usize>().ok();
    let choice = match (number, asked.choices.as_slice(), understand::yes_or_no(said)) {
        (Some(number), choices, _) => number.checked_sub(1).and_then(|at| choices.get(at)).cloned(),
        (None, [one], Some(true)) => Some(one.clone()),
        (None, [one], Some(false)) if one == offer::TAKE_ALL => {
            offer::decline(turn);
            return None;
        }
        _ => None,
    };
    Some(choice.unwrap_or_else(|| said.to_owned()))
}

/// The text, with why instinct answers where a model should, and without the sentence that says how to get a model.
fn in_its_place(told: &str, turn: &Turn) -> String {
    let outage = turn.moment.outage.as_str();
    if outage.is_empty() {
        return told.to_owned();
    }
    let before = told.split(&text("model", &[])).next().filter(|before| *before != told);
    let ends = before.and_then(|before| before.rfind("; ").max(before.rfind(". ")));
    let kept = ends.and_then(|at| told.get(..at)).map_or(told.to_owned(), |kept| format!("{kept}."));
    format!("{kept} I answer on instinct, in the model's place: {outage}.")
}

/// Tells the owner what came of a job.
pub fn settled(job: &Job, result: &Value, turn: &mut Turn) {
    turn.intend("tell the owner what came of it");
    let text = match tasks::finish(job, result, turn) {
        None => return,
        Some(Ok(outcome)) => match job.tool.as_str() {
            "self.examine" => outcome,
            "web.search" | "knowledge.search" | "reminder.list" | "pulse.list" | "notes.read" => {
                format!("{}.", outcome.trim_end_matches('.'))
            }
            _ => format!("Done: {outcome}."),
        },
        Some(Err(why)) if failed(result).is_none() => {
            format!("I did not do it: {}.", why.trim_end_matches('.'))
        }
        Some(Err(error)) if error == CUT_OFF => {
            let about = format!(" (\"{}\")", clip(&job.about, 160));
            cut_off(&format!("{}{}", job.tool, if job.about.is_empty() { "" } else { &about }))
        }
        Some(Err(error)) if job.tool == "web.search" => found::no_search(&error, word(result, "hint")),
        Some(Err(error)) => format!("{} failed: {error}. {}", job.tool, clip(word(result, "hint"), 200)),
    };
    let text = in_its_place(text.trim_end(), turn);
    turn.say(format!("For the owner: {text}"));
    turn.tell(&text, &job.thread);
}
