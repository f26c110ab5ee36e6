//! Merges marks that would overlap: one cell per few columns, linking to just its time span. Pure.

use super::scale::Scale;

/// Narrowest cell in columns, and most cells of a lane.
const NARROWEST: f64 = 6.0;
const MOST_CELLS: f64 = 120.0;

/// Things of a few columns: how many, from when to when, and the first of them.
#[derive(Clone, Debug)]
pub struct Cell<T> {
    pub count: u64,
    pub from_ms: u64,
    pub to_ms: u64,
    pub first: T,
    /// A second sum over them: failed ones, say.
    pub sum: u64,
}

pub struct Cells<'a, T> {
    cells: Vec<Option<Cell<T>>>,
    /// Things wider than a cell, each drawn by itself.
    wide: Vec<Cell<T>>,
    scale: &'a Scale,
    /// Width of a cell, in columns.
    wide_px: f64,
}

/// Width of a cell of a lane, in columns.
fn cell_px(scale: &Scale) -> f64 {
    (scale.width / MOST_CELLS).max(NARROWEST)
}

/// Milliseconds that a cell of a lane spans, where no idle time is cut.
pub fn cell_ms(scale: &Scale) -> u64 {
    scale.ms_of(cell_px(scale)).max(1)
}

impl<'a, T: Clone> Cells<'a, T> {
    pub fn new(scale: &'a Scale) -> Self {
        Self::of(scale, 0)
    }

    /// Cells of at least so many milliseconds.
    pub fn of(scale: &'a Scale, least_ms: u64) -> Self {
        let wide_px = scale.columns_of(least_ms).max(cell_px(scale));
        let count = (scale.width / wide_px) as usize + 1;
        Self { cells: vec![None; count], wide: Vec::new(), scale, wide_px }
    }

    pub fn add(&mut self, from_ms: u64, to_ms: u64, one: &T) {
        self.add_many(from_ms, to_ms, 1, 0, one);
    }

    pub fn add_many(&mut self, from_ms: u64, to_ms: u64, count: u64, sum: u64, first: &T) {
        let x = self.scale.x(from_ms);
        let new = |first: &T| Cell { count, from_ms, to_ms, first: first.clone(), sum };
        if self.scale.x(to_ms) - x >= self.wide_px && self.wide.len() < self.cells.len() {
            self.wide.push(new(first));
            return;
        }
        let at = ((x / self.wide_px) as usize).min(self.cells.len().saturating_sub(1));
        match self.cells.get_mut(at) {
            Some(Some(cell)) => {
                (cell.count, cell.sum) = (cell.count + count, cell.sum.saturating_add(sum));
                if from_ms < cell.from_ms {
                    (cell.from_ms, cell.first) = (from_ms, first.clone());
                }
                cell.to_ms = cell.to_ms.max(to_ms);
            }
            Some(none) => *none = Some(new(first)),
            None => {}
        }
    }

    /// In order of time.
    pub fn all(self) -> Vec<Cell<T>> {
        let mut all: Vec<Cell<T>> = self.cells.into_iter().flatten().chain(self.wide).collect();
        all.sort_by_key(|cell| cell.from_ms);
        all
    }
}
