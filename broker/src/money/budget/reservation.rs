//! A reservation: settled once, explicitly or when it is dropped.
//!
//! Invariant: dropped after its call may have been sent it stays spent in full; dropped before, it costs nothing.

use super::state::Inner;
use crate::ground::caps::{Class, Micros};
use crate::ledger::Entry;
use std::sync::Arc;

pub struct Reservation {
    inner: Arc<Inner>,
    /// Fields that the settling entry shares with the reserving one.
    entry: Entry,
    amount: Micros,
    may_have_left: bool,
    is_settled: bool,
}

impl Reservation {
    pub(super) fn new(inner: Arc<Inner>, reserve: &Entry, amount: Micros) -> Self {
        let entry = Entry { event: "settle".into(), decision: String::new(), ..reserve.clone() };
        Self { inner, entry, amount, may_have_left: false, is_settled: false }
    }

    /// Notes that it is on disk: from here on its call may be under way.
    pub(super) fn leaves(mut self) -> Self {
        self.may_have_left = true;
        self.inner.change();
        self
    }

    /// Removes a reservation that could not be written.
    pub(super) fn undo(mut self) {
        self.is_settled = true;
        self.inner.state().money.settle(&self.entry.call, 0);
    }

    pub fn amount(&self) -> Micros {
        self.amount
    }

    /// Settles at the actual cost; `decision` says how it is known.
    pub fn settle(mut self, actual: Micros, status: Option<u16>, bytes_in: u64, decision: &str) {
        self.settle_now(actual, status, bytes_in, decision);
    }

    /// The actual cost is unknown: the reservation stays spent in full, and `least` if that is more.
    pub fn stands(mut self, least: Micros, status: Option<u16>, bytes_in: u64, why: &str) {
        self.settle_now(self.amount.max(least), status, bytes_in, why);
    }

    fn settle_now(&mut self, actual: Micros, status: Option<u16>, bytes_in: u64, decision: &str) {
        if std::mem::replace(&mut self.is_settled, true) {
            return;
        }
        let mut state = self.inner.state();
        state.money.settle(&self.entry.call, actual);
        if self.entry.class == Some(Class::Autonomous) && actual > 0 {
            self.entry.own_left_micro_usd = Some(self.inner.own_spent(&mut state, actual));
        }
        self.entry.cost_micro_usd = Some(actual);
        self.entry.status = status;
        self.entry.bytes_in = bytes_in;
        self.entry.decision = decision.to_owned();
        match actual > self.amount {
            true => self.inner.ledger.submit_at_once(self.entry.clone()),
            // If this entry is lost, the reservation stays spent.
            false => self.inner.ledger.submit(self.entry.clone()),
        }
        self.inner.warn(&mut state);
        drop(state);
        self.inner.change();
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        match self.may_have_left {
            true => self.settle_now(self.amount, None, 0, "stands: nobody waited for the answer"),
            false => self.settle_now(0, None, 0, "never left"),
        }
    }
}
