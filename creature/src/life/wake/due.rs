//! Does what is due by the clock, without a thought: reminders, concerns, standing orders.
//!
//! Invariant: a reminder is told before it is struck off, and an end between the two tells it once. A refused
//! change is logged and costs no life.

use crate::fault::Fault;
use crate::life::carried::scanned::Scanned;
use crate::mind::access::Access;
use crate::pace;
use crate::store::caller::Caller;
use crate::store::{Store, TOLD_BACK};
use crate::subsessions::review::request;
use agenda::Change;
use agenda::directive::{DirectiveChange, Wish};
use agenda::items::Item;
use agenda::pulse::{PULSE, PulseChange};
use agenda::reminder::{Reminder, ReminderChange};
use agenda::sessions::{Origin, Request};
use agenda::tasks::TaskChange;
use ground::checklist;
use instinct::sources;
use serde_json::json;
use std::collections::BTreeMap;

/// Reminders delivered in one wake.
const MOST_AT_ONCE: usize = 32;

/// Brings times too far ahead as near as their longest wait allows, after a clock that was put back.
pub(super) fn set_back(
    store: &mut Store,
    access: &mut Access,
    scanned: &mut Scanned,
    items: &mut BTreeMap<String, i64>,
) -> Result<(), Fault> {
    let now = store.clock.now();
    let mut ahead = store.agenda.set_back(&store.rules, now);
    if ahead {
        store.keep_agenda();
    }
    access.set_back(now);
    let mut to = |at_s: &mut i64, wait_s: i64| {
        let most = now.as_second().saturating_add(wait_s);
        ahead |= *at_s > most;
        *at_s = (*at_s).min(most);
    };
    let longest_s = sources::backoff_s(pace::BUILT, u32::MAX).max(pace::BUILT.source_pace_s as i64);
    scanned.sources.values_mut().for_each(|source| to(&mut source.next_s, longest_s));
    for (line, next_s) in items {
        to(next_s, checklist::items(line).first().and_then(|item| item.every_s).unwrap_or(0));
    }
    let said = if ahead { "the clock was put back: what was planned by it counts from now" } else { "" };
    store.observe("clock", said)
}

/// Delivers reminders to their threads; one with a prompt runs apart, where there is a model.
pub(super) fn remind(store: &mut Store, caller: &Caller, on_instinct: bool) -> Result<(), Fault> {
    let due: Vec<_> = store.agenda.reminders.due(store.clock.now()).into_iter().cloned().collect();
    if due.is_empty() {
        return Ok(());
    }
    let records = store.newest(TOLD_BACK);
    // All at once would overstay the stage; the others are due at the next wake, right after this one.
    for due in due.into_iter().take(MOST_AT_ONCE) {
        let (id, at) = (json!(due.id), json!(due.next));
        let told = records
            .iter()
            .any(|record| record.data.get("reminder") == Some(&id) && record.data.get("for_at") == Some(&at));
        if !told && !reminds_apart(store, &due, on_instinct) {
            let said = json!({
                "from": "creature", "kind": "reminder", "thread": due.thread, "text": due.about,
                "reminder": id, "for_at": at, "at": store.clock.text(),
            });
            store.record("message", said)?;
        }
        let at = store.clock.now();
        store.made(caller, &Change::Reminder(ReminderChange::Fired { id: due.id, at }));
    }
    Ok(())
}

/// Whether the reminder's prompt runs apart, or did before this life began.
fn reminds_apart(store: &mut Store, due: &Item<Reminder>, on_instinct: bool) -> bool {
    let Some(prompt) = &due.prompt else { return false };
    let origin = Origin::Reminder(due.id.clone());
    let mut all = store.sessions.all.iter();
    if all.any(|session| session.origin == origin && Some(session.spawned_at) >= due.next) {
        return true;
    }
    let request = Request {
        origin,
        thread: due.thread.clone(),
        objective: format!("{prompt}\n\nYour owner is reminded of: {}", due.about),
        ..Request::default()
    };
    let spawned = store.spawn(vec![request], on_instinct);
    spawned.inspect_err(|fault| tracing::info!("failed to {}; the text is told", fault.error)).is_ok()
}

/// Spawns a sub-session for each concern whose review is due. Without a model the review is passed over, and one of its
/// own accord while reviews of late had nothing to tell.
pub(super) fn review(store: &mut Store, caller: &Caller, on_instinct: bool) -> Result<(), Fault> {
    let now = store.clock.now();
    let due: Vec<_> = store.agenda.pulse.due(now).into_iter().cloned().collect();
    let pauses = store.agenda.reasons.due_at(PULSE).is_some_and(|again| again > now);
    for concern in due {
        let is_passed_over = pauses && !concern.owner;
        let request = request(&concern);
        // Struck off first: a review that cannot be struck off would be made, and paid for, at every wake.
        if !store.made(caller, &Change::Pulse(PulseChange::Reviewed { id: concern.id })) {
            continue;
        }
        if is_passed_over {
            continue;
        }
        if let Err(fault) = store.spawn(vec![request], on_instinct) {
            store.observe("pulse", &format!("failed to review concerns: {}", fault.error))?;
        }
    }
    Ok(())
}

/// Makes tasks of the owner's standing orders that are due, unless an order's last task is still open.
pub(super) fn order(store: &mut Store, caller: &Caller) {
    let now = store.clock.now();
    let due: Vec<_> = store.agenda.directives.every(now).into_iter().cloned().collect();
    for order in due {
        if let Wish::Every { what, .. } = order.of.wish
            && !store.agenda.tasks.open().any(|task| task.about == what)
        {
            let add = TaskChange::Add { text: what, at: now, every_s: None };
            store.made(&Caller::owner("main"), &Change::Task(add));
        }
        store.made(caller, &Change::Directive(DirectiveChange::Did { id: order.id }));
    }
}
