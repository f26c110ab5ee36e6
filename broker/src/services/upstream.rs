//! Call to a service: sent once, answered within bounds of time and size, scrubbed before it is passed on.
//!
//! Invariant: exactly what was judged is sent, redirects are not followed, and an outcome says so if nobody can know
//! whether the call happened.

use crate::approvals::act::{Call, is_safe};
use crate::approvals::outcome::{Answer, Outcome, not_sent};
use crate::ground::encoding;
use crate::ground::refusal::Unfit;
use crate::handles::Handles;
use crate::net::{self, outward};
use crate::policy::Service;
use crate::secrets::Secrets;
use crate::secrets::patterns;
use bytes::Bytes;
use house::bounds::brief;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Method, Response, Url};
use serde_json::{Map, Value};
use std::time::Duration;

/// Longest time for a whole call.
const DEADLINE: Duration = Duration::from_secs(30);
/// Most bytes of an answer that are passed on.
const MOST_ANSWER: usize = 1 << 20;
/// Bytes read beyond that, so that a secret at the cut is seen whole.
const MARGIN: usize = 64 << 10;
const MOST_HEADERS: usize = 12;

/// Sends an authenticated call, once.
pub async fn send(
    handles: &Handles,
    service: &Service,
    call: &Call,
    body: Bytes,
    proof: Vec<(HeaderName, HeaderValue)>,
) -> Outcome {
    let url = match Url::parse(&call.url) {
        Ok(url) if url.as_str() == call.url => url,
        _ => return not_sent("the address is not what was judged", "ask again"),
    };
    let client = match handles.outward.within(&url, service.allow_private) {
        Ok(client) => client,
        Err(unfit) => return Outcome::NotSent(unfit),
    };
    let Ok(method) = Method::from_bytes(call.method.as_bytes()) else {
        return not_sent("the method is not one", "use GET or POST");
    };
    let mut headers = HeaderMap::new();
    for (name, value) in &call.headers {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name.as_str()), HeaderValue::from_str(value)) {
            headers.insert(name, value);
        }
    }
    for (name, value) in proof {
        headers.insert(name, value);
    }
    let mut request = client.request(method, url.clone()).headers(headers);
    if !body.is_empty() {
        request = request.body(body);
    }
    let secrets = &handles.secrets;
    let exchange = async {
        match request.send().await {
            Ok(response) => {
                read(secrets, response, &url).await.unwrap_or_else(|error| broke(secrets, call, &error))
            }
            Err(error) if error.is_connect() || error.is_builder() => not_sent(
                format!("{} cannot be reached: {}", call.service, chain(secrets, &error)),
                outward::hint(&error),
            ),
            Err(error) => broke(secrets, call, &error),
        }
    };
    tokio::time::timeout(DEADLINE, exchange)
        .await
        .unwrap_or_else(|_| unsure(call, format!("{} took longer than {DEADLINE:?}", call.service)))
}

/// The URL of a call; fails if it would be read as anything but what was judged.
pub fn address(base: &str, path: &str, query: &[(String, String)]) -> Result<Url, Unfit> {
    let broken = |what: &str| {
        Unfit::new(format!("the service's base_url {what}"), "the owner has to mend it in owner.toml")
    };
    let mut url = Url::parse(base.trim()).map_err(|_| broken("is not an address"))?;
    let bare = url.username().is_empty() && url.password().is_none() && url.query().is_none();
    if !bare || url.fragment().is_some() || url.host_str().is_none() {
        return Err(broken("is more than an address and a path"));
    }
    let whole = format!("{}{path}", url.path().trim_end_matches('/'));
    url.set_path(&whole);
    let query = encoding::joined(query);
    url.set_query(Some(query.as_str()).filter(|query| !query.is_empty()));
    if url.path() != whole || url.query().unwrap_or_default() != query {
        let error = "the path would be read differently on the way";
        return Err(Unfit::new(error, "give a plain path like /2/users/me"));
    }
    Ok(url)
}

fn broke(secrets: &Secrets, call: &Call, error: &reqwest::Error) -> Outcome {
    unsure(call, format!("the call to {} broke: {}", call.service, chain(secrets, error)))
}

/// The outcome of an error during a call: harmless if the call changes nothing.
pub fn unsure(call: &Call, error: String) -> Outcome {
    if is_safe(&call.method) {
        return not_sent(error, "try again later");
    }
    Outcome::Unsure(Unfit::new(error, "it may have happened: look there before you send it again"))
}

fn chain(secrets: &Secrets, error: &reqwest::Error) -> String {
    brief(&secrets.scrub(&net::told(error)), 300)
}

async fn read(secrets: &Secrets, mut response: Response, url: &Url) -> Result<Outcome, reqwest::Error> {
    let status = response.status();
    if status.is_redirection() && status.as_u16() != 304 {
        return Ok(redirected(secrets, &response, url));
    }
    let mut bytes = Vec::new();
    let truncated = net::read_most(&mut response, MOST_ANSWER + MARGIN, &mut bytes).await?;
    let (body, cut_off) = shown(secrets, bytes, truncated);
    let text = |name: &str| header(secrets, response.headers(), name);
    Ok(Outcome::Answered(Answer {
        status: status.as_u16(),
        content_type: text("content-type"),
        body,
        truncated: cut_off,
        headers: limits(secrets, response.headers()),
        pictures: vec![],
    }))
}

/// An answer for the client, and whether part of it is missing.
pub fn shown(secrets: &Secrets, bytes: Vec<u8>, cut_off: bool) -> (String, bool) {
    let bytes = secrets.scrub_bytes(bytes);
    let mut text = patterns::scrub(String::from_utf8_lossy(&bytes).into_owned());
    // The end of a cut answer may be part of a secret.
    let most = if cut_off { MOST_ANSWER.min(text.len().saturating_sub(MARGIN)) } else { MOST_ANSWER };
    let longer = text.len() > most;
    if longer {
        let end = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
    }
    (text, longer || cut_off)
}

fn redirected(secrets: &Secrets, response: &Response, url: &Url) -> Outcome {
    let status = response.status().as_u16();
    let location = header(secrets, response.headers(), LOCATION.as_str());
    let (to, hint) = match url.join(&location) {
        Ok(to) if (to.scheme(), to.host_str(), to.port()) == (url.scheme(), url.host_str(), url.port()) => {
            (to.path().to_owned(), format!("call the path {} itself, if its rules allow it", to.path()))
        }
        Ok(to) => {
            let host = to.host_str().unwrap_or_default().to_owned();
            (
                format!("{}://{host}{}", to.scheme(), to.path()),
                format!("{host} is another host; only the owner can make it a service"),
            )
        }
        Err(_) => (location, "the service is broken there".to_owned()),
    };
    let error =
        format!("it answered {status} and wants to send us to {}, which was not followed", brief(&to, 300));
    Outcome::Redirected(status, Unfit::new(error, hint))
}

fn header(secrets: &Secrets, headers: &HeaderMap, name: &str) -> String {
    let value = headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    brief(&secrets.scrub_all(value), 300)
}

fn limits(secrets: &Secrets, headers: &HeaderMap) -> Map<String, Value> {
    let wanted = |name: &str| {
        name == "retry-after"
            || ["ratelimit", "x-ratelimit", "x-rate-limit"].iter().any(|start| name.starts_with(start))
    };
    let names = headers.keys().map(HeaderName::as_str).filter(|name| wanted(name)).take(MOST_HEADERS);
    names.map(|name| (name.to_owned(), header(secrets, headers, name).into())).collect()
}
