//! A life as one file of HTML that needs no other, to show to others: no script, and secrets struck.

use super::Part;
use anyhow::Result;
use house::House;
use std::io::Write;

/// Writes a part of a life.
pub fn html(_house: &House, _part: &Part, to: &mut dyn Write) -> Result<()> {
    writeln!(to, "<!doctype html>")?;
    Ok(())
}
