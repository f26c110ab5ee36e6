//! Slack's Web API: one call, its limits kept by method, its errors as what the owner can do about them.

use crate::channel::Trouble;
use crate::door::asked_wait;
use crate::platforms::calls::{
    ANSWER_BYTES, FILE_PATIENCE, PATIENCE, Waits, at, body, harmless, put, said, sent, waited,
};
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde_json::Value;
use std::time::Duration;

/// Rate limits: a wait where a 429 says none.
const UNTOLD: Duration = Duration::from_secs(30);
const SCOPES: &str = "x-oauth-scopes";

/// The two tokens of an app: the bot's (`xoxb-`) for the Web API, the app's own (`xapp-`) for Socket Mode alone.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum As {
    Bot,
    App,
}

pub struct Token {
    pub value: String,
    /// The variable it is in.
    pub variable: String,
}

pub struct Web {
    pub client: Client,
    pub base: String,
    pub bot: Token,
    pub app: Token,
    waits: Waits,
}

impl Web {
    pub fn new(client: Client, base: &str, bot: Token, app: Token) -> Self {
        Self { client, base: base.to_owned(), bot, app, waits: Waits::default() }
    }

    /// Whether Slack is the owner's own server on this machine.
    pub fn is_plain(&self) -> bool {
        self.base.starts_with("http://")
    }

    /// Calls a method that may be repeated.
    pub async fn ask(&self, method: &str, what: &[(&str, &str)]) -> Result<Value, Trouble> {
        self.call(As::Bot, method, what).await.map_err(harmless)
    }

    /// Reads, and waits out short limits.
    pub async fn read(&self, method: &str, what: &[(&str, &str)]) -> Result<Value, Trouble> {
        loop {
            let came = self.ask(method, what).await;
            if !waited(&came).await {
                return came;
            }
        }
    }

    /// Calls a method. `Doubtful`: it may have happened.
    pub async fn call(&self, by: As, method: &str, what: &[(&str, &str)]) -> Result<Value, Trouble> {
        self.waits.check(&[method])?;
        let token = if by == As::App { &self.app } else { &self.bot };
        let url = format!("{}/api/{method}", self.base);
        let request = self.client.post(url).bearer_auth(&token.value).form(what).timeout(PATIENCE);
        let answer = sent(request).await?;
        let (status, headers) = (answer.status(), answer.headers().clone());
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        if status == StatusCode::TOO_MANY_REQUESTS {
            let wait = asked_wait(&headers).unwrap_or(UNTOLD);
            self.waits.set(method, wait);
            return Err(Trouble::Slower(wait));
        }
        if !status.is_success() {
            return Err(Trouble::Doubtful(format!("slack.com: {status}")));
        }
        let read = body(answer, ANSWER_BYTES).await?;
        let mut told: Value = serde_json::from_slice(&read)
            .map_err(|_| Trouble::Doubtful(format!("slack.com answered {method} with no JSON")))?;
        if at(&told, "/ok") != true {
            return Err(refused(method, &told, token));
        }
        if let Some(scopes) = header(SCOPES) {
            put(&mut told, "scopes", scopes);
        }
        Ok(told)
    }

    /// Posts JSON to an address that Slack gave for one answer.
    pub async fn reply(&self, url: &str, what: &Value) -> Result<(), Trouble> {
        if !self.is_slacks(url) {
            return Err(Trouble::Refused("that press has no address of Slack's to answer".to_owned()));
        }
        done(self.client.post(url).json(what).timeout(PATIENCE)).await
    }

    /// Hands a file's bytes to the address that Slack gave for them.
    pub async fn upload(&self, url: &str, bytes: bytes::Bytes) -> Result<(), Trouble> {
        if !self.is_slacks(url) {
            return Err(Trouble::Away("Slack gave no address of its own for a file".to_owned()));
        }
        done(self.client.post(url).body(bytes).timeout(FILE_PATIENCE)).await
    }

