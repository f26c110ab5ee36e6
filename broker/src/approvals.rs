//! Approvals: acts that wait for the owner, the owner's answers, and acts that are refused or deferred without asking.
//!
//! Invariant: a refusal is in the ledger before its client hears of it.

pub mod act;
pub mod answers;
pub mod ask;
pub mod asks;
pub mod journal;
pub mod outcome;
pub mod packages;
pub mod purpose;

use crate::ground::refusal::Unfit;
use crate::handles::Handles;
use crate::ledger::{Closed, Entry};
use crate::policy;
use act::Act;
use asks::{Asking, Asks};
use house::bounds::brief;
use outcome::with;
use serde_json::Value;
use std::sync::Arc;

/// Characters kept of a reason or a summary.
const MOST_WORDS: usize = 600;
/// Usual duration of the tests beside a new commit's first life, in seconds.
const PROBATION_S: u64 = 60;

/// Dependencies of judging an act, besides its service's rules.
pub struct Approvals {
    pub asks: Asks,
    /// Treatment of outward acts after untrusted text was read.
    pub when_tainted: policy::Taint,
    pub handles: Arc<Handles>,
}

impl Approvals {
    /// Records a refusal in the ledger, and returns its envelope.
    pub async fn refuse(&self, life: u64, act: &Act, unfit: Unfit) -> Result<Value, Closed> {
        let note = brief(&self.handles.secrets.scrub(&unfit.error), 200);
        self.handles.ledger.refused(Entry { note, ..act.entry(life, "refuse", "refused", "") }).await?;
        Ok(unfit.envelope())
    }

    /// The refusal of an act, if the life's tests still run: until they pass it may think, read and ask.
    pub async fn unproven(&self, life: u64, act: &Act) -> Result<Option<Value>, Closed> {
        if !self.handles.tokens.is_unproven(life) {
            return Ok(None);
        }
        let unfit = Unfit::new(
            "this self is on probation: it was just born of a self-edit, and its tests still run",
            "go on with something else; once it is blessed, do this again",
        );
        Ok(Some(with(self.refuse(life, act, unfit).await?, "retry_after_s", PROBATION_S)))
    }

    /// Keeps an act for the owner to answer, and returns the envelope that says so.
    pub async fn ask(&self, life: u64, act: Act, why: String, reason: &str) -> Result<Value, Closed> {
        if let Err(unfit) = asks::fits(&act) {
            return self.refuse(life, &act, unfit).await;
        }
        let clean = |text: &str| brief(&self.handles.secrets.scrub(text), MOST_WORDS);
        let (summary, reason) = (clean(&act.summary(2 * MOST_WORDS)), clean(reason));
        let [_, method, path] = act.place();
        let what = if path.is_empty() { "PURPOSE.md".to_owned() } else { format!("{method} {path}") };
        let id = match self.asks.ask(life, act.clone(), why.clone(), reason, summary) {
            Ok(Asking::New(id)) => {
                self.handles.ledger.append(act.entry(life, "ask", "ask", &format!("ask-{id}"))).await?;
                id
            }
            Ok(Asking::Same(id)) => id,
            Err(unfit) => return self.refuse(life, &act, unfit).await,
        };
        let hint = "go on with something else; the outcome comes as an event, so do not send it again";
        let waits = Unfit::new(format!("{what} waits for the owner: {why}"), hint);
        Ok(with(waits.envelope(), "asked", id.to_string()))
    }
}
