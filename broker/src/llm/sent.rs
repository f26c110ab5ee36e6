//! A call that was sent: notes whether its model answered, and settles it.

use super::Llm;
use super::bill::Bill;
use super::experience::Head;
use super::provider::Provider;
use super::wire::Wire;
use crate::ground::caps::Micros;
use crate::health::Down;
use crate::money::budget::Reservation;
use crate::money::prices::Usage;
use jiff::Timestamp;
use std::sync::Arc;

/// A sent call, as far as its bill and its model's state go.
pub struct Sent {
    pub llm: Arc<Llm>,
    pub wire: Wire,
    pub model: String,
    pub bill: Bill,
    /// Its beginning, by which the conversation's next request is recognised.
    pub head: Option<Head>,
    /// Whether it asks a model to generate anything.
    pub asks: bool,
    pub provider: Provider,
}

impl Sent {
    /// Notes that the model answered.
    pub fn is_up(&self) {
        self.tell(None);
        self.llm.budget.resume(&self.provider.label);
    }

    /// Notes that it did not answer and why; secrets in `error` are scrubbed.
    pub fn is_down(&self, status: Option<u16>, error: &str, next_try: Option<Timestamp>) {
        let error = self.llm.handles.secrets.scrub_all(error);
        self.tell(Some(Down { status, error, next_try }));
    }

    fn tell(&self, down: Option<Down>) {
        if self.asks {
            let (model, upstream) = (self.llm.handles.secrets.scrub(&self.model), self.provider.upstream());
            self.llm.budget.tell_of_model(&model, &self.provider.name, &upstream, down);
        }
    }

    /// Settles a call by the usage in its answer.
    pub fn by_usage(&self, reservation: Reservation, usage: &Usage, status: u16, bytes: u64) {
        self.llm.budget.health().answered(self.provider.base.as_str());
        let (cost, is_beyond) = self.bill.by_usage(usage, bytes);
        let (prompt, reserved) = (usage.prompt(), self.bill.reserved_tokens());
        if !is_beyond {
            self.llm.experience.learn(&self.model, self.bill.like(usage), self.head.as_ref(), usage);
            let how = match prompt > reserved {
                true => format!("by usage, beyond what was reserved: {prompt} tokens in of {reserved}"),
                false => "by usage".to_owned(),
            };
            return reservation.settle(cost, Some(status), bytes, &how);
        }
        let claimed = format!(
            "by usage, held at what it can have cost: the answer claims {prompt} tokens in and {} out",
            usage.output
        );
        self.llm.budget.tell_of_price(&self.llm.handles.secrets.scrub(&format!(
            "answers of {:?} claim more tokens than their calls can have cost, and are counted at what they can",
            self.model
        )));
        reservation.settle(cost, Some(status), bytes, &claimed);
    }

    /// Settles a call no model answered. Its prompt may have been read: that is charged once, until a model there
    /// answers again.
    pub fn unanswered(&self, reservation: Reservation, status: Option<u16>, bytes: u64, what: &str) {
        let input = self.bill.input().min(reservation.amount());
        self.prompt_once(reservation, input, status, bytes, what);
    }

    /// Settles a call that failed before the model's first word: nothing, or once the prompt that was named.
    pub fn failed(&self, reservation: Reservation, named: Option<Usage>, status: Option<u16>, bytes: u64) {
        let what = "failed before a word";
        let named = named.map(|usage| Usage { output: 0, charged_micro_usd: 0, ..usage });
        match named.map_or(0, |usage| self.bill.by_usage(&usage, bytes).0) {
            0 => reservation.settle(0, status, bytes, what),
            input => self.prompt_once(reservation, input, status, bytes, what),
        }
    }

    fn prompt_once(
        &self,
        reservation: Reservation,
        input: Micros,
        status: Option<u16>,
        bytes: u64,
        what: &str,
    ) {
        match input > 0 && self.llm.budget.health().is_newly_silent(self.provider.base.as_str()) {
            true => reservation.settle(input, status, bytes, &format!("{what}: its prompt counts")),
            false => reservation.settle(0, status, bytes, &format!("{what}: a prompt counts already")),
        }
    }
}
