//! Reports of sub-sessions, each told once, over ends of lives too: to the thread the work came from, and to a thought.
//!
//! Invariant: by plain code, also where there is no model. Told and noted before it counts as reported: the other way
//! round a death would lose it.

use crate::fault::Fault;
use crate::life::Life;
use crate::life::birth::LOOK_BACK;
use crate::store::caller::Caller;
use agenda::Change;
use agenda::outbox::{self, Kind, OutboxChange};
use agenda::pulse::PULSE;
use agenda::reasons::ReasonChange;
use agenda::sessions::{Origin, Report, Session, Status};
use ground::text::shorten;
use serde_json::json;

impl Life {
    /// Reports sub-sessions that ended. True where the next thought is told.
    pub(crate) fn report_apart(&mut self) -> Result<bool, Fault> {
        if self.told.safe {
            return Ok(false);
        }
        for (key, id) in self.store.sessions.untold() {
            // A life ended after it told of this one, and before that was kept.
            if self.cursors.events.has_told(&key) {
                self.store.sessions.reported(&id);
            }
        }
        let mut told = false;
        for report in self.store.sessions.reports(self.told.clock.now()) {
            let worth = self.is_worth_telling(&report);
            let closed = self.store.reviewed(&self.caller, &report);
            self.counted_apart(&report, worth || closed.is_some());
            if worth || closed.is_some() {
                told |= self.tell_report(&report, closed)?;
            }
            for id in &report.ids {
                let key = self.store.sessions.get(id).map(Session::key);
                key.into_iter().for_each(|key| _ = self.cursors.events.first_telling(key));
            }
            self.save()?;
            report.ids.iter().for_each(|id| self.store.sessions.reported(id));
            self.store.keep_sessions();
        }
        Ok(told)
    }

    /// Whether anybody is told of a report; a quick look that found nothing worth a dearer thought ends here.
    fn is_worth_telling(&mut self, report: &Report) -> bool {
        let Origin::Own(_) = report.origin else { return !report.silent };
        let found = !report.silent && self.first_of(report).is_some_and(|one| one.status == Status::Done);
        if !found {
            self.end_look(None);
        }
        found
    }

    /// Counts a review unasked for; one of a concern that is the owner's is asked for, and a look is counted as it begins.
    fn counted_apart(&mut self, report: &Report, used: bool) {
        let Origin::Pulse(id) = &report.origin else { return };
        if self.store.agenda.pulse.is_owners(id) {
            return;
        }
        let reason = PULSE.to_owned();
        self.store.made(&self.caller, &Change::Reason(ReasonChange::Apart { reason, used }));
    }

    /// The session that a report is of, where no tool spawned that.
    fn first_of(&self, report: &Report) -> Option<&Session> {
        let mut all = report.ids.iter().filter_map(|id| self.store.sessions.get(id));
        all.find(|session| session.origin == report.origin)
    }

    /// Tells the thread that the work came from, and the next thought, then true; the owner alone what a reminder came to.
    fn tell_report(&mut self, report: &Report, closed: Option<String>) -> Result<bool, Fault> {
        let closed =
            closed.map(|why| format!(", which it closed ({})", shorten(&why, 200))).unwrap_or_default();
        let what = match &report.origin {
            Origin::Reminder(id) => {
                let text = self.first_of(report).map(reminded).unwrap_or_default();
                let said = json!({
                    "from": "creature", "kind": "reminder", "thread": report.thread, "text": text, "reminder": id,
                    "at": self.told.clock.text(),
                });
                return self.store.record("message", said).map(|()| false);
            }
            Origin::Own(kind) => {
                let found = self.first_of(report).map_or("", |session| &session.answer);
                self.cursors.events.tell(format!("your quick look ({kind}) found: {found}"));
                return Ok(true);
            }
            Origin::Tool { .. } if report.ids.len() == 1 => "sub-session".to_owned(),
            Origin::Tool { .. } => "sub-sessions".to_owned(),
            Origin::Pulse(id) => format!("review of {id}{closed}"),
            Origin::Checklist => "checklist".to_owned(),
            Origin::Dream => "dream".to_owned(),
        };
        let is_said = match &report.origin {
            Origin::Tool { .. } => report.owner && !report.cancelled && self.told_of_work(report)?,
            Origin::Pulse(id) => !report.silent && self.told_of_review(report, id),
            _ => false,
        };
        let thread = match report.thread.as_str() {
            "main" => String::new(),
            thread => format!("[thread {thread}] "),
        };
        let said = if is_said { " (your owner was told so)" } else { "" };
        self.cursors.events.tell(format!("{thread}{what}{said}: {}", report.text));
        Ok(true)
    }

    /// Tells the owner what became of what ran apart for their request; true, for it was told.
    fn told_of_work(&mut self, report: &Report) -> Result<bool, Fault> {
        let keys: Vec<String> =
            report.ids.iter().filter_map(|id| self.store.sessions.get(id)).map(Session::key).collect();
        let records = self.store.newest(LOOK_BACK);
        if !records.iter().any(|record| record.data.get("apart") == Some(&json!(keys))) {
            let said = json!({
                "from": "creature", "kind": "sub-sessions", "thread": report.thread, "text": report.message, "apart": keys,
                "at": self.told.clock.text(),
            });
            self.store.record("message", said)?;
        }
        Ok(true)
    }

    /// Tells a concern's thread what its review found, as much and as often as the owner allows; whether that was taken.
    fn told_of_review(&mut self, report: &Report, id: &str) -> bool {
        let concern = self.store.agenda.pulse.list.iter().find(|concern| concern.id == id);
        let kind =
            if concern.is_some_and(|concern| concern.owner) { Kind::AskedFor } else { Kind::Milestone };
        let about = concern.map_or_else(|| id.to_owned(), |concern| shorten(&concern.about, 80));
        let said = self.first_of(report).map_or(report.message.as_str(), |session| &session.answer);
        let text = shorten(&format!("{about}: {said}"), outbox::MOST_CHARS);
        let caller = Caller::own().on(&report.thread);
        let taken = self.store.made(&caller, &Change::Outbox(OutboxChange::Say { kind, text }));
        let posted = self.lend(caller).post();
        posted.map_or_else(|fault| tracing::warn!("failed to {} ({})", fault.error, fault.hint), |_| ());
        taken
    }
}

/// Returns the text for the owner of a reminder whose prompt ran as a sub-session.
fn reminded(session: &Session) -> String {
    let (objective, answer) = (&session.objective, &session.answer);
    match session.status {
        Status::Done => answer.clone(),
        _ => format!("Reminder: {objective} (what was to be done for it failed: {answer})"),
    }
}
