//! Calls that ran beside the life, taken over: what they leave, and which of their ends are news.

use crate::jobs::{Jobs, MOST_END};
use crate::life::carried::Acts;
use crate::life::carried::unfinished::Unfinished;
use crate::life::requests;
use crate::senses::cursors::Events;
use crate::store::Store;
use ground::text::shorten;

/// Takes over what calls in the background came to; each end that nobody has seen is news for a thought.
pub(crate) fn settle(
    jobs: &Jobs,
    acts: &mut Acts,
    store: &mut Store,
    unfinished: &mut Unfinished,
    events: &mut Events,
) {
    for (job, is_news, left) in jobs.ended() {
        acts.take_over(store, &job.caller, left);
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
}

/// Says in records which jobs end with this life, and which ended without a thought that heard of it, so that the
/// next one knows.
pub(crate) fn end(jobs: &Jobs, unfinished: &mut Unfinished, events: &mut Events) {
    for text in unfinished.take_jobs() {
        events.tell(text);
    }
    for job in jobs.in_background() {
        let (line, said) = (job.line(), job.said_so_far());
        job.stop("the life ended");
        events.tell(format!("{line}; it ended with the life that began it. It had said: {said}"));
    }
}
