//! The digest: what is new at the sources since the last, kept as a paper and told once a day. Pure.
//!
//! Invariant: told unasked at most once a day, and never empty; what is told is forgotten once its paper is written.

use super::likeness;
use super::sources;
use super::state::{Fate, Found, Link, Origin};
use super::task::failed;
use super::text::{clip, host, span};
use super::turn::Turn;
use agenda::spoken;
use ground::summary::summarise;
use jiff::Timestamp;
use jiff::civil::{Date, Time};
use serde_json::json;

/// New things, or seconds since the first of them, that make the first digest of a house worth it.
const ENOUGH: usize = 5;
const A_WHILE_S: i64 = 3_600;

/// Characters of a message; what does not fit stands in the paper.
const LONGEST_MESSAGE: usize = 3_000;
const LONGEST_SENTENCE: usize = 160;

/// Keeps a new thing for the next digest.
pub fn found(link: &Link, turn: &mut Turn) {
    let sentence = summarise(&link.summary, 1).into_iter().next().unwrap_or_default();
    let (url, title, source) = (link.url.clone(), link.title.clone(), link.source.clone());
    let (sentence, at_s) = (clip(&sentence, LONGEST_SENTENCE), turn.now_s);
    turn.state.digest.found.push(Found { title, url, source, sentence, at_s, ..Found::default() });
}

/// Notes how far the new thing at `url` was read, with the sentence of the note just taken.
pub fn mark_read(url: &str, fate: Fate, turn: &mut Turn) {
    let noted = turn.state.fresh.last().filter(|note| fate == Fate::Read && note.url == url);
    let sentence = noted.map(|note| clip(&note.sentence, LONGEST_SENTENCE));
    let Some(found) = turn.state.digest.found.iter_mut().rfind(|found| found.url == url) else { return };
    found.fate = fate;
    found.sentence = sentence.unwrap_or(std::mem::take(&mut found.sentence));
}

/// Tells the owner who asks what is new since the last digest: it is kept as a paper and not told again.
pub fn now(turn: &mut Turn) -> String {
    if turn.state.digest.found.is_empty() {
        let next = match sources::next_due(turn) {
            Some((due_s, host)) => format!("I look at {host} in {}.", span(due_s)),
            None => "I follow no sources: say `follow <link>`.".to_owned(),
        };
        return format!("I found nothing since the last digest. {next}");
    }
    if turn.state.digest.paper.is_none() {
        keep(turn, false);
    }
    message(turn)
}

/// Writes the paper when it is time; the message follows once that is done.
pub fn drive(turn: &mut Turn) {
    let due = next_due(turn).is_some_and(|wait_s| wait_s == 0);
    if due && turn.state.digest.paper.is_none() {
        turn.does("tell what is new", "It is time for a digest.");
        keep(turn, true);
    }
}

/// Seconds until a digest is to be told; none where there is nothing to tell.
pub fn next_due(turn: &Turn) -> Option<i64> {
    let (digest, today) = (&turn.state.digest, turn.today());
    let hour = Time::new(turn.pace.morning_hour, 0, 0, 0).ok()?;
    let morning = |day: Date| Some(spoken::instant(day.to_datetime(hour), &turn.zone())?.as_second());
    let (morning_s, tomorrow_s) = (morning(today)?, morning(today.tomorrow().ok()?)?);
    // What was found in the future, by a clock set back since, counts as found now.
    let first_s = digest.found.iter().map(|found| found.at_s.min(turn.now_s)).min()?;
    let at_s = if told_on(today, turn) {
        tomorrow_s
    } else if first_s <= morning_s {
        morning_s
    } else if digest.begun {
        tomorrow_s
    } else if digest.found.len() >= ENOUGH {
        turn.now_s
    } else {
        first_s.saturating_add(A_WHILE_S)
    };
    // After a failure the digest is tried again within the hour, whatever the clock did meanwhile.
    let held_s = Some(digest.next_s).filter(|next_s| next_s.saturating_sub(turn.now_s) <= A_WHILE_S);
    Some(at_s.max(held_s.unwrap_or(0)).saturating_sub(turn.now_s).max(0))
}

/// Whether a digest was told on this day of the owner's; memory knows it where the state was lost.
fn told_on(day: Date, turn: &Turn) -> bool {
    let on_it = |at: Timestamp| turn.zone().to_datetime(at).date() == day;
    turn.state.digest.told_day == day.to_string() || turn.messages("digest").any(on_it)
}

/// Begins the paper of all that was found.
fn keep(turn: &mut Turn, tells: bool) {
    turn.state.digest.found.iter_mut().for_each(|found| found.told = true);
    let text = format!("\n## Digest, {}\n\n{}\n{}\n", turn.date, head(turn), lines(turn).join("\n"));
    let args = json!({"name": paper(turn), "text": text});
    let job = turn.job(Origin::default(), "notes.append", &args, "digest");
    (turn.state.digest.paper, turn.state.digest.tells) = (Some(job), tells);
    turn.call("notes.append", args);
}

