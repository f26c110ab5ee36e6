//! Faults of the state and the data: every file of `.self/` in every shape, poisoned memory, papers that are none.

mod files;
mod memory;
mod papers;
mod real;
mod shapes;

use crate::matrix::Row;

const STATE: &str = "state";

const COUNT: usize = files::ROWS.len() + memory::ROWS.len() + papers::ROWS.len() + real::ROWS.len();

pub const ROWS: &[Row] = &joined();

const fn joined() -> [Row; COUNT] {
    let parts: [&[Row]; 4] = [files::ROWS, memory::ROWS, papers::ROWS, real::ROWS];
    let mut rows = [files::ROWS[0]; COUNT];
    let (mut at, mut part) = (0, 0);
    while part < parts.len() {
        let mut row = 0;
        while row < parts[part].len() {
            rows[at] = parts[part][row];
            at += 1;
            row += 1;
        }
        part += 1;
    }
    rows
}
