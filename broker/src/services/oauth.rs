//! Authenticates calls: keys, passwords, signatures, and OAuth 2 tokens, which are renewed.
//!
//! Invariant: a refresh token is on disk before it is used, and the former one stays until then; one caller renews a
//! token while others wait; every token learned is scrubbed from then on.

use crate::approvals::act::Call;
use crate::approvals::outcome::Outcome;
use crate::ground::encoding;
use crate::ground::files;
use crate::ground::refusal::Unfit;
use crate::handles::Handles;
use crate::ledger::Entry;
use crate::net;
use crate::policy::{Auth, Service};
use crate::services::oauth1;
use crate::services::seal;
use crate::services::upstream;
use anyhow::Context;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use house::House;
use house::bounds::brief;
use house::mutex::lock;
use house::printable::hex;
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use reqwest::{RequestBuilder, Url};
use ring::rand::{SecureRandom, SystemRandom};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A token is renewed this long before it expires, in milliseconds.
const EARLY_MS: i64 = 60_000;
/// Assumed lifetime of a token, if the service does not say.
const USUAL_LIFE_S: i64 = 3_600;
/// After a refusal no renewal is tried for this long, in milliseconds.
const COOL_MS: i64 = 30_000;
const DEADLINE: Duration = Duration::from_secs(20);
/// Most bytes of an answer with tokens.
const MOST_ANSWER: usize = 256 << 10;

type Proof = Vec<(HeaderName, HeaderValue)>;

/// The current tokens by service, and what renewing them needs.
pub struct SignIns {
    handles: Arc<Handles>,
    slots: Mutex<BTreeMap<String, Arc<tokio::sync::Mutex<Option<Kept>>>>>,
    refused: Mutex<BTreeMap<String, (i64, Unfit)>>,
}

/// Tokens of a sign-in, as kept in memory and on disk.
#[derive(Clone, Serialize, Deserialize)]
struct Kept {
    refresh_token: String,
    /// Fingerprint of the owner's refresh token that this came from: if the owner sets a new one, that one is used.
    from: String,
    access_token: String,
    ends_ms: i64,
}

#[derive(Deserialize)]
struct Told {
    #[serde(alias = "accessJwt")]
    access_token: String,
    #[serde(alias = "refreshJwt")]
    refresh_token: Option<String>,
    expires_in: Option<i64>,
}

impl SignIns {
    pub fn new(handles: Arc<Handles>) -> Self {
        Self { handles, slots: Mutex::default(), refused: Mutex::default() }
    }

    /// The headers that authenticate a call; `stale` is an OAuth 2 token that the service rejected.
    pub async fn proof(
        &self,
        name: &str,
        service: &Service,
        call: &Call,
        stale: Option<&str>,
    ) -> Result<Proof, Unfit> {
        let key = |variable: &str| self.secret(name, variable);
        let (header, value) = match &service.auth {
            Auth::None => return Ok(Vec::new()),
            Auth::Bearer { token_env } => (AUTHORIZATION, format!("Bearer {}", key(token_env)?)),
            Auth::Header { header, value_env } => {
                let named = HeaderName::try_from(header.as_str()).map_err(|_| unusable(name))?;
                (named, key(value_env)?)
            }
            Auth::Basic { user_env, password_env } => {
                let pair = STANDARD.encode(format!("{}:{}", key(user_env)?, key(password_env)?));
                self.handles.secrets.know(&pair);
                (AUTHORIZATION, format!("Basic {pair}"))
            }
            Auth::OAuth1 { key_env, secret_env, token_env, token_secret_env } => {
                let keys = [key(key_env)?, key(secret_env)?, key(token_env)?, key(token_secret_env)?];
                (AUTHORIZATION, self.signed(call, &keys)?)
            }
            Auth::OAuth2 { .. } | Auth::AtProto { .. } => {
                (AUTHORIZATION, format!("Bearer {}", self.token(name, service, stale).await?))
            }
        };
        let mut value = HeaderValue::from_str(&value).map_err(|_| unusable(name))?;
        value.set_sensitive(true);
        Ok(vec![(header, value)])
    }

    fn secret(&self, name: &str, variable: &str) -> Result<String, Unfit> {
        self.handles.secrets.get(variable).ok_or_else(|| {
            let hint = "the owner sets it in the environment or .env and restarts";
            Unfit::new(format!("{name} has no key: {variable} is not set"), hint)
        })
    }

    fn signed(&self, call: &Call, keys: &[String; 4]) -> Result<String, Unfit> {
        let [consumer_key, consumer_secret, token, token_secret] = keys;
        let (url, query) = call.url.split_once('?').unwrap_or((&call.url, ""));
        let mut parameters = encoding::pairs(query)?;
        let form = |(name, value): &(String, String)| {
            name == "content-type" && value.starts_with("application/x-www-form-urlencoded")
        };
        if call.headers.iter().any(form) {
            parameters.extend(encoding::pairs(&call.body)?);
        }
        let credentials = oauth1::Credentials { consumer_key, consumer_secret, token, token_secret };
        let now = self.handles.clock.now().as_second();
        Ok(oauth1::authorization(credentials, &call.method, url, &parameters, &nonce()?, now))
    }

