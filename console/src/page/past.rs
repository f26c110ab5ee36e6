//! The index of the past, shared by all requests: read on while somebody waits for it or until nothing is new.

use crate::life::{Life, Looked};
use house::House;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Most looks that a page waits for, and the rest between two where nobody waits.
const LOOKS: usize = 8;
const REST: Duration = Duration::from_millis(6);

pub struct Past {
    house: House,
    /// The index, once it was wanted.
    life: Mutex<Option<Life>>,
    reads_on: AtomicBool,
}

impl Past {
    /// The index of a house, read on beside the page from here on.
    pub fn new(house: &House) -> Arc<Self> {
        let (house, life, reads_on) = (house.clone(), Mutex::default(), AtomicBool::default());
        let past = Arc::new(Self { house, life, reads_on });
        past.catch_up();
        past
    }

    /// Works with the index.
    pub fn with<T>(&self, work: impl FnOnce(&mut Life) -> T) -> T {
        let mut life = self.life.lock().unwrap_or_else(PoisonError::into_inner);
        work(life.get_or_insert_with(|| Life::open(&self.house)))
    }

    /// Reads new records for a moment; the rest is read beside the page.
    pub fn look(self: &Arc<Self>) -> Looked {
        let mut looked = Looked::default();
        for _ in 0..LOOKS {
            looked = self.with(Life::look);
            if !looked.more {
                return looked;
            }
        }
        self.catch_up();
        looked
    }

    /// Reads on until nothing is new, on a thread of its own.
    fn catch_up(self: &Arc<Self>) {
        if self.reads_on.swap(true, Ordering::AcqRel) {
            return;
        }
        let past = self.clone();
        let begun = std::thread::Builder::new().name("past".into()).spawn(move || {
            while past.with(Life::look).more {
                std::thread::sleep(REST);
            }
            past.reads_on.store(false, Ordering::Release);
        });
        if begun.is_err() {
            self.reads_on.store(false, Ordering::Release);
        }
    }
}
