//! Sign-ins on disk, a file a server: who we are there, the tokens, and what the server last asked for.
//!
//! Two processes write it, the broker and the owner's sign-in: each under a lock from before it reads until it has
//! written.

use crate::ground::files;
use crate::secrets::Secrets;
use async_trait::async_trait;
use house::House;
use house::bounds::brief;
use house::mutex::lock;
use rmcp::transport::auth::{
    AuthError, AuthorizationMetadata, CredentialRefreshGuard, CredentialStore, OAuthClientConfig,
    OAuthTokenResponse, StoredCredentials,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Most characters kept of a server's words when it refuses.
const MOST_CHALLENGE: usize = 4_096;
/// The other process may be renewing a token, which takes twenty seconds at most.
pub const MOST_TRIES: u32 = 1_500;
const BETWEEN_TRIES: Duration = Duration::from_millis(20);

/// Knowledge of the sign-in at one server.
#[derive(Clone, Serialize, Deserialize)]
pub struct Kept {
    /// The address it is for; the owner may name another since.
    pub url: String,
    /// The last `WWW-Authenticate` of the server.
    #[serde(default)]
    pub challenge: String,
    #[serde(default)]
    pub grant: Option<Grant>,
}

/// Everything that the owner's sign-in gave.
#[derive(Clone, Serialize, Deserialize)]
pub struct Grant {
    /// When the owner signed in, in milliseconds: it tells this sign-in from another.
    pub at_ms: i64,
    pub resource: String,
    pub metadata: AuthorizationMetadata,
    pub client: Client,
    pub credentials: StoredCredentials,
}

/// Identity that we have at the authorization server.
#[derive(Clone, Serialize, Deserialize)]
pub struct Client {
    pub id: String,
    #[serde(default)]
    pub secret: Option<String>,
    pub redirect: String,
}

impl Client {
    pub fn config(&self) -> OAuthClientConfig {
        let config = OAuthClientConfig::new(self.id.clone(), self.redirect.clone());
        match &self.secret {
            Some(secret) => config.with_client_secret(secret.clone()),
            None => config,
        }
    }
}

/// The file of one server.
pub struct Store {
    path: PathBuf,
    url: String,
    secrets: Secrets,
    seen: Mutex<Option<(Option<files::Mark>, Option<Kept>)>>,
}

impl Store {
    pub fn open(house: &House, name: &str, url: &str, secrets: Secrets) -> Self {
        let path = house.broker().join("sign-ins").join(format!("{name}.json"));
        let store = Self { path, url: url.to_owned(), secrets, seen: Mutex::default() };
        // From now on no answer tells its tokens.
        if let Err(error) = store.read() {
            tracing::warn!("{error}");
        }
        store
    }

    /// Returns what is kept for the address that the owner names now.
    pub fn read(&self) -> Result<Option<Kept>, String> {
        let mark = files::mark(&self.path);
        let mut seen = lock(&self.seen);
        if let Some((at, kept)) = seen.as_ref()
            && *at == mark
        {
            return Ok(kept.clone());
        }
        let kept = self.read_anew()?;
        *seen = Some((mark, kept.clone()));
        Ok(kept)
    }

    fn read_anew(&self) -> Result<Option<Kept>, String> {
        Ok(self.any()?.filter(|kept| kept.url == self.url))
    }

    /// Returns what is kept, for whatever address.
    pub fn any(&self) -> Result<Option<Kept>, String> {
        let unread = |error: String| {
            format!(
                "{} cannot be read; where it is moved away, the owner signs in anew: {error}",
                self.path.display()
            )
        };
        let Some(bytes) = files::read_small(&self.path).map_err(|error| unread(format!("{error:#}")))? else {
            return Ok(None);
        };
        let kept: Kept = serde_json::from_slice(&bytes).map_err(|error| unread(error.to_string()))?;
        if let Some(grant) = &kept.grant {
            grant.client.secret.iter().for_each(|secret| self.secrets.know(secret));
            grant.credentials.token_response.iter().for_each(|token| know(&self.secrets, token));
        }
        Ok(Some(kept))
    }

    /// Which sign-in is kept, if any.
    pub fn signed_at(&self) -> Option<i64> {
        self.read().ok().flatten().and_then(|kept| kept.grant).map(|grant| grant.at_ms)
    }

    /// The file's lock, held while it is read and written anew; tried so many times.
    pub fn hold(&self, tries: u32) -> Result<File, String> {
        let failed = |error: String| format!("{} cannot be locked: {error}", self.path.display());
        let open = || {
            std::fs::create_dir_all(self.path.parent().unwrap_or(Path::new(".")))?;
            files::open_lock(&self.path.with_extension("lock"))
        };
        let file = open().map_err(|error| failed(error.to_string()))?;
        for _ in 1..tries {
            if file.try_lock().is_ok() {
                return Ok(file);
            }
            std::thread::sleep(BETWEEN_TRIES);
        }
        file.try_lock().map_err(|error| failed(error.to_string()))?;
        Ok(file)
    }

    /// Writes it, by a caller that holds the file.
    pub fn write(&self, kept: &Kept) -> Result<(), String> {
        let bytes = serde_json::to_vec(kept).map_err(|error| error.to_string())?;
        files::replace_secret(&self.path, &bytes).map_err(|error| format!("{error:#}"))
    }

    /// Whether anything is kept, readable or not.
    pub fn is_there(&self) -> bool {
        std::fs::symlink_metadata(&self.path).is_ok()
    }

    /// Removes it, by a caller that holds the file.
    pub fn forget(&self) -> Result<(), String> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let removed = std::fs::remove_file(&self.path).and_then(|()| house::files::sync_folder(folder));
        removed.map_err(|error| format!("{}: {error}", self.path.display()))
    }

    /// Notes what the server said when it refused.
    pub fn refused(&self, challenge: &str) -> Result<(), String> {
        let challenge = brief(challenge, MOST_CHALLENGE);
        let fresh = Kept { url: self.url.clone(), challenge: String::new(), grant: None };
        if self.read()?.is_some_and(|kept| kept.challenge == challenge) {
            return Ok(());
        }
        let _held = self.hold(1)?;
        let kept = self.read_anew()?.unwrap_or(fresh);
        self.write(&Kept { challenge, ..kept })
    }

    /// Takes what the owner's sign-in gave.
    pub fn signed_in(&self, grant: Grant) -> Result<(), String> {
        let _held = self.hold(MOST_TRIES)?;
        self.write(&Kept { url: self.url.clone(), challenge: String::new(), grant: Some(grant) })
    }
}

