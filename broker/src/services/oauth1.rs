//! OAuth 1.0a signatures (RFC 5849, HMAC-SHA1), as X wants them for posting as a user.

use crate::ground::encoding::escaped;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;

/// The two keys and two secrets of one app acting for one account.
#[derive(Clone, Copy)]
pub struct Credentials<'a> {
    pub consumer_key: &'a str,
    pub consumer_secret: &'a str,
    pub token: &'a str,
    pub token_secret: &'a str,
}

/// The `Authorization` header for a request.
///
/// `url` is without its query; `parameters` are those of query and form, decoded. A JSON body is not signed.
pub fn authorization(
    secrets: Credentials<'_>,
    method: &str,
    url: &str,
    parameters: &[(String, String)],
    nonce: &str,
    timestamp_s: i64,
) -> String {
    let timestamp = timestamp_s.to_string();
    let mut own = vec![
        ("oauth_consumer_key", secrets.consumer_key),
        ("oauth_nonce", nonce),
        ("oauth_signature_method", "HMAC-SHA1"),
        ("oauth_timestamp", &timestamp),
        ("oauth_token", secrets.token),
        ("oauth_version", "1.0"),
    ];
    let given = parameters.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let signature = signature(secrets, method, url, own.iter().copied().chain(given));
    own.push(("oauth_signature", &signature));
    own.sort_unstable();
    let fields = own.iter().map(|(name, value)| format!("{}=\"{}\"", escaped(name), escaped(value)));
    format!("OAuth {}", fields.collect::<Vec<_>>().join(", "))
}

fn signature<'a>(
    secrets: Credentials<'_>,
    method: &str,
    url: &str,
    parameters: impl Iterator<Item = (&'a str, &'a str)>,
) -> String {
    // Sorted by their encoded form, whose order may differ from the plain one.
    let mut pairs: Vec<_> = parameters.map(|(name, value)| (escaped(name), escaped(value))).collect();
    pairs.sort_unstable();
    let pairs = pairs.iter().map(|(name, value)| format!("{name}={value}"));
    let parameters = pairs.collect::<Vec<_>>().join("&");
    let base = format!("{}&{}&{}", method.to_ascii_uppercase(), escaped(url), escaped(&parameters));
    let key = format!("{}&{}", escaped(secrets.consumer_secret), escaped(secrets.token_secret));
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, key.as_bytes());
    STANDARD.encode(hmac::sign(&key, base.as_bytes()))
}
