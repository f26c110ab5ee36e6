//! Answers to the owner: how they end or keep the open requests of their thread. Pure.

use super::{Request, Requests, Wait};
use crate::items::{Item, LONGEST_REASON};
use crate::text;
use crate::{Refusal, When};
use jiff::Timestamp;
use serde_json::{Value, json};

/// Ends the requests the answer is for, or notes that they go on; the result names those of the thread still open.
pub(super) fn answered(
    requests: &mut Requests,
    done: Option<bool>,
    id: Option<&str>,
    said: &str,
    wait: Option<&Wait>,
    when: When,
) -> Result<Value, Refusal> {
    let meant = meant(requests, id, when.thread)?;
    let mut ended = Vec::new();
    for one in requests.list.iter_mut().filter(|one| meant.contains(&one.id)) {
        let ends = wait.is_none() && done.unwrap_or(one.used || one.tools.is_empty());
        if ends {
            one.wait = None;
            one.end(&format!("answered: {said}"), when.now);
            ended.push(one.id.clone());
        } else {
            one.so_far = Some(text::clip(said, LONGEST_REASON));
            (one.changed_at, one.worked_at) = (when.now, Some(when.now));
            one.wait = wait.cloned();
        }
    }
    let open = requests.open().filter(|one| one.thread == when.thread);
    let open: Vec<String> =
        open.map(|one| format!("{} \"{}\"", one.id, text::clip(&one.about, 60))).collect();
    Ok(json!({"ended": ended, "open": open}))
}

/// Finds the requests an answer on this thread is for: the named one, else unanswered ones, else those worked on last.
fn meant(requests: &mut Requests, id: Option<&str>, thread: &str) -> Result<Vec<String>, Refusal> {
    if let Some(id) = id {
        return requests.find(id).map(|one| vec![one.id.clone()]);
    }
    let open: Vec<&Item<Request>> = requests.open().filter(|one| one.thread == thread).collect();
    let ids = |some: &dyn Fn(&Request) -> bool| -> Vec<String> {
        open.iter().filter(|one| some(one)).map(|one| one.id.clone()).collect()
    };
    let fresh = ids(&Request::is_fresh);
    if !fresh.is_empty() {
        return Ok(fresh);
    }
    let at = |one: &Request| one.worked_at.unwrap_or(Timestamp::MIN);
    let last = open.iter().filter(|one| one.wait.is_none()).map(|one| at(one)).max();
    Ok(ids(&|one| one.wait.is_none() && Some(at(one)) == last))
}
