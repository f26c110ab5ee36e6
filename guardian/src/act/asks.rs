//! Announces asks: what the broker has written down as waiting is told to the owner once, the moment it is there.

use crate::act::executor::Executor;
use crate::act::report::Report;
use house::files;
use house::terminal::typed;

/// Asks announced one by one at a look; of more only their number is told.
const ASKS_TOLD: usize = 20;

impl Report {
    /// What waits for the owner's yes or no: it stands by itself, and nothing else has its colour.
    pub fn ask(&mut self, id: &str, line: &str) {
        if self.screen.is_terminal() {
            let commands = [("look", "asks"), ("yes", "yes"), ("no", "no")];
            let commands =
                commands.map(|(word, command)| format!("{word}: {}", typed(&format!("{command} {id}"))));
            self.screen.gap();
            self.tell(house::asks::ASKS, "1;7;33", &format!("{line}\n{}", commands.join("\n")));
            self.screen.gap();
        } else {
            tracing::warn!("ask {line} waits for your yes or no: {}", typed(&format!("asks {id}")));
        }
    }
}

impl Executor {
    /// Each look: announces the asks that are new since the last one.
    pub fn look_at_asks(&mut self) {
        let mark = files::mark(&self.house.asks());
        if mark == self.broker.asks_mark {
            return;
        }
        self.broker.asks_mark = mark;
        let waiting = house::asks::waiting(&self.house);
        let new = waiting.iter().filter(|ask| !self.broker.asks.contains(&ask.id));
        for ask in new.clone().take(ASKS_TOLD) {
            self.report.ask(&ask.id, &ask.line());
        }
        if let Some(more) = new.count().checked_sub(ASKS_TOLD).filter(|more| *more > 0) {
            self.report.warn(&format!("{more} more wait for your yes or no: {}", typed("asks")));
        }
        let asks = waiting.into_iter().map(|ask| ask.id).collect();
        if self.broker.asks != asks {
            self.broker.asks = asks;
            self.publish();
        }
    }
}
