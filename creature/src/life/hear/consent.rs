//! Consent: the owner's yes to an item of the agenda, taken where the owner's word is heard and nowhere else.
//!
//! Invariant: only a line of the inbox approves; what a mind, a page, a mail or a file says of it does not.

use crate::fault::Fault;
use crate::life::Life;
use crate::store::caller::Caller;
use agenda::requests::RequestChange;
use agenda::{Change, yes};
use mind::moment::Word;
use serde_json::json;

impl Life {
    /// Keeps this word of the owner's as an open request, until it is answered and done; its id.
    pub(crate) fn requested(&mut self, word: &Word, id: &str) -> Option<String> {
        if self.told.safe {
            return None;
        }
        let kept = self.lend(Caller::owner(&word.thread)).requested(word, id);
        kept.inspect_err(|fault| tracing::warn!("failed to {} ({})", fault.error, fault.hint)).ok()
    }

    /// Ends a request whose word plain code answered; one that wants a tool of the owner's goes on.
    pub(crate) fn request_answered(&mut self, id: Option<String>, thread: &str) {
        if id.is_some() {
            let said = "answered by plain code".to_owned();
            let answered = RequestChange::Answered { done: None, id, said, wait: None };
            self.store.made(&Caller::owner(thread), &Change::Request(answered));
        }
    }

    /// Approves what this word says yes to, and tells the owner what that was. True where the word needs no other
    /// answer, none where it is no yes.
    pub(crate) fn approved(&mut self, word: &Word) -> Result<Option<bool>, Fault> {
        let Some(said) = yes::understand(&word.text).filter(|_| !self.told.safe) else { return Ok(None) };
        let ids = match said.ids.is_empty() {
            true => Some(yes::items_named(&self.store.asked_last(word)))
                .filter(|ids| ids.len() == 1)
                .unwrap_or_default(),
            false => said.ids,
        };
        if ids.is_empty() {
            return Ok(None);
        }
        let mut told = Vec::new();
        for id in &ids {
            let what = self.store.agenda.price(id).unwrap_or_else(|| id.clone());
            match self.store.change(&Caller::owner(&word.thread), &Change::approve(id)) {
                Ok(_) => {
                    told.push(format!("Approved: {what}. I go on with it."));
                    self.cursors.events.tell(format!("Your owner approved {what}: go on with it."));
                }
                Err(fault) => told.push(format!("Not approved: {} ({}).", fault.error, fault.hint)),
            }
        }
        let said_back = json!({
            "from": "creature", "kind": "answer", "thread": word.thread, "text": told.join(" "),
        });
        self.store.record("message", said_back)?;
        Ok(Some(!said.more))
    }
}
