//! Call to a service: sent once, answered within bounds of time and size, scrubbed before it is passed on.
//!
//! Invariant: exactly what was judged is sent, redirects are not followed, and an outcome says so if nobody can know
//! whether the call happened.

use crate::approvals::act::Call;
use crate::approvals::outcome::{Answer, Outcome, not_sent};
use crate::ground::hosts::{self, Reach, Resolver};
use crate::ground::refusal::Unfit;
use crate::net::outward::Outward;
use crate::net::tls;
use crate::policy::Service;
use crate::secrets::Secrets;
use crate::secrets::patterns;
use crate::services::canonical;
use anyhow::Context;
use house::bounds::brief;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Client, Method, Response, Url, redirect};
use serde_json::{Map, Value};
use std::net::IpAddr;
use std::time::Duration;

/// Longest time for a whole call.
const DEADLINE: Duration = Duration::from_secs(30);
/// Most bytes of an answer that are passed on.
const MOST_ANSWER: usize = 1 << 20;
/// Bytes read beyond that, so that a secret at the cut is seen whole.
const MARGIN: usize = 64 << 10;
const MOST_HEADERS: usize = 12;
const PROXIES: [&str; 6] =
    ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];

/// Clients that check each address before connecting to it.
#[derive(Clone)]
pub struct Upstream {
    public: Client,
    private: Client,
    proxied: bool,
    outward: Outward,
    secrets: Secrets,
}

/// Resolves names to addresses within a reach only.
struct Within(Reach, Resolver);

/// A name resolved to the fake-IP range, and the owner did not let that through.
#[derive(Debug)]
struct FakeIp(String);

impl std::fmt::Display for FakeIp {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for FakeIp {}

impl Resolve for Within {
    fn resolve(&self, name: Name) -> Resolving {
        let Self(most, resolver) = *self;
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let (fit, others): (Vec<_>, Vec<_>) = found.partition(|found| resolver.reach(found.ip()) <= most);
            if fit.is_empty() {
                if let Some(why) = others.iter().find_map(|found| resolver.refused(name.as_str(), found.ip()))
                {
                    return Err(FakeIp(why).into());
                }
                return Err("it resolves to a private or local address, or to none".into());
            }
            Ok(Box::new(fit.into_iter()) as Addrs)
        })
    }
}

impl Upstream {
    pub fn new(outward: Outward, secrets: Secrets, resolver: Resolver) -> anyhow::Result<Self> {
        let proxied = PROXIES.iter().any(|name| std::env::var(name).is_ok_and(|value| !value.is_empty()));
        let client = |most: Reach| {
            tls::client()?
                .user_agent("feral")
                .redirect(redirect::Policy::none())
                .retry(reqwest::retry::never())
                .referer(false)
                .connect_timeout(Duration::from_secs(10))
                .no_proxy()
                .dns_resolver(std::sync::Arc::new(Within(most, resolver)))
                .build()
                .context("failed to prepare https")
        };
        Ok(Self {
            public: client(Reach::Public)?,
            private: client(Reach::Loopback)?,
            proxied,
            outward,
            secrets,
        })
    }

    /// The client for an address; fails if the address is out of reach.
    pub fn client(&self, url: &Url, private: bool) -> Result<&Client, Unfit> {
        let host = hosts::host(url);
        let most = if private { Reach::Loopback } else { Reach::Public };
        let hint = "the owner can set allow_private for this service in owner.toml";
        let refused = |error: String| Err(Unfit::new(error, hint));
        match url.scheme() {
            "https" => {}
            "http" if private => {}
            other => {
                return refused(format!("{host} is not called over {other}: a key would be read on the way"));
            }
        }
        if host.parse::<IpAddr>().is_ok_and(|ip| hosts::reach(ip) > most) {
            return refused(format!("{host} is a private or local address"));
        }
        if self.proxied && !hosts::is_loopback(&host) {
            // The owner's proxy resolves names; only addresses in the URL itself are checked.
            return Ok(self.outward.client(url));
        }
        Ok(if private { &self.private } else { &self.public })
    }

    /// Sends an authenticated call, once.
    pub async fn send(
        &self,
        service: &Service,
        call: &Call,
        proof: Vec<(HeaderName, HeaderValue)>,
    ) -> Outcome {
        let url = match Url::parse(&call.url) {
            Ok(url) if url.as_str() == call.url => url,
            _ => return not_sent("the address is not what was judged", "ask again"),
        };
        let client = match self.client(&url, service.allow_private) {
            Ok(client) => client,
            Err(unfit) => return Outcome::NotSent(unfit),
        };
        let Ok(method) = Method::from_bytes(call.method.as_bytes()) else {
            return not_sent("the method is not one", "use GET or POST");
        };
        let mut headers = HeaderMap::new();
        for (name, value) in &call.headers {
            if let (Ok(name), Ok(value)) = (HeaderName::try_from(name.as_str()), HeaderValue::from_str(value))
            {
                headers.insert(name, value);
            }
        }
        for (name, value) in proof {
            headers.insert(name, value);
        }
        let mut request = client.request(method, url.clone()).headers(headers);
        if !call.body.is_empty() {
            request = request.body(call.body.clone());
        }
        let exchange = async {
            match request.send().await {
                Ok(response) => read(&self.secrets, response, &url)
                    .await
                    .unwrap_or_else(|error| broke(&self.secrets, call, &error)),
                Err(error) if error.is_connect() || error.is_builder() => not_sent(
                    format!("{} cannot be reached: {}", call.service, chain(&self.secrets, &error)),
                    if is_fake_ip(&error) { hosts::FAKE_IP_HINT } else { "try again later" },
                ),
                Err(error) => broke(&self.secrets, call, &error),
            }
        };
        tokio::time::timeout(DEADLINE, exchange)
            .await
            .unwrap_or_else(|_| unsure(call, format!("{} took longer than {DEADLINE:?}", call.service)))
    }
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
    let query = canonical::joined(query);
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
    if canonical::is_safe(&call.method) {
        return not_sent(error, "try again later");
    }
    Outcome::Unsure(Unfit::new(error, "it may have happened: look there before you send it again"))
}

fn is_fake_ip(error: &reqwest::Error) -> bool {
    let mut cause: Option<&dyn std::error::Error> = Some(error);
    while let Some(error) = cause {
        if error.is::<FakeIp>() {
            return true;
        }
        cause = error.source();
    }
    false
}

fn chain(secrets: &Secrets, error: &reqwest::Error) -> String {
    let mut words = Vec::new();
    let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(error);
    while let Some(error) = cause {
        words.push(error.to_string());
        cause = error.source();
    }
    words.dedup();
    brief(&secrets.scrub(&words.join(": ")), 300)
}

async fn read(secrets: &Secrets, mut response: Response, url: &Url) -> Result<Outcome, reqwest::Error> {
    let status = response.status();
    if status.is_redirection() && status.as_u16() != 304 {
        return Ok(redirected(secrets, &response, url));
    }
    let (mut bytes, mut truncated) = (Vec::new(), false);
    while let Some(chunk) = response.chunk().await? {
        let room = (MOST_ANSWER + MARGIN).saturating_sub(bytes.len());
        bytes.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
        if chunk.len() > room {
            truncated = true;
            break;
        }
    }
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
