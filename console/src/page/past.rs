//! The index of the past, shared by all requests: read on while somebody waits for it or until nothing is new.

use crate::life::{Life, Looked};
use crate::page::Server;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Most looks that a page waits for, and the rest between two where nobody waits.
const LOOKS: usize = 8;
const REST: Duration = Duration::from_millis(6);

/// The index, once it was wanted.
#[derive(Default)]
pub struct Past {
    life: Mutex<Option<Life>>,
    reads_on: AtomicBool,
}

impl Past {
    /// Works with the index.
    pub fn with<T>(&self, server: &Server, work: impl FnOnce(&mut Life) -> T) -> T {
        let mut life = self.life.lock().unwrap_or_else(PoisonError::into_inner);
        work(life.get_or_insert_with(|| Life::open(&server.house)))
    }
}

/// Reads new records for a moment; the rest is read beside the page.
pub fn look(server: &Arc<Server>) -> Looked {
    let mut looked = Looked::default();
    for _ in 0..LOOKS {
        looked = server.past.with(server, Life::look);
        if !looked.more {
            return looked;
        }
    }
    catch_up(server);
    looked
}

/// Reads on until nothing is new, on a thread of its own.
pub fn catch_up(server: &Arc<Server>) {
    if server.past.reads_on.swap(true, Ordering::AcqRel) {
        return;
    }
    let server = server.clone();
    let begun = std::thread::Builder::new().name("past".into()).spawn({
        let server = server.clone();
        move || {
            while server.past.with(&server, Life::look).more {
                std::thread::sleep(REST);
            }
            server.past.reads_on.store(false, Ordering::Release);
        }
    });
    if begun.is_err() {
        server.past.reads_on.store(false, Ordering::Release);
    }
}
