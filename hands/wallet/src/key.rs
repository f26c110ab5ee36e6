//! The wallet's key: in an encrypted file (Web3 Secret Storage, version 3), opened with a password from a variable.
//!
//! The form: https://ethereum.org/developers/docs/data-structures-and-encoding/web3-secret-storage

use crate::files;
use alloy_consensus::{SignableTransaction, TxEip1559};
use alloy_primitives::{Address, Signature};
use anyhow::{Context, Result, anyhow, bail, ensure};
use k256::ecdsa::SigningKey;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use zeroize::Zeroizing;

pub const FILE: &str = "key.json";
/// Variable that holds the password.
pub const PASSWORD: &str = "FERAL_WALLET_PASSWORD";
/// Fewest characters of a password, which guards the file where it is copied.
const FEWEST: usize = 12;

pub struct Key(SigningKey);

/// The password, from the variable.
pub fn password() -> Result<Zeroizing<String>> {
    let password = std::env::var(PASSWORD).ok().filter(|word| !word.is_empty());
    let password = password.with_context(|| {
        format!(
            "{PASSWORD} is not set: put a password into .env, and name the variable in `env` of the server"
        )
    })?;
    ensure!(password.chars().count() >= FEWEST, "{PASSWORD} has fewer than {FEWEST} characters");
    Ok(Zeroizing::new(password))
}

impl Key {
    /// Makes a new key and keeps it; fails where there is one.
    pub fn make(home: &Path, password: &str) -> Result<Self> {
        let key = SigningKey::random(&mut rand::rngs::OsRng);
        Self(key).kept(home, password)
    }

    /// Keeps a key that is 64 hexadecimal digits, or what another wallet exported as a key file of the same password.
    pub fn import(home: &Path, given: &str, password: &str) -> Result<Self> {
        let given = given.trim();
        if given.starts_with('{') {
            let (folder, file) = (home.join("importing"), "key.json");
            files::folder(&folder)?;
            files::replace(&folder.join(file), given, false)?;
            let key = Self::decrypted(&folder.join(file), password);
            std::fs::remove_dir_all(&folder).context("the copy that was read cannot be removed")?;
            return key?.kept(home, password);
        }
        let digits = given.strip_prefix("0x").unwrap_or(given);
        ensure!(digits.len() == 64, "a key is 64 hexadecimal digits, or a key file (version 3)");
        let bytes: Result<Vec<u8>, _> =
            (0..32).map(|at| u8::from_str_radix(digits.get(2 * at..2 * at + 2).unwrap_or("x"), 16)).collect();
        let bytes = Zeroizing::new(bytes.map_err(|_| anyhow!("a key is 64 hexadecimal digits"))?);
        let key = SigningKey::from_slice(&bytes).map_err(|_| anyhow!("these digits are no key"))?;
        Self(key).kept(home, password)
    }

    fn kept(self, home: &Path, password: &str) -> Result<Self> {
        files::folder(home)?;
        let path = home.join(FILE);
        if std::fs::symlink_metadata(&path).is_ok() {
            bail!("{} is there: a key is never written over; move it away first", path.display());
        }
        // The crate writes by itself, readable by whom the umask lets: so into a folder that nobody else can enter.
        let making = home.join("making");
        let _ = std::fs::remove_dir_all(&making);
        files::folder(&making)?;
        let bytes = Zeroizing::new(self.0.to_bytes().to_vec());
        let made = eth_keystore::encrypt_key(&making, &mut rand::rngs::OsRng, &*bytes, password, Some(FILE));
        made.map_err(|error| anyhow!("the key cannot be encrypted: {error}"))?;
        std::fs::set_permissions(making.join(FILE), std::fs::Permissions::from_mode(0o600))?;
        let text = files::text(&making.join(FILE))?.context("the key that was made is gone")?;
        let again = Self::decrypted(&making.join(FILE), password)?;
        ensure!(again.address() == self.address(), "the key that was made does not open again");
        files::replace(&path, &text, true)?;
        std::fs::remove_dir_all(&making).context("what was left of the making cannot be removed")?;
        Ok(self)
    }

    /// Opens the key; refuses a file that others can read.
    pub fn open(home: &Path, password: &str) -> Result<Self> {
        let path = home.join(FILE);
        let text = files::text(&path)?;
        ensure!(text.is_some(), "{} is missing: `feral-wallet new` makes one", path.display());
        Self::decrypted(&path, password)
    }

    fn decrypted(path: &Path, password: &str) -> Result<Self> {
        let bytes = eth_keystore::decrypt_key(path, password).map(Zeroizing::new);
        let bytes = bytes.map_err(|error| {
            if matches!(error, eth_keystore::KeystoreError::MacMismatch) {
                return anyhow!("the password does not open {}", path.display());
            }
            anyhow!("{} is no key file of version 3: {error}", path.display())
        })?;
        let key = SigningKey::from_slice(&bytes);
        Ok(Self(key.map_err(|_| anyhow!("{} holds no key", path.display()))?))
    }

    pub fn address(&self) -> Address {
        Address::from_public_key(self.0.verifying_key())
    }

    /// The transaction, signed: its bytes as they are sent, and its hash. The same each time.
    pub fn signed(&self, transaction: TxEip1559) -> Result<(Vec<u8>, String)> {
        use alloy_consensus::transaction::RlpEcdsaEncodableTx as _;
        let hash = transaction.signature_hash();
        let signature = self.0.sign_prehash_recoverable(hash.as_slice()).context("it cannot be signed")?;
        let signed = transaction.into_signed(Signature::from(signature));
        let mut bytes = Vec::new();
        signed.tx().eip2718_encode(signed.signature(), &mut bytes);
        Ok((bytes, signed.hash().to_string()))
    }
}
