//! Faults of resources.

use crate::matrix::Row;

pub const ROWS: &[Row] = &[];
