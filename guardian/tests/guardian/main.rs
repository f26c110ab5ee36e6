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
mod apart;
mod asks;
mod blame;
mod bounds;
mod broker_process;
mod changed;
mod commits;
mod conduct;
mod console_process;
mod controls;
mod copied;
mod exam;
mod examined;
mod falls;
mod first_fetch;
mod first_minutes;
mod floods;
mod formats;
mod gathered;
mod habits;
mod hostile;
mod interpreters;
mod jobs;
mod ladder;
mod late_build;
mod launch;
mod life_bounds;
mod life_export;
mod life_index;
mod life_picture;
mod life_year;
mod lines;
mod lockout;
mod longevity;
mod machines;
mod marks;
mod mistakes;
mod morning;
mod nearby;
mod network;
mod notices;
mod obstacles;
mod own_time;
mod owners;
mod owners_words;
mod page;
mod page_acts;
mod page_crowd;
mod page_guard;
mod page_stream;
mod page_views;
mod pages;
mod plain_user;
mod planted;
mod poison;
mod processes;
mod ranked;
mod refused_copies;
mod replies;
mod reported;
mod revival;
mod risky;
mod say;
mod service;
mod settings;
mod shells;
mod shelter;
mod signals;
mod small;
mod stall;
mod steps;
mod stories;
mod surfaces;
mod swaps;
mod sweep;
mod thoughts;
mod told;
mod trees;
mod truth;
mod updated;
mod walk;
mod window;
mod window_of_the_guardian;
mod window_replaced;
mod window_said;
mod window_status;
mod window_stop;
mod window_walk;
mod witness;
mod world;

use trials::driven;
