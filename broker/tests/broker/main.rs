//! All tests of the broker in one binary: it links once, and those that wait do so side by side.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm
)]

mod allowed_models;
mod asks;
mod asks_kept;
mod attacks;
mod attacks_load;
mod bill;
mod bodies;
mod budget;
mod cases_errors;
mod cases_money;
mod channels;
mod channels_long;
mod cut_streams;
mod dice;
mod encodings;
mod fake_ip;
mod folders;
mod forward;
mod fuzzed;
mod health;
mod home;
mod hours;
mod keys;
mod ledger;
mod ledger_changed;
mod limits;
mod limits_mcp;
mod llm;
mod llm_leaving;
mod llm_many;
mod llm_native;
mod llm_wires;
mod makers;
mod makers_own;
mod mcp;
mod mcp_misbehaving;
mod mcp_news;
mod mcp_rules;
mod mcp_sign_in;
mod mcp_skills;
mod mcp_terminal;
mod mcp_tried;
mod mcp_world;
mod models;
mod money;
mod nearby;
mod outside;
mod own_time;
mod packages;
mod packages_clients;
mod packages_npm;
mod packages_registry;
mod paid;
mod policy;
mod policy_mistakes;
mod posts;
mod posts_counted;
mod rate;
mod recipients;
mod recipients_hidden;
mod refusals;
mod registry;
mod registry_fetch;
mod searxng;
mod seeing;
mod served;
mod services;
mod services_given;
mod services_oauth;
mod services_paths;
mod socks;
mod stub;
mod unproven;
mod upstream;
mod web;
mod web_answers;
mod web_taint;
mod wire_faults;
