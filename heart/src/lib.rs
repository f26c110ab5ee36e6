//! The heart: the guardian's first process. It keeps a steward, which does all the rest, or a blessed version in its stead.
//!
//! One thread and one loop, in `beat`: hear, decide (`course`, pure), act. No git, no settings, no network; whatever may
//! wait for a disk or a reader is done by a fork (`aside`).

pub mod aside;
pub mod beat;
pub mod course;
pub mod held;
pub mod keeper;
pub mod kept;
pub mod order;
pub mod resident;
pub mod watchdog;
pub mod wire;

/// First argument by which the guardian's program knows that it is to be the steward, a stage as `walls::STAGE` is.
pub const STEWARD: &str = "steward";
/// The same of the stage that runs a blessed version while no steward lives.
pub const STAND_IN: &str = "stand-in";
/// Exit code of either where the house is gone or another guardian's; the heart leaves with it.
pub const HOUSE_LOST: u8 = 67;
/// The heart's word to either that the owner wants to leave. No other process sends it: what a terminal or a service manager
/// says to the whole group is counted once, by the heart.
pub const LEAVE: nix::sys::signal::Signal = nix::sys::signal::Signal::SIGUSR2;
