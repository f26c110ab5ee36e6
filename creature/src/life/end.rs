//! Polite end of a life: asked to leave, or to be born again from what it made of itself.

use crate::fault::Fault;
use crate::guardian_post::{Kind, write_request};
use crate::heartbeat::Stage;
use crate::life::{Leaving, Life, jobs};
use crate::senses::guardian::Standing;
use serde_json::json;
use std::time::{Duration, Instant};

/// The longest wait for this life's blessing; the guardian needs half a minute where all is well.
const PATIENCE: Duration = Duration::from_secs(15 * 60);

/// Time without a guardian after which it counts as gone: its owner may be starting it anew.
const GONE: Duration = Duration::from_secs(5);

const LOOK: Duration = Duration::from_millis(500);

/// The mark of a word whose owner was told that a rebirth comes first.
const REBIRTH: &str = "rebirth";

/// Result of waiting for a blessing.
enum Waited {
    Blessed,
    Asked,
    Alone(String),
}

impl Life {
    /// Ends this life as the guardian asked.
    pub fn leave(&mut self) -> Result<(), Fault> {
        self.heart.stage(Stage::Leaving, Duration::from_secs(10));
        tracing::info!("asked to leave");
        self.end_apart()?;
        self.settle_jobs();
        jobs::end(&self.toolbox.jobs, &mut self.unfinished, &mut self.cursors.events);
        self.store
            .record("observation", json!({"about": "leave", "text": "asked to leave; ending politely"}))?;
        self.save()
    }

    /// Waits until this life is blessed, then asks to be born again and ends; false where there is no
    /// guardian to ask, and the life goes on as it is.
    pub(crate) async fn reborn(&mut self, summary: &str, leaving: &mut impl Leaving) -> Result<bool, Fault> {
        self.heart.stage(Stage::Waiting, PATIENCE + Duration::from_secs(30));
        tracing::info!("waiting for the blessing of this life, then: {summary}");
        self.end_apart()?;
        let waited = loop {
            tokio::select! {
                biased;
                () = leaving.asked() => break Waited::Asked,
                waited = self.blessed() => break waited,
                () = self.watch.word() => self.hear_before_rebirth()?,
            }
        };
        match waited {
            Waited::Blessed => {}
            Waited::Asked => {
                self.leave()?;
                // The changed tree passed its rehearsal: without a request it would stay uncommitted,
                // and the next start would have to ask the owner whose change it is.
                write_request(&self.told.house, self.told.life, Kind::Rebirth, summary)?;
                return Ok(true);
            }
            Waited::Alone(why) => {
                let text = format!("no rebirth: {why}; the change \"{summary}\" stands in creature/ unborn");
                tracing::warn!("{text}");
                self.store.record("observation", json!({"about": "rebirth", "text": text}))?;
                return Ok(false);
            }
        }
        self.heart.stage(Stage::Leaving, Duration::from_secs(10));
        self.settle_jobs();
        jobs::end(&self.toolbox.jobs, &mut self.unfinished, &mut self.cursors.events);
        // Recorded before it is requested: once the request stands, nothing may fail any more.
        let text = format!("ending to be born again: {summary}");
        self.store.record("observation", json!({"about": "rebirth", "text": text}))?;
        self.save()?;
        write_request(&self.told.house, self.told.life, Kind::Rebirth, summary)?;
        Ok(true)
    }

    /// Takes the owner's words that come while a rebirth waits; who waits for an answer is told when it comes.
    fn hear_before_rebirth(&mut self) -> Result<(), Fault> {
        self.watch.know_word();
        let late = self.hear(None)?.map(|stop| stop.thread);
        let waiting = self
            .cursors
            .owner
            .words
            .iter_mut()
            .filter(|waiting| waiting.told.is_empty() && waiting.seen == 0);
        let mut threads: Vec<(String, &str)> = Vec::new();
        for waiting in waiting {
            waiting.told.push(REBIRTH.to_owned());
            threads.push((waiting.word.thread.clone(), "I am about to be born again, and answer then."));
        }
        threads.extend(late.map(|thread| {
            (thread, "What is left is to be born again, which is not stopped; `rollback` undoes it.")
        }));
        threads.dedup();
        for (thread, text) in threads {
            self.store.say("waiting", &thread, text)?;
        }
        self.save()
    }

    async fn blessed(&self) -> Waited {
        let (began, path) = (Instant::now(), self.told.house.guardian());
        let mut seen = Instant::now();
        loop {
            let why = match Standing::read(&path) {
                Ok(Some(_)) if !self.told.lifeline.holds() => "the guardian no longer runs".to_owned(),
                Ok(Some(standing)) => {
                    seen = Instant::now();
                    if standing.life == self.told.life && standing.blessed {
                        return Waited::Blessed;
                    }
                    String::new()
                }
                // The file is replaced whole, so it is never missing for a moment.
                Ok(None) => return Waited::Alone("there is no guardian.json".to_owned()),
                Err(why) => why,
            };
            if seen.elapsed() > GONE {
                return Waited::Alone(why);
            }
            if began.elapsed() > PATIENCE {
                // The guardian decides what an unblessed life may ask for; better refused than stuck.
                return Waited::Blessed;
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}
