//! Calls to a platform: answers read within bounds, what an error says of the call's fate, and waits that were asked for.

use crate::channel::Trouble;
use house::clock;
use house::mutex::lock;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

/// Longest wait for an answer, and for a file.
pub const PATIENCE: Duration = Duration::from_secs(30);
pub const FILE_PATIENCE: Duration = Duration::from_secs(300);
/// Most bytes of an answer that is no file: a hundred messages of the longest.
pub const ANSWER_BYTES: u64 = 8 << 20;
/// Most characters of a platform's own words in an error.
const SAID_CHARS: usize = 300;

/// Sends a request, and says of a failure whether the other side may have heard it.
pub async fn sent(request: reqwest::RequestBuilder) -> Result<reqwest::Response, Trouble> {
    request.send().await.map_err(|error| {
        let never_left = error.is_connect() || error.is_builder();
        let why = chain(&error.without_url());
        if never_left { Trouble::Away(why) } else { Trouble::Doubtful(why) }
    })
}

/// Reads at most `most` bytes of an answer.
pub async fn body(mut answer: reqwest::Response, most: u64) -> Result<Vec<u8>, Trouble> {
    let over = || Trouble::Refused(format!("more than {most} bytes"));
    if answer.content_length().is_some_and(|length| length > most) {
        return Err(over());
    }
    let mut read = Vec::new();
    while let Some(part) = answer.chunk().await.map_err(|e| Trouble::Doubtful(chain(&e.without_url())))? {
        if read.len() as u64 + part.len() as u64 > most {
            return Err(over());
        }
        read.extend_from_slice(&part);
    }
    Ok(read)
}

/// Takes a failure for one of a call that may be repeated.
pub fn harmless(trouble: Trouble) -> Trouble {
    if let Trouble::Doubtful(why) = trouble { Trouble::Away(why) } else { trouble }
}

/// Waits out what a platform asks for, where that is short: whether to try again.
pub async fn waited<T>(came: &Result<T, Trouble>) -> bool {
    match came {
        Err(Trouble::Slower(wait)) if *wait <= PATIENCE => {
            tokio::time::sleep(*wait).await;
            true
        }
        Ok(_) | Err(_) => false,
    }
}

/// Looks into JSON by a path like `/user/id`; `Null` where there is nothing.
pub fn at<'a>(value: &'a Value, path: &str) -> &'a Value {
    value.pointer(path).unwrap_or(&Value::Null)
}

/// Puts a value into a JSON object.
pub fn put(whole: &mut Value, key: &str, value: impl Into<Value>) {
    if let Some(whole) = whole.as_object_mut() {
        whole.insert(key.to_owned(), value.into());
    }
}

/// Shortens a platform's own words.
pub fn said(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(SAID_CHARS).collect()
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut told = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        told = format!("{told}: {next}");
        cause = next.source();
    }
    said(&told)
}

/// Routes that are left alone for a while, as their platform asked.
#[derive(Default)]
pub struct Waits(Mutex<HashMap<String, clock::Millis>>);

impl Waits {
    /// Refuses a call that would come too early on any of these routes.
    pub fn check(&self, routes: &[&str]) -> Result<(), Trouble> {
        let now = clock::since_boot_ms();
        let waits = lock(&self.0);
        let until = routes.iter().filter_map(|route| waits.get(*route)).max();
        match until {
            Some(until) if *until > now => Err(Trouble::Slower(Duration::from_millis(until - now))),
            Some(_) | None => Ok(()),
        }
    }

    pub fn set(&self, route: &str, wait: Duration) {
        let now = clock::since_boot_ms();
        let mut waits = lock(&self.0);
        waits.retain(|_, until| *until > now);
        waits.insert(route.to_owned(), now + u64::try_from(wait.as_millis()).unwrap_or(u64::MAX / 2));
    }
}

/// A number between 0 and 1 that nobody can tell beforehand.
pub fn chance() -> f64 {
    use std::hash::{BuildHasher, Hasher};
    let bits = std::collections::hash_map::RandomState::new().build_hasher().finish() >> 32;
    bits as f64 / f64::from(u32::MAX)
}
