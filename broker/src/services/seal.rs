//! Encrypts tokens learned by signing in, with a key derived from the owner's own token.
//!
//! So a reader of the broker's folder, where no wall hides it, learns nothing.
//! Invariant: data is returned only if it is intact, and sealed with the same owner's token for the same service.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom, SystemRandom};
use sha2::{Digest, Sha256};

/// The encrypted text for the disk; `None` if the system provides no random bytes.
pub fn close(owners: &str, service: &str, plain: Vec<u8>) -> Option<String> {
    let mut nonce = [0_u8; NONCE_LEN];
    SystemRandom::new().fill(&mut nonce).ok()?;
    let mut sealed = plain;
    let tagged = key(owners)?.seal_in_place_append_tag(
        Nonce::assume_unique_for_key(nonce),
        Aad::from(service),
        &mut sealed,
    );
    tagged.ok()?;
    Some(STANDARD.encode([nonce.as_slice(), &sealed].concat()))
}

/// Decrypts what `close` encrypted.
pub fn open(owners: &str, service: &str, sealed: &[u8]) -> Option<Vec<u8>> {
    let bytes = STANDARD.decode(sealed.trim_ascii()).ok()?;
    let (nonce, sealed) = bytes.split_at_checked(NONCE_LEN)?;
    let mut sealed = sealed.to_vec();
    let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
    let plain = key(owners)?.open_in_place(nonce, Aad::from(service), &mut sealed).ok()?;
    Some(plain.to_vec())
}

/// The owner's token is random enough for its hash to be a key.
fn key(owners: &str) -> Option<LessSafeKey> {
    let hash = Sha256::new().chain_update("feral sign-in\0").chain_update(owners).finalize();
    UnboundKey::new(&AES_256_GCM, &hash).ok().map(LessSafeKey::new)
}
