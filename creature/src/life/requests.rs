//! The owner's requests in the course of a life: which a wake is for, what ends it, when it goes on, when it is stuck.

use crate::fault::Fault;
use crate::jobs::{Job, Jobs};
use crate::life::passed::Done;
use crate::senses::cursors::{Cursors, Events, Waiting};
use crate::store::Store;
use crate::store::caller::Caller;
use crate::watches::Shared;
use agenda::items::Item;
use agenda::requests::{Request, RequestChange, Wait};
use agenda::{Change, items};
use ground::text::{one_line, shorten};
use jiff::Timestamp;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Requests that one thought is told of, and characters of the owner's words of one it works on, and of another.
const MOST_TOLD: usize = 12;
const WORKED_CHARS: usize = 2_000;
const OTHER_CHARS: usize = 160;

/// Seconds for which a request is left alone after a wake that ended as complete.
const COMPLETED_S: i64 = 300;

/// End of a wake for the owner.
pub(crate) struct WakeEnd<'a> {
    pub began: Timestamp,
    /// Intent of its last thought.
    pub next: &'a str,
    /// End of the rest that it chose.
    pub rest: Option<Timestamp>,
    pub done: &'a Done,
}

/// The request that a wake for this thread goes on with, where no word waits on it and no thought of this wake was
/// for it: the one worked on last.
pub(crate) fn goes_on_with(store: &Store, thread: &str, began: Timestamp) -> Option<String> {
    let open = || store.agenda.requests.open().filter(|one| one.thread == thread);
    let last = open().filter(|one| one.wait.is_none()).max_by_key(|one| one.worked_at)?;
    let is_earlier = last.worked_at.is_some_and(|at| at < began);
    (is_earlier && !open().any(|one| one.is_fresh())).then(|| last.id.clone())
}

/// The open requests, a line each, those of this thread first; without words that are shown as such. `taken` is the
/// one this wake is for.
pub(crate) fn lines(
    store: &Store,
    words: &[Waiting],
    watches: &Shared,
    caller: &Caller,
    taken: Option<&str>,
) -> Vec<String> {
    let is_here = |one: &Item<Request>| caller.owner && one.thread == caller.thread;
    let waits = |one: &Item<Request>| words.iter().any(|word| word.word.thread == one.thread);
    let is_said = |one: &&Item<Request>| is_here(one) && one.is_fresh() && one.tools.is_empty() && waits(one);
    let mut open: Vec<&Item<Request>> = store.agenda.requests.open().filter(|one| !is_said(one)).collect();
    open.sort_by_key(|one| !is_here(one));
    let more = open.len().saturating_sub(MOST_TOLD);
    let line = |one: &&Item<Request>| {
        let this = taken == Some(one.id.as_str());
        let most = if is_here(one) { WORKED_CHARS } else { OTHER_CHARS };
        one.line(most) + if this { " This wake is for it." } else { "" }
    };
    let mut lines: Vec<String> = open.iter().take(MOST_TOLD).map(line).collect();
    let watches = watches.list();
    lines.extend(watches.iter().filter(|one| one.owner).take(MOST_TOLD).map(|one| one.wish() + "."));
    lines.extend((more > 0).then(|| format!("{more} more: agenda.list, kind requests.")));
    lines
}

/// The closing words of a wake for the owner, which began then, are the answer where none was given that said it is done.
pub(crate) fn deliver(
    store: &mut Store,
    cursors: &mut Cursors,
    text: &str,
    caller: &Caller,
    began: Timestamp,
) -> Result<(), Fault> {
    let thread = &caller.thread;
    let waits = cursors.owner.awaits_answer(thread);
    let open = || store.agenda.requests.under_work(thread, began);
    // Said once already, as what goes on.
    let words = one_line(text);
    let is_said = open().any(|one| one.so_far.as_ref() == Some(&words));
    if !(waits || open().next().is_some() && !is_said) || text.trim().is_empty() {
        return Ok(());
    }
    store.say("answer", thread, text)?;
    let said = shorten(text, 300);
    let answered = RequestChange::Answered { done: None, id: None, said, wait: None };
    store.made(caller, &Change::Request(answered));
    cursors.owner.answered(thread);
    store.keep_cursors(cursors)
}

/// Notes that a wake for the owner ended: its open requests go on after the rest, or soon where none was chosen.
pub(crate) fn rested(store: &mut Store, jobs: &Jobs, caller: &Caller, end: WakeEnd) {
    let WakeEnd { began, next, rest, done } = end;
    let worked = |one: &Item<Request>| one.is_fresh() || one.worked_at.is_some_and(|at| at >= began);
    let is_mine = |one: &Item<Request>| one.thread == caller.thread && worked(one);
    if !store.agenda.requests.open().any(is_mine) {
        return;
    }
    let later = || Some(items::later(store.clock.now(), COMPLETED_S));
    let until = rest.or_else(|| if done.completed { later() } else { None });
    let rested =
        RequestChange::Rested { since: began, next: shorten(next, 300), until, progress: done.progress };
    let Ok(done) = store.change(caller, &Change::Request(rested)) else { return };
    let stuck = done.get("stuck").and_then(Value::as_array).cloned().unwrap_or_default();
    // While something runs for the owner on this thread there is nothing to be done but to wait for it.
    let is_at_work = runs_for(store, jobs, &caller.thread);
    for id in stuck.iter().filter_map(Value::as_str).filter(|_| !is_at_work) {
        let told = tell_stuck(store, id);
        told.unwrap_or_else(|fault| tracing::warn!("failed to {} ({})", fault.error, fault.hint));
    }
}

