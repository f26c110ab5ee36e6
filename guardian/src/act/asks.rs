//! Announces asks: what the broker has written down as waiting is told to the owner once, the moment it is there.

use crate::act::executor::Executor;
use house::files;
use house::terminal::typed;

/// Asks announced one by one at a look; of more only their number is told.
const ASKS_TOLD: usize = 20;

impl Executor {
    /// Announces the asks that are new since the last look.
    pub fn look_at_asks(&mut self) {
        let mark = files::mark(&self.house.asks());
        if mark == self.daemons.own.broker.asks_mark {
            return;
        }
        self.daemons.own.broker.asks_mark = mark;
        let waiting = house::asks::waiting(&self.house);
        let new = waiting.iter().filter(|ask| !self.daemons.own.broker.asks.contains(&ask.id));
        for ask in new.clone().take(ASKS_TOLD) {
            self.report.ask(&ask.id, &ask.line());
        }
        if let Some(more) = new.count().checked_sub(ASKS_TOLD).filter(|more| *more > 0) {
            self.report.warn(&format!("{more} more wait for your yes or no: {}", typed("asks")));
        }
        let asks = waiting.into_iter().map(|ask| ask.id).collect();
        if self.daemons.own.broker.asks != asks {
            self.daemons.own.broker.asks = asks;
            self.publish();
        }
    }
}
