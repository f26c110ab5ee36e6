//! A sign-in by the owner, from what the server said to the address to open, and from the way back to tokens.

use super::SignIn;
use super::calls::Calls;
use super::kept::{Client, Grant};
use super::redirect::IsOurs;
use super::words;
use crate::ground::clock::Clock;
use crate::ground::hosts;
use house::bounds::brief;
use reqwest::Url;
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, CredentialStore, InMemoryCredentialStore,
    WWWAuthenticateParams,
};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

const DEADLINE: Duration = Duration::from_secs(20);
/// Our name where we register ourselves.
const OUR_NAME: &str = "Feral";

/// A sign-in that waits for the owner.
pub struct Begun {
    manager: AuthorizationManager,
    memory: InMemoryCredentialStore,
    calls: Calls,
    metadata: AuthorizationMetadata,
    client: Client,
    resource: String,
    state: String,
    /// To be opened in a browser.
    pub address: Url,
    /// Scopes that are asked for.
    pub scopes: Vec<String>,
}

/// Finds out who signs one in, who we are there and what to ask for.
pub async fn begin(sign_in: &SignIn, redirect: &str) -> Result<Begun, String> {
    let told = |error: AuthError| words::told(&error, &sign_in.calls);
    let base = sign_in.calls.base.clone();
    let mut manager = sign_in.manager(base.clone()).await?;
    let challenge = challenge(sign_in).await?;
    let metadata = discovered(&manager, &challenge, &sign_in.calls).await?;
    let is_safe = |methods: &Vec<String>| methods.iter().any(|method| method == "S256");
    if !metadata.code_challenge_methods_supported.as_ref().is_some_and(is_safe) {
        return Err(words::NO_PKCE.to_owned());
    }
    let at = Url::parse(&metadata.authorization_endpoint);
    sign_in.calls.client(&at.map_err(|_| "its page for signing in is no address".to_owned())?)?;
    manager.set_metadata(metadata.clone());
    let kept = sign_in.store.read()?.and_then(|kept| kept.grant);
    let scopes = scopes(sign_in, &manager, &challenge, kept.as_ref()).await;
    let client = client(sign_in, &mut manager, &metadata, redirect, &scopes, kept).await?;
    manager.configure_client(client.config()).map_err(told)?;
    let memory = InMemoryCredentialStore::new();
    manager.set_credential_store(memory.clone());
    let asked: Vec<&str> = scopes.iter().map(String::as_str).collect();
    let address = manager.get_authorization_url(&asked).await.map_err(told)?;
    let address = Url::parse(&address).map_err(|error| error.to_string())?;
    let of =
        |name: &str| address.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    let (state, resource) = (of("state").unwrap_or_default(), of("resource").unwrap_or_default());
    let calls = sign_in.calls.clone();
    Ok(Begun { manager, memory, calls, metadata, client, resource, state, address, scopes })
}

/// Words of the server when it last refused us, else those it has now.
pub async fn challenge(sign_in: &SignIn) -> Result<String, String> {
    let kept = sign_in.store.read()?.map(|kept| kept.challenge).unwrap_or_default();
    if !kept.is_empty() {
        return Ok(kept);
    }
    let url = &sign_in.calls.base;
    let asked = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "feral", "version": env!("CARGO_PKG_VERSION")},
    }});
    let asked = sign_in.calls.outward.client(url).post(url.clone()).json(&asked);
    let asked = asked.header("accept", "application/json, text/event-stream").timeout(DEADLINE).send();
    let answer = asked
        .await
        .map_err(|error| format!("{} cannot be reached: {}", hosts::host(url), crate::net::told(&error)))?;
    let said = answer.headers().get("www-authenticate").and_then(|said| said.to_str().ok());
    Ok(said.unwrap_or_default().to_owned())
}

/// The metadata of the authorization server, as the server or its address leads to it.
pub async fn discovered(
    manager: &AuthorizationManager,
    challenge: &str,
    calls: &Calls,
) -> Result<AuthorizationMetadata, String> {
    let said = Some(challenge).filter(|said| !said.is_empty());
    let found = manager.resolve_metadata_from_challenge(said).await;
    let found = found.map_err(|error| {
        if let AuthError::AuthorizationServerMismatch { expected_issuer, received_issuer } = &error {
            return format!(
                "what {expected_issuer} says of itself is of {received_issuer}, so it is not used"
            );
        }
        words::told(&error, calls)
    })?;
    match found.source.is_discovered() {
        true => Ok(found.metadata),
        false => Err(calls.refused().unwrap_or_else(|| words::NO_METADATA.to_owned())),
    }
}

