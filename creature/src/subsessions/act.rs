//! Acts of sub-sessions: one call, what came of it, and its place in the session's conversation.

use super::words;
use crate::fault::Fault;
use crate::heartbeat::Stage;
use crate::life::act::{MOST_ARGS, args, patience};
use crate::life::{Leaving, Life};
use crate::store::caller::Caller;
use crate::tools::CallOutcome;
use agenda::sessions::Session;
use mind::conversation::Conversation;
use mind::thought::ToolCall;
use serde_json::{Value, json};
use std::time::Duration;

impl Life {
    /// Runs one call of a session and remembers what came of it; true when the life is to end.
    pub(super) async fn session_act(
        &mut self,
        session: &Session,
        call: &ToolCall,
        leaving: &mut impl Leaving,
    ) -> Result<bool, Fault> {
        self.heart.stage(Stage::Acting, patience(&call.tool));
        let mut left = false;
        let done = if let Some(why) = &call.refused {
            CallOutcome::failed(why, "nothing of it was done")
        } else if words::may(session, &call.tool) {
            let id = Some(session.id.clone());
            let caller = Caller { owner: session.owner, thread: session.thread.clone(), session: id };
            self.talked(&session.id, |talk| talk.began(&call.id));
            let own = self.knows_checklist(call);
            self.course.works_for = session.owner.then(|| session.thread.clone());
            let done = self.called(call, &caller, leaving).await?;
            self.course.works_for = None;
            self.knew_checklist(own);
            left = done.is_none();
            let error = format!("{} was stopped: this life was asked to leave", call.tool);
            done.unwrap_or_else(|| CallOutcome::failed(error, "try again"))
        } else {
            let error = format!("{} is not among the tools of this session", call.tool);
            CallOutcome::failed(error, "use those that are listed, or report that another is needed")
        };
        self.heart.stage(Stage::Remembering, Duration::from_secs(60));
        let CallOutcome { result, shown, usage } = done;
        let failed = result.get("ok") != Some(&Value::Bool(true));
        self.counted(call, &self.caller.clone(), &result);
        let record = json!({"session": session.id, "tool": call.tool, "args": args(call, MOST_ARGS), "result": result, "usage": usage});
        self.store.record("action", record)?;
        self.talked(&session.id, |talk| talk.done(&call.id, &shown, failed));
        self.store.sessions.acted(&session.id);
        self.store.keep_sessions();
        Ok(left)
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
