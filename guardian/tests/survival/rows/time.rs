//! Faults of time.

use crate::matrix::Row;

pub const ROWS: &[Row] = &[];
