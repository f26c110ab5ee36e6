//! Faults of the world.

use crate::matrix::Row;

pub const ROWS: &[Row] = &[];
