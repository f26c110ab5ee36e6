//! Directives: the owner's words that plain code understands, and a goal that instinct makes of a request in phases.

use crate::senses::cursors::Events;
use crate::store::Store;
use crate::store::caller::Caller;
use agenda::Change;
use agenda::directive::{self, DirectiveChange, Wish};
use agenda::goals::{self, GoalChange};
use ground::text::shorten;
use mind::moment::Word;

/// Takes a word of the owner's that is a directive as one; the reply, none where it is none or was refused.
pub(super) fn directed(
    store: &mut Store,
    events: &mut Events,
    is_instinct: bool,
    word: &Word,
) -> Option<String> {
    let understood = directive::understand(&word.text, store.clock.now(), &store.rules.time_zone)?;
    let change = Change::Directive(understood.change.clone());
    if !store.made(&Caller::owner(&word.thread), &change) {
        return None;
    }
    if matches!(understood.change, DirectiveChange::Set { wish: Wish::Focus { .. }, .. }) {
        let text = shorten(&word.text, 300);
        events.tell(format!("Your owner said \"{text}\": what you do next follows it."));
    }
    let waits = if is_instinct { waits(&understood.change) } else { String::new() };
    Some(directive::reply(&understood) + &waits)
}

/// Says of an order that instinct cannot follow that it is kept for a mind that can.
fn waits(change: &DirectiveChange) -> String {
    match change {
        DirectiveChange::Set { wish: Wish::Every { what, .. }, .. } if !instinct::can_do(what) => {
            format!(" On instinct I cannot do \"{what}\": the order waits for a model.")
        }
        _ => String::new(),
    }
}

/// Makes, for instinct, a goal of a request in phases; the word itself is still answered. A model reads for itself
/// what is asked, and has tools that add goals.
pub(super) fn goal_of_phases(store: &mut Store, events: &mut Events, word: &Word) {
    let Some(checkpoints) = goals::phases(&word.text) else { return };
    let change =
        Change::Goal(GoalChange::Add { title: shorten(&word.text, 120), checkpoints, cost_usd: 0.0 });
    if store.made(&Caller::owner(&word.thread), &change) {
        let text = shorten(&word.text, 300);
        events.tell(format!("Your owner's word \"{text}\" stands on the agenda as a goal, step by step."));
    }
}
