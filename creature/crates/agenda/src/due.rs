//! Work that comes due by the clock and needs a thought then: tasks, orders, goals, opportunities, requests. Pure.

use crate::text::clip;
use crate::{Agenda, directive::Wish};
use jiff::Timestamp;

/// Characters of a thing's title or text.
const ABOUT_CHARS: usize = 80;

impl Agenda {
    /// Lists the work that comes due after `now` and needs a thought: when, and its id with what it is about.
    pub fn due(&self, now: Timestamp) -> Vec<(Timestamp, String)> {
        let named = |id: &str, about: &str| format!("{id} {}", clip(about, ABOUT_CHARS));
        let tasks = self.tasks.open().map(|task| (task.due_at(), named(&task.id, &task.about)));
        let goals =
            self.goals.open().filter_map(|goal| Some((goal.not_before?, named(&goal.id, &goal.about))));
        let leads = self
            .opportunities
            .items
            .open()
            .filter_map(|one| Some((one.not_before?, named(&one.id, &one.about))));
        let asked = self.requests.open().map(|one| (one.ready_at(), named(&one.id, &one.about)));
        let orders = self.directives.standing(now).filter_map(|order| match &order.wish {
            Wish::Every { what, .. } => Some((order.next?, named(&order.id, what))),
            _ => None,
        });
        let all = tasks.chain(goals).chain(leads).chain(asked).chain(orders);
        let mut all: Vec<_> = all.filter(|(at, _)| *at > now).collect();
        all.sort();
        all
    }
}