/// The owner's scopes, else those that the server asks for; with those that were agreed to before, where it wants more.
async fn scopes(
    sign_in: &SignIn,
    manager: &AuthorizationManager,
    challenge: &str,
    kept: Option<&Grant>,
) -> Vec<String> {
    if !sign_in.settings.scopes.is_empty() {
        return sign_in.settings.scopes.clone();
    }
    let mut scopes = manager.select_initial_scopes(&[]).await;
    if WWWAuthenticateParams::parse(challenge, &sign_in.calls.base).is_insufficient_scope() {
        let before = kept.into_iter().flat_map(|grant| &grant.credentials.granted_scopes);
        let before: Vec<String> = before.filter(|scope| !scopes.contains(scope)).cloned().collect();
        scopes.extend(before);
    }
    scopes
}

/// The client that the owner registered, else ours from before at the same place, else one registered now.
async fn client(
    sign_in: &SignIn,
    manager: &mut AuthorizationManager,
    metadata: &AuthorizationMetadata,
    redirect: &str,
    scopes: &[String],
    kept: Option<Grant>,
) -> Result<Client, String> {
    let redirect = redirect.to_owned();
    if !sign_in.settings.client_id.is_empty() {
        return Ok(Client { id: sign_in.settings.client_id.clone(), secret: sign_in.secret()?, redirect });
    }
    let same = |grant: &Grant| grant.metadata.issuer == metadata.issuer && grant.client.redirect == redirect;
    if let Some(grant) = kept.filter(same) {
        return Ok(grant.client);
    }
    if metadata.registration_endpoint.is_none() {
        return Err(format!(
            "it takes no client that it does not know: register one there by hand, with the address {redirect}, and put \
             its id into client_id of [mcp.{}]",
            sign_in.name
        ));
    }
    let asked: Vec<&str> = scopes.iter().map(String::as_str).collect();
    let registered = manager.register_client(OUR_NAME, &redirect, &asked).await;
    let registered = registered.map_err(|error| words::told(&error, &sign_in.calls))?;
    registered.client_secret.iter().for_each(|secret| sign_in.secrets.know(secret));
    Ok(Client { id: registered.client_id, secret: registered.client_secret, redirect })
}

impl Begun {
    /// Tells whether a way back belongs to this sign-in.
    pub fn ours(&self) -> IsOurs {
        let state = self.state.clone();
        Arc::new(move |back| {
            back.query_pairs().any(|(name, value)| name == "state" && value == state.as_str())
        })
    }

    /// Exchanges what the way back brings for tokens.
    pub async fn finish(self, back: &Url) -> Result<Grant, String> {
        let of =
            |name: &str| back.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
        let issuer = of("iss");
        let Some(code) = of("code") else {
            let said =
                [of("error"), of("error_description")].into_iter().flatten().collect::<Vec<_>>().join(": ");
            return Err(format!("you were sent back with {:?}", brief(&house::printable::flat(&said), 200)));
        };
        let told = |error: AuthError| words::told(&error, &self.calls);
        let exchanged =
            self.manager.exchange_code_for_token_with_issuer(&code, &self.state, issuer.as_deref()).await;
        exchanged.map_err(told)?;
        let credentials = self.memory.load().await.map_err(told)?.ok_or("no token came")?;
        Ok(Grant {
            at_ms: Clock::default().now().as_millisecond(),
            resource: self.resource,
            metadata: self.metadata,
            client: self.client,
            credentials,
        })
    }
}

/// Says what the owner agreed to.
pub fn agreed(grant: &Grant) -> String {
    let issuer = grant.metadata.issuer.as_deref().unwrap_or_default();
    let at = Url::parse(issuer).map(|url| hosts::host(&url)).unwrap_or_default();
    match grant.credentials.granted_scopes.as_slice() {
        [] => format!("by {at}; it did not say for what"),
        scopes => format!("by {at}, for: {}", brief(&house::printable::flat(&scopes.join(" ")), 500)),
    }
}