fn paper(turn: &Turn) -> String {
    format!("notes/digest-{}", turn.today())
}

/// Tells the digest, once its paper is written, where nobody had asked for it, and forgets what stands in it.
pub fn settled(turn: &mut Turn) {
    let Some(job) = turn.state.digest.paper.take() else { return };
    let lost = json!({"ok": false, "error": "I was cut off before it was written"});
    if let Some(error) = failed(turn.result(&job).unwrap_or(&lost)) {
        turn.say(format!("The digest could not be kept: {error}. I try again later."));
        turn.state.digest.found.iter_mut().for_each(|found| found.told = false);
        // A call cut off by the end of a life is no reason to wait.
        let wait_s = if turn.result(&job).is_some() { A_WHILE_S } else { 0 };
        turn.state.digest.next_s = turn.now_s.saturating_add(wait_s);
        return;
    }
    if turn.state.digest.tells {
        let text = message(turn);
        turn.does("tell my owner what is new", "The digest is kept; I tell my owner.");
        turn.call("owner.message", json!({"kind": "digest", "text": text}));
        turn.state.digest.told_day = turn.today().to_string();
    }
    let digest = &mut turn.state.digest;
    (digest.begun, digest.dropped) = (true, 0);
    digest.found.retain(|found| !found.told);
}

fn to_tell<'a>(turn: &'a Turn<'_>) -> Vec<&'a Found> {
    turn.state.digest.found.iter().filter(|found| found.told).collect()
}

/// The hosts of new things, each once.
fn hosts<'a>(found: &[&'a Found]) -> Vec<&'a str> {
    let mut hosts: Vec<&str> = Vec::new();
    for host in found.iter().map(|found| host(&found.source)) {
        if !hosts.contains(&host) {
            hosts.push(host);
        }
    }
    hosts
}

/// `12 new at 2 sources: 9 read, 3 could not be read`.
fn head(turn: &Turn) -> String {
    let found = to_tell(turn);
    let of = |fate: Fate| found.iter().filter(|found| found.fate == fate).count();
    let hosts = hosts(&found);
    let sources = if hosts.len() == 1 { hosts.concat() } else { format!("{} sources", hosts.len()) };
    let mut head = format!("{} new at {sources}: {} read", found.len(), of(Fate::Read));
    for (fate, what) in [(Fate::Unreadable, "could not be read"), (Fate::Listed, "by title only")] {
        if of(fate) > 0 {
            head += &format!(", {} {what}", of(fate));
        }
    }
    if turn.state.digest.dropped > 0 {
        head += &format!("; {} older ones were more than I keep", turn.state.digest.dropped);
    }
    head + "."
}

/// A line for each new thing, by source, and within it by likeness.
fn lines(turn: &Turn) -> Vec<String> {
    let found = to_tell(turn);
    let mut lines = silent(turn);
    for name in hosts(&found) {
        let here: Vec<&Found> = found.iter().copied().filter(|found| host(&found.source) == name).collect();
        lines.push(format!("\n{name}, {} new:", here.len()));
        for (about, alike) in likeness::grouped(here, |found| &found.title) {
            let alone = about.is_empty();
            if !alone {
                lines.push(format!("- {} on {about}:", alike.len()));
            }
            let indent = if alone { "" } else { "  " };
            lines.extend(alike.into_iter().map(|found| format!("{indent}- {}", line(found))));
        }
    }
    lines
}

/// A line for each followed source that does not answer.
fn silent(turn: &Turn) -> Vec<String> {
    let all = turn.followed().into_iter().map(|named| (turn.state.fails(&named.url), named.url));
    let line =
        |(fails, url): (u32, String)| format!("{} did not answer, {fails} times in a row.", host(&url));
    all.filter(|(fails, _)| *fails > 0).map(line).collect()
}

/// Title, one sentence, link.
fn line(found: &Found) -> String {
    let title = clip(if found.title.is_empty() { &found.url } else { &found.title }, 120);
    let sentence = if found.sentence.is_empty() { String::new() } else { format!(": {}", found.sentence) };
    let unread = if found.fate == Fate::Unreadable { " (could not be read)" } else { "" };
    format!("{title}{sentence}{unread} {}", found.url)
}

/// Writes as much of the digest as a message holds, and where the rest is.
fn message(turn: &Turn) -> String {
    let (lines, place) = (lines(turn), format!("self/{}.md", paper(turn)));
    let mut text = format!("Digest: {}", head(turn));
    for (at, line) in lines.iter().enumerate() {
        if text.chars().count() + line.chars().count() > LONGEST_MESSAGE {
            return format!("{text}\n\nAnd {} lines more in {place}.", lines.len() - at);
        }
        text += &format!("\n{line}");
    }
    format!("{text}\n\nKept in {place}.")
}
