//! Faults of the state.

use crate::matrix::Row;

pub const ROWS: &[Row] = &[];
