//! Bytes of the saved index: numbers, texts and lists written one after another, and read within bounds.

use std::collections::BTreeMap;

/// A type that can be written as bytes and read back; `None` where the bytes do not fit it.
pub trait Kept: Sized {
    fn put(&self, out: &mut Vec<u8>);
    fn take(from: &mut &[u8]) -> Option<Self>;
}

/// The bytes of a struct are those of its fields, in the order they are named in.
macro_rules! kept {
    ($name:ty { $($field:ident),* $(,)? }) => {
        impl $crate::life::index::bytes::Kept for $name {
            fn put(&self, out: &mut Vec<u8>) {
                $($crate::life::index::bytes::Kept::put(&self.$field, out);)*
            }
            fn take(from: &mut &[u8]) -> Option<Self> {
                Some(Self { $($field: $crate::life::index::bytes::Kept::take(from)?),* })
            }
        }
    };
}

/// The bytes of an enum without fields are its place in `ALL`.
macro_rules! kept_by_place {
    ($name:ty) => {
        impl $crate::life::index::bytes::Kept for $name {
            fn put(&self, out: &mut Vec<u8>) {
                out.push(*self as u8);
            }
            fn take(from: &mut &[u8]) -> Option<Self> {
                let place = <u8 as $crate::life::index::bytes::Kept>::take(from)?;
                Self::ALL.get(usize::from(place)).copied()
            }
        }
    };
}

macro_rules! kept_numbers {
    ($($number:ty),*) => {
        $(impl Kept for $number {
            fn put(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
            fn take(from: &mut &[u8]) -> Option<Self> {
                let (number, rest) = from.split_first_chunk()?;
                *from = rest;
                Some(<$number>::from_le_bytes(*number))
            }
        })*
    };
}

kept_numbers!(u8, u16, u32, u64);
pub(crate) use {kept, kept_by_place};

impl Kept for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        u8::take(from).map(|byte| byte != 0)
    }
}

impl Kept for String {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u64).put(out);
        out.extend_from_slice(self.as_bytes());
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let length = usize::try_from(u64::take(from)?).ok()?;
        let (text, rest) = from.split_at_checked(length)?;
        *from = rest;
        std::str::from_utf8(text).ok().map(str::to_owned)
    }
}

impl<T: Kept> Kept for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        self.iter().for_each(|one| one.put(out));
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        Some(if bool::take(from)? { Some(T::take(from)?) } else { None })
    }
}

impl<T: Kept> Kept for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u64).put(out);
        self.iter().for_each(|one| one.put(out));
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let count = u64::take(from)?;
        // No room is made by what the bytes claim: they may be damaged.
        (0..count).map(|_| T::take(from)).collect()
    }
}

impl<A: Kept, B: Kept> Kept for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        Some((A::take(from)?, B::take(from)?))
    }
}

impl<K: Kept + Ord, V: Kept> Kept for BTreeMap<K, V> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u64).put(out);
        for (key, value) in self {
            key.put(out);
            value.put(out);
        }
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let count = u64::take(from)?;
        (0..count).map(|_| <(K, V)>::take(from)).collect()
    }
}

/// A sum over bytes by which damage is noticed; eight at once, for it is reckoned over whatever is drawn.
pub fn sum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mix = |sum: u64, word: u64| (sum ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(29);
    let begun = mix(0xcbf2_9ce4_8422_2325, bytes.len() as u64);
    let sum = words.iter().fold(begun, |sum, word| mix(sum, u64::from_le_bytes(*word)));
    rest.iter().fold(sum, |sum, byte| mix(sum, u64::from(*byte)))
}