    /// Asks for a private file: the token goes along, and so to Slack alone.
    pub async fn file(&self, url: &str) -> Result<Response, Trouble> {
        if !self.is_slacks(url) {
            return Err(Trouble::Refused("that file does not lie at Slack".to_owned()));
        }
        let request = self.client.get(url).bearer_auth(&self.bot.value).timeout(FILE_PATIENCE);
        sent(request).await.map_err(harmless)
    }

    /// Whether an address is Slack's: https below slack.com, or the owner's own server.
    fn is_slacks(&self, url: &str) -> bool {
        let (Ok(url), Ok(base)) = (reqwest::Url::parse(url), reqwest::Url::parse(&self.base)) else {
            return false;
        };
        let is_own = self.is_plain() && url.origin() == base.origin();
        let host = url.host_str().unwrap_or_default();
        is_own || (url.scheme() == "https" && (host == "slack.com" || host.ends_with(".slack.com")))
    }
}

async fn done(request: RequestBuilder) -> Result<(), Trouble> {
    let answer = sent(request).await.map_err(harmless)?;
    let status = answer.status();
    if status.is_success() { Ok(()) } else { Err(Trouble::Away(format!("slack.com: {status}"))) }
}

/// The errors of the methods' own pages ("Errors"), and what the owner can do about each.
fn refused(method: &str, told: &Value, token: &Token) -> Trouble {
    let error = at(told, "/error").as_str().unwrap_or("no error named");
    let variable = &token.variable;
    let there = "at api.slack.com/apps open your app";
    let advice = match error {
        "invalid_auth" | "not_authed" | "token_revoked" | "token_expired" | "account_inactive" => {
            return Trouble::Revoked(format!(
                "Slack does not take the token in {variable} ({error}): {there}, install it again, and write the token to .env as \
                 {variable}=TOKEN"
            ));
        }
        "not_allowed_token_type" => {
            return Trouble::Revoked(format!(
                "the token in {variable} is of another kind than Slack wants: the bot's begins with xoxb-, the app-level one \
                 with xapp-"
            ));
        }
        "missing_scope" => {
            let scope = said(at(told, "/needed").as_str().unwrap_or("unnamed"));
            let where_to = if scope == "connections:write" {
                "Basic Information, App-Level Tokens"
            } else {
                "OAuth & Permissions"
            };
            let why = format!(
                "Slack: the app lacks the scope {scope} for {method}: {there}, {where_to}, add it, and install again"
            );
            return if method.starts_with("chat.") || method == "apps.connections.open" {
                Trouble::Revoked(why)
            } else {
                Trouble::Refused(why)
            };
        }
        "ratelimited" | "rate_limited" | "message_limit_exceeded" => return Trouble::Slower(UNTOLD),
        "service_unavailable" | "team_added_to_org" | "org_login_required" | "accesslimited" => {
            return Trouble::Away(format!("Slack: {error}"));
        }
        // "It's possible some aspect of the operation succeeded before the error was raised."
        "internal_error" | "fatal_error" | "request_timeout" => {
            return Trouble::Doubtful(format!("Slack: {error}"));
        }
        "invalid_blocks" | "invalid_blocks_format" | "msg_blocks_too_long" => {
            return Trouble::Form(format!("Slack: {error}"));
        }
        "messages_tab_disabled" => {
            "at api.slack.com/apps open your app, App Home, and let users send messages to it"
        }
        "channel_not_found" | "not_in_channel" => "invite the app to that channel again: /invite there",
        "is_archived" | "is_inactive" => "that channel is archived",
        "restricted_action" | "restricted_action_read_only_channel" | "ekm_access_denied" => {
            "the workspace lets it not write there: ask its administrator"
        }
        "cant_update_message" | "edit_window_closed" | "message_not_found" => {
            "that message is not changed any more"
        }
        _ => "",
    };
    let stop = if advice.is_empty() { "" } else { "; " };
    Trouble::Refused(format!("Slack refuses {method}: {}{stop}{advice}", said(error)))
}
