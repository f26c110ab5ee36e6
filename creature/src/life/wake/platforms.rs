//! Platforms: where the owner has ways to earn looked for; a page, a feed, or a service of the owner's by its name.
//!
//! Invariant: a service is only read, by GET; one that would ask the owner first is left alone for a day.

use crate::config::RevenueSettings;
use ground::checklist::{self, Named};
use hands::{Broker, Error};
use serde_json::json;

/// Platforms that are followed, and characters read of one answer of a service.
const MOST_PLATFORMS: usize = 16;
const MOST_CHARS: usize = 4_000;

/// Prefix of a service's address among those of pages.
const SERVICE: &str = "service:";

const DAY_S: u64 = 86_400;

/// The platforms of the owner's settings, each once; none where they are not enabled.
pub(super) fn named(settings: &RevenueSettings) -> Vec<Named> {
    let mut all: Vec<Named> = Vec::new();
    let written = settings.platforms.iter().map(|platform| platform.trim());
    for platform in written.filter(|platform| settings.enabled && !platform.is_empty()).take(MOST_PLATFORMS) {
        let one = match platform.strip_prefix("feed:") {
            Some(url) => Named { url: url.trim().to_owned(), feed: true },
            None if platform.contains("://") => {
                Named { url: platform.to_owned(), feed: checklist::looks_like_feed(platform) }
            }
            None => Named { url: format!("{SERVICE}{platform}"), feed: false },
        };
        if !all.iter().any(|known| known.url == one.url) {
            all.push(one);
        }
    }
    all
}

/// The service that this address stands for, with its path; none for a page or a feed.
pub(super) fn service(url: &str) -> Option<(&str, String)> {
    let place = url.strip_prefix(SERVICE)?;
    let (name, path) = place.split_once('/').unwrap_or((place, ""));
    Some((name, format!("/{path}")))
}

/// Reads the answer of a service, as text.
pub(super) async fn read(broker: &Broker, name: &str, path: &str) -> Result<String, Error> {
    let request = json!({
        "service": name, "method": "GET", "path": path, "reason": "your [revenue] platforms name it",
    });
    let reply = broker.service(&request).await.map_err(|error| match error.deferred {
        Some(_) => Error { after_s: Some(DAY_S), ..error },
        None => error,
    })?;
    if !(200..300).contains(&reply.status) {
        let message = format!("{name} answered {}", reply.status);
        let hint = "look at the service in owner.toml".to_owned();
        return Err(Error { message, hint, status: Some(reply.status), after_s: None, deferred: None });
    }
    Ok(reply.body.chars().take(MOST_CHARS).collect())
}
