//! What the guardian is made of and how it behaves in houses of shell, in one binary: it links once, its waits overlap.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm
)]

mod absent;
mod accounts;
mod alone;
mod announced;
mod apart;
mod blame;
mod bounds;
mod broker_process;
mod channels;
mod commits;
mod conduct;
mod console_process;
mod controls;
mod endless_jobs;
mod exam;
mod examined;
mod falls;
mod first_fetch;
mod first_minutes;
mod formats;
mod hands;
mod heart;
mod heart_attacked;
mod heart_decides;
mod hostile;
mod in_the_way;
mod interpreters;
mod ladder;
mod late_build;
mod launch;
mod lines;
mod lockout;
mod longevity;
mod made;
mod marks;
mod network;
mod obstacles;
mod own_time;
mod owners;
mod phone_page;
mod plain_user;
mod planted;
mod poison;
mod processes;
mod reminders_witnessed;
mod replies;
mod revival;
mod risky;
mod service;
mod settings;
mod shelter;
mod signals;
mod small;
mod stall;
mod steps;
mod stories;
mod swaps;
mod sweep;
mod trees;
mod truth;
mod walk;
mod witness;
mod world;
