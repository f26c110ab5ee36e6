//! The steward's words to the heart, over a socket of whole messages; and the heart's one answer, how long it heard nothing.
//!
//! Invariant: neither end waits for the other. A beat that does not fit is left out; what has to arrive is said again.

use anyhow::{Context, Result};
use ground::asked::Asked;
use ground::clock::Millis;
use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl};
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockType, getsockopt, recv, send, socketpair, sockopt,
};
use serde::{Deserialize, Serialize};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// Descriptor of the socket in the steward and the stand-in.
pub const DESCRIPTOR: RawFd = 3;
const VERSION: u32 = 1;
/// Largest message, in bytes; a larger one is no message.
const MOST_BYTES: usize = 64 << 10;

/// A word of the steward's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "snake_case")]
pub enum Said {
    /// A round of its loop begins; `leaves`: whether it has heard that the owner wants to leave.
    Round {
        leaves: bool,
    },
    /// A long step gets on.
    On,
    /// It waits for events.
    Waits {
        leaves: bool,
    },
    /// It has begun its work.
    Ready,
    /// A life began, or none runs: process 0.
    Life {
        number: u64,
        pid: i32,
    },
    Record(Record),
}

/// All that is needed to run a blessed version without the steward.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub walls: Asked,
    /// Time between a life's being asked to end and its being killed.
    pub grace_ms: Millis,
    /// Time a stand-in runs until the steward is tried again.
    pub parked_ms: Millis,
    /// Versions whose binary is kept and that are not fallen, the newest last.
    pub blessed: Vec<Version>,
}

/// A blessed version: its creature tree, the commit it is known by, and the SHA-256 of its kept binary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Version {
    pub tree: String,
    pub commit: String,
    pub sha256: String,
}

impl Record {
    /// The newest version on record.
    pub fn newest(&self) -> Option<&Version> {
        self.blessed.iter().rfind(|version| version.is_sound())
    }
}

impl Version {
    /// Whether these are names as git and SHA-256 have them, and no paths.
    fn is_sound(&self) -> bool {
        let is_hex =
            |text: &str| (7..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        [&self.tree, &self.commit, &self.sha256].into_iter().all(|text| is_hex(text))
    }
}

#[derive(Serialize, Deserialize)]
struct Message {
    version: u32,
    #[serde(flatten)]
    said: Said,
}

/// An end of the socket.
pub struct Line(OwnedFd);

impl Line {
    /// Makes both ends: the heart's, and the one that a keeper is given.
    pub fn pair() -> Result<(Self, OwnedFd)> {
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let pair = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, flags);
        let (ours, theirs) = pair.context("failed to make a socket")?;
        Ok((Self(ours), theirs))
    }

    /// Takes the end that the heart gave to this process; none where there is no such.
    pub fn inherited() -> Option<Self> {
        // SAFETY: only asked what it is; where it is no such socket, it is left to whoever opened it.
        #[allow(unsafe_code)]
        let end = unsafe { OwnedFd::from_raw_fd(DESCRIPTOR) };
        if getsockopt(&end, sockopt::SockType).ok() != Some(SockType::SeqPacket) {
            std::mem::forget(end);
            return None;
        }
        fcntl(&end, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC)).ok()?;
        fcntl(&end, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).ok()?;
        Some(Self(end))
    }

    /// Says something; false where it did not fit.
    pub fn say(&self, said: Said) -> bool {
        let bytes = serde_json::to_vec(&Message { version: VERSION, said }).unwrap_or_default();
        !bytes.is_empty() && bytes.len() <= MOST_BYTES && self.send(&bytes)
    }

    fn send(&self, bytes: &[u8]) -> bool {
        send(self.0.as_raw_fd(), bytes, MsgFlags::MSG_NOSIGNAL | MsgFlags::MSG_DONTWAIT).is_ok()
    }

    /// Returns all that was said, but what cannot be understood.
    pub fn hear(&self) -> Vec<Said> {
        let mut buffer = vec![0; MOST_BYTES];
        let heard = std::iter::from_fn(|| self.receive(&mut buffer).map(<[u8]>::to_vec));
        // Whoever floods is heard again in the next round.
        let heard = heard.take(1_024).filter_map(|bytes| serde_json::from_slice::<Message>(&bytes).ok());
        heard.filter(|message| message.version == VERSION).map(|message| message.said).collect()
    }

    fn receive<'a>(&self, buffer: &'a mut [u8]) -> Option<&'a [u8]> {
        let length =
            recv(self.0.as_raw_fd(), buffer, MsgFlags::MSG_DONTWAIT).ok().filter(|length| *length > 0)?;
        buffer.get(..length)
    }

    /// Tells the steward the longest time in which the heart heard nothing.
    pub fn tell_gap(&self, gap_ms: Millis) -> bool {
        self.send(&gap_ms.to_ne_bytes())
    }

    /// Returns what the heart told last, if it told anything since.
    pub fn told_gap(&self) -> Option<Millis> {
        let mut buffer = [0; size_of::<Millis>()];
        std::iter::from_fn(|| Some(Millis::from_ne_bytes(self.receive(&mut buffer)?.try_into().ok()?))).last()
    }
}

impl std::os::fd::AsFd for Line {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }
}
