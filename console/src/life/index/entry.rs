//! A single thing as the index keeps it on disk: 32 bytes that say when, what, how long, and where its record stands.

/// What an entry is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Thought,
    /// A reply of the mind's that could not be read.
    Garbled,
    Act,
    ActFailed,
    /// A call that was paid for: for the owner's words, and of the creature's own accord.
    Money,
    MoneyOwn,
}

impl Kind {
    pub const ALL: [Kind; 6] =
        [Kind::Thought, Kind::Garbled, Kind::Act, Kind::ActFailed, Kind::Money, Kind::MoneyOwn];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// When it was on record, in milliseconds since the epoch; it began `length_ms` before.
    pub at_ms: u64,
    /// Where its record begins in its file.
    pub offset: u64,
    /// The number of the thought it is or belongs to; 0 where there is none.
    pub number: u32,
    /// A thought's tokens, the text of an act's tool, millionths of a dollar.
    pub value: u32,
    pub length_ms: u32,
    pub file: u16,
    pub kind: Kind,
}

pub const ENTRY_BYTES: usize = 32;

impl Entry {
    pub fn begun_ms(&self) -> u64 {
        self.at_ms.saturating_sub(u64::from(self.length_ms))
    }

    pub fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.at_ms.to_le_bytes());
        out.extend_from_slice(&self.offset.to_le_bytes());
        out.extend_from_slice(&self.number.to_le_bytes());
        out.extend_from_slice(&self.value.to_le_bytes());
        out.extend_from_slice(&self.length_ms.to_le_bytes());
        out.extend_from_slice(&self.file.to_le_bytes());
        out.extend_from_slice(&[self.kind as u8, 0]);
    }

    pub fn take(bytes: &[u8; ENTRY_BYTES]) -> Option<Self> {
        let [
            a,
            b,
            c,
            d,
            e,
            f,
            g,
            h,
            i,
            j,
            k,
            l,
            m,
            n,
            o,
            p,
            q,
            r,
            s,
            t,
            u,
            v,
            w,
            x,
            y,
            z,
            a2,
            b2,
            c2,
            d2,
            kind,
            _,
        ] = *bytes;
        Some(Self {
            at_ms: u64::from_le_bytes([a, b, c, d, e, f, g, h]),
            offset: u64::from_le_bytes([i, j, k, l, m, n, o, p]),
            number: u32::from_le_bytes([q, r, s, t]),
            value: u32::from_le_bytes([u, v, w, x]),
            length_ms: u32::from_le_bytes([y, z, a2, b2]),
            file: u16::from_le_bytes([c2, d2]),
            kind: *Kind::ALL.get(usize::from(kind))?,
        })
    }
}
