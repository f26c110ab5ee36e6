//! Judges who is heard: the paired owner, in a chat of their own, or where `groups` names it and they address this channel. Pure.

use crate::channel::{Heard, What};
use crate::pairing::{self, Code, Try};
use crate::state::State;

/// Outcome of a happening.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is the owner's.
    Owner,
    /// Known already, of a bot, or said where nobody is heard: nothing becomes of it.
    Silent,
    /// A stranger's; `told`: they are told so.
    Stranger { told: bool },
    /// It brings the code: its sender is the owner from now on.
    Paired,
    /// A wrong code; so many tries are left.
    Missed(u64),
    /// The right code, too late or after too many tries: its sender is told so.
    Over,
    /// It could not be read or is not believed: its sender is told why.
    Unread(String),
}

/// Judges a happening; tries and refusals are counted in the state. `own`: our id on the platform.
pub fn judged(
    state: &mut State,
    groups: &[String],
    own: &str,
    code: Option<&Code>,
    heard: &Heard,
    now_ms: u64,
) -> Verdict {
    let person = &heard.from;
    if state.has_heard(&heard.id) || person.is_bot || person.id == own || person.id.is_empty() {
        return Verdict::Silent;
    }
    if !heard.chat.is_private {
        let is_heard =
            groups.contains(&heard.chat.id) && state.is_owner(&person.id) && is_addressed(&heard.what);
        return if is_heard { Verdict::Owner } else { Verdict::Silent };
    }
    let is_owner = state.is_owner(&person.id);
    if let What::Unread { why } = &heard.what {
        let is_told = !why.is_empty()
            && (is_owner
                || (code.is_some_and(|code| pairing::is_open(&state.pairing, code))
                    && state.may_refuse(now_ms)));
        return if is_told { Verdict::Unread(why.clone()) } else { Verdict::Silent };
    }
    if is_owner {
        return Verdict::Owner;
    }
    let What::Word(word) = &heard.what else {
        state.strangers = state.strangers.saturating_add(1);
        return Verdict::Silent;
    };
    match pairing::tried(&mut state.pairing, code, &word.text) {
        Try::Right => Verdict::Paired,
        Try::Wrong(left) => {
            state.strangers = state.strangers.saturating_add(1);
            Verdict::Missed(left)
        }
        Try::Over if state.may_refuse(now_ms) => {
            state.strangers = state.strangers.saturating_add(1);
            Verdict::Over
        }
        Try::None | Try::Over => Verdict::Stranger { told: state.refuse(&person.id, now_ms) },
    }
}

/// Whether it is meant for this channel, in a chat of several people. A word that was heard once is edited and deleted as it is.
fn is_addressed(what: &What) -> bool {
    match what {
        What::Word(word) | What::Edited(word) => word.is_addressed,
        What::Deleted { .. } | What::Press(_) => true,
        What::Unread { .. } => false,
    }
}
