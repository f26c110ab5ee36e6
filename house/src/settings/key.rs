//! A setting: its name, its shape, its default and one line of meaning, all from one declaration.
//!
//! `section!` turns one list into the typed values, their defaults, and the keys that `judge` and `table` go by.

use super::forms::Form;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// A setting, or a section of settings.
pub struct Key {
    pub name: &'static str,
    /// Meaning in a line, for the owner.
    pub meaning: &'static str,
    pub shape: Shape,
    /// Its default as JSON, given the key's name.
    pub default: fn(&str) -> Value,
}

/// The most a whole number of TOML can be.
pub const WITHOUT_END: u64 = i64::MAX as u64;

/// Values that a key may hold.
pub enum Shape {
    Flag,
    /// A whole number between least and most; beyond them it is a mistake.
    Count(u64, u64),
    /// A whole number between least and most; beyond them the nearest bound is taken, and the owner is told.
    Clamped(u64, u64),
    /// A number between least and most.
    Amount(f64, f64),
    /// Any of these words.
    Word(&'static [&'static str]),
    /// Any of these words, or a name of the section named here.
    WordOr(&'static [&'static str], &'static str),
    Text(Form),
    List(&'static Shape),
    Table(&'static [Key]),
    /// A table whose keys are names the owner chooses, each with the same shape.
    Names(Form, &'static Shape),
    /// A table whose keys depend on the word at the key named here.
    Kinds(&'static str, &'static [(&'static str, &'static [Key])]),
    /// A shape that cannot be left out.
    Needed(&'static Shape),
    /// Anything: checked elsewhere.
    Any,
}

impl Key {
    pub fn needed(&self) -> bool {
        matches!(self.shape, Shape::Needed(_))
    }
}

impl Shape {
    /// Whether it is written as a section, with a header in brackets.
    pub fn is_section(&self) -> bool {
        match self {
            Self::Needed(shape) => shape.is_section(),
            Self::Table(_) | Self::Names(..) => true,
            Self::Flag
            | Self::Count(..)
            | Self::Clamped(..)
            | Self::Amount(..)
            | Self::Word(_)
            | Self::WordOr(..)
            | Self::Text(_)
            | Self::List(_)
            | Self::Kinds(..)
            | Self::Any => false,
        }
    }
}

/// Declares a section, a line for each key: `name: type = default, shape;` under a comment with its meaning.
/// `name("written"): …` where the file calls it otherwise; `name("written", with seconds): …` for seconds kept as
/// milliseconds.
macro_rules! section {
    ($(#[doc = $about:literal])+ $type:ident {
        $($(#[doc = $meaning:literal])+ $key:ident $(($written:literal $(, $with:ident seconds)?))?: $value:ty = $default:expr, $shape:expr;)*
    }) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default)]
        pub struct $type {
            $($(#[doc = $meaning])+
            $(#[serde(rename = $written $(, $with = "crate::settings::key::in_seconds")?)])?
            pub $key: $value,)*
        }

        impl Default for $type {
            fn default() -> Self {
                Self { $($key: $default),* }
            }
        }

        impl $type {
            pub const KEYS: &[crate::settings::key::Key] = &[$(crate::settings::key::Key {
                name: crate::settings::key::written(&[stringify!($key), $($written)?]),
                meaning: concat!($($meaning),+),
                shape: $shape,
                default: crate::settings::key::default_of::<Self>,
            }),*];
        }
    };
}
pub(crate) use section;

/// The default of a key of a section.
pub fn default_of<T: Default + Serialize>(name: &str) -> Value {
    let section = serde_json::to_value(T::default()).unwrap_or_default();
    section.get(name).cloned().unwrap_or_default()
}

/// A key's name in the file: the last of the names given.
pub const fn written(names: &[&'static str]) -> &'static str {
    match names {
        [.., name] => name,
        [] => "",
    }
}

/// Durations: seconds in the file, milliseconds in the program.
pub mod in_seconds {
    use super::{Deserialize, Deserializer, Serializer};
    use crate::clock::Millis;

    pub fn serialize<S: Serializer>(millis: &Millis, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_f64(*millis as f64 / 1_000.0)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Millis, D::Error> {
        Ok((f64::deserialize(from)? * 1_000.0) as Millis)
    }
}
