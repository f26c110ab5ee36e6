//! What takes long: whole lives, storms of them, real builds. Left out before birth; the guardian runs what is called
//! `probation::` beside the newborn, behind the walls, and trusts it when all of it has passed.

mod attacks;
pub mod context_caps;
mod errand;
mod patch_damage;
mod showing;
mod sight;
