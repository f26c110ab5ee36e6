//! Looks once at what is watched: a page or feed through the broker, a file of the house, a command behind the walls.

use super::Source;
use crate::fault::Fault;
use crate::process::{self, Job};
use ground::files;
use hands::Broker;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

/// Characters of a page, bytes of a file, items of a feed, and how long a command may take.
const MOST_CHARS: usize = 200_000;
const MOST_BYTES: u64 = 1 << 20;
const MOST_ITEMS: usize = 200;
const COMMAND: Duration = Duration::from_secs(60);

/// Result of a look.
pub enum Looked {
    Text(String),
    /// Mark and words of each item of a feed.
    Items(Vec<(String, String)>),
}

/// Looks once; a failure says what is wrong in a line.
pub async fn look(source: &Source, root: &Path, broker: Option<&Broker>) -> Result<Looked, String> {
    let no_way = || "there is no way out: this life has no broker".to_owned();
    match source {
        Source::Url(url) => {
            let page = hands::fetch_text(broker.ok_or_else(no_way)?, url, MOST_CHARS).await;
            page.map(|page| Looked::Text(page.text)).map_err(|error| error.message)
        }
        Source::Feed(url) => {
            let feed = hands::fetch_feed(broker.ok_or_else(no_way)?, url, MOST_ITEMS).await;
            let item = |item: hands::Item| {
                let words = [item.title.as_str(), item.url.as_str()].join(" ");
                (item.id, words.trim().to_owned())
            };
            feed.map(|feed| Looked::Items(feed.items.into_iter().map(item).collect()))
                .map_err(|error| error.message)
        }
        Source::File(path) => {
            let bytes = files::whole(&within(root, path).map_err(|fault| fault.error)?, MOST_BYTES);
            let bytes = bytes.map_err(|error| format!("{path} cannot be read: {error}"))?;
            Ok(Looked::Text(String::from_utf8_lossy(&bytes).into_owned()))
        }
        Source::Command(command) => {
            let ended = process::run(Job::new("sh", root, COMMAND).args(["-c", command])).await;
            let ended = ended.map_err(|fault| fault.error)?;
            match ended.ok() {
                true => Ok(Looked::Text(ended.stdout.text())),
                false => Err(format!("the command ended: {}", ended.how())),
            }
        }
    }
}

/// A path from the root of the house; refused where it leads out of it or to what is not the creature's to show.
pub fn within(root: &Path, path: &str) -> Result<PathBuf, Fault> {
    let plain = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    let hidden = path.split('/').any(|part| part == ".git" || part.starts_with(".env"));
    if plain && !hidden && !path.is_empty() {
        return Ok(root.join(path));
    }
    let hint = "name a file from the root of the house, as in self/notes/a.md";
    Err(Fault::new(format!("{path} is no file that can be watched"), hint))
}
