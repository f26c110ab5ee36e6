//! Caps as they stand in the source of the program that reads a file, to be held against what is written into it.

use crate::clone::origin;
use std::fs;

/// The most bytes a reader takes of a file: what its source says after this name.
pub fn cap(source: &str, name: &str) -> u64 {
    let path = origin().join(source);
    // A creature that rewrote itself may have no such file.
    let missing = || source.starts_with("creature/").then(String::new);
    let text =
        fs::read_to_string(path).ok().or_else(missing).unwrap_or_else(|| panic!("there is no {source}"));
    let said = text.split(&format!("const {name}: ")).nth(1).and_then(|rest| rest.split([';', '=']).nth(1));
    // A creature that rewrote itself may read it elsewhere.
    if said.is_none() && source.starts_with("creature/") {
        return u64::MAX;
    }
    let said = said.unwrap_or_else(|| panic!("{source} says no {name}")).replace('_', "");
    let number = |text: &str| text.trim().parse::<u64>().unwrap();
    match said.split_once("<<") {
        Some((number_of, places)) => number(number_of) << number(places),
        None => said.split('*').map(number).product(),
    }
}
