//! Files that came with a word: fetched and kept, so that its text says where they lie; their sender is told which did not come.

use crate::channel::{Attached, Channel, Trouble, Word};
use crate::hear::Place;
use crate::received::{self, MOST_FILE_BYTES, MOST_FILES};
use crate::switchboard::Shared;
use anyhow::Result;
use std::time::Duration;
use tokio::time::Instant;

/// Pauses between tries to fetch a file, and longest time for all files of a word: what is said behind it waits, a stop too.
const BETWEEN_FETCHES: [Duration; 4] =
    [Duration::from_secs(1), Duration::from_secs(3), Duration::from_secs(8), Duration::from_secs(15)];
const LONGEST_FETCH: Duration = Duration::from_secs(60);

/// Fetches the files of a word; its text then says where they are, or why not.
pub async fn with_files(shared: &Shared, place: &Place<'_>, word: &Word, text: String) -> Result<String> {
    let house = shared.borrow().house.clone();
    let most =
        shared.borrow().lines.get(place.name).map_or(0, |line| line.limits.file_bytes.min(MOST_FILE_BYTES));
    let (mut lines, mut missing) = (vec![text], vec![]);
    let until = Instant::now() + LONGEST_FETCH;
    for (nth, file) in word.files.iter().enumerate() {
        if nth >= MOST_FILES {
            missing.push(format!("and {} more, which were left there", word.files.len() - MOST_FILES));
            break;
        }
        let shown = received::harmless(&file.name);
        if file.bytes.is_some_and(|bytes| bytes > most) {
            missing.push(format!("{shown}, too large to be taken: at most {most} bytes are"));
            continue;
        }
        match fetched(place.channel, file, most, until).await {
            Ok(bytes) if bytes.len() as u64 <= most => {
                let message = format!("{}/{nth}", place.id);
                let path = received::keep(&house, place.name, &message, &file.name, &bytes)?;
                lines.push(format!("(a file of {} bytes: {path})", bytes.len()));
            }
            Ok(_) => missing.push(format!("{shown}, larger than it said and not taken")),
            Err(trouble) => missing
                .push(format!("{shown}, which could not be fetched, and has to be sent again: {trouble}")),
        }
    }
    if !missing.is_empty() {
        let told = format!("I do not have every file of this: {}", missing.join("; "));
        shared.borrow_mut().reply(place.name, place.chat, &[&place.id, "files"], &told)?;
    }
    lines.extend(missing.iter().map(|why| format!("(a file {why})")));
    Ok(lines.join("\n").trim().to_owned())
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
