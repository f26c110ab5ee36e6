//! What takes long, whole lives, storms of them and real builds, is left out before birth.
//!
//! The guardian runs what is called `probation::` beside the newborn, behind the walls, and trusts it once it passed.

mod answers;
mod attacks;
pub mod context_caps;
mod job;
mod keyless;
mod random_requests;
mod showing;
pub mod sight;
