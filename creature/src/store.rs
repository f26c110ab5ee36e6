//! What a life keeps: its agenda, its bookkeeping, its feed, its snapshots, and small files of state.

pub mod agenda;
pub mod books;
pub mod feed;
pub mod snapshot;
pub mod state;
