//! Stop: the owner's word that ends what is under way, and what runs beside the life: what ended, and who is told.
//!
//! Invariant: after it nothing of what was stopped is paid for; what there was is kept, and the owner is told.

use crate::fault::Fault;
use crate::jobs::{Job, Left};
use crate::life::{Life, Next};
use crate::store::caller::Caller;
use agenda::Change;
use agenda::directive::{self, DirectiveChange, Wish};
use agenda::requests::{Request, RequestChange};
use ground::text::shorten;
use jiff::ToSpan;
use mind::moment::Word;
use serde_json::{Value, json};

/// Minutes for which it does nothing of its own after its own work was stopped.
const HELD_MIN: i64 = 10;

/// Characters kept of a thought that was cut, and told of the end of a job.
const MOST_CUT: usize = 8_000;
const MOST_END: usize = 1_000;

/// The owner's word that means stop, until it is obeyed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop {
    pub thread: String,
    /// The thread of the owner's whose work was under way, if it was the owner's.
    pub work: Option<String>,
    /// What was ended, in words for the owner.
    pub ended: Vec<String>,
}

impl Life {
    /// Takes a word for a stop: what waited for an answer before it does no longer. A plain `stop` is a pause where
    /// nothing of the owner's is under way.
    pub(crate) fn takes_stop(&mut self, word: &Word, id: &str) -> bool {
        if self.told.safe || !directive::stops(&word.text) {
            return false;
        }
        let (now, zone) = (self.told.clock.now(), &self.store.rules.time_zone);
        let works_for = self.course.works_for.clone();
        let is_idle = works_for.is_none() && self.works_apart().is_empty();
        if is_idle && directive::understand(&word.text, now, zone).is_some() {
            return false;
        }
        let at = self.cursors.words.iter().position(|waiting| waiting.id == id).unwrap_or(0);
        let mut nth = 0;
        self.cursors.words.retain(|waiting| {
            let of = [Some(&word.thread), works_for.as_ref()].contains(&Some(&waiting.word.thread));
            nth += 1;
            nth > at && waiting.id != id || nth <= at && !of
        });
        let stop = self.course.stop.get_or_insert_default();
        stop.thread.clone_from(&word.thread);
        stop.work = works_for.or(stop.work.take());
        true
    }

    /// Keeps what was said of a thought that was cut short, for its records and for its conversation.
    pub(crate) fn keep_cut(&mut self, by_stop: bool) -> Result<(), Fault> {
        let said = ground::papers::read(&self.told.house.thinking()).text;
        let said = shorten(said.trim(), MOST_CUT);
        let why = if by_stop { "your owner said stop" } else { "your owner spoke" };
        let text = match said.is_empty() {
            true => format!("your last thought was cut before its first word: {why}"),
            false => format!("your last thought was cut: {why}. It had said: {said}"),
        };
        self.store.record("observation", json!({"about": "cut", "text": text}))?;
        let (life, now_s) = (self.told.life, self.told.clock.now().as_second());
        let thread = self.course.works_for.clone();
        if let (true, Some(talk)) = (by_stop, self.mind.talk()) {
            talk.stopped(thread.as_deref(), &text, life, now_s);
        }
        Ok(())
    }

