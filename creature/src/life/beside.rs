//! Calls beside the life: while a call that may take minutes runs, the owner, reminders and a pause are heard.
//!
//! Invariant: one call runs beside the life at a time, with a toolbox of its own, and what it did is taken over
//! when it ends. A stopped call leaves no process behind and no file half changed.

use crate::fault::Fault;
use crate::heartbeat::Stage;
use crate::life::act::patience;
use crate::life::{Leaving, Life, Next};
use crate::store::caller::Caller;
use crate::tools::{CallOutcome, Rebirth, ToolContext, catalogue};
use agenda::Change;
use agenda::requests::RequestChange;
use mind::thought::ToolCall;
use std::pin::{Pin, pin};
use std::time::Duration;

/// Time between looks whether a reminder is due.
const LOOK: Duration = Duration::from_secs(1);

/// Why the life stops a call that runs beside it.
enum Ends {
    Left,
    Paused,
}

impl Life {
    /// Whether a call runs beside the life: it may take minutes, and no other call runs beside it already.
    pub(crate) fn is_long(&self, call: &ToolCall) -> bool {
        !self.course.beside && catalogue::marks(&call.tool).is_some_and(|marks| marks.is_slow)
    }

    /// Runs a call while the life goes on; none where it was asked to leave.
    pub(crate) async fn beside(
        &mut self,
        call: &ToolCall,
        caller: &Caller,
        leaving: &mut impl Leaving,
    ) -> Result<Option<CallOutcome>, Fault> {
        let (mut belt, mut store) = (self.toolbox.beside(), self.store.beside()?);
        let (own, name, facts, known) = (call.clone(), caller.clone(), self.facts(), self.watch.known());
        let mut running = pin!(async move {
            let mut tools = ToolContext { belt: &mut belt, store: &mut store, caller: name, facts };
            let done = CallOutcome::guarded(&own.tool, tools.call(&own)).await;
            (done, belt)
        });
        let (done, belt) = loop {
            let due = self.store.agenda.reminders.next_at(self.told.clock.now());
            tokio::select! {
                biased;
                () = leaving.asked() => return Ok(None),
                ended = &mut running => break ended,
                () = self.watch.word() => {}
                () = tokio::time::sleep(LOOK), if due.is_some() => {
                    if due.is_some_and(|due| due > self.told.clock.now()) {
                        continue;
                    }
                }
            }
            // The call runs on while the owner is answered.
            let (ends, ended) = both(self.meantime(caller, leaving), running.as_mut()).await;
            let ends = ends?;
            if let Some(ended) = ended {
                break ended;
            }
            match ends {
                Some(Ends::Left) => return Ok(None),
                Some(Ends::Paused) => {
                    let why = format!("{} was stopped: your owner paused you", call.tool);
                    return Ok(Some(CallOutcome::failed(why, "call it again when you work again")));
                }
                None => self.heart.stage(Stage::Acting, patience(&call.tool)),
            }
        };
        for tool in self.toolbox.take_over(belt) {
            self.made_by(caller, &Change::Request(RequestChange::Used { tool }));
        }
        self.watch.own_since(&known);
        Ok(Some(done))
    }

    /// Does what came due or was said while a call runs, and answers the owner; returns why to stop the call.
    async fn meantime(&mut self, caller: &Caller, leaving: &mut impl Leaving) -> Result<Option<Ends>, Fault> {
        self.watch.know();
        self.hear()?;
        if !self.told.safe {
            self.attend_hour()?;
        }
        if self.told_to_pause() && !caller.owner {
            return Ok(Some(Ends::Paused));
        }
        // A mind that is down is not asked again at every look: the waiting words are told why they wait.
        let away = self.is_down();
        if caller.owner || self.cursors.words.is_empty() || !(away || self.unheard()) {
            return Ok(None);
        }
        tracing::info!("the owner speaks: answered beside the call under way");
        let parked = self.mind.talk().and_then(|talk| talk.park());
        let (line, busy) = (self.course.line.take(), self.course.busy.take());
        self.course.beside = true;
        let next = match away {
            true => Box::pin(self.meanwhile(false, leaving)).await,
            false => Box::pin(self.minded(leaving)).await.map(Some),
        };
        self.course.beside = false;
        (self.course.line, self.course.busy) = (line, busy);
        (self.caller, self.toolbox.completed) = (caller.clone(), false);
        if let Some(talk) = self.mind.talk() {
            talk.take_up(parked);
        }
        match next? {
            Some(Next::Leave) => Ok(Some(Ends::Left)),
            Some(Next::Reborn(summary)) => {
                self.toolbox.rebirth = Some(Rebirth { summary });
                Ok(None)
            }
            Some(Next::Rest(_)) | None => Ok(None),
        }
    }
}

/// Awaits `first` and goes on with `second` meanwhile; both results, of `second` only if it ended.
async fn both<A, B>(
    first: impl Future<Output = A>,
    mut second: Pin<&mut impl Future<Output = B>>,
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
