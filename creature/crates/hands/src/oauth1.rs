//! OAuth 1.0a signatures (RFC 5849, HMAC-SHA1), as X wants them for posting as a user.

use crate::Error;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};

/// The two keys and two secrets of one app acting for one account.
#[derive(Clone, Copy, Debug)]
pub struct Keys<'a> {
    pub consumer_key: &'a str,
    pub consumer_secret: &'a str,
    pub token: &'a str,
    pub token_secret: &'a str,
}

/// The `Authorization` header for a request.
///
/// `url` is without its query; `query` holds the parameters of query and form, decoded. A JSON body is not signed.
pub fn authorization(
    keys: Keys<'_>,
    method: &str,
    url: &str,
    query: &[(&str, &str)],
    nonce: &str,
    timestamp_s: u64,
) -> String {
    let timestamp = timestamp_s.to_string();
    let mut own = vec![
        ("oauth_consumer_key", keys.consumer_key),
        ("oauth_nonce", nonce),
        ("oauth_signature_method", "HMAC-SHA1"),
        ("oauth_timestamp", &timestamp),
        ("oauth_token", keys.token),
        ("oauth_version", "1.0"),
    ];
    let signed = own.iter().chain(query).copied();
    let signature = signature(keys, method, url, signed);
    own.push(("oauth_signature", &signature));
    own.sort_unstable();
    let fields = own.iter().map(|(name, value)| format!("{}=\"{}\"", encode(name), encode(value)));
    format!("OAuth {}", fields.collect::<Vec<_>>().join(", "))
}

fn signature<'a>(
    keys: Keys<'_>,
    method: &str,
    url: &str,
    parameters: impl Iterator<Item = (&'a str, &'a str)>,
) -> String {
    // Sorted by their encoded form, which is not the order of the plain one.
    let mut pairs: Vec<_> = parameters.map(|(name, value)| (encode(name), encode(value))).collect();
    pairs.sort_unstable();
    let pairs = pairs.iter().map(|(name, value)| format!("{name}={value}"));
    let parameters = pairs.collect::<Vec<_>>().join("&");
    let base = format!("{}&{}&{}", method.to_ascii_uppercase(), encode(url), encode(&parameters));
    let key = format!("{}&{}", encode(keys.consumer_secret), encode(keys.token_secret));
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, key.as_bytes());
    STANDARD.encode(hmac::sign(&key, base.as_bytes()))
}

/// A value that no two requests share.
pub fn nonce() -> Result<String, Error> {
    let mut bytes = [0_u8; 16];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| Error::new("sign a request: the system gives no random bytes", "try again"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Percent-encodes everything but the unreserved characters of RFC 3986, in upper case.
pub fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}
