//! What the owner is shown and what comes of the owner's words, in one binary: it links once, its waits overlap.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm
)]

mod asks;
mod bounds;
mod changed;
mod channels;
mod commands;
mod copied;
mod floods;
mod formats;
mod gathered;
mod habits;
mod jobs;
mod life_bounds;
mod life_export;
mod life_index;
mod life_picture;
mod life_year;
mod lines;
mod machines;
mod mcp;
mod mcp_files;
mod mistakes;
mod morning;
mod nearby;
mod notices;
mod notices_servers;
mod notices_sign_ins;
mod own_time;
mod owners_words;
mod page;
mod page_acts;
mod page_crowd;
mod page_guard;
mod page_stream;
mod page_views;
mod pages;
mod ranked;
mod refused_copies;
mod reported;
mod say;
mod shells;
mod skills;
mod surfaces;
mod thoughts;
mod told;
mod truth;
mod updated;
mod window;
mod window_of_the_guardian;
mod window_replaced;
mod window_said;
mod window_status;
mod window_stop;
mod window_walk;

use trials::driven;
