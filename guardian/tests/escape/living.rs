//! A hostile creature as it lives: a real guardian, a real death, a real rollback.

use crate::Suite;

pub fn all(_suite: &mut Suite) {}
