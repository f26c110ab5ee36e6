//! The agenda after the clock was set back: times that lie ahead are moved, so that nothing waits for them. Pure.

use crate::directive::{Directive, Wish};
use crate::items::{Item, ItemKind, Items, Tries, later};
use crate::requests::{Request, Wait};
use crate::{Agenda, Rules};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// The longest rest between two wakes for a request, in seconds, and its longest wait where nobody said a time.
const DAY_S: i64 = 86_400;

/// The longest time from one Monday's hour to the next, a clock put back by an hour included.
const WEEK: SignedDuration = SignedDuration::from_hours(7 * 24 + 1);

impl Agenda {
    /// Moves events dated after `now` to `now`, and next turns to one interval ahead; returns whether any was.
    pub fn set_back(&mut self, rules: &Rules, now: Timestamp) -> bool {
        let mut ahead = false;
        let mut to = |at: &mut Timestamp, most: Timestamp| {
            ahead |= *at > most;
            *at = (*at).min(most);
        };
        made(&mut self.goals, now, &mut to);
        made(&mut self.opportunities.items, now, &mut to);
        made(&mut self.tasks, now, &mut to);
        made(&mut self.requests, now, &mut to);
        made(&mut self.gaps, now, &mut to);
        for goal in &mut self.goals.list {
            goal.checkpoints.iter_mut().for_each(|step| tried(&mut step.tries, now, &mut to));
        }
        for task in &mut self.tasks.list {
            tried(&mut task.tries, now, &mut to);
            if let Some(every_s) = task.every_s {
                // The first turn may be meant for any time; a later one is never further off than one interval.
                let first = task.tries.attempts == 0;
                to(&mut task.at, if first { Timestamp::MAX } else { later(now, every_s) });
            }
        }
        self.requests.list.iter_mut().for_each(|one| asked(one, now, &mut to));
        self.presence.places.values_mut().for_each(|place| to(&mut place.last_at, now));
        for directive in &mut self.directives.list {
            if let Directive { wish: Wish::Every { every_s, .. }, next: Some(next), .. } = &mut directive.of {
                to(next, later(now, *every_s));
            }
        }
        for concern in &mut self.pulse.list {
            let most = later(now, concern.every_s);
            to(&mut concern.next, most);
        }
        self.looked.lines.values_mut().for_each(|look| to(&mut look.at, now));
        self.looked.categories.values_mut().for_each(|at| to(at, now));
        for last in self.own.kinds.values_mut().chain([&mut self.own.all]) {
            last.last_at.iter_mut().for_each(|at| to(at, now));
        }
        for asked in self.reasons.by_reason.values_mut() {
            asked.last_at.iter_mut().for_each(|at| to(at, now));
        }
        self.own.under_way.iter_mut().for_each(|look| to(&mut look.at, now));
        self.outbox.sent.iter_mut().for_each(|sent| to(sent, now));
        self.outbox.said.iter_mut().for_each(|(said, _)| to(said, now));
        let weekly = self.outbox.weekly_at.is_some_and(|at| at.duration_since(now) > WEEK);
        if weekly {
            self.outbox.weekly_at = None;
        }
        for reminder in self.reminders.list.iter_mut().filter(|reminder| reminder.is_open()) {
            if reminder.last.is_some_and(|last| last > now) {
                let hours = TimeZone::get(&reminder.zone).unwrap_or_else(|_| rules.time_zone.clone());
                reminder.next = reminder.schedule.next(now, &hours).or(reminder.next);
                reminder.last = Some(now);
                ahead = true;
            }
        }
        ahead || weekly
    }
}

fn made<K: ItemKind>(items: &mut Items<K>, now: Timestamp, to: &mut impl FnMut(&mut Timestamp, Timestamp)) {
    for Item { made_at, changed_at, .. } in &mut items.list {
        to(made_at, now);
        to(changed_at, now);
    }
}

fn asked(one: &mut Request, now: Timestamp, to: &mut impl FnMut(&mut Timestamp, Timestamp)) {
    one.idle_at.iter_mut().for_each(|at| to(at, now));
    one.not_before.iter_mut().for_each(|at| to(at, later(now, DAY_S)));
    if let Some(worked_at) = one.worked_at.filter(|at| *at > now) {
        let is_short = |wait: &&mut Wait| wait.until <= later(worked_at, DAY_S);
        one.wait.iter_mut().filter(is_short).for_each(|wait| to(&mut wait.until, later(now, DAY_S)));
        (one.worked_at, one.not_before) = (Some(now), None);
    }
}

fn tried(tries: &mut Tries, now: Timestamp, to: &mut impl FnMut(&mut Timestamp, Timestamp)) {
    if let Some(failed_at) = &mut tries.failed_at {
        to(failed_at, now);
    }
}
