//! Services that exist as soon as their keys are set: `search`, `x` and `bluesky`; a section of that name replaces one.

use crate::policy::{Auth, Policy, Rule, Service, Verdict};
use crate::secrets::keys::Keys;
use crate::services::posts::network;
use std::collections::BTreeMap;

const BRAVE: &str = "https://api.search.brave.com";
const BRAVE_KEY: &str = "BRAVE_API_KEY";
const X: &str = "https://api.x.com";
/// Bluesky's own entry to the servers of its accounts.
const BLUESKY: &str = "https://bsky.social";
const ABOUT_BLUESKY: &str = "Bluesky (XRPC) as the owner's account: GET /xrpc/app.bsky.feed.getTimeline or \
    getPostThread?uri=…; posts go by x.post; POST /xrpc/com.atproto.repo.deleteRecord {repo, collection, rkey} deletes one";
/// Posts an hour without approval.
const POSTS_PER_HOUR: u32 = 10;
/// Searches an hour: more could use up a month's plan in a day.
const SEARCHES_PER_HOUR: u32 = 120;

/// Every service there is, by name.
pub fn services(policy: &Policy, keys: &Keys) -> BTreeMap<String, Service> {
    let found =
        [("search", search(policy, keys)), ("x", x(policy, keys)), ("bluesky", bluesky(policy, keys))];
    let found = found.into_iter().filter_map(|(name, service)| Some((name.to_owned(), service?)));
    found.chain(policy.services.clone()).collect()
}

fn rule(method: &str, path: &str, verdict: Verdict, per_hour: Option<u32>) -> Rule {
    Rule { method: method.to_owned(), path: path.to_owned(), verdict, per_hour }
}

fn search(policy: &Policy, keys: &Keys) -> Option<Service> {
    let settings = &policy.search;
    let base =
        |usual: &str| if settings.base_url.is_empty() { usual.to_owned() } else { settings.base_url.clone() };
    let service = |base_url: String, path: &str, auth: Auth| Service {
        // The owner chose this address, so it may be private.
        allow_private: !settings.base_url.is_empty(),
        base_url,
        about: format!("web search by {}", settings.provider),
        auth,
        rules: vec![rule("GET", path, Verdict::Allow, Some(SEARCHES_PER_HOUR))],
        untrusted: true,
    };
    match settings.provider.as_str() {
        "brave" => {
            let key_env = if settings.key_env.is_empty() { BRAVE_KEY } else { &settings.key_env };
            keys.get(key_env)?;
            let auth =
                Auth::Header { header: "X-Subscription-Token".to_owned(), value_env: key_env.to_owned() };
            Some(service(base(BRAVE), "/res/v1/**", auth))
        }
        "searxng" if !settings.base_url.is_empty() => Some(service(base(""), "/search", Auth::None)),
        _ => None,
    }
}

fn x(policy: &Policy, keys: &Keys) -> Option<Service> {
    let four = ["X_API_KEY", "X_API_SECRET", "X_ACCESS_TOKEN", "X_ACCESS_TOKEN_SECRET"];
    let auth = if four.iter().all(|name| keys.get(name).is_some()) {
        let [key_env, secret_env, token_env, token_secret_env] = four.map(str::to_owned);
        Auth::OAuth1 { key_env, secret_env, token_env, token_secret_env }
    } else {
        keys.get("X_USER_TOKEN")?;
        Auth::Bearer { token_env: "X_USER_TOKEN".to_owned() }
    };
    let given = policy.x.base_url.trim();
    Some(Service {
        base_url: if given.is_empty() { X } else { given }.to_owned(),
        about: "X (formerly Twitter), API v2, as the owner's account".to_owned(),
        auth,
        rules: vec![
            rule("GET", "/2/**", Verdict::Allow, None),
            rule("POST", "/2/tweets", Verdict::Allow, Some(POSTS_PER_HOUR)),
            rule("*", "/**", Verdict::Ask, None),
        ],
        untrusted: true,
        allow_private: !given.is_empty(),
    })
}

fn bluesky(policy: &Policy, keys: &Keys) -> Option<Service> {
    let [handle_env, password_env] = ["BLUESKY_HANDLE", "BLUESKY_APP_PASSWORD"].map(str::to_owned);
    keys.get(&handle_env).and(keys.get(&password_env))?;
    let given = policy.bluesky.base_url.trim();
    let looks = ["/xrpc/app.bsky.*", "/xrpc/com.atproto.repo.*", "/xrpc/com.atproto.identity.*"];
    let looks = looks.map(|path| rule("GET", path, Verdict::Allow, None));
    let posts = rule("POST", network::BLUESKY.path, Verdict::Allow, Some(POSTS_PER_HOUR));
    Some(Service {
        base_url: if given.is_empty() { BLUESKY } else { given }.to_owned(),
        about: ABOUT_BLUESKY.to_owned(),
        auth: Auth::AtProto { handle_env, password_env },
        rules: looks.into_iter().chain([posts, rule("*", "/**", Verdict::Ask, None)]).collect(),
        untrusted: true,
        allow_private: !given.is_empty(),
    })
}
