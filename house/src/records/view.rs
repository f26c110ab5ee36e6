//! Views of a record: fields by name and type, read where they are asked for; all other fields stay in the record.

use serde_json::Value;

/// A type that a field is read as; `None` where the value is of another.
pub trait Field<'a>: Sized {
    fn read(value: &'a Value) -> Option<Self>;
}

/// A field; empty where it is not there or of another type.
pub fn field<'a, T: Field<'a> + Default>(of: &'a Value, name: &str) -> T {
    of.get(name).and_then(T::read).unwrap_or_default()
}

macro_rules! fields {
    ($($type:ty: |$value:ident| $read:expr;)*) => {
        $(impl<'a> Field<'a> for $type {
            fn read($value: &'a Value) -> Option<Self> {
                $read
            }
        })*
    };
}

fields! {
    &'a str: |value| value.as_str();
    bool: |value| value.as_bool();
    u64: |value| value.as_u64();
    i64: |value| value.as_i64();
    f64: |value| value.as_f64();
    &'a [Value]: |value| value.as_array().map(Vec::as_slice);
    Vec<&'a str>: |value| Some(value.as_array()?.iter().filter_map(Value::as_str).collect());
    // A null stands for a field that is not there.
    &'a Value: |value| (!value.is_null()).then_some(value);
}

impl<'a, T: Field<'a>> Field<'a> for Option<T> {
    fn read(value: &'a Value) -> Option<Self> {
        Some(T::read(value))
    }
}

/// Declares views of JSON: each is a reference to the whole document, with a method for each field it names.
#[macro_export]
macro_rules! views {
    ($($(#[$about:meta])* $name:ident { $($field:ident: $type:ty),* $(,)? })*) => {
        $($(#[$about])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name<'a>(pub &'a serde_json::Value);

        impl<'a> $name<'a> {
            $(pub fn $field(self) -> $type {
                $crate::records::view::field(self.0, stringify!($field))
            })*
        }

        impl Default for $name<'_> {
            fn default() -> Self {
                Self(&serde_json::Value::Null)
            }
        }

        impl<'a> $crate::records::view::Field<'a> for $name<'a> {
            fn read(value: &'a serde_json::Value) -> Option<Self> {
                (!value.is_null()).then_some(Self(value))
            }
        })*
    };
}

/// Declares the kinds of a document: an enum with a view of each, by its name on record, and an open arm.
#[macro_export]
macro_rules! kinds {
    ($(#[$about:meta])* $name:ident { $($(#[$of:meta])* $kind:ident($view:ident): $word:literal),* $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        pub enum $name<'a> {
            $($(#[$of])* $kind($view<'a>),)*
            /// A kind that a later version chose, or that nobody reads.
            Other(&'a str),
        }

        impl<'a> $name<'a> {
            fn by(kind: &'a str, document: &'a serde_json::Value) -> Self {
                match kind {
                    $($word => Self::$kind($view(document)),)*
                    other => Self::Other(other),
                }
            }
        }
    };
}
