//! Amounts between decimal text in whole units and the integers of the chain; exact, pure.

use alloy_primitives::U256;

/// Most decimals that a token may have.
pub const MOST_DECIMALS: u8 = 36;

/// Reads an amount in whole units, like `0.05`, exactly; an amount finer than the unit can be divided is an error.
pub fn read(text: &str, decimals: u8) -> Result<U256, String> {
    let wrong = |what: &str| Err(format!("{text:?} {what}"));
    let (whole, parts) = text.split_once('.').unwrap_or((text, "0"));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if text.len() > 80 || !is_digits(whole) || !is_digits(parts) {
        return wrong("is no plain amount in whole units, like \"0.05\"");
    }
    if whole.len() > 1 && whole.starts_with('0') {
        return wrong("begins with a zero that does not count");
    }
    let parts = parts.trim_end_matches('0');
    let decimals = usize::from(decimals);
    if parts.len() > decimals {
        return Err(format!("{text} has more than the {decimals} decimals there are"));
    }
    let digits = format!("{whole}{parts:0<decimals$}");
    digits.parse().or_else(|_| wrong("is too large"))
}

/// An amount in whole units, as `read` takes it.
pub fn shown(amount: U256, decimals: u8) -> String {
    let decimals = usize::from(decimals);
    let digits = format!("{amount:0>width$}", width = decimals + 1);
    let (whole, parts) = digits.split_at(digits.len() - decimals);
    match parts.trim_end_matches('0') {
        "" => whole.to_owned(),
        parts => format!("{whole}.{parts}"),
    }
}
