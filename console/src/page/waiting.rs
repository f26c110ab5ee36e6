//! Asks that wait for the owner: counted for every page's head, read again only where the records changed.

use crate::asks as answers;
use house::House;
use house::asks::{Ask, all};
use house::files::{self, Mark};
use std::sync::{Mutex, PoisonError};

/// The records as they were when they were read: asks, and answers to them.
pub type Marks = [Option<Mark>; 2];

/// The last count of waiting asks.
#[derive(Default)]
pub struct Waiting(Mutex<Option<(Marks, usize)>>);

pub fn marks(house: &House) -> Marks {
    [files::mark(&house.asks()), files::mark(&house.answers())]
}

/// The asks that nobody has answered, the oldest first.
pub fn unanswered(house: &House) -> Vec<Ask> {
    let waiting = all(house).into_iter().filter(|ask| ask.waits(house));
    waiting.filter(|ask| answers::noted(house, ask).is_none()).collect()
}

impl Waiting {
    /// Number of waiting asks, where it is known without reading.
    pub fn known(&self, house: &House) -> Option<usize> {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.filter(|(known, _)| *known == marks(house)).map(|(_, count)| count)
    }

    pub fn count(&self, house: &House) -> usize {
        if let Some(count) = self.known(house) {
            return count;
        }
        // Taken before reading: what is written meanwhile is read again.
        let marks = marks(house);
        let count = unanswered(house).len();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((marks, count));
        count
    }
}
