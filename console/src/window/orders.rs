//! Carries out a typed line: keeps a word, starts a command, answers an ask once its bytes were shown.

use crate::asks;
use crate::say::{self, Word};
use crate::window::Window;
use crate::window::child::{Running, Shows};
use crate::window::typed::{self, Order, Typed};
use anyhow::Result;
use house::terminal::Row;

/// Most words whose answer is waited for.
const MOST_WORDS: usize = 50;

impl Window {
    /// Carries out a typed line.
    pub(super) fn carry_out(&mut self, line: &str) -> Result<()> {
        self.said.clear();
        let meant = typed::meant(line);
        if !matches!(meant, Typed::Rollback(_) | Typed::Nothing) {
            self.shown_rollback = None;
        }
        match meant {
            Typed::Nothing => {}
            Typed::Word(words) => self.say_or_hint(&words)?,
            Typed::Answer { id, approve } => self.answer(&id, approve)?,
            Typed::Rollback(to) => self.roll_back(to)?,
            Typed::Verbosity(which) => {
                self.verbosity = which.unwrap_or(self.verbosity);
                self.said = format!("verbosity {}", self.verbosity.name());
            }
            Typed::List => {
                let columns = self.screen.size().0;
                let list = typed::list();
                // What is no command is a title.
                let paint = |line: &str| if line.starts_with('/') { "0" } else { "1" };
                let lines: Vec<_> =
                    list.iter().flat_map(|line| self.view.indented(paint(line), line, 2, columns)).collect();
                self.screen.insert(&lines)?;
            }
            Typed::Quit => self.leave(),
            Typed::Run(order) => self.start(&order, None)?,
            Typed::Wrong(wrong) => self.said = wrong,
        }
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        if self.handed.is_some() {
            self.said =
                "this window is the guardian's; Ctrl-C ends both, /pause the creature alone".to_owned();
        } else {
            self.leaves = true;
        }
    }

    /// Says a word; of a plain yes or no while asks wait first what it does not do, and at a second Enter says it.
    fn say_or_hint(&mut self, words: &str) -> Result<()> {
        let hint = typed::plain_answer(words, &self.sources.known.asks);
        match hint.filter(|_| self.hinted.as_deref() != Some(words)) {
            Some(hint) => {
                self.said = hint;
                self.prompt.set(words);
                self.hinted = Some(words.to_owned());
                Ok(())
            }
            None => {
                self.hinted = None;
                self.say(words)
            }
        }
    }

    /// Keeps a word for the creature, and shows it.
    pub(super) fn say(&mut self, words: &str) -> Result<()> {
        let word = match Word::new(words, Some(say::MAIN)) {
            Ok(word) => word,
            Err(wrong) => {
                self.said = wrong;
                self.prompt.set(words);
                return Ok(());
            }
        };
        if let Err(error) = say::keep(&self.house, &word) {
            self.said = format!("{error:#}");
            self.prompt.set(words);
            return Ok(());
        }
        self.show(&Row::now("word", "1;34", &format!("you: {}", word.text)), &[])?;
        self.greets = false;
        let held = std::mem::take(&mut self.held_back);
        self.passed(held)?;
        self.words.push(word);
        if self.words.len() > MOST_WORDS {
            self.words.remove(0);
        }
        Ok(())
    }

    /// Answers an ask whose exact bytes were shown here; else shows them.
    fn answer(&mut self, id: &str, approve: bool) -> Result<()> {
        let digest = match asks::answerable(&self.house, id) {
            Ok(answerable) => answerable.digest,
            Err(error) => {
                self.said = format!("{error:#}");
                return Ok(());
            }
        };
        if self.shown.get(id) == Some(&digest) {
            return self.start(&Order::new(&[if approve { "approve" } else { "deny" }, id]), None);
        }
        self.start(&Order::new(&["asks", id]), Some(Shows::Ask(id.to_owned(), digest)))
    }

    /// Orders a rollback whose changes were shown just before; else shows them.
    fn roll_back(&mut self, to: String) -> Result<()> {
        let with = |option: &str| {
            let words = ["rollback", option, &to];
            Order::new(&words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>())
        };
        if self.shown_rollback.take_if(|shown| *shown == to).is_some() {
            return self.start(&with(""), None);
        }
        self.start(&with("--dry-run"), Some(Shows::Rollback(to)))
    }

    fn start(&mut self, order: &Order, shows: Option<Shows>) -> Result<()> {
        if let Some(running) = &self.running {
            self.said = format!("/{} runs; Esc ends it", running.name);
            return Ok(());
        }
        self.show(&Row::now("command", "1", &format!("/{}", order.args.join(" "))), &[])?;
        match Running::start(&self.house, order, self.screen.size().0.saturating_sub(2)) {
            Ok(mut running) => {
                running.shows = shows;
                self.running = Some(running);
            }
            Err(error) => self.said = format!("{error:#}"),
        }
        Ok(())
    }
}
