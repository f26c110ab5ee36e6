//! The task that looks at what is watched, beside everything else a life does, and tells what it finds.

use super::look::{Looked, look};
use super::{Shared, Verdict, Watch, judge};
use crate::store::{Store, TOLD_BACK};
use agenda::items::later;
use hands::Broker;
use jiff::{SignedDuration, Timestamp};
use regex::Regex;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::task::{JoinHandle, JoinSet};

/// Time between looks whether a watch is due, and looks at once.
const TICK: Duration = Duration::from_secs(1);
const MOST_AT_ONCE: usize = 8;

/// Seconds after which what was seen once is looked at again.
const AGAIN_S: i64 = 10;

/// Looks in a row without a value after which that is told; then a broken watch is looked at ever more rarely, up to an hour.
const BROKEN: u32 = 3;
const LONGEST_S: u64 = 3_600;

type Look = (String, Result<Looked, String>);

/// The task of a life; it ends with it.
pub struct Watching {
    task: JoinHandle<()>,
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Begins to look. `store` is a store of its own; the broker is none where there is no way out.
pub fn start(shared: Shared, store: Store, broker: Option<Broker>) -> Watching {
    Watching { task: tokio::spawn(watch(shared, store, broker)) }
}

async fn watch(shared: Shared, mut store: Store, broker: Option<Broker>) {
    let mut looks: JoinSet<Look> = JoinSet::new();
    let mut under_way: BTreeSet<String> = BTreeSet::new();
    loop {
        let now = store.clock.now();
        for watch in shared.list() {
            // After a clock that was set back nothing waits for it to catch up.
            let ahead_s = watch.next.as_second().saturating_sub(now.as_second());
            let is_late = ahead_s > i64::try_from(watch.every_s.max(LONGEST_S)).unwrap_or(i64::MAX);
            let is_due = (watch.next <= now || is_late) && !under_way.contains(&watch.id);
            if !is_due || looks.len() >= MOST_AT_ONCE {
                continue;
            }
            under_way.insert(watch.id.clone());
            let (root, broker) = (store.house.root().to_path_buf(), broker.clone());
            looks.spawn(async move {
                let looked = look(&watch.source, &root, broker.as_ref()).await;
                (watch.id, looked)
            });
        }
        tokio::select! {
            Some(ended) = looks.join_next(), if !looks.is_empty() => match ended {
                Ok((id, looked)) => {
                    under_way.remove(&id);
                    settle(&shared, &mut store, &id, looked);
                }
                // A look that panicked is due again.
                Err(_) => under_way.clear(),
            },
            () = shared.changed.notified(), if looks.is_empty() => {}
            () = tokio::time::sleep(TICK) => {}
        }
    }
}

/// Judges a look, tells what is to be told, and keeps what was seen.
fn settle(shared: &Shared, store: &mut Store, id: &str, looked: Result<Looked, String>) {
    let Some(mut watch) = shared.list().into_iter().find(|watch| watch.id == id) else { return };
    let now = store.clock.now();
    let told = judged(&mut watch, looked, now);
    if let Some(text) = &told {
        watch.told += 1;
        watch.told_at = Some(now);
        if let Err(fault) = tell_owner(store, &watch, text) {
            tracing::warn!("{fault} ({})", fault.hint);
            // Not told: the next look finds the same again.
            return;
        }
    }
    let is_news = told.is_some();
    // In one write: neither is what it told lost with this life, nor told again by the next.
    shared.change(|all| all.looked(watch, told));
    if is_news {
        shared.heard.notify_one();
    }
}

/// Brings a watch up to date after a look; the words to tell, if any.
pub fn judged(watch: &mut Watch, looked: Result<Looked, String>, now: Timestamp) -> Option<String> {
    let find = watch.find.as_deref().and_then(|find| Regex::new(find).ok());
    let quiet = watch.told_at.is_some_and(|at| {
        let most = SignedDuration::from_secs(i64::try_from(watch.at_most_every_s).unwrap_or(i64::MAX));
        // After a clock that was set back nothing waits for it to catch up.
        (SignedDuration::ZERO..most).contains(&now.duration_since(at))
    });
    let was_unsure = !watch.seen.unsure.is_empty();
    let verdict = match looked {
        Ok(Looked::Text(text)) => judge(&watch.when, find.as_ref(), &text, &mut watch.seen, !quiet),
        Ok(Looked::Items(items)) => judge::items(find.as_ref(), &items, &mut watch.seen, !quiet),
        Err(error) => Verdict::Unreadable(error),
    };
    let verdict = match verdict {
        // To look again soon would never end, as with a page that has the hour in it.
        Verdict::Unsure if was_unsure => {
            Verdict::Unreadable("it differs at each look; say what in it counts".to_owned())
        }
        verdict => verdict,
    };
    let mut wait_s = i64::try_from(watch.every_s).unwrap_or(i64::MAX);
    let source = judge::brief(watch.source.name());
    let told = match verdict {
        Verdict::Unreadable(why) => {
            watch.fails = watch.fails.saturating_add(1);
            watch.error = judge::brief(&why);
            let over = watch.fails.saturating_sub(20).min(12);
            wait_s = wait_s.max((watch.every_s << over).min(LONGEST_S) as i64);
            let tells = watch.fails == BROKEN && !watch.told_broken;
            watch.told_broken |= tells;
            tells.then(|| format!("I cannot look at {source} for \"{}\": {}.", watch.say, watch.error))
        }
        verdict => {
            let was_broken = std::mem::take(&mut watch.told_broken);
            (watch.fails, watch.error) = (0, String::new());
            match verdict {
                Verdict::Tell { old, new } => Some(said(&watch.say, &old, &new, &source)),
                Verdict::Unsure => {
                    wait_s = wait_s.min(AGAIN_S);
                    None
                }
                _ if was_broken => Some(format!("{source} can be looked at again for \"{}\".", watch.say)),
                _ => None,
            }
        }
    };
    watch.next = later(now, wait_s);
    told
}

fn said(say: &str, old: &str, new: &str, source: &str) -> String {
    let arrow = match old {
        "" => new.to_owned(),
        old => format!("{old} → {new}"),
    };
    format!("{}: {arrow} ({source})", say.trim().trim_end_matches(['.', ':']))
}

/// Tells the owner, where the watch is the owner's; once, over ends of lives too.
fn tell_owner(store: &mut Store, watch: &Watch, text: &str) -> Result<(), crate::fault::Fault> {
    if !watch.owner {
        return Ok(());
    }
    let nth = json!(watch.told);
    let records = store.newest(TOLD_BACK);
    let is_told = |data: &Value| data.get("watch") == Some(&json!(watch.id)) && data.get("nth") == Some(&nth);
    if records.iter().any(|record| is_told(&record.data)) {
        return Ok(());
    }
    store.record(
        "message",
        json!({
            "from": "creature", "kind": "asked_for", "thread": watch.thread, "text": text,
            "watch": watch.id, "nth": nth, "at": store.clock.text(),
        }),
    )
}
