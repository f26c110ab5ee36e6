//! Faults of the git.

use crate::matrix::Row;

pub const ROWS: &[Row] = &[];
