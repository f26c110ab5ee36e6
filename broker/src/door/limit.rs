//! Room for connections: who sits idle makes place for who comes, so that no number of them shuts others out.
//!
//! Invariant: a connection with a request of a known caller in hand is never ended to make room.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::task::AbortHandle;

/// Connections at once. Each may hold 128 KiB of what it sent.
const MOST: usize = 256;
/// Between two looks whether one of many busy connections is done.
const LOOK: Duration = Duration::from_millis(20);

/// One connection's place.
#[derive(Clone, Default)]
pub struct Seat {
    in_hand: Arc<AtomicUsize>,
}

/// A request in hand; its seat is kept while this is.
pub struct Held {
    in_hand: Arc<AtomicUsize>,
}

impl Seat {
    pub fn hold(&self) -> Held {
        self.in_hand.fetch_add(1, Ordering::SeqCst);
        Held { in_hand: self.in_hand.clone() }
    }

    fn is_idle(&self) -> bool {
        self.in_hand.load(Ordering::SeqCst) == 0
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.in_hand.fetch_sub(1, Ordering::SeqCst);
    }
}

#[derive(Default)]
pub struct Room {
    /// Oldest first.
    seated: Mutex<VecDeque<(Seat, AbortHandle)>>,
}

impl Room {
    /// Waits until there is a place, ending the oldest idle connection where there is none.
    pub async fn make_place(&self) {
        loop {
            {
                let mut seated = self.seated();
                if seated.len() < MOST {
                    return;
                }
                seated.retain(|(_, task)| !task.is_finished());
                if seated.len() < MOST {
                    return;
                }
                if let Some(at) = seated.iter().position(|(seat, _)| seat.is_idle()) {
                    if let Some((_, task)) = seated.remove(at) {
                        task.abort();
                    }
                    return;
                }
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    pub fn sit(&self, seat: Seat, task: AbortHandle) {
        self.seated().push_back((seat, task));
    }

    /// Waits until no request is in hand, but not longer than told.
    pub async fn empty(&self, most: Duration) {
        let idle = async {
            while !self.seated().iter().all(|(seat, task)| seat.is_idle() || task.is_finished()) {
                tokio::time::sleep(LOOK).await;
            }
        };
        let _ = tokio::time::timeout(most, idle).await;
    }

    fn seated(&self) -> MutexGuard<'_, VecDeque<(Seat, AbortHandle)>> {
        self.seated.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
