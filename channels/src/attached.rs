//! Words with files: their files are fetched while what else is said is heard; then the word is kept, with where they lie.
//!
//! A word waits in the state of its channel, so neither an end nor a cut loses it, and what is said after it in its thread
//! waits behind it. A stop waits for no file: what was said before it is kept without.

use crate::channel::{Attached, Channel, Trouble};
use crate::hear;
use crate::inbox;
use crate::receive::UNKEPT;
use crate::received::{self, MOST_FILE_BYTES};
use crate::switchboard::Shared;
use crate::waiting::{Waiting, freed};
use anyhow::Result;
use std::rc::Rc;
use std::time::Duration;
use tokio::time::Instant;

/// Pauses between tries to fetch a file, and longest time for all files of a word.
const BETWEEN_FETCHES: [Duration; 4] =
    [Duration::from_secs(1), Duration::from_secs(3), Duration::from_secs(8), Duration::from_secs(15)];
const LONGEST_FETCH: Duration = Duration::from_secs(60);

/// Fetches files, and keeps their words, until this program ends.
pub async fn run(shared: Shared, name: String, channel: Rc<dyn Channel>) {
    loop {
        let (next, wake) = {
            let all = shared.borrow();
            let Some(line) = all.lines.get(&name) else { return };
            (line.state.waiting.front().filter(|_| line.is_connected()).cloned(), line.fetches.clone())
        };
        let Some(next) = next else {
            wake.notified().await;
            continue;
        };
        if let Err(error) = fetch_and_keep(&shared, &name, channel.as_ref(), &next).await {
            shared.borrow_mut().row(
                &name,
                &format!("{name}: a word with files could not be kept, and is tried again: {error:#}"),
            );
            tokio::time::sleep(UNKEPT).await;
        }
    }
}

async fn fetch_and_keep(shared: &Shared, name: &str, channel: &dyn Channel, word: &Waiting) -> Result<()> {
    let house = shared.borrow().house.clone();
    let most = shared.borrow().lines.get(name).map_or(0, |line| line.limits.file_bytes.min(MOST_FILE_BYTES));
    let until = Instant::now() + LONGEST_FETCH;
    let (mut lines, mut missing) = (vec![word.text.clone()], vec![]);
    for (nth, file) in word.files.iter().enumerate() {
        let shown = received::harmless(&file.name);
        if file.bytes.is_some_and(|bytes| bytes > most) {
            missing.push(format!("{shown}, too large to be taken: at most {most} bytes are"));
            continue;
        }
        match fetched(channel, file, most, until).await {
            Ok(bytes) if bytes.len() as u64 <= most => {
                let path = received::keep(&house, name, &format!("{}/{nth}", word.id), &file.name, &bytes)?;
                lines.push(format!("(a file of {} bytes: {path})", bytes.len()));
            }
            Ok(_) => missing.push(format!("{shown}, larger than it said and not taken")),
            // It is tried again when the platform is reached.
            Err(Trouble::Away(_) | Trouble::Doubtful(_)) if !is_connected(shared, name) => return Ok(()),
            Err(trouble) => missing
                .push(format!("{shown}, which could not be fetched, and has to be sent again: {trouble}")),
        }
    }
    if word.left > 0 {
        missing.push(format!("and {} more, which were left there", word.left));
    }
    lines.extend(missing.iter().map(|why| format!("(a file {why})")));
    keep(shared, name, word, lines.join("\n").trim(), &missing)
}

/// Keeps a word whose files were fetched, `text`, and the words that waited for it; its sender is told what is missing.
fn keep(shared: &Shared, name: &str, word: &Waiting, text: &str, missing: &[String]) -> Result<()> {
    let (freed, waiting) = {
        let all = shared.borrow();
        let Some(line) = all.lines.get(name) else { return Ok(()) };
        let mut waiting = line.state.waiting.clone();
        // It was taken back, or its owner is no owner any more.
        if waiting.pop_front().is_none_or(|first| first.id != word.id) {
            return Ok(());
        }
        freed(waiting)
    };
    if !missing.is_empty() {
        let told = format!("I do not have every file of this: {}", missing.join("; "));
        shared.borrow_mut().reply(name, &word.chat, &[&word.id, "files"], &told)?;
    }
    let first =
        inbox::Word { text: text.to_owned(), thread: word.thread.clone(), ids: vec![word.id.clone()] };
    let behind = freed.into_iter().map(Waiting::without_files);
    let mut words: Vec<inbox::Word> = std::iter::once(first).chain(behind).collect();
    if let Some(line) = shared.borrow().lines.get(name) {
        // An end between the inbox and the state leaves them in both.
        words.retain(|word| !word.ids.iter().all(|id| line.in_the_inbox.contains(id)));
    }
    hear::keep_words(shared, name, &mut words)?;
    let mut all = shared.borrow_mut();
    if let Some(line) = all.lines.get_mut(name) {
        line.state.waiting = waiting;
    }
    all.save(name)
}

fn is_connected(shared: &Shared, name: &str) -> bool {
    shared.borrow().lines.get(name).is_some_and(|line| line.is_connected())
}

/// Fetches a file; one that is not reached just now is tried for, as its word is told without it after that.
async fn fetched(
    channel: &dyn Channel,
    file: &Attached,
    most: u64,
    until: Instant,
) -> Result<Vec<u8>, Trouble> {
    let tries = async {
        for pause in BETWEEN_FETCHES {
            match channel.fetch(file, most).await {
                Err(Trouble::Away(_) | Trouble::Doubtful(_)) => tokio::time::sleep(pause).await,
                Err(Trouble::Slower(wait)) => tokio::time::sleep(wait).await,
                came => return came,
            }
        }
        channel.fetch(file, most).await
    };
    let late = || Err(Trouble::Away(format!("it did not come within {} s", LONGEST_FETCH.as_secs())));
    tokio::time::timeout_at(until, tries).await.unwrap_or_else(|_| late())
}
