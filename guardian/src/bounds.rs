//! Bounds: texts of others cut short, JSON read as far as there is room, documents written so that their readers take them.

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;

/// What a value takes in memory beside its text, in bytes.
const VALUE_BYTES: usize = 128;
/// The longest text that is read whole, in bytes.
const TEXT_BYTES: usize = 64 << 10;
/// What is shorter is never cut: names, numbers of commits, times.
const SHORT_BYTES: usize = 512;

/// The first so many characters of a text.
pub fn brief(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// A document as text of at most so many bytes. Of its lists the largest loses what is oldest, down to the newest; then
/// the longest text is halved, and again.
pub fn fitted(mut document: Value, most: usize, write: impl Fn(&Value) -> String) -> String {
    loop {
        let text = write(&document);
        if text.len() <= most || !(forget_oldest(&mut document) || cut_longest(&mut document)) {
            return text;
        }
    }
}

fn forget_oldest(document: &mut Value) -> bool {
    let fields = document.as_object_mut().into_iter().flatten();
    let lists = fields.filter_map(|(_, value)| value.as_array_mut()).filter(|list| list.len() > 1);
    let largest = lists.max_by_key(|list| list.iter().map(|value| value.to_string().len()).sum::<usize>());
    largest.map(|list| list.remove(0)).is_some()
}

fn cut_longest(document: &mut Value) -> bool {
    let Some(text) = longest(document).filter(|text| text.len() > SHORT_BYTES) else { return false };
    text.truncate(text.floor_char_boundary(text.len() / 2));
    text.push('…');
    true
}

fn longest(value: &mut Value) -> Option<&mut String> {
    match value {
        Value::String(text) => Some(text),
        Value::Array(list) => list.iter_mut().filter_map(longest).max_by_key(|text| text.len()),
        Value::Object(fields) => fields.values_mut().filter_map(longest).max_by_key(|text| text.len()),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// A document of others', in about so many bytes of memory: what there is no room for is left out.
pub fn read(bytes: &[u8], room: usize) -> Option<Value> {
    let mut room = room;
    let mut source = serde_json::Deserializer::from_slice(bytes);
    let document = Within(&mut room).deserialize(&mut source).ok()?;
    source.end().ok()?;
    Some(document)
}

/// As much of a value as this room holds.
struct Within<'a>(&'a mut usize);

impl Within<'_> {
    fn has_room(&mut self) -> bool {
        let left = self.0.checked_sub(VALUE_BYTES);
        *self.0 = left.unwrap_or(0);
        left.is_some()
    }
}

impl<'de> DeserializeSeed<'de> for Within<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Value, D::Error> {
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Within<'_> {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        let whole = text.floor_char_boundary(TEXT_BYTES.min(*self.0));
        *self.0 -= whole;
        Ok(text.get(..whole).unwrap_or_default().into())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut source: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while self.has_room() {
            let Some(value) = source.next_element_seed(Within(self.0))? else { return Ok(list.into()) };
            list.push(value);
        }
        while source.next_element::<IgnoredAny>()?.is_some() {}
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut source: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        while self.has_room() {
            let Some(name) = source.next_key_seed(Within(self.0))? else { return Ok(fields.into()) };
            let value = source.next_value_seed(Within(self.0))?;
            fields.insert(name.as_str().unwrap_or_default().to_owned(), value);
        }
        while source.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(fields.into())
    }
}
