//! The password: how long it is at least, how it is kept, and whether another one is it.

use anyhow::{Result, anyhow};
use argon2::password_hash::{PasswordHash, PasswordHasher, PasswordVerifier, SaltString};
use argon2::{Algorithm, Argon2, Params, Version};
use house::files;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// Letters of a password at least, and bytes at most: a hash is made of all of them.
pub const LEAST_CHARS: usize = 12;
pub const MOST_BYTES: usize = 1_024;
/// Argon2id by OWASP's Password Storage Cheat Sheet ("Argon2id": 19 MiB of memory, 2 iterations, 1 degree of
/// parallelism).
const MEMORY_KIB: u32 = 19 * 1_024;
const ITERATIONS: u32 = 2;
const LANES: u32 = 1;
/// Most memory that a hash which was kept may ask for.
const MOST_MEMORY_KIB: u32 = 256 * 1_024;

/// The password as it is kept.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Kept {
    /// In PHC's form.
    pub hash: String,
    pub since: String,
}

/// A hash that no password has, for when there is none: a guess then takes as long as with one.
static NOBODYS: LazyLock<String> = LazyLock::new(|| {
    files::random().and_then(|text| hashed(&house::printable::hex(&text))).unwrap_or_default()
});

/// Ok, or why this is no password to take.
pub fn judged(password: &str) -> Result<(), String> {
    let chars = password.chars().count();
    if chars < LEAST_CHARS {
        return Err(format!(
            "it has {chars} letters, and needs {LEAST_CHARS} at least: several words that only you put together are long and easy"
        ));
    }
    if password.len() > MOST_BYTES {
        return Err(format!("it has more than {MOST_BYTES} bytes"));
    }
    let mut letters: Vec<char> = password.chars().collect();
    letters.sort_unstable();
    letters.dedup();
    if letters.len() < 5 {
        return Err("it is the same few letters again and again".to_owned());
    }
    Ok(())
}

/// The hash of a password, by a salt of its own.
pub fn hashed(password: &str) -> Result<String> {
    let params =
        Params::new(MEMORY_KIB, ITERATIONS, LANES, None).map_err(|error| anyhow!("argon2: {error}"))?;
    let random = files::random()?;
    let salt = SaltString::encode_b64(random.get(..16).unwrap_or_default());
    let salt = salt.map_err(|error| anyhow!("argon2: {error}"))?;
    let argon = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    let hash = argon.hash_password(password.as_bytes(), &salt).map_err(|error| anyhow!("argon2: {error}"))?;
    Ok(hash.to_string())
}

/// Whether a guess is the password; it takes as long where there is none. Slow by intent: never on the thread that serves.
pub fn is(guess: &str, kept: &Kept) -> bool {
    let is_there = PasswordHash::new(&kept.hash).is_ok_and(|hash| is_bounded(&hash));
    let hash = if is_there { &kept.hash } else { &*NOBODYS };
    let Ok(hash) = PasswordHash::new(hash) else { return false };
    let is_it = Argon2::default().verify_password(guess.as_bytes(), &hash).is_ok();
    is_it && is_there && guess.len() <= MOST_BYTES
}

fn is_bounded(hash: &PasswordHash) -> bool {
    Params::try_from(hash).is_ok_and(|params| {
        params.m_cost() <= MOST_MEMORY_KIB && params.t_cost() <= 16 && params.p_cost() <= 4
    })
}
