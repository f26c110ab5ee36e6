//! The error of whatever will not start: why, in one line. A program that ends with it has exit status 100.

use anyhow::Result;

#[derive(Debug)]
pub struct Refused(String);

impl std::fmt::Display for Refused {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

pub fn refuse<T>(why: impl Into<String>) -> Result<T> {
    Err(Refused(why.into()).into())
}

pub fn refused(error: anyhow::Error) -> Refused {
    Refused(format!("{error:#}"))
}
