//! The words of a record: every text in its data, without keys, numbers and punctuation of JSON.

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// Bytes of a record's words that are indexed; the rest is in the record.
const MOST_WORDS: usize = 6_000;

/// A line of memory, as far as it is searched.
#[derive(Deserialize)]
pub(crate) struct Line<'a> {
    #[serde(borrow)]
    pub at: Cow<'a, str>,
    #[serde(borrow)]
    pub kind: Cow<'a, str>,
    pub data: Leaves,
}

/// Every text of a value, one after another.
#[derive(Default)]
pub(crate) struct Leaves(pub String);

impl Leaves {
    fn add(&mut self, more: &str) {
        let room = MOST_WORDS.saturating_sub(self.0.len());
        let Some(more) = more.get(..more.floor_char_boundary(room)).filter(|more| !more.is_empty()) else {
            return;
        };
        if !self.0.is_empty() {
            self.0.push(' ');
        }
        self.0.push_str(more);
    }
}

impl<'de> Deserialize<'de> for Leaves {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Gathering)
    }
}

struct Gathering;

impl<'de> Visitor<'de> for Gathering {
    type Value = Leaves;

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("any JSON")
    }

    fn visit_str<E>(self, text: &str) -> Result<Leaves, E> {
        let mut leaves = Leaves::default();
        leaves.add(text);
        Ok(leaves)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Leaves, A::Error> {
        let mut leaves = Leaves::default();
        while let Some(more) = list.next_element::<Leaves>()? {
            leaves.add(&more.0);
        }
        Ok(leaves)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Leaves, A::Error> {
        let mut leaves = Leaves::default();
        while let Some((_, more)) = map.next_entry::<IgnoredAny, Leaves>()? {
            leaves.add(&more.0);
        }
        Ok(leaves)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Leaves, E> {
        Ok(Leaves::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Leaves, E> {
        Ok(Leaves::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Leaves, E> {
        Ok(Leaves::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Leaves, E> {
        Ok(Leaves::default())
    }

    fn visit_unit<E>(self) -> Result<Leaves, E> {
        Ok(Leaves::default())
    }
}
