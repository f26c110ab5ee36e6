//! Calls that ran beside the life, taken over: what they leave, and which of their ends are news.

use crate::jobs::{Left, MOST_END};
use crate::life::Life;
use crate::store::caller::Caller;
use agenda::Change;
use agenda::requests::RequestChange;
use ground::text::shorten;

impl Life {
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
                true => {
                    self.came(&text);
                    self.unfinished.job_ended(&job.caller.thread, text);
                }
                false => self.cursors.events.tell(text),
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
            self.store.made(caller, &Change::Request(RequestChange::Used { tool }));
        }
    }

    /// Says in records which jobs end with this life, and which ended without a thought that heard of it, so that the
    /// next one knows.
    pub(crate) fn end_jobs(&mut self) {
        self.settle_jobs();
        for text in self.unfinished.take_jobs() {
            self.cursors.events.tell(text);
        }
        for job in self.toolbox.jobs.in_background() {
            let (line, said) = (job.line(), job.said_so_far());
            job.stop("the life ended");
            self.cursors
                .events
                .tell(format!("{line}; it ended with the life that began it. It had said: {said}"));
        }
    }
}
