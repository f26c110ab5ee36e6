//! Consent: the owner's yes to an item of the agenda, taken where the owner's word is heard and nowhere else.
//!
//! Invariant: only a line of the inbox approves; what a mind, a page, a mail or a file says of it does not.

use crate::fault::Fault;
use crate::senses::cursors::Events;
use crate::store::Store;
use crate::store::caller::Caller;
use agenda::requests::RequestChange;
use agenda::{Change, yes};
use mind::moment::Word;

/// Ends a request whose word plain code answered; one that wants a tool of the owner's goes on.
pub(crate) fn request_answered(store: &mut Store, id: Option<String>, thread: &str) {
    if id.is_some() {
        let said = "answered by plain code".to_owned();
        let answered = RequestChange::Answered { done: None, id, said, wait: None };
        store.made(&Caller::owner(thread), &Change::Request(answered));
    }
}

/// Approves what this word says yes to, and tells the owner what that was. True where the word needs no other
/// answer, none where it is no yes.
pub(super) fn approved(store: &mut Store, events: &mut Events, word: &Word) -> Result<Option<bool>, Fault> {
    let Some(said) = yes::understand(&word.text) else { return Ok(None) };
    let ids = match said.ids.is_empty() {
        true => {
            Some(yes::items_named(&store.asked_last(word))).filter(|ids| ids.len() == 1).unwrap_or_default()
        }
        false => said.ids,
    };
    if ids.is_empty() {
        return Ok(None);
    }
    let mut told = Vec::new();
    for id in &ids {
        let what = store.agenda.price(id).unwrap_or_else(|| id.clone());
        match store.change(&Caller::owner(&word.thread), &Change::approve(id)) {
            Ok(_) => {
                told.push(format!("Approved: {what}. I go on with it."));
                events.tell(format!("Your owner approved {what}: go on with it."));
            }
            Err(fault) => told.push(format!("Not approved: {} ({}).", fault.error, fault.hint)),
        }
    }
    store.say("answer", &word.thread, &told.join(" "))?;
    Ok(Some(!said.more))
}