/// Strikes a token's secrets from all texts from now on.
pub fn know(secrets: &Secrets, token: &OAuthTokenResponse) {
    let told = serde_json::to_value(token).unwrap_or_default();
    let named = ["access_token", "refresh_token", "id_token"].map(|name| told.get(name));
    named.iter().flatten().filter_map(|value| value.as_str()).for_each(|value| secrets.know(value));
}

/// How long a token lasts, if its giver said.
pub fn lifetime(token: &OAuthTokenResponse) -> Option<Duration> {
    let told = serde_json::to_value(token).unwrap_or_default();
    told.get("expires_in").and_then(Value::as_u64).map(Duration::from_secs)
}

/// The tokens of a sign-in, as the protocol's client reads and renews them.
pub struct Stored(pub Arc<Store>);

fn store_error(error: String) -> AuthError {
    AuthError::CredentialStoreError(error)
}

#[async_trait]
impl CredentialStore for Stored {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        Ok(self.0.read().map_err(store_error)?.and_then(|kept| kept.grant).map(|grant| grant.credentials))
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        credentials.token_response.iter().for_each(|token| know(&self.0.secrets, token));
        let Some(mut kept) = self.0.read_anew().map_err(store_error)? else { return Ok(()) };
        if let Some(grant) = &mut kept.grant {
            grant.credentials = credentials;
        }
        self.0.write(&kept).map_err(store_error)
    }

    /// Forgets the tokens, and not who we are there.
    async fn clear(&self) -> Result<(), AuthError> {
        let Some(mut kept) = self.0.read_anew().map_err(store_error)? else { return Ok(()) };
        if let Some(grant) = &mut kept.grant {
            grant.credentials.token_response = None;
        }
        self.0.write(&kept).map_err(store_error)
    }

    /// Called under the guard: what was rejected is not offered again.
    async fn on_refresh_token_rejected(&self, _: &StoredCredentials) -> Result<(), AuthError> {
        self.clear().await
    }

    async fn acquire_refresh_guard(&self) -> Result<Option<CredentialRefreshGuard>, AuthError> {
        let store = self.0.clone();
        let held = tokio::task::spawn_blocking(move || store.hold(MOST_TRIES)).await;
        let held = held.map_err(|error| store_error(error.to_string()))?.map_err(store_error)?;
        Ok(Some(CredentialRefreshGuard::new(held)))
    }
}
