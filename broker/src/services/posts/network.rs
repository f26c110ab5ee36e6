//! The networks that take posts: a row each of its counts and bounds.

use super::length;
use crate::policy::{Auth, Service};

/// Records that are posts on Bluesky.
pub const COLLECTION: &str = "app.bsky.feed.post";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    X,
    Bluesky,
}

/// The limits of a network, and how posts are named there.
pub struct Takes {
    /// The path that rules judge a post by.
    pub path: &'static str,
    /// Tells what is too long about a text, if something is.
    pub too_long: fn(&str) -> Option<String>,
    /// Bytes of a picture.
    pub most_bytes: usize,
    /// Whether a text names a post there.
    pub is_name: fn(&str) -> bool,
    pub name_is: &'static str,
    /// Whether a part may quote and hold pictures.
    pub quotes_with_pictures: bool,
    /// Whether a part that is sent twice is one post.
    pub holds_once: bool,
}

/// X API v2, `POST /2/tweets`: ids by the pattern of `CreatePostsReply`; pictures by "Media best practices"; "You can only
/// provide one of poll or quote_tweet_id or … media", as X's own playground answers.
const X: Takes = Takes {
    path: "/2/tweets",
    too_long: length::for_x,
    most_bytes: 5_000_000,
    is_name: |name| (1..=19).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_digit()),
    name_is: "a post on X is named by the number at the end of its address",
    quotes_with_pictures: false,
    holds_once: false,
};

/// Lexicons `app.bsky.feed.post` and `app.bsky.embed.images`. The path is that of no method, so that the rule of posts
/// allows no other record.
pub const BLUESKY: Takes = Takes {
    path: "/xrpc/app.bsky.feed.post",
    too_long: length::for_bluesky,
    most_bytes: 2_000_000,
    is_name: |name| parts_of(name).is_some(),
    name_is: "a post on Bluesky is named at://did:…/app.bsky.feed.post/…, as its `uri` says",
    quotes_with_pictures: true,
    holds_once: true,
};

impl Network {
    /// The network that a service is, by how it signs in or what it is called.
    pub fn of(name: &str, service: &Service) -> Option<Self> {
        if matches!(service.auth, Auth::AtProto { .. }) {
            return Some(Self::Bluesky);
        }
        (name == "x").then_some(Self::X)
    }

    pub fn takes(self) -> &'static Takes {
        match self {
            Self::X => &X,
            Self::Bluesky => &BLUESKY,
        }
    }
}

/// Account and key of `at://account/app.bsky.feed.post/key`.
pub fn parts_of(uri: &str) -> Option<(&str, &str)> {
    let (account, rest) = uri.strip_prefix("at://")?.split_once('/')?;
    let key = rest.strip_prefix(COLLECTION)?.strip_prefix('/')?;
    let plain = |text: &str| {
        (1..=512).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_:~".contains(&byte))
    };
    (plain(account) && plain(key)).then_some((account, key))
}
