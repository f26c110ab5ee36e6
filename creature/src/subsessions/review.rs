//! Reviews of standing concerns: what each is given, what it may do beside the tools of its mode, and what is kept of it.

use crate::fault::Fault;
use crate::store::Store;
use crate::store::caller::Caller;
use crate::tools::marks::{Mark, Marks};
use crate::tools::tool_context::ToolContext;
use agenda::Change;
use agenda::items::Item;
use agenda::pulse::{Concern, PulseChange};
use agenda::sessions::{Mode, Origin, Report, Request, Session, Status};

/// The request for a sub-session that reviews a concern.
pub fn request(concern: &Item<Concern>) -> Request {
    let before = match concern.last.filter(|_| !concern.said.is_empty()) {
        Some(at) => format!("The last review, begun at {at:.0}, said: {}", concern.said),
        None => "It was not reviewed before.".to_owned(),
    };
    Request {
        origin: Origin::Pulse(concern.id.clone()),
        thread: concern.thread.clone(),
        objective: format!(
            "Review this standing concern, {}: {}\n\n{before}\n\nLook how it stands now, and do with your tools what \
             it asks for. What another thought has to do goes on the agenda by task.add. If it is settled, or can come \
             to nothing any more, close it: pulse.close {{\"id\": \"{}\", \"why\": …}}. Report what is new.",
            concern.id, concern.about, concern.id
        ),
        mode: concern.mode,
        ..Request::default()
    }
}

/// Whether a session may use a tool because it is a review: a tool that closes a concern, or adds a task.
pub fn may(session: &Session, marks: &Marks) -> bool {
    let acts = !matches!(session.mode, Mode::None | Mode::BaseOnly);
    matches!(session.origin, Origin::Pulse(_)) && acts && marks.has(Mark::Reviews)
}

/// Refuses a sub-session, unless full, any concern but the one it reviews: a text it read may have told it to.
pub fn own(tools: &ToolContext<'_>, id: &str) -> Result<(), Fault> {
    let session = tools.caller.session.as_ref().and_then(|session| tools.store.sessions.get(session));
    let mine =
        |session: &Session| session.mode == Mode::Full || session.origin == Origin::Pulse(id.to_owned());
    match session.is_none_or(mine) {
        true => Ok(()),
        false => {
            let hint = "say in your report what should become of it";
            Err(Fault::new(format!("{id} is not the concern that this session reviews"), hint))
        }
    }
}

impl Store {
    /// Keeps a review's result with its concern, for the next; returns why the concern was closed, if it was.
    pub(crate) fn reviewed(&mut self, caller: &Caller, report: &Report) -> Option<String> {
        let Origin::Pulse(id) = &report.origin else { return None };
        let mut told = report.ids.iter().filter_map(|id| self.sessions.get(id));
        let session = told.find(|session| session.origin == report.origin)?;
        let said = match session.status {
            Status::Done => session.answer.clone(),
            status => format!("{}: {}", status.name(), session.answer),
        };
        let concern = self.agenda.pulse.list.iter().find(|concern| concern.id == *id)?;
        if concern.ended_at.is_some_and(|at| at >= session.spawned_at) {
            return Some(concern.outcome.clone());
        }
        if concern.ended_at.is_none() {
            let change = Change::Pulse(PulseChange::Found { id: id.clone(), said });
            self.made(caller, &change);
        }
        None
    }
}
