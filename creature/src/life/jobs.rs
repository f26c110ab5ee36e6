//! Calls that ran beside the life, taken over: what they leave, and which of their ends are news.

use crate::jobs::{Left, MOST_END};
use crate::life::requests;
use crate::life::rest::unfinished::Unfinished;
use crate::senses::cursors::Events;
use crate::store::Store;
use crate::store::caller::Caller;
use crate::tools::Toolbox;
use agenda::Change;
use agenda::requests::RequestChange;
use ground::text::shorten;

/// Takes over what calls in the background came to; each end that nobody has seen is news for a thought. Whether
/// one of them leaves a rebirth.
pub(crate) fn settle(
    belt: &mut Toolbox,
    store: &mut Store,
    unfinished: &mut Unfinished,
    events: &mut Events,
) -> bool {
    let mut reborn = false;
    for (job, is_news, left) in belt.jobs.ended() {
        reborn |= left.rebirth.is_some();
        take_over(belt, store, &job.caller, left);
        if !is_news {
            continue;
        }
        let came = job.outcome_told().map_or(String::new(), |came| came.shown);
        let text = format!("{}\n{}", job.line(), shorten(came.trim(), MOST_END));
        match job.caller.owner {
            true => {
                requests::came(store, &text);
                unfinished.job_ended(&job.caller.thread, text);
            }
            false => events.tell(text),
        }
    }
    reborn
}

/// Takes over what a call that ran beside the life leaves.
pub(crate) fn take_over(belt: &mut Toolbox, store: &mut Store, caller: &Caller, left: Left) {
    if let Some(rebirth) = left.rebirth {
        belt.rebirth = Some(rebirth);
    }
    for tool in left.used {
        store.made(caller, &Change::Request(RequestChange::Used { tool }));
    }
}

/// Says in records which jobs end with this life, and which ended without a thought that heard of it, so that the
/// next one knows.
pub(crate) fn end(belt: &Toolbox, unfinished: &mut Unfinished, events: &mut Events) {
    for text in unfinished.take_jobs() {
        events.tell(text);
    }
    for job in belt.jobs.in_background() {
        let (line, said) = (job.line(), job.said_so_far());
        job.stop("the life ended");
        events.tell(format!("{line}; it ended with the life that began it. It had said: {said}"));
    }
}
