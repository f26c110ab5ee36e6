//! What would lie in the same few columns is drawn as one: counted by cells, each of which leads to just its span. Pure.

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
    /// What they amount to: failed ones, say.
    pub sum: u64,
}

pub struct Cells<T> {
    cells: Vec<Option<Cell<T>>>,
    /// What is wider than a cell is drawn by itself.
    wide: Vec<Cell<T>>,
    from_ms: u64,
    pub each_ms: u64,
}

/// How many milliseconds a cell of a lane spans.
pub fn cell_ms(scale: &Scale) -> u64 {
    scale.ms_of((scale.width / MOST_CELLS).max(NARROWEST)).max(1)
}

impl<T: Clone> Cells<T> {
    pub fn new(scale: &Scale) -> Self {
        Self::of(scale.from_ms, scale.to_ms, cell_ms(scale))
    }

    pub fn of(from_ms: u64, to_ms: u64, each_ms: u64) -> Self {
        let count = usize::try_from((to_ms - from_ms) / each_ms).unwrap_or(0) + 1;
        Self { cells: vec![None; count], wide: Vec::new(), from_ms, each_ms }
    }

    pub fn add(&mut self, from_ms: u64, to_ms: u64, one: &T) {
        self.add_many(from_ms, to_ms, 1, 0, one);
    }

    pub fn add_many(&mut self, from_ms: u64, to_ms: u64, count: u64, sum: u64, first: &T) {
        let begin_ms = from_ms.max(self.from_ms);
        let new = |first: &T| Cell { count, from_ms, to_ms, first: first.clone(), sum };
        if to_ms.saturating_sub(begin_ms) >= self.each_ms && self.wide.len() < self.cells.len() {
            self.wide.push(new(first));
            return;
        }
        let at = usize::try_from((begin_ms - self.from_ms) / self.each_ms).unwrap_or(usize::MAX);
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
