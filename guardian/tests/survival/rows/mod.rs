//! Every row of the matrix, a file a family.

mod build;
mod code;
mod git;
mod guardian;
mod kills;
mod resources;
mod state;
mod time;
mod world;

use crate::matrix::Row;

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
