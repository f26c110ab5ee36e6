//! Ground shared by all parts of the broker: files, the clock, refusals, and arithmetic without a network.

pub mod caps;
pub mod clock;
pub mod day;
pub mod encoding;
pub mod files;
pub mod globs;
pub mod hosts;
pub mod hours;
pub mod rate;
pub mod refusal;
pub mod span;
pub mod taint;
pub mod wait;
pub mod waking;