/// Whether a job or a sub-session runs for the owner's work on this thread.
fn runs_for(store: &Store, jobs: &Jobs, thread: &str) -> bool {
    let is_for = |job: &Arc<Job>| job.caller.owner && job.caller.thread == thread;
    let mut sessions = store.sessions.all.iter();
    jobs.in_background().iter().any(is_for)
        || sessions.any(|one| one.owner && one.thread == thread && !one.status.ended())
}

/// Tells the owner of a request that several wakes made no progress with; it waits for the owner's word then.
fn tell_stuck(store: &mut Store, id: &str) -> Result<(), Fault> {
    let Some(one) = store.agenda.requests.open().find(|one| one.id == id).cloned() else {
        return Ok(());
    };
    let next = if one.next.is_empty() { String::new() } else { format!(" I meant to: {}.", one.next) };
    let text = format!(
        "I am stuck with what you asked, \"{}\" ({id}): I came back to it {} times and it did not come on.{next} \
         Tell me how to go on, or say `drop {id}`.",
        shorten(&one.about, 160),
        agenda::requests::MOST_IDLE
    );
    store.say("stuck", &one.thread, &text)?;
    let caller = Caller::owner(&one.thread);
    store.change(&caller, &Change::Request(RequestChange::Stuck { id: id.to_owned() })).map(drop)
}

/// Ends the waits of requests for what events tell of; such an event is told with its request.
pub(crate) fn end_waits(store: &mut Store, cursors: &mut Cursors, watches: &Shared) {
    hear_watches(store, cursors, watches);
    let waiting: Vec<Item<Request>> =
        store.agenda.requests.open().filter(|one| one.wait.is_some()).cloned().collect();
    for one in waiting {
        let Some(wait) = &one.wait else { continue };
        let Some(at) = cursors.events.news.iter().position(|event| wait.is_for(event)) else {
            continue;
        };
        let what = cursors.events.news.remove(at);
        came(store, &what);
    }
}

/// Tells of jobs that requests wait for and whose life ended without a word of them, as where it was killed.
pub(crate) fn tell_of_lost_jobs(store: &Store, events: &mut Events) {
    let waits = store.agenda.requests.open().filter_map(|one| one.wait.as_ref());
    let is_untold = |wait: &&Wait| !events.news.iter().any(|event| wait.is_for(event));
    let lost: BTreeSet<String> = waits.filter(is_untold).flat_map(Wait::jobs).collect();
    for job in lost {
        events.tell(format!("{job} ended with the life that began it, and what it said is lost"));
    }
}

/// Ends the waits of requests for what this event tells of.
pub(crate) fn came(store: &mut Store, event: &str) {
    let is_for = |one: &&Item<Request>| one.wait.as_ref().is_some_and(|wait| wait.is_for(event));
    let waiting: Vec<Item<Request>> = store.agenda.requests.open().filter(is_for).cloned().collect();
    for Item { id, thread, .. } in waiting {
        let came = RequestChange::Came { id, what: event.to_owned() };
        store.made(&Caller::owner(&thread), &Change::Request(came));
    }
}

/// Takes what watches told: a thought hears of it where the watch is the creature's own or a request waits for it.
fn hear_watches(store: &mut Store, cursors: &mut Cursors, watches: &Shared) {
    let all = watches.news();
    for news in &all {
        let owners = watches.list();
        let is_owners = owners.iter().any(|one| one.owner && news.starts_with(&format!("{} ", one.id)));
        let waits = |one: &Item<Request>| one.wait.as_ref().is_some_and(|wait| wait.is_for(news));
        if !is_owners || store.agenda.requests.open().any(waits) {
            cursors.events.tell(news);
        }
    }
    if all.is_empty() {
        return;
    }
    match store.keep_cursors(cursors) {
        Ok(()) => watches.took(all.len()),
        // Told again by the next life rather than by none.
        Err(fault) => tracing::warn!("failed to {} ({})", fault.error, fault.hint),
    }
}

/// Ends a request by the owner's word, as in `drop request-3`; what is said of it, none where the word is another.
pub(crate) fn dropped(store: &mut Store, text: &str, thread: &str) -> Option<String> {
    let words = text.trim().trim_end_matches(['.', '!']).to_lowercase();
    let (verb, id) = words.split_once(' ')?;
    if !["drop", "forget", "cancel"].contains(&verb) || !id.starts_with("request-") {
        return None;
    }
    let close = RequestChange::Close { id: id.to_owned(), reason: "dropped by your owner".to_owned() };
    Some(match store.change(&Caller::owner(thread), &Change::Request(close)) {
        Ok(_) => format!("{id} is dropped."),
        Err(fault) => format!("Not dropped: {} ({}).", fault.error, fault.hint),
    })
}
