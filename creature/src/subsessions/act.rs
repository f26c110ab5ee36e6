//! Acts of sub-sessions: one call, what came of it, and its place in the session's conversation.
//!
//! A quick call is made at once, in the one loop; one that waits for something outside runs beside the life as a job.

use super::steps::{Calling, Doing};
use super::words;
use crate::fault::Fault;
use crate::life::Life;
use crate::life::act::{self, MOST_ARGS, args, patience};
use crate::store::caller::Caller;
use crate::tools::CallOutcome;
use agenda::sessions::Session;
use mind::conversation::Conversation;
use mind::thought::ToolCall;
use serde_json::{Value, json};

impl Life {
    /// Makes one call of a session, or begins it.
    pub(super) async fn call_apart(&mut self, session: &Session, call: ToolCall) -> Result<(), Fault> {
        let caller = caller(session);
        if let Some(why) = &call.refused {
            let done = CallOutcome::failed(why, "nothing of it was done");
            return self.acted_apart(session, &call, done);
        }
        if !words::may(session, &call.tool) {
            let error = format!("{} is not among the tools of this session", call.tool);
            let hint = "use those that are listed, or report that another is needed";
            return self.acted_apart(session, &call, CallOutcome::failed(error, hint));
        }
        self.talked(&session.id, |talk| talk.began(&call.id));
        let house = self.told.house.clone();
        let shown = [&self.cursors.papers.checklist, &self.papers.checklist];
        let checklist = act::knows_checklist(&house, shown, &call);
        if act::is_long(&call) {
            let (job, running) = act::begin(&self.toolbox, &self.store, self.facts(), &call, &caller)?;
            let most = patience(&call.tool);
            let (jobs, known) = (self.toolbox.jobs.clone(), self.watch.known());
            let calling = Calling { call, caller, job, jobs, known, checklist };
            self.steps.begin(&session.id, Doing::Calls(Box::new(calling)), async move {
                // Tools have tighter deadlines of their own.
                let _ = tokio::time::timeout(most, running).await;
                None
            });
            return Ok(());
        }
        let (done, left) = self.at_once(&call, &caller).await;
        self.acts.take_over(&mut self.store, &caller, left);
        act::knew_checklist(&mut self.cursors.papers, checklist, &house, self.told.clock.now());
        self.acted_apart(session, &call, done)
    }

    /// Takes over what a call came to that ran beside the life.
    pub(super) fn called_apart(&mut self, id: &str, mut calling: Calling) -> Result<(), Fault> {
        let most_s = patience(&calling.call.tool).as_secs();
        let done = calling.job.take();
        let (done, left) = done.unwrap_or_else(|| {
            let error = format!("{} did not end within {most_s} s", calling.call.tool);
            (CallOutcome::failed(error, "look what it did until then"), Default::default())
        });
        self.acts.take_over(&mut self.store, &calling.caller, left);
        self.watch.own_since(&calling.known);
        let (house, now) = (&self.told.house, self.told.clock.now());
        act::knew_checklist(&mut self.cursors.papers, calling.checklist.take(), house, now);
        // What it changed counts, also where its session was ended meanwhile.
        match self.store.sessions.get(id).cloned() {
            Some(session) => self.acted_apart(&session, &calling.call, done),
            None => Ok(()),
        }
    }

    /// Remembers what came of a call of a session.
    pub(super) fn acted_apart(
        &mut self,
        session: &Session,
        call: &ToolCall,
        done: CallOutcome,
    ) -> Result<(), Fault> {
        let CallOutcome { result, shown, usage } = done;
        let ok = result.get("ok") == Some(&Value::Bool(true));
        self.own.counted(&mut self.store, call, &caller(session), &result);
        let record = json!({"session": session.id, "tool": call.tool, "args": args(call, MOST_ARGS), "result": result, "usage": usage});
        self.store.record("action", record)?;
        self.talked(&session.id, |talk| talk.done(&call.id, &shown, !ok));
        self.store.sessions.acted(&session.id, ok);
        self.store.keep_sessions();
        Ok(())
    }

    /// Writes into a session's conversation. After a failure it is read anew, with the call's outcome unknown.
    fn talked(&mut self, id: &str, write: impl FnOnce(&mut Conversation) -> std::io::Result<()>) {
        let written = self.talks.get_mut(id).map(write);
        if let Some(Err(error)) = written {
            tracing::warn!("failed to keep the conversation of {id}: {error}");
            self.talks.remove(id);
        }
    }
}

/// Returns the caller in whose name a session acts.
fn caller(session: &Session) -> Caller {
    let Session { owner, thread, id, .. } = session.clone();
    Caller { owner, thread, session: Some(id), stands_in: false }
}
