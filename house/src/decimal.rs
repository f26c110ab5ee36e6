//! Exact amounts: decimal texts as people and tools write them, read, compared, added and written again without rounding.
//!
//! Invariant: two texts are the same amount if and only if their values are equal, and no sum is ever rounded or wraps.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Most digits before the point, and after it: wei of any amount of ether there is fit, and so do tokens of 36 decimals.
const MOST_WHOLE: usize = 38;
const MOST_PARTS: usize = 36;
/// Parts of a whole.
const PARTS: u128 = 10_u128.pow(36);

/// An amount that is not negative: wholes, and parts of 10⁻³⁶.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decimal {
    whole: u128,
    parts: u128,
}

impl Decimal {
    /// Reads digits with at most one point between them: no sign, no exponent, no spaces, no zero before other digits.
    pub fn read(text: &str) -> Result<Self, &'static str> {
        let (whole, parts) = text.split_once('.').unwrap_or((text, "0"));
        let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_digits(whole) || !is_digits(parts) {
            return Err("is no plain decimal number, like 0.05: digits and one point between them");
        }
        if whole.len() > MOST_WHOLE || parts.len() > MOST_PARTS {
            return Err("has more than 38 digits before the point or 36 after it");
        }
        if whole.len() > 1 && whole.starts_with('0') {
            return Err("begins with a zero that does not count");
        }
        let number = |text: &str| text.parse::<u128>().map_err(|_| "is too large");
        Ok(Self { whole: number(whole)?, parts: number(&format!("{parts:0<MOST_PARTS$}"))? })
    }

    pub fn plus(self, other: Self) -> Option<Self> {
        // Each is below 10³⁶, so that their sum is far below 2¹²⁸.
        let parts = self.parts + other.parts;
        let whole = self.whole.checked_add(other.whole)?.checked_add(parts / PARTS)?;
        Some(Self { whole, parts: parts % PARTS })
    }

    /// The difference; nothing where the other is larger.
    pub fn minus(self, other: Self) -> Self {
        if other >= self {
            return Self::default();
        }
        let borrows = u128::from(self.parts < other.parts);
        Self { whole: self.whole - other.whole - borrows, parts: borrows * PARTS + self.parts - other.parts }
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = format!("{:0>MOST_PARTS$}", self.parts);
        match parts.trim_end_matches('0') {
            "" => write!(out, "{}", self.whole),
            parts => write!(out, "{}.{parts}", self.whole),
        }
    }
}

impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::read(&text).map_err(serde::de::Error::custom)
    }
}
