//! The connection limit: an idle connection is ended for a new one, so that no number of them keeps others out.
//!
//! Invariant: a connection that is answering a known caller's request is never ended for another.

use house::mutex::lock;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::task::AbortHandle;

/// Most connections at once. Each may buffer 128 KiB.
const MOST: usize = 256;
/// Time between two looks for a connection that has become idle.
const LOOK: Duration = Duration::from_millis(20);

/// Counts the running requests of one connection.
#[derive(Clone, Default)]
pub struct Connection {
    in_hand: Arc<AtomicUsize>,
}

/// A running request; its connection is kept as long as this value lives.
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
    /// Open connections, oldest first.
    open: Mutex<VecDeque<(Connection, AbortHandle)>>,
}

impl Connections {
    /// Waits for room for one more connection; if there are too many, ends the oldest idle one.
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

    /// Waits until no request is running, but not longer than `most`.
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