    /// A token that should be valid: the current one, or a new one.
    async fn token(&self, name: &str, service: &Service, stale: Option<&str>) -> Result<String, Unfit> {
        let (Auth::OAuth2 { refresh_token_env: given, .. } | Auth::AtProto { password_env: given, .. }) =
            &service.auth
        else {
            return Err(unusable(name));
        };
        let given = self.secret(name, given)?;
        let slot = {
            let mut slots = lock(&self.slots);
            slots.entry(name.to_owned()).or_default().clone()
        };
        // One caller renews; those who waited use the result.
        let mut held = slot.lock().await;
        let from = hex(&Sha256::digest(given.as_bytes()));
        if held.is_none() {
            *held = self.read_kept(name, &given).filter(|kept| kept.from == from);
        }
        let now = self.handles.clock.now().as_millisecond();
        if let Some(kept) = held.as_ref()
            && kept.ends_ms - EARLY_MS > now
            && stale.is_none_or(|stale| stale != kept.access_token)
        {
            return Ok(kept.access_token.clone());
        }
        if let Some(refused) = self.cooling(name, now) {
            return Err(refused);
        }
        let mut candidates: Vec<String> = held.iter().map(|kept| kept.refresh_token.clone()).collect();
        candidates.push(given.clone());
        candidates.dedup();
        let mut last = unusable(name);
        for refresh_token in candidates {
            match self.renew(name, service, &refresh_token).await {
                Ok(told) => {
                    let kept = Kept {
                        refresh_token: told.refresh_token.unwrap_or(refresh_token),
                        from,
                        access_token: told.access_token,
                        ends_ms: now + told.expires_in.unwrap_or(USUAL_LIFE_S).clamp(1, 31_536_000) * 1_000,
                    };
                    self.handles.secrets.know(&kept.refresh_token);
                    self.handles.secrets.know(&kept.access_token);
                    self.write_kept(name, &given, &kept);
                    let token = kept.access_token.clone();
                    *held = Some(kept);
                    return Ok(token);
                }
                Err((unfit, another_may_do)) => {
                    last = unfit;
                    if !another_may_do {
                        break;
                    }
                }
            }
        }
        let mut refused = lock(&self.refused);
        refused.insert(name.to_owned(), (now, last.clone()));
        Err(last)
    }

    fn cooling(&self, name: &str, now: i64) -> Option<Unfit> {
        let refused = lock(&self.refused);
        let (at, unfit) = refused.get(name)?;
        (*at..at + COOL_MS).contains(&now).then(|| unfit.clone())
    }

    fn read_kept(&self, name: &str, owners: &str) -> Option<Kept> {
        let bytes = files::read_small(&kept_at(&self.handles.house, name)).unwrap_or_else(|error| {
            tracing::warn!("the sign-in of {name} starts from the owner's token: {error:#}");
            None
        })?;
        let kept: Kept = serde_json::from_slice(&seal::open(owners, name, &bytes)?).ok()?;
        self.handles.secrets.know(&kept.refresh_token);
        self.handles.secrets.know(&kept.access_token);
        Some(kept)
    }

    fn write_kept(&self, name: &str, owners: &str, kept: &Kept) {
        let sealed = seal::close(owners, name, serde_json::to_vec(kept).unwrap_or_default());
        let sealed = sealed.context("the system gives no random bytes");
        let written = sealed
            .and_then(|text| files::replace_secret(&kept_at(&self.handles.house, name), text.as_bytes()));
        if let Err(error) = written {
            // The old token is spent already, so going on with the new one in memory is the only way.
            tracing::error!("the sign-in of {name} lasts until the broker ends: {error:#}");
        }
    }

