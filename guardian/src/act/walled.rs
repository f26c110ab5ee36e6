//! Walls and the bond, with which each process of the creature starts; and cargo behind them, for builds and tests.

use anyhow::Result;
use house::House;
use processes::child::{self, Bond, Door, Occupant, Start, Tree};
use processes::granted::Granted;
use processes::made::cargo;
use std::fs::File;
use walls::Walls;

pub struct Walled {
    pub walls: Walls,
    pub bond: Bond,
}

impl Walled {
    /// Runs cargo behind a build's walls, with these arguments and variables; `broker` is its way to the registries.
    pub fn cargo(
        &self,
        house: &House,
        broker: Option<Door>,
        (args, extra): (Vec<String>, Vec<(&'static str, String)>),
        (stdout, stderr): (File, File),
    ) -> Result<Tree> {
        let (occupant, program, walls) = (Occupant::Build, cargo(), &self.walls);
        let granted = Granted::default();
        let start = Start { occupant, program, args, extra, walls, granted, broker, stdout, stderr };
        child::start(house, &self.bond, start)
    }
}
