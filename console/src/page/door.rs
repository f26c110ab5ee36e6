//! Places for connections: those without the token give way to newer ones; those that have shown it keep their place.
//!
//! Invariant: no number of connections without the token keeps another one out.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;

/// Most connections that have not shown the token; a further one ends the oldest.
pub const MOST_STRANGERS: usize = 256;
/// Most connections that keep their place.
pub const MOST_KNOWN: usize = 64;
/// Longest time of a connection that has not shown the token, and of one that has.
pub const STRANGER: Duration = Duration::from_secs(30);
pub const LONGEST: Duration = Duration::from_secs(60 * 60);

/// All places of a server.
#[derive(Clone, Default)]
pub struct Door(Arc<Mutex<Places>>);

#[derive(Default)]
struct Places {
    next: u64,
    /// By number, so the oldest first; dropping a sender ends its connection.
    strangers: BTreeMap<u64, oneshot::Sender<()>>,
    known: BTreeMap<u64, oneshot::Sender<()>>,
}

/// The place of one connection, free again once dropped.
pub struct Place {
    number: u64,
    door: Door,
}

impl Door {
    /// A place for a new connection, and the end that a newer one puts to it.
    pub fn admit(&self) -> (Arc<Place>, oneshot::Receiver<()>) {
        let (held, ended) = oneshot::channel();
        let mut places = self.places();
        while places.strangers.len() >= MOST_STRANGERS && places.strangers.pop_first().is_some() {}
        places.next += 1;
        let number = places.next;
        places.strangers.insert(number, held);
        (Arc::new(Place { number, door: self.clone() }), ended)
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Keeps the place from now on: its connection has shown the token.
    pub fn keep(&self) {
        let mut places = self.door.places();
        if places.known.len() < MOST_KNOWN
            && let Some(held) = places.strangers.remove(&self.number)
        {
            places.known.insert(self.number, held);
        }
    }

    pub fn is_kept(&self) -> bool {
        self.door.places().known.contains_key(&self.number)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut places = self.door.places();
        places.strangers.remove(&self.number);
        places.known.remove(&self.number);
    }
}
