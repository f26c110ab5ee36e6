//! What the owner's page says and draws of records, as data: no server, no browser.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm
)]

mod answers;
mod calendar;
mod caps;
mod changes;
mod gaps;
mod rendered;
mod terms;
mod traced;
mod woken;
