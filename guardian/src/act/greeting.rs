//! Greets the owner at a terminal: the opening screen before the first build, and the first facts once a creature beats.

use crate::act::executor::Executor;
use crate::act::first_minutes::{Opening, may_have_key, opening, show};
use crate::decide::vocabulary::Phase;
use house::terminal::typed;
use house::{broker_page, files};

impl Executor {
    /// Shows the opening screen, at a terminal and before the first life of all.
    pub fn open_house(&mut self) {
        if !self.report.screen.is_terminal() || self.state.life > 0 {
            return;
        }
        let branch = self.ladder.repo.branch().unwrap_or_default();
        let (summary, walls) = (self.living.walls.level.summary(), self.living.walls.level.told());
        let has_broker = self.daemons.own.broker.program.is_file();
        let may_have_key = may_have_key(&self.house);
        let opens = Opening { branch: &branch, walls: (&summary, &walls), has_broker, may_have_key };
        show(&mut self.report.screen, opening(&opens));
    }

    /// Shows the facts once the first creature of this run beats; from then on memory is shown.
    pub fn show_facts(&mut self) {
        let said = !self.living.mind().is_empty() || matches!(self.decided.phase, Phase::Settled { .. });
        if !self.report.screen.is_terminal() || self.report.facts_shown || !said {
            return;
        }
        self.report.facts_shown = true;
        let short = |commit: &str| commit.chars().take(7).collect::<String>();
        let branch = self.ladder.repo.branch().unwrap_or_default();
        let mind = if self.living.mind().is_empty() { "not said yet" } else { self.living.mind() };
        let facts = [
            ("life", format!("{} at {} on {branch}", self.state.life, short(&self.state.commit))),
            ("last_good", short(&files::tail(&self.house.last_good(), 64))),
            ("mind", mind.to_owned()),
            ("mistake", self.mistakes()),
            // Before the first life of all the opening screen told them.
            ("walls", if self.state.life > 1 { self.living.walls.level.told() } else { String::new() }),
        ];
        let steer = match self.daemons.own.window.stands() {
            // All commands stand in its /help.
            true => vec![("stop", "Ctrl-C here".to_owned())],
            false => vec![
                ("steer", format!("edit PURPOSE.md, or: {}", typed("say 'a word to it'"))),
                ("observe", format!("here, or: {}", typed("window"))),
                ("history", typed("history")),
                ("undo", typed("rollback")),
                ("stop", format!("Ctrl-C here, or: {}", typed("stop"))),
            ],
        };
        let broker = broker_page::lines(&self.house, Some(&self.daemons.broker_told()));
        let facts = facts.into_iter().chain(broker).chain(steer).chain([("next", self.next_built())]);
        let facts: Vec<(&'static str, String)> = facts.collect();
        show(&mut self.report.screen, facts);
        self.daemons.own.window.wanted = true;
    }

    /// What is still to be built when the first creature of this run lives; empty where that is nothing of note.
    fn next_built(&self) -> String {
        if !self.daemons.broker_is_to_come() {
            return String::new();
        }
        "the console is built, then the broker, a minute or two; what it does is shown here as soon as the \
         console is there, and models and the web are within reach as soon as the broker is"
            .into()
    }
}
