//! Faults of guardian.

use crate::matrix::Row;

pub const ROWS: &[Row] = &[];
