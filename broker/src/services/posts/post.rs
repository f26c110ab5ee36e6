//! Post as it is approved, made from a client's request: its texts, its pictures by digest, what it answers. Pure.

use super::network::Takes;
use crate::ground::refusal::{Refusal, Unfit};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use house::bounds::{NAME_CHARS, brief};
use house::printable::hex;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const MOST_PARTS: usize = 25;
/// Pictures of a part: X, `CreatePostsMedia`; Bluesky, `app.bsky.embed.images`.
const MOST_PICTURES: usize = 4;
/// Bytes of all pictures of a post.
const MOST_BYTES: usize = 20 << 20;
/// Characters of a picture's description: X, `CreateMediaMetadataMetadata`.
const MOST_ALT: usize = 1_000;

/// Beginnings of pictures that every network takes, by type.
const BEGINNINGS: [(&[u8], &str); 5] = [
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"RIFF", "image/webp"),
];

/// A post as the client asks for it.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Asked {
    pub service: String,
    pub parts: Vec<AskedPart>,
    pub in_reply_to: String,
    pub quote: String,
    pub reason: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct AskedPart {
    text: String,
    pictures: Vec<AskedPicture>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AskedPicture {
    name: String,
    alt: String,
    /// In base64.
    data: String,
}

/// A post as it is approved: the body of its act. One plain text looks as X itself takes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Post {
    #[serde(flatten)]
    pub first: Part,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub in_reply_to: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub quote: String,
    /// The parts after the first, each an answer to the one before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thread: Vec<Part>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Part {
    pub text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<Picture>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Picture {
    pub name: String,
    pub alt: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub bytes: usize,
    pub sha256: String,
}

/// A picture that was looked at, and its bytes.
pub type Looked = (Picture, Vec<u8>);

impl Asked {
    pub fn read(bytes: &[u8]) -> Result<Self, Refusal> {
        Refusal::reading(
            bytes,
            "{\"service\",\"parts\": [{\"text\",\"pictures\"}],\"in_reply_to\",\"quote\"}",
        )
    }
}

impl Post {
    pub fn parts(&self) -> impl ExactSizeIterator<Item = &Part> {
        std::iter::once(&self.first).chain(&self.thread).collect::<Vec<_>>().into_iter()
    }

    /// Fields that name people: the posts it answers and quotes, and its words, in which some may be called by name.
    pub fn whom(&self) -> Value {
        let words = self.parts().flat_map(|part| {
            std::iter::once(part.text.clone()).chain(part.pictures.iter().map(|picture| picture.alt.clone()))
        });
        json!({"text": words.collect::<Vec<_>>(), "in_reply_to": self.in_reply_to, "quote_tweet_id": self.quote})
    }

    /// The whole post for a reader.
    pub fn words(&self) -> String {
        let part = |part: &Part| {
            let pictures = part.pictures.iter().map(|picture| {
                let Picture { name, alt, kind, bytes, sha256 } = picture;
                format!("\n[picture {name}: {kind}, {bytes} bytes, sha256 {sha256}; described as {alt:?}]")
            });
            part.text.clone() + &pictures.collect::<String>()
        };
        self.parts().map(part).collect::<Vec<_>>().join("\n\n---\n\n")
    }
}

/// The post of a request, and its pictures with their bytes, if the network takes it.
pub fn judged(asked: &Asked, takes: &Takes) -> Result<(Post, Vec<Looked>), Unfit> {
    if !(1..=MOST_PARTS).contains(&asked.parts.len()) {
        let error = format!("a post has 1 to {MOST_PARTS} parts, and this has {}", asked.parts.len());
        return Err(Unfit::new(error, "make several posts of it"));
    }
    let name = |name: &str| match name.trim() {
        name if name.is_empty() || (takes.is_name)(name) => Ok(name.to_owned()),
        name => Err(Unfit::new(format!("{:?} names no post", brief(name, NAME_CHARS)), takes.name_is)),
    };
    let (in_reply_to, quote) = (name(&asked.in_reply_to)?, name(&asked.quote)?);
    let (mut parts, mut pictures) = (Vec::new(), Vec::new());
    for (at, part) in asked.parts.iter().enumerate() {
        let here = if asked.parts.len() > 1 { format!("part {}", at + 1) } else { "the post".to_owned() };
        let text = part.text.trim();
        if text.is_empty() && part.pictures.is_empty() {
            return Err(Unfit::new(format!("{here} is empty"), "write something"));
        }
        if let Some(what) = (takes.too_long)(text) {
            return Err(Unfit::new(format!("{here} {what}"), "cut it, or make it one part more of a thread"));
        }
        if part.pictures.len() > MOST_PICTURES {
            let error = format!("{here} has {} pictures, and {MOST_PICTURES} are taken", part.pictures.len());
            return Err(Unfit::new(error, "spread them over a thread"));
        }
        let looked: Vec<_> = part.pictures.iter().map(|one| picture(one, takes)).collect::<Result<_, _>>()?;
        if looked.len() > 1 && looked.iter().any(|(picture, _)| picture.kind == "image/gif") {
            return Err(Unfit::new(
                format!("{here} has a GIF beside others"),
                "a GIF stands alone in a part",
            ));
        }
        parts.push(Part {
            text: text.to_owned(),
            pictures: looked.iter().map(|(picture, _)| picture.clone()).collect(),
        });
        pictures.extend(looked);
    }
    if pictures.iter().map(|(picture, _)| picture.bytes).sum::<usize>() > MOST_BYTES {
        return Err(Unfit::new(format!("the pictures have more than {MOST_BYTES} bytes"), "scale them down"));
    }
    let mut parts = parts.into_iter();
    let first = parts.next().unwrap_or_default();
    if !(quote.is_empty() || first.pictures.is_empty() || takes.quotes_with_pictures) {
        let error = "the first part quotes and has pictures, and only one of both is taken";
        return Err(Unfit::new(error, "give the pictures to the next part"));
    }
    Ok((Post { first, in_reply_to, quote, thread: parts.collect() }, pictures))
}

/// A picture by its content, whatever it is called.
fn picture(asked: &AskedPicture, takes: &Takes) -> Result<Looked, Unfit> {
    let name = brief(&asked.name.split_whitespace().collect::<Vec<_>>().join(" "), NAME_CHARS);
    let unfit = |what: String, hint: &str| Err(Unfit::new(format!("the picture {name:?} {what}"), hint));
    let Ok(bytes) = STANDARD.decode(&asked.data) else {
        return unfit("is not in base64".to_owned(), "send its bytes in base64");
    };
    let found = BEGINNINGS.iter().find(|(begins, _)| bytes.starts_with(begins)).map(|(_, kind)| *kind);
    let Some(kind) = found.filter(|kind| *kind != "image/webp" || bytes.get(8..12) == Some(b"WEBP")) else {
        return unfit("is no PNG, JPEG, GIF or WebP".to_owned(), "convert it by a command");
    };
    if bytes.len() > takes.most_bytes {
        let most = takes.most_bytes;
        return unfit(
            format!("has {} bytes, and {most} are taken", bytes.len()),
            "scale it down by a command",
        );
    }
    let alt = asked.alt.trim().to_owned();
    if alt.chars().count() > MOST_ALT {
        return unfit(format!("is described in more than {MOST_ALT} characters"), "say it shorter");
    }
    let sha256 = hex(&Sha256::digest(&bytes));
    Ok((Picture { name, alt, kind: kind.to_owned(), bytes: bytes.len(), sha256 }, bytes))
}
