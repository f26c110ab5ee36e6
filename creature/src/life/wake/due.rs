//! Does what is due by the clock, without a thought: reminders, concerns, standing orders, messages, the pause.
//!
//! Invariant: a reminder is told before it is struck off, and an end between the two tells it once. A refused
//! change is logged and costs no life.

use crate::fault::Fault;
use crate::life::Life;
use crate::life::wake::events::held_up;
use crate::pace;
use crate::store::caller::Caller;
use crate::store::feed::Event;
use crate::subsessions::review;
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

/// Most records and bytes looked back on for reminders that were told already.
const LOOK_BACK: (usize, u64) = (400, 4 << 20);

/// Reminders delivered in one wake.
const MOST_AT_ONCE: usize = 32;

impl Life {
    /// Does everything that is due by the clock.
    pub(crate) fn attend_hour(&mut self) -> Result<(), Fault> {
        self.set_back()?;
        self.remind()?;
        if !self.paused() {
            // A review that nothing can pay for stays due.
            if self.access.spent_until(self.told.clock.now()).is_none() {
                self.review()?;
            }
            self.order();
        }
        if let Err(fault) = self.lend(self.caller.clone()).post() {
            self.store.observe("outbox", &format!("failed to {}", fault.error))?;
        }
        self.pause();
        Ok(())
    }

    /// Brings times too far ahead as near as their longest wait allows, after a clock that was put back.
    fn set_back(&mut self) -> Result<(), Fault> {
        let now = self.told.clock.now();
        let mut ahead = self.store.agenda.set_back(&self.store.rules, now);
        if ahead {
            self.store.keep_agenda();
        }
        self.access.set_back(now);
        let mut to = |at_s: &mut i64, wait_s: i64| {
            let most = now.as_second().saturating_add(wait_s);
            ahead |= *at_s > most;
            *at_s = (*at_s).min(most);
        };
        let longest_s = sources::backoff_s(pace::BUILT, u32::MAX).max(pace::BUILT.source_pace_s as i64);
        self.scanned.sources.values_mut().for_each(|source| to(&mut source.next_s, longest_s));
        for (line, next_s) in &mut self.cursors.papers.items {
            to(next_s, checklist::items(line).first().and_then(|item| item.every_s).unwrap_or(0));
        }
        let said = if ahead { "the clock was put back: what was planned by it counts from now" } else { "" };
        self.store.observe("clock", said)
    }

    /// Says in the feed when the owner's pause begins and ends.
    fn pause(&mut self) {
        let paused = self.paused();
        if self.told_to_pause() {
            let own = self.toolbox.jobs.in_background().into_iter().filter(|job| !job.caller.owner);
            own.for_each(|job| job.stop("your owner paused you"));
            self.pause_apart();
        }
        if std::mem::replace(&mut self.wakes.pause_told, paused) != paused {
            let event = if paused { Event::Paused } else { Event::Resumed };
            let is_typed = paused && !self.told_to_pause();
            let why = if is_typed { "you are typing" } else { "your word" };
            let interrupted = self.cursors.owner.interrupted.as_ref().map(|one| one.what.as_str());
            let line = self.first_line(self.told.clock.now());
            let what = held_up(self.unfinished.busy.as_deref(), interrupted, line);
            let pending = self.cursors.events.news.len();
            self.store.feed.tell(event, json!({"why": why, "what": what, "pending_events": pending}));
        }
    }

    /// Delivers reminders to their threads; one with a prompt runs apart, where there is a model.
    fn remind(&mut self) -> Result<(), Fault> {
        let due = self.store.agenda.reminders.due(self.told.clock.now());
        let due: Vec<_> = due.into_iter().cloned().collect();
        if due.is_empty() {
            return Ok(());
        }
        let records = self.store.newest(LOOK_BACK);
        // All at once would overstay the stage; the others are due at the next wake, right after this one.
        for due in due.into_iter().take(MOST_AT_ONCE) {
            let (id, at) = (json!(due.id), json!(due.next));
            let told = records.iter().any(|record| {
                record.data.get("reminder") == Some(&id) && record.data.get("for_at") == Some(&at)
            });
            if !told && !self.reminds_apart(&due) {
                let said = json!({
                    "from": "creature", "kind": "reminder", "thread": due.thread, "text": due.about,
                    "reminder": id, "for_at": at, "at": self.told.clock.text(),
                });
                self.store.record("message", said)?;
            }
            let at = self.told.clock.now();
            self.store.made(&self.caller, &Change::Reminder(ReminderChange::Fired { id: due.id, at }));
        }
        Ok(())
    }

    /// Whether the reminder's prompt runs apart, or did before this life began.
    fn reminds_apart(&mut self, due: &Item<Reminder>) -> bool {
        let Some(prompt) = &due.prompt else { return false };
        let origin = Origin::Reminder(due.id.clone());
        let mut all = self.store.sessions.all.iter();
        if all.any(|session| session.origin == origin && Some(session.spawned_at) >= due.next) {
            return true;
        }
        let request = Request {
            origin,
            thread: due.thread.clone(),
            objective: format!("{prompt}\n\nYour owner is reminded of: {}", due.about),
            ..Request::default()
        };
        let spawned = self.spawn_session(request);
        spawned.inspect_err(|fault| tracing::info!("failed to {}; the text is told", fault.error)).is_ok()
    }

    /// Spawns a sub-session for each concern whose review is due. Without a model the review is passed over, and one of its
    /// own accord while reviews of late had nothing to tell.
    fn review(&mut self) -> Result<(), Fault> {
        let now = self.told.clock.now();
        let due: Vec<_> = self.store.agenda.pulse.due(now).into_iter().cloned().collect();
        let pauses = self.store.agenda.reasons.due_at(PULSE).is_some_and(|again| again > now);
        for concern in due {
            let is_passed_over = pauses && !concern.owner;
            let request = review::request(&concern);
            // Struck off first: a review that cannot be struck off would be made, and paid for, at every wake.
            if !self.store.made(&self.caller, &Change::Pulse(PulseChange::Reviewed { id: concern.id })) {
                continue;
            }
            if is_passed_over {
                continue;
            }
            if let Err(fault) = self.spawn_session(request) {
                self.store.observe("pulse", &format!("failed to review concerns: {}", fault.error))?;
            }
        }
        Ok(())
    }

    /// Makes tasks of the owner's standing orders that are due, unless an order's last task is still open.
    fn order(&mut self) {
        let now = self.told.clock.now();
        let due: Vec<_> = self.store.agenda.directives.every(now).into_iter().cloned().collect();
        for order in due {
            if let Wish::Every { what, .. } = order.of.wish
                && !self.store.agenda.tasks.open().any(|task| task.about == what)
            {
                let add = TaskChange::Add { text: what, at: now, every_s: None };
                self.store.made(&Caller::owner("main"), &Change::Task(add));
            }
            self.store.made(&self.caller, &Change::Directive(DirectiveChange::Did { id: order.id }));
        }
    }
}