    /// The request for a new token. A session of the AT protocol is renewed by its refresh token and no body at all, and
    /// begun by handle and app password (`com.atproto.server.refreshSession`, `createSession`).
    fn renewal(
        &self,
        name: &str,
        service: &Service,
        refresh_token: &str,
    ) -> Result<(Url, RequestBuilder), Unfit> {
        let client = |url: &Url| {
            let client = self.handles.outward.within(url, service.allow_private)?;
            Ok(client.post(url.clone()).header("accept", "application/json"))
        };
        if let Auth::AtProto { handle_env, password_env } = &service.auth {
            let at = |method: &str| {
                let url =
                    upstream::address(&service.base_url, &format!("/xrpc/com.atproto.server.{method}"), &[])?;
                client(&url).map(|request| (url, request))
            };
            let password = self.secret(name, password_env)?;
            if refresh_token != password {
                return at("refreshSession").map(|(url, request)| (url, request.bearer_auth(refresh_token)));
            }
            let who = json!({"identifier": self.secret(name, handle_env)?.trim_start_matches('@'), "password": password});
            return at("createSession").map(|(url, request)| (url, request.json(&who)));
        }
        let Auth::OAuth2 { token_url, client_id_env, client_secret_env, scope, .. } = &service.auth else {
            return Err(unusable(name));
        };
        let url = Url::parse(token_url);
        let url =
            url.map_err(|_| Unfit::new(format!("token_url of {name} is no address"), "the owner mends it"))?;
        let client_id = self.secret(name, client_id_env)?;
        let mut form = vec![("grant_type", "refresh_token"), ("refresh_token", refresh_token)];
        if !scope.is_empty() {
            form.push(("scope", scope));
        }
        let mut request = client(&url)?;
        if client_secret_env.is_empty() {
            form.push(("client_id", &client_id));
        } else {
            let secret = self.secret(name, client_secret_env)?;
            request = request.basic_auth(encoding::escaped(&client_id), Some(encoding::escaped(&secret)));
        }
        let request = request.form(&form);
        Ok((url, request))
    }

    /// Requests a new token; the error also says whether another refresh token may succeed.
    async fn renew(&self, name: &str, service: &Service, refresh_token: &str) -> Result<Told, (Unfit, bool)> {
        let failed = |what: &str, hint: &str| {
            (Unfit::new(format!("failed to sign in to {name} anew: {what}"), hint), false)
        };
        let (url, request) = self.renewal(name, service, refresh_token).map_err(|unfit| (unfit, false))?;
        let closed = |_| failed("the ledger cannot be written", "the owner has to look at it");
        self.handles.ledger.append(entry(name, &url)).await.map_err(closed)?;
        let exchange = async {
            let (mut response, mut bytes) = (request.send().await?, Vec::new());
            net::read_most(&mut response, MOST_ANSWER, &mut bytes).await?;
            Ok::<_, reqwest::Error>((response.status(), bytes))
        };
        let (status, bytes) = match tokio::time::timeout(DEADLINE, exchange).await {
            Ok(Ok(answered)) => answered,
            Ok(Err(_)) => return Err(failed("its sign-in cannot be reached", "try again later")),
            Err(_) => return Err(failed("its sign-in took too long", "try again later")),
        };
        if status.is_success()
            && let Ok(told) = serde_json::from_slice::<Told>(&bytes)
        {
            return Ok(told);
        }
        // A successful answer that cannot be parsed may contain an unknown token, so it is not quoted.
        let quoted =
            if status.is_success() { "what is no token".into() } else { String::from_utf8_lossy(&bytes) };
        let said = brief(&self.handles.secrets.scrub(&quoted), 200);
        let hint = "the owner has to sign in again and set the new refresh token, or app password";
        let (unfit, _) = failed(&format!("it answered {} {said}", status.as_u16()), hint);
        Err((unfit, status.is_client_error()))
    }
}

/// Whether a call was refused for its token alone; servers of the AT protocol say so by 400 (its specification, "HTTP API").
pub fn rejects_token(outcome: &Outcome) -> bool {
    let Outcome::Answered(answer) = outcome else { return false };
    let said = |name: &str| answer.body.contains(&format!("\"error\":\"{name}\""));
    answer.status == 401 || answer.status == 400 && (said("ExpiredToken") || said("InvalidToken"))
}

/// The token in the headers of a call, where it can be renewed.
pub fn token_of(service: &Service, proof: &Proof) -> Option<String> {
    if !matches!(service.auth, Auth::OAuth2 { .. } | Auth::AtProto { .. }) {
        return None;
    }
    let value = proof.first().and_then(|(_, value)| value.to_str().ok())?;
    value.strip_prefix("Bearer ").map(str::to_owned)
}

fn unusable(name: &str) -> Unfit {
    Unfit::new(format!("the key of {name} cannot be sent as a header"), "the owner has to look at it")
}

/// Random bytes in hex, two characters each.
pub fn nonce() -> Result<String, Unfit> {
    let mut bytes = [0_u8; 16];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| Unfit::new("the system gives no random bytes", "try again"))?;
    Ok(hex(&bytes))
}

/// File of the tokens learned for a service.
fn kept_at(house: &House, service: &str) -> PathBuf {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    let name: String = service.chars().map(|letter| if plain(letter) { letter } else { '.' }).collect();
    house.broker().join(format!("oauth2-{name}.json"))
}

/// The ledger's line of a sign-in that is renewed at an address.
pub(super) fn entry(name: &str, url: &Url) -> Entry {
    Entry {
        event: "call".to_owned(),
        service: name.to_owned(),
        method: "POST".to_owned(),
        path: url.path().to_owned(),
        decision: "sign in anew".to_owned(),
        ..Entry::default()
    }
}
