//! Faults of the state and the data: every file of `.self/` in every shape, poisoned memory, papers that are none.

mod files;
mod memory;
mod papers;
pub mod paths;
mod real;
mod shapes;

pub use shapes::everything;

use crate::survival::matrix::Row;

const STATE: &str = "state";

const COUNT: usize =
    files::ROWS.len() + memory::ROWS.len() + papers::ROWS.len() + paths::ROWS.len() + real::ROWS.len();

pub const ROWS: &[Row] = &crate::survival::rows::joined::<COUNT>(&[
    files::ROWS,
    memory::ROWS,
    papers::ROWS,
    paths::ROWS,
    real::ROWS,
]);
