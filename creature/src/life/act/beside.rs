//! Calls beside the life: while a call waits for something outside, the owner, reminders and a pause are heard.
//!
//! Invariant: what a call did is taken over when it ends. One for the owner that the owner's word finds running goes on
//! in the background, and the mind is told so; one of the creature's own goes on while the owner is answered in
//! another conversation. A stopped call leaves no process behind and no file half changed.

use crate::fault::Fault;
use crate::heartbeat::Stage;
use crate::jobs::Job;
use crate::life::act::{Turn, patience};
use crate::life::{Leaving, Life, Next};
use crate::store::caller::Caller;
use crate::subsessions::Ended;
use crate::tools::{CallOutcome, Rebirth, ToolContext, catalogue};
use ground::text::shorten;
use mind::thought::ToolCall;
use serde_json::{Value, json};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

/// Time between looks whether a reminder is due, and for a quick call to end though the owner waits.
const LOOK: Duration = Duration::from_secs(1);

/// The tool that waits for other calls.
const WAITS: &str = "job";

type Running = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Decision about a call that runs beside the life.
enum Goes {
    On,
    /// The life was asked to leave.
    Left,
    /// It is to end, and why.
    Ends(&'static str),
    /// The owner waits for the mind that waits for it.
    Background,
}

impl Life {
    /// Whether a call runs beside the life: it waits for something outside.
    pub(crate) fn is_long(&self, call: &ToolCall) -> bool {
        catalogue::marks(&call.tool).is_some_and(|marks| marks.is_beside)
    }

    /// Begins a call as a job of its own.
    pub(crate) fn begun(&self, call: &ToolCall, caller: &Caller) -> Result<(Arc<Job>, Running), Fault> {
        let what = shorten(&format!("{} {}", call.tool, Value::Object(call.args.clone())), 200);
        let jobs = self.toolbox.jobs.clone();
        let mut store = self.store.beside()?;
        let job = jobs.begin(self.told.life, what, caller.clone());
        let mut belt = self.toolbox.beside(&job);
        let (own, name, facts, running) = (call.clone(), caller.clone(), self.facts(), Arc::clone(&job));
        let running = async move {
            let mut tools = ToolContext { belt: &mut belt, store: &mut store, caller: name, facts };
            let done = tokio::select! {
                biased;
                why = running.stopped() => Err(why),
                done = CallOutcome::guarded(&own.tool, tools.call(&own)) => Ok(done),
            };
            let done = done.unwrap_or_else(|why| tools.came(&own.tool, running.cut(&why)));
            jobs.finish(&running, done, belt.into());
        };
        Ok((job, Box::pin(running)))
    }

    /// Runs a call while the life goes on; none where it was asked to leave.
    pub(crate) async fn beside(
        &mut self,
        call: &ToolCall,
        turn: &Turn<'_>,
        leaving: &mut impl Leaving,
    ) -> Result<Option<CallOutcome>, Fault> {
        let caller = turn.caller;
        let known = self.watch.known();
        let (job, mut running) = self.begun(call, caller)?;
        loop {
            let mut step = None;
            let due = self.store.agenda.reminders.next_at(self.told.clock.now());
            let waits = caller.owner && self.cursors.owner.is_unseen();
            tokio::select! {
                biased;
                () = leaving.asked() => return Ok(None),
                () = &mut running => break,
                () = self.watch.word() => {}
                ended = self.steps.ended() => step = Some(ended),
                () = tokio::time::sleep(LOOK), if due.is_some() || waits => {
                    if !waits && due.is_some_and(|due| due > self.told.clock.now()) {
                        continue;
                    }
                }
            }
            if let Some(ended) = step {
                let (taken, over) = both(self.goes_on_apart(ended), running.as_mut()).await;
                taken?;
                match over {
                    Some(()) => break,
                    None => continue,
                }
            }
            // The call runs on while the owner is answered.
            let (goes, ended) = both(self.meantime(turn, leaving), running.as_mut()).await;
            match (goes?, ended.is_some()) {
                (Goes::Left, _) => return Ok(None),
                (_, true) => break,
                (Goes::On, false) => self.heart.stage(Stage::Acting, patience(&call.tool)),
                (Goes::Ends(why), false) => job.stop(why),
                (Goes::Background, false) if call.tool == WAITS => job.hasten(),
                (Goes::Background, false) => {
                    job.goes_on_in_background();
                    tokio::spawn(running);
                    self.attention.heard_meanwhile = true;
                    let note = "your owner spoke: this call runs on beside you. Answer first; the tool `job` looks at it, \
                        waits for it or ends it, and its end comes as news";
                    return Ok(Some(
                        self.lend(caller.clone())
                            .came(&call.tool, json!({"ok": true, "job": job.id, "note": note})),
                    ));
                }
            }
        }
        self.toolbox.jobs.forget(&job);
        let (done, left) = job
            .take()
            .unwrap_or_else(|| (CallOutcome::failed("it ended without a result", ""), Default::default()));
        if let Some(stop) = self.attention.stop.as_mut() {
            stop.ended.push(format!("`{}`", shorten(&job.what, 100)));
        }
        self.take_over(caller, left);
        self.watch.own_since(&known);
        Ok(Some(done))
    }