    /// Ends the wake at the owner's word that means stop, and says what was stopped.
    pub(crate) fn obey(&mut self) -> Result<Next, Fault> {
        let Some(Stop { thread, mut work, mut ended }) = self.course.stop.take() else {
            return Ok(self.chosen(None));
        };
        let mut own = self.course.works_for.is_none();
        if ended.is_empty() {
            let jobs = self.toolbox.jobs.in_background();
            jobs.iter().for_each(|job| job.stop("your owner said stop"));
            ended.extend(jobs.iter().map(|job| named(job)));
            let (apart, worked_for) = self.cancel_apart()?;
            own &= worked_for.is_none();
            work = work.or(worked_for);
            ended.extend(apart);
        }
        let mut text = match ended.is_empty() {
            true => "Nothing was under way.".to_owned(),
            false => format!("Stopped: {}. What there is of it is kept.", ended.join(", ")),
        };
        if own && !ended.is_empty() {
            let until = self.told.clock.now().checked_add(HELD_MIN.minutes()).ok();
            let set = DirectiveChange::Set { wish: Wish::Pause, text: "stop".to_owned(), until };
            self.made_by(&Caller::owner(&thread), &Change::Directive(set));
            text += &format!(" I do nothing of my own for {HELD_MIN} minutes, unless you say `resume`.");
        }
        let jobs = self.toolbox.jobs.in_background();
        let jobs = jobs.iter().filter(|job| !job.is_stopped()).map(|job| named(job));
        let running: Vec<String> = jobs.chain(self.works_apart()).collect();
        if !running.is_empty() {
            text += &format!(" In the background still: {}; `stop that` again ends it.", running.join(", "));
        }
        let data = json!({"from": "creature", "kind": "answer", "thread": thread, "text": text, "at": self.told.clock.text()});
        self.store.record("message", data)?;
        self.give_up(&thread, work.as_deref(), &ended);
        (self.course.busy, self.course.overran) = (None, 0);
        self.cursors.interrupted = None;
        if let Some(talk) = self.mind.talk() {
            talk.rested();
        }
        self.save()?;
        Ok(self.chosen(None))
    }

    /// Ends what the owner asked for and the stop ended, or what waits for that: it is not taken up again.
    fn give_up(&mut self, thread: &str, work: Option<&str>, ended: &[String]) {
        let (since, requests) = (self.wake_began(), &self.store.agenda.requests);
        let waits = |one: &&Request| {
            let mut ended = ended.iter();
            one.wait.as_ref().is_some_and(|wait| ended.any(|what| wait.is_for(what)))
        };
        let worked = work.into_iter().flat_map(|work| requests.under_work(work, since));
        let stopped: Vec<String> =
            worked.chain(requests.open().filter(waits)).map(|one| one.id.clone()).collect();
        for id in stopped {
            let close = RequestChange::Close { id, reason: "stopped by your owner".to_owned() };
            self.made_by(&Caller::owner(thread), &Change::Request(close));
        }
        self.course.threads.retain(|working| working != thread && Some(working.as_str()) != work);
    }

    /// Takes over what calls in the background came to; each end that nobody has seen is news for a thought. Whether
    /// one of them leaves a rebirth.
    pub(crate) fn settle_jobs(&mut self) -> bool {
        let mut reborn = false;
        for (job, is_news, left) in self.toolbox.jobs.ended() {
            reborn |= left.rebirth.is_some();
            self.take_over(&job.caller, left);
            if !is_news {
                continue;
            }
            let came = job.told().map_or(String::new(), |came| came.shown);
            let text = format!("{}\n{}", job.line(), shorten(came.trim(), MOST_END));
            match job.caller.owner {
                true => self.course.ended_jobs.push((job.caller.thread.clone(), text)),
                false => self.cursors.tell(text),
            }
        }
        reborn
    }

    /// Takes over what a call that ran beside the life leaves.
    pub(crate) fn take_over(&mut self, caller: &Caller, left: Left) {
        if let Some(rebirth) = left.rebirth {
            self.toolbox.rebirth = Some(rebirth);
        }
        for tool in left.used {
            self.made_by(caller, &Change::Request(RequestChange::Used { tool }));
        }
    }

    /// Says in records which jobs end with this life, so that the next one knows.
    pub(crate) fn end_jobs(&mut self) {
        for job in self.toolbox.jobs.in_background() {
            let said: String = job.said().values().filter_map(Value::as_str).collect::<Vec<_>>().join("\n");
            let text = format!(
                "{}; it ended with the life that began it. It had said: {}",
                job.line(),
                shorten(said.trim(), MOST_END)
            );
            job.stop("the life ended");
            self.cursors.tell(text);
        }
    }
}

fn named(job: &Job) -> String {
    format!("{} ({})", job.id, shorten(&job.what, 80))
}
