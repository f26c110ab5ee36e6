//! A failed row is a brick only if its house does not come back: found out by what any owner could do to it.

use crate::survival::trial::Trial;
use std::path::Path;
use std::time::{Duration, Instant};

/// Time a house has to come back in after its row has failed.
const PATIENCE: Duration = Duration::from_secs(120);

impl Trial {
    /// Starts a guardian if none runs, resumes it if it is paused, opens the row's own gates, and looks whether a
    /// trusted creature lives. A house that was never begun cannot be a brick.
    pub fn comes_back(&mut self) -> bool {
        if self.home.is_none() {
            return true;
        }
        let begun = Instant::now();
        let patience = self.patience.min(PATIENCE);
        [".self/onward", ".self/mind/go"]
            .iter()
            .for_each(|gate| _ = std::fs::write(self.house().path(gate), ""));
        while begun.elapsed() < patience {
            let runs = self.guardian.is_some() && self.guardian_ended().is_none();
            if !runs {
                self.start();
            }
            let status = self.house().status();
            let heard = status["guardian_pid"] == self.guardian().pid();
            if heard && status["phase"] == "paused" {
                self.house().ask(&["resume"]);
            }
            let pid = status["creature_pid"].as_i64();
            let lives = pid.is_some_and(|pid| Path::new(&format!("/proc/{pid}")).exists());
            if heard && lives && status["blessed"] == true && status["safe"] != true {
                return true;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        false
    }

    /// An owner's order, given once the guardian of now listens: the one before may just have been killed.
    pub fn order(&mut self, words: &[&str]) {
        self.until_it_listens();
        let asked = self.house().ask(words);
        assert!(asked.status.success(), "{words:?}: {}", String::from_utf8_lossy(&asked.stderr));
    }
}
