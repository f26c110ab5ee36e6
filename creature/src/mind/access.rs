//! Access to the mind and to money of its own: whether each can be had, and until when it is left alone. Pure.

use crate::mind::outage::Outage;
use crate::mind::patience::{LONGEST_S, Patience, first_s};
use agenda::items::later;
use jiff::Timestamp;
use mind::{Down, Why};

/// Obstacles between the life and a thought: an outage, a wait, spent money.
#[derive(Debug, Default)]
pub(crate) struct Access {
    /// Outage while the mind gives no thoughts; else none.
    outage: Option<Outage>,
    patience: Patience,
    /// Time until which the mind is not asked, but for the owner's word.
    down_until: Option<Timestamp>,
    /// Time until which its own money is spent: before it, nothing of its own is done that costs any.
    spent_until: Option<Timestamp>,
    /// Its spent money was told, and no thought of its own was paid for since.
    spent_told: bool,
    /// Time until which no step of a sub-session begins, for its model is down.
    apart_until: Option<Timestamp>,
    /// The budget file's mark when it was last looked at; a new one ends the wait for a mind that is down.
    budget_mark: Option<String>,
    /// The budget is nearly gone.
    pub poor: bool,
}

impl Access {
    pub fn outage(&self) -> Option<&Outage> {
        self.outage.as_ref()
    }

    /// Whether the mind is down, and not asked until `down_until`.
    pub fn is_down(&self, now: Timestamp) -> bool {
        self.down_until.is_some_and(|until| now < until)
    }

    pub fn down_until(&self) -> Option<Timestamp> {
        self.down_until
    }

    /// Returns the time until which its own money is taken to be spent; none while there may be some.
    pub fn spent_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.spent_until.filter(|until| now < *until)
    }

    pub fn apart_until(&self) -> Option<Timestamp> {
        self.apart_until
    }

    /// Ends the waits where the budget file's mark is new, for another broker or another day began; whether one ended.
    pub fn is_found_anew(&mut self, mark: String) -> bool {
        let known = self.budget_mark.replace(mark.clone());
        if known.is_none_or(|known| known == mark) {
            return false;
        }
        let waited = [self.down_until.take(), self.spent_until.take()].iter().any(Option::is_some);
        if waited {
            self.apart_until = None;
            self.patience.ease();
        }
        waited
    }

    /// Ends the waits, for another mind is offered.
    pub fn offered(&mut self) {
        (self.down_until, self.spent_until) = (None, None);
        (self.apart_until, self.outage) = (None, None);
    }

    /// Brings waits too far ahead as near as the longest, after a clock that was put back.
    pub fn set_back(&mut self, now: Timestamp) {
        for until in [&mut self.down_until, &mut self.spent_until] {
            *until = until.map(|until| until.min(later(now, LONGEST_S)));
        }
    }

    /// Takes a mind for down: the seconds to leave it alone, until when that is, and whether the reason is to be told.
    pub fn down(&mut self, down: &Down, now: Timestamp) -> (u64, Timestamp, bool) {
        let before = self.outage.take();
        let mut outage = Outage::new(down, 0, before.as_ref(), now);
        let same = before.is_some_and(|before| before.mark() == outage.mark());
        let (rest_s, tell) = match self.down_until.filter(|until| same && now < *until) {
            // Tried out of turn, for the owner's word: that costs the others no longer wait.
            Some(until) => (until.duration_since(now).as_secs().unsigned_abs() + 1, false),
            None => self.patience.down(down),
        };
        let until = later(now, rest_s);
        outage.next = until;
        (self.outage, self.down_until) = (Some(outage), Some(until));
        (rest_s, until, tell)
    }

    /// Takes a reply for one that could not be read: the seconds to leave the mind alone. A second is an outage.
    pub fn garbled(&mut self, error: &str, now: Timestamp) -> u64 {
        let rest_s = self.patience.garbled();
        if self.patience.babbles() {
            let down = Down { why: Why::Garbled, cause: error.to_owned(), ..Down::default() };
            self.outage = Some(Outage::new(&down, rest_s, self.outage.as_ref(), now));
        }
        rest_s
    }

    /// Takes its own money for spent: the seconds until it asks again, an hour at most, until when that is, and whether
    /// it is to be told.
    pub fn spent(&mut self, down: &Down, now: Timestamp) -> (u64, Timestamp, bool) {
        let rest_s = first_s(down.why, down.asked_s).max(1);
        let until = later(now, rest_s);
        self.spent_until = Some(until);
        (rest_s, until, !std::mem::replace(&mut self.spent_told, true))
    }

    /// Has sub-sessions wait for a model that is down; where it is the mind's own, that is not asked either.
    pub fn down_apart(&mut self, down: &Down, is_minds: bool, now: Timestamp) {
        let until = Some(later(now, first_s(down.why, down.asked_s)));
        self.apart_until = self.apart_until.max(until);
        if is_minds {
            self.down_until = self.down_until.max(until);
        }
    }

    /// Ends the wait for the mind, for a thought was had.
    pub fn thought(&mut self) {
        self.down_until = None;
    }

    /// Ends the outage, for a thought was had and paid for; after one of its own there is money again. Where the outage
    /// was told of, whether it was one of money.
    pub fn answered(&mut self, owner: bool) -> Option<bool> {
        let was_spent = self.outage.take().is_some_and(|outage| outage.why == Why::Budget);
        if !owner {
            (self.spent_until, self.spent_told) = (None, false);
        }
        self.patience.over().then_some(was_spent)
    }
}
