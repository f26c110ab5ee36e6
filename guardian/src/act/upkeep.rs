//! Upkeep: all that is done beside what the policy decides, once a round and here alone; and looks at the life for it.
//!
//! None of it starts, judges or puts back a life: it bounds files, keeps the owner's daemons, shows how far a build is. A life
//! whose files were taken away is asked to end, and the policy hears of its end.

use crate::act::daemons::keep::Came;
use crate::act::executor::Executor;
use crate::act::{first_minutes, quotas, reload};
use crate::decide::vocabulary::Event;
use house::{files, records};
use processes::prepare;

impl Executor {
    /// Looks at a life's heartbeat, conduct, tests' log and requests; tells the policy of news.
    pub fn look(&mut self) {
        let around = &mut self.around;
        let before = self.living.heart.claim.clone();
        if let Some((turns, thought)) = self.living.beat(&around.house, around.state.life) {
            self.heard.push_back(Event::Beat { turns, thought });
            let claim = &self.living.heart.claim;
            around.is_news |= (&claim.mind, &claim.odd) != (&before.mind, &before.odd);
        }
        self.heard.extend(self.living.observe(around).map(Event::Observed));
        let mark = files::mark(&around.house.request());
        let is_new = mark.is_some() && mark != self.living.request_seen;
        self.look_at_exam();
        if is_new {
            self.living.request_seen = mark;
            self.heard.push_back(Event::Request);
        }
    }

    /// Once a round.
    pub fn upkeep(&mut self) {
        let around = &mut self.around;
        let now = around.now();
        (around.lives, around.builds) = (self.living.life.is_some(), self.builder.build.is_some());
        if around.lives && around.decided.alive() {
            quotas::bound_logs(&around.house, around.state.life);
            if self.living.end_the_bereft(&around.house, around.limits.grace_ms, now) {
                let told =
                    "memory or heartbeat was moved or removed under the creature; it begins a new life";
                around.report.warn(told);
            }
            // Warned of once; the status shows it until the purpose can be read.
            let unread = prepare::copy_purpose(&around.house).err();
            let unread = unread.map(|why| format!("{why:#}")).unwrap_or_default();
            if unread != around.report.purpose_unread {
                if !unread.is_empty() {
                    around.report.warn(&format!("{unread}; what it said before counts until then"));
                }
                around.report.purpose_unread = unread;
                around.is_news = true;
            }
            if !around.report.unhanded.is_empty() {
                reload::hand_over(around);
            }
            first_minutes::show_facts(around, &self.ladder, &self.living, &mut self.daemons);
        }
        self.daemons.tend(around);
        for came in std::mem::take(&mut self.daemons.came) {
            let around = &mut self.around;
            match came {
                Came::Judged(Ok(())) => reload::take_over(around, &mut self.daemons, &mut self.living),
                Came::Judged(Err(mistake)) => reload::keep_settings(around, &mistake),
                Came::Fetched { missing, well } => {
                    if well {
                        around.state.fetched = Some(format!("{missing} packages of creature/Cargo.lock"));
                        around.save();
                    }
                    self.build_after_fetch();
                }
            }
        }
        let around = &mut self.around;
        self.ladder.clear_planted(&mut around.report);
        // What could not be written is tried again.
        records::pay();
        if around.owes && around.state.save(&around.house).is_ok() {
            let (last_good, _) = self.ladder.on_record();
            if self.write_published(last_good.as_deref()).is_ok() {
                self.around.owes = false;
                self.around.report.say("what could not be written is written now");
            }
        }
        self.builder.follow(&mut self.around);
    }
}
