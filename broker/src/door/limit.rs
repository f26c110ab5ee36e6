//! The connection limit: who sits idle makes place for who comes, so that no number of them shuts others out.
//!
//! Invariant: a connection with a request of a known caller in hand is never ended for another.

use crate::ground::lock::lock;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::task::AbortHandle;

/// Connections at once. Each may hold 128 KiB of what it sent.
const MOST: usize = 256;
/// Between two looks whether one of many busy connections is done.
const LOOK: Duration = Duration::from_millis(20);

/// How many requests of one connection are in hand.
#[derive(Clone, Default)]
pub struct Connection {
    in_hand: Arc<AtomicUsize>,
}

/// A request in hand; its connection is kept while this is.
pub struct InHand(Connection);

impl Connection {
    pub fn takes_request(&self) -> InHand {
        self.in_hand.fetch_add(1, Ordering::SeqCst);
        InHand(self.clone())
    }

    fn is_idle(&self) -> bool {
        self.in_hand.load(Ordering::SeqCst) == 0
    }
}

impl Drop for InHand {
    fn drop(&mut self) {
        self.0.in_hand.fetch_sub(1, Ordering::SeqCst);
    }
}

#[derive(Default)]
pub struct Connections {
    /// Oldest first.
    open: Mutex<VecDeque<(Connection, AbortHandle)>>,
}

impl Connections {
    /// Waits until there may be one more, ending the oldest idle one where there are too many.
    pub async fn wait_for_place(&self) {
        loop {
            {
                let mut open = self.open();
                if open.len() < MOST {
                    return;
                }
                open.retain(|(_, task)| !task.is_finished());
                if open.len() < MOST {
                    return;
                }
                if let Some(at) = open.iter().position(|(connection, _)| connection.is_idle()) {
                    if let Some((_, task)) = open.remove(at) {
                        task.abort();
                    }
                    return;
                }
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    pub fn add(&self, connection: Connection, task: AbortHandle) {
        self.open().push_back((connection, task));
    }

    /// Waits until no request is in hand, but not longer than told.
    pub async fn finish(&self, most: Duration) {
        let idle = async {
            while !self.open().iter().all(|(connection, task)| connection.is_idle() || task.is_finished()) {
                tokio::time::sleep(LOOK).await;
            }
        };
        let _ = tokio::time::timeout(most, idle).await;
    }

    fn open(&self) -> MutexGuard<'_, VecDeque<(Connection, AbortHandle)>> {
        lock(&self.open)
    }
}
