//! Reports of sub-sessions, each told once, over ends of lives too: to the thread the work came from, and to a thought.
//!
//! Invariant: by plain code, also where there is no model. Told and noted before it counts as reported: the other way
//! round a death would lose it.

use crate::fault::Fault;
use crate::senses::cursors::{Cursors, Events};
use crate::store::caller::Caller;
use crate::store::{LOOK_BACK, Store};
use agenda::Change;
use agenda::outbox::{self, Kind, OutboxChange};
use agenda::pulse::PULSE;
use agenda::reasons::ReasonChange;
use agenda::sessions::{Origin, Report, Session, Status};
use ground::text::shorten;
use serde_json::json;

/// Counts as reported what a life told that ended before that was kept.
pub(super) fn note_told(store: &mut Store, events: &Events) {
    for (key, id) in store.sessions.untold() {
        if events.has_told(&key) {
            store.sessions.reported(&id);
        }
    }
}

/// Whether anybody is told of a report; a quick look that found nothing worth a dearer thought ends here.
pub(super) fn is_worth_telling(store: &Store, report: &Report) -> bool {
    let is_look = matches!(report.origin, Origin::Own(_));
    !report.silent && (!is_look || first_of(store, report).is_some_and(|one| one.status == Status::Done))
}

/// Tells a report that is worth it, and one of a review that closed its concern. True where the next thought is told.
pub(super) fn tell(
    store: &mut Store,
    cursors: &mut Cursors,
    caller: &Caller,
    report: &Report,
    is_worth: bool,
) -> Result<bool, Fault> {
    let closed = store.reviewed(caller, report);
    let tells = is_worth || closed.is_some();
    count(store, caller, report, tells);
    let told = tells && told(store, &mut cursors.events, report, closed)?;
    for id in &report.ids {
        let key = store.sessions.get(id).map(Session::key);
        key.into_iter().for_each(|key| _ = cursors.events.first_telling(key));
    }
    store.keep_cursors(cursors)?;
    report.ids.iter().for_each(|id| store.sessions.reported(id));
    store.keep_sessions();
    Ok(told)
}

/// Counts a review unasked for; one of a concern that is the owner's is asked for, and a look is counted as it begins.
fn count(store: &mut Store, caller: &Caller, report: &Report, used: bool) {
    let Origin::Pulse(id) = &report.origin else { return };
    if !store.agenda.pulse.is_owners(id) {
        let reason = PULSE.to_owned();
        store.made(caller, &Change::Reason(ReasonChange::Apart { reason, used }));
    }
}

/// The session that a report is of, where no tool spawned that.
fn first_of<'a>(store: &'a Store, report: &Report) -> Option<&'a Session> {
    let mut all = report.ids.iter().filter_map(|id| store.sessions.get(id));
    all.find(|session| session.origin == report.origin)
}

/// Tells the thread that the work came from, and the next thought, then true; the owner alone what a reminder came to.
fn told(
    store: &mut Store,
    events: &mut Events,
    report: &Report,
    closed: Option<String>,
) -> Result<bool, Fault> {
    let closed = closed.map(|why| format!(", which it closed ({})", shorten(&why, 200))).unwrap_or_default();
    let what = match &report.origin {
        Origin::Reminder(id) => {
            let text = first_of(store, report).map(reminded).unwrap_or_default();
            let said = json!({
                "from": "creature", "kind": "reminder", "thread": report.thread, "text": text, "reminder": id,
                "at": store.clock.text(),
            });
            return store.record("message", said).map(|()| false);
        }
        Origin::Own(kind) => {
            let found = first_of(store, report).map_or("", |session| &session.answer);
            events.tell(format!("your quick look ({kind}) found: {found}"));
            return Ok(true);
        }
        Origin::Tool { .. } if report.ids.len() == 1 => "sub-session".to_owned(),
        Origin::Tool { .. } => "sub-sessions".to_owned(),
        Origin::Pulse(id) => format!("review of {id}{closed}"),
        Origin::Checklist => "checklist".to_owned(),
        Origin::Dream => "dream".to_owned(),
    };
    let is_said = match &report.origin {
        Origin::Tool { .. } => report.owner && !report.cancelled && told_of_work(store, report)?,
        Origin::Pulse(id) => !report.silent && told_of_review(store, report, id),
        _ => false,
    };
    let thread = match report.thread.as_str() {
        "main" => String::new(),
        thread => format!("[thread {thread}] "),
    };
    let said = if is_said { " (your owner was told so)" } else { "" };
    events.tell(format!("{thread}{what}{said}: {}", report.text));
    Ok(true)
}

/// Tells the owner what became of what ran apart for their request; true, for it was told.
fn told_of_work(store: &mut Store, report: &Report) -> Result<bool, Fault> {
    let keys: Vec<String> =
        report.ids.iter().filter_map(|id| store.sessions.get(id)).map(Session::key).collect();
    let records = store.newest(LOOK_BACK);
    if !records.iter().any(|record| record.data.get("apart") == Some(&json!(keys))) {
        let said = json!({
            "from": "creature", "kind": "sub-sessions", "thread": report.thread, "text": report.message, "apart": keys,
            "at": store.clock.text(),
        });
        store.record("message", said)?;
    }
    Ok(true)
}

/// Tells a concern's thread what its review found, as much and as often as the owner allows; whether that was taken.
fn told_of_review(store: &mut Store, report: &Report, id: &str) -> bool {
    let concern = store.agenda.pulse.list.iter().find(|concern| concern.id == id);
    let kind = if concern.is_some_and(|concern| concern.owner) { Kind::AskedFor } else { Kind::Milestone };
    let about = concern.map_or_else(|| id.to_owned(), |concern| shorten(&concern.about, 80));
    let said = first_of(store, report).map_or(report.message.as_str(), |session| &session.answer);
    let text = shorten(&format!("{about}: {said}"), outbox::MOST_CHARS);
    let caller = Caller::own().on(&report.thread);
    let taken = store.made(&caller, &Change::Outbox(OutboxChange::Say { kind, text }));
    if let Err(fault) = store.post(&caller) {
        tracing::warn!("failed to {} ({})", fault.error, fault.hint);
    }
    taken
}

/// Returns the text for the owner of a reminder whose prompt ran as a sub-session.
fn reminded(session: &Session) -> String {
    let (objective, answer) = (&session.objective, &session.answer);
    match session.status {
        Status::Done => answer.clone(),
        _ => format!("Reminder: {objective} (what was to be done for it failed: {answer})"),
    }
}
