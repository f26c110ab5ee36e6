//! Every row of the matrix, a file a family.

mod build;
mod code;
mod git;
mod guardian;
mod kills;
mod resources;
pub mod state;
mod time;
mod world;

use crate::survival::matrix::Row;

pub use state::everything;

pub fn all() -> Vec<Row> {
    [
        code::ROWS,
        build::ROWS,
        git::ROWS,
        state::ROWS,
        resources::ROWS,
        time::ROWS,
        world::ROWS,
        guardian::ROWS,
        kills::ROWS,
    ]
    .concat()
}

/// Rows of several files as one list.
const fn joined<const COUNT: usize>(parts: &[&[Row]]) -> [Row; COUNT] {
    let mut rows = [parts[0][0]; COUNT];
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
