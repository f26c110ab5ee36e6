//! Sign-in at a server's address by OAuth: asked for by the server, agreed to by the owner in a browser, renewed here.
//!
//! Invariant: a token goes to the address it was given for and to no other; nothing is asked of a host beyond the reach
//! of the address that the owner named; what is learned is on disk before it is used, and struck from answers.

pub mod begin;
pub mod calls;
pub mod kept;
pub mod leave;
pub mod redirect;
pub mod stage;
pub mod words;

use super::failure::Refused;
use crate::policy;
use crate::secrets::Secrets;
use calls::Calls;
use house::bounds::brief;
use kept::{Store, Stored};
use reqwest::Url;
use rmcp::transport::auth::{
    AuthClient, AuthError, AuthorizationManager, ClientCredentialsConfig, WWWAuthenticateParams,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// A token of the client itself is asked for anew this long before it ends.
const EARLY: Duration = Duration::from_secs(30);

/// Means of signing in at one server.
#[derive(Clone)]
pub struct SignIn {
    pub name: String,
    pub settings: policy::Mcp,
    pub secrets: Secrets,
    pub calls: Calls,
    pub store: Arc<Store>,
    /// Whether the server wanted a sign-in of the owner's.
    pub is_wanted: Arc<AtomicBool>,
}

/// A client that adds the token, and the time its session has to be opened anew by.
pub struct Signed {
    pub client: AuthClient<reqwest::Client>,
    pub ends: Option<Instant>,
}

impl SignIn {
    /// The same where there is no ledger: beside the broker that writes it.
    pub fn unrecorded(mut self) -> Self {
        self.calls.ledger = None;
        self
    }

    /// A client for a session: with the owner's sign-in, the client's own, or none yet.
    pub async fn client(&self, http: reqwest::Client) -> Result<Signed, String> {
        let url = Url::parse(&self.settings.url).map_err(|_| "its url is no address".to_owned())?;
        if self.settings.sign_in == "client" {
            return self.as_client(http).await;
        }
        let told = |error| words::told(&error, &self.calls);
        let grant = self.store.read()?.and_then(|kept| kept.grant);
        // Renewals name the resource that the sign-in was for.
        let resource = grant.as_ref().and_then(|grant| Url::parse(&grant.resource).ok()).unwrap_or(url);
        let mut manager = self.manager(resource).await?;
        if let Some(grant) = grant {
            manager.set_metadata(grant.metadata.clone());
            manager.configure_client(grant.client.config()).map_err(told)?;
            manager.set_credential_store(Stored(self.store.clone()));
        }
        Ok(Signed { client: AuthClient::new(http, manager), ends: None })
    }

    /// Signs in as the client that `client_id` names, with no owner at a browser.
    async fn as_client(&self, http: reqwest::Client) -> Result<Signed, String> {
        let told = |error: AuthError| words::told(&error, &self.calls);
        let secret = self.secret()?.ok_or("client_secret_env names no variable that is set in .env")?;
        let url = Url::parse(&self.settings.url).map_err(|_| "its url is no address".to_owned())?;
        let mut manager = self.manager(url).await?;
        let found = begin::discovered(&manager, &begin::challenge(self).await?, &self.calls).await?;
        manager.set_metadata(found);
        let scopes = match self.settings.scopes.as_slice() {
            [] => manager.select_initial_scopes(&[]).await,
            scopes => scopes.to_vec(),
        };
        let config = ClientCredentialsConfig::ClientSecret {
            client_id: self.settings.client_id.clone(),
            client_secret: secret,
            scopes,
            resource: Some(self.settings.url.clone()),
        };
        manager.validate_client_credentials_metadata(&config).map_err(told)?;
        manager.configure_client_credentials(&config).map_err(told)?;
        let token = manager.exchange_client_credentials(&config).await.map_err(told)?;
        kept::know(&self.secrets, &token);
        let ends = kept::lifetime(&token).map(|life| Instant::now() + life.saturating_sub(EARLY));
        Ok(Signed { client: AuthClient::new(http, manager), ends })
    }

    async fn manager(&self, base: Url) -> Result<AuthorizationManager, String> {
        let manager = AuthorizationManager::new_with_oauth_http_client(base, Arc::new(self.calls.clone()));
        manager.await.map_err(|error| words::told(&error, &self.calls))
    }

    /// The secret of the client that the owner registered, if it has one.
    fn secret(&self) -> Result<Option<String>, String> {
        match self.settings.client_secret_env.as_str() {
            "" => Ok(None),
            name => match self.secrets.get(name) {
                Some(secret) => Ok(Some(secret)),
                None => Err(format!("{name} is not set in .env")),
            },
        }
    }

    /// Notes what a server wants of the owner, and says it.
    pub fn wanted(&self, refused: &Refused) -> String {
        let (Refused::SignIn(challenge) | Refused::Scope(challenge)) = refused;
        if let Err(error) = self.store.refused(challenge) {
            tracing::warn!("what MCP server {} asks for is not noted: {error}", self.name);
        }
        let name = &self.name;
        if self.settings.sign_in == "client" {
            return "it does not take the sign-in of client_id and client_secret_env".to_owned();
        }
        self.is_wanted.store(true, Ordering::Release);
        match refused {
            Refused::Scope(challenge) => {
                let scope =
                    WWWAuthenticateParams::parse(challenge, &self.calls.base).scope.unwrap_or_default();
                let scope = brief(&house::printable::flat(&scope), 200);
                format!(
                    "it wants more than was agreed to ({scope}); the owner agrees with: feral mcp sign-in {name}"
                )
            }
            Refused::SignIn(_) if self.store.signed_at().is_some() => {
                format!("its sign-in has ended; the owner signs in again with: feral mcp sign-in {name}")
            }
            Refused::SignIn(_) => format!("it wants a sign-in of the owner's: feral mcp sign-in {name}"),
        }
    }
}