    /// Takes over the step of a sub-session; those that ended are reported.
    async fn goes_on_apart(&mut self, ended: Ended) -> Result<(), Fault> {
        self.step_ended(ended).await?;
        self.report_apart().map(drop)
    }

    /// Does what came due or was said while a call runs, and answers the owner; what becomes of the call.
    async fn meantime(
        &mut self,
        Turn { caller, reasons, .. }: &Turn<'_>,
        leaving: &mut impl Leaving,
    ) -> Result<Goes, Fault> {
        self.watch.know_word();
        self.hear()?;
        if self.attention.stop.is_some() {
            return Ok(Goes::Ends("your owner said stop"));
        }
        if !self.told.safe {
            self.attend_hour()?;
        }
        if self.told_to_pause() && !caller.owner {
            return Ok(Goes::Ends("your owner paused you"));
        }
        // A mind that is down is not asked again at every look: the waiting words are told why they wait.
        let away = self.is_down();
        if self.cursors.owner.words.is_empty() || !(away || self.cursors.owner.is_unseen()) {
            return Ok(Goes::On);
        }
        if caller.owner && !away {
            return Ok(Goes::Background);
        }
        if self.attention.beside {
            return Ok(Goes::On);
        }
        tracing::info!("the owner speaks: answered beside the call under way");
        let parked = self.minds.now.talk().and_then(|talk| talk.park());
        let (before, works_for) = (self.caller.clone(), self.attention.works_for.take());
        let busy = self.unfinished.busy.take();
        self.attention.beside = true;
        let next = match away {
            true => Box::pin(self.meanwhile(false, reasons, leaving)).await,
            false => Box::pin(self.minded(reasons, leaving)).await.map(Some),
        };
        self.attention.beside = false;
        self.unfinished.busy = busy;
        (self.caller, self.attention.works_for, self.toolbox.completed) = (before, works_for, false);
        if let Some(talk) = self.minds.now.talk() {
            talk.take_up(parked);
        }
        match next? {
            Some(Next::Leave) => Ok(Goes::Left),
            Some(Next::Reborn(summary)) => {
                self.toolbox.rebirth = Some(Rebirth { summary });
                Ok(Goes::On)
            }
            Some(Next::Rest(_)) | None => Ok(Goes::On),
        }
    }
}

/// Awaits `first` and goes on with `second` meanwhile; both results, of `second` only if it ended.
async fn both<A, B>(
    first: impl Future<Output = A>,
    mut second: Pin<&mut (impl Future<Output = B> + ?Sized)>,
) -> (A, Option<B>) {
    let (mut first, mut ended) = (pin!(first), None);
    loop {
        tokio::select! {
            biased;
            came = &mut first => return (came, ended),
            came = second.as_mut(), if ended.is_none() => ended = Some(came),
        }
    }
}
