//! The weekly summary: what the week came to, in a few sentences made without a model. Pure.

use crate::digest::Facts;
use agenda::Agenda;
use jiff::Timestamp;

/// The week that ends now.
pub fn text(agenda: &Agenda, facts: &Facts, now: Timestamp) -> String {
    let (open, due) = (agenda.pulse.open().count(), agenda.reminders.open().count());
    format!(
        "The week to {}: {} thoughts so far, over {} lives; {open} standing concerns and {due} reminders are open.",
        now.strftime("%Y-%m-%d"),
        facts.thoughts,
        facts.life,
    )
}
