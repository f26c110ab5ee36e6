//! The last wakes, a line each: reason, number of acts, cost; the wake's rows in a fold. Pure but for reading.

use crate::back::{self, Line};
use crate::life;
use crate::owners::Owners;
use crate::report::gather::SETTLED_LATER_MS;
use crate::why::found;
use house::House;
use house::records::ledger::Entry;
use house::records::memory::{Data, Message, Record, Thought};
use house::{clock::Millis, moments, records};
use serde_json::Value;
use std::ops::ControlFlow;

/// Wakes that are shown, records and bytes read back for them, and bytes of the ledger.
const MOST_WAKES: usize = 12;
const MOST_RECORDS: usize = 600;
const MOST_BYTES: u64 = 4 << 20;
const LEDGER_BYTES: u64 = 512 << 10;

/// A wake, or the records before the first wake that was read.
#[derive(Debug, Default, PartialEq)]
pub struct Wake {
    pub number: Option<u64>,
    pub records: Vec<Value>,
    pub micro: u64,
}

/// The newest wakes, the newest last.
pub fn read(house: &House) -> Vec<Wake> {
    let (mut records, mut owners) = (Vec::new(), Owners::beside(&house.memory()));
    back::lines(
        found::files(house),
        None,
        MOST_BYTES,
        |_| true,
        |line: &Line| {
            records.extend(records::parse(line.bytes).map(|record| owners.judged(record)));
            if records.len() < MOST_RECORDS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        },
    );
    records.reverse();
    let paid = records::newest(&house.ledger(), LEDGER_BYTES)
        .filter_map(|entry| Some((moments::ms(Entry(&entry).at())?, Entry(&entry).paid()?)));
    let mut wakes = grouped(records, &paid.collect::<Vec<_>>());
    wakes.drain(..wakes.len().saturating_sub(MOST_WAKES));
    wakes
}

/// Records in order of time as wakes, each with its cost from the end of the wake before to its own.
pub fn grouped(records: Vec<Value>, paid: &[(Millis, u64)]) -> Vec<Wake> {
    let mut wakes: Vec<Wake> = Vec::new();
    // The owner's word comes before the wake that answers it.
    let mut before = Vec::new();
    for record in records {
        let seen = Record(&record);
        let wake = seen.thought().and_then(Thought::wake);
        let is_owners = seen.message().is_some_and(Message::is_owners);
        let is_next = wake.is_some() && wakes.last().is_none_or(|last| last.number != wake);
        if is_next {
            wakes.push(Wake { number: wake, records: std::mem::take(&mut before), micro: 0 });
        }
        match wakes.last_mut() {
            _ if is_owners => before.push(record),
            Some(last) => {
                last.records.append(&mut before);
                last.records.push(record);
            }
            None => before.push(record),
        }
    }
    match wakes.last_mut() {
        Some(last) => last.records.append(&mut before),
        None if before.is_empty() => {}
        None => wakes.push(Wake { records: before, ..Wake::default() }),
    }
    // What was paid before the first record belongs to wakes that were not read.
    let at_ms = |record: Option<&Value>| record.and_then(|record| moments::ms(Record(record).at()));
    let first = wakes.first().and_then(|wake| wake.records.first());
    let mut from_ms = at_ms(first).unwrap_or(0).saturating_sub(1);
    for wake in &mut wakes {
        let until_ms = at_ms(wake.records.last()).unwrap_or(from_ms).saturating_add(SETTLED_LATER_MS);
        let of_it = paid.iter().filter(|(at_ms, _)| *at_ms > from_ms && *at_ms <= until_ms);
        wake.micro = of_it.map(|(_, micro)| *micro).fold(0, u64::saturating_add);
        from_ms = from_ms.max(until_ms);
    }
    wakes
}

impl Wake {
    /// End of the wake, as far as it was remembered.
    pub fn at(&self) -> &str {
        self.records.last().map(|record| Record(record).at()).unwrap_or_default()
    }

    /// `answered you, 2 acts, 1 failed, $0.03`.
    pub fn told(&self) -> String {
        let count = |is: &dyn Fn(Data) -> bool| {
            self.records.iter().filter(|record| is(Record(record).data())).count()
        };
        let said = |kind: &str| count(&|data| matches!(data, Data::Message(said) if said.kind() == kind)) > 0;
        let edits = count(&|data| matches!(data, Data::SelfChange(_)));
        let acts = count(&|data| matches!(data, Data::Action(_)));
        let failed = count(&|data| matches!(data, Data::Action(action) if !action.is_ok()));
        let owners = count(&|data| matches!(data, Data::Thought(thought) if thought.owner() == Some(true)));
        let first = match () {
            () if count(&|data| matches!(data, Data::Death(_))) > 0 => "died and was started again",
            () if said("answer") => "answered you",
            () if said("asked_for") => "did what you asked for",
            () if said("reminder") => "reminded you",
            () if edits > 0 => "edited itself",
            () if owners > 0 => "worked for you",
            () if self.number.is_some() => "worked on its own",
            () => "before that",
        };
        let mut parts = vec![first.to_owned()];
        parts.extend((acts > 0).then(|| life::count(acts as u64, "act")));
        parts.extend((failed > 0).then(|| format!("{failed} failed")));
        parts.extend(
            (edits > 0 && first != "edited itself")
                .then(|| life::count(edits as u64, "step") + " of a self-edit"),
        );
        parts.extend((self.micro > 0).then(|| life::usd(self.micro)));
        parts.join(", ")
    }
}
