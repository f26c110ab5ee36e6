//! Beginnings of well-known secrets: the one table for striking them from texts and refusing them in settings.

/// The beginning of a kind of key or token, and where it counts.
struct Beginning {
    text: &'static str,
    /// Number of token characters that must follow before it is struck from a text; `None`: never struck.
    follow: Option<usize>,
    /// Whether settings with this beginning are refused.
    in_settings: bool,
}

const fn everywhere(text: &'static str, follow: usize) -> Beginning {
    Beginning { text, follow: Some(follow), in_settings: true }
}

/// Only for texts: in settings an ordinary word begins like this, or a shorter beginning is listed already.
const fn in_texts(text: &'static str, follow: usize) -> Beginning {
    Beginning { text, follow: Some(follow), in_settings: false }
}

/// Only for settings: in texts too many things that are no secret begin like this.
const fn in_settings(text: &'static str) -> Beginning {
    Beginning { text, follow: None, in_settings: true }
}

const BEGINNINGS: [Beginning; 33] = [
    everywhere("Bearer ", 20),
    in_texts("bearer ", 20),
    in_texts("Basic ", 16),
    everywhere("sk-", 20),
    in_settings("sk_"),
    in_texts("sk_live_", 16),
    in_settings("pk_"),
    in_settings("rk_"),
    in_texts("rk_live_", 16),
    everywhere("ghp_", 30),
    everywhere("gho_", 30),
    in_settings("ghs_"),
    in_settings("ghu_"),
    everywhere("github_pat_", 30),
    everywhere("glpat-", 16),
    everywhere("xoxb-", 16),
    everywhere("xoxp-", 16),
    in_settings("xapp-"),
    everywhere("AKIA", 16),
    in_settings("ASIA"),
    everywhere("AIza", 30),
    in_settings("ya29."),
    everywhere("hf_", 30),
    in_settings("npm_"),
    in_settings("eyJ"),
    everywhere("ghr_", 30),
    everywhere("xoxa-", 16),
    everywhere("pypi-", 30),
    in_texts("SG.", 30),
    everywhere("dop_v1_", 30),
    everywhere("AGE-SECRET-KEY-", 30),
    everywhere("whsec_", 20),
    in_settings("-----BEGIN"),
];

/// Beginning of a private key; texts lose all of it, to its end.
pub const KEY_BEGINS: &str = "-----BEGIN ";

/// For texts: the beginnings, and how many token characters must follow each.
pub fn of_texts() -> impl Iterator<Item = (&'static str, usize)> {
    BEGINNINGS.iter().filter_map(|beginning| Some((beginning.text, beginning.follow?)))
}

/// For settings: beginnings of values that belong in `.env`.
pub fn of_settings() -> impl Iterator<Item = &'static str> {
    BEGINNINGS.iter().filter(|beginning| beginning.in_settings).map(|beginning| beginning.text)
}
