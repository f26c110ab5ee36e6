//! A hand of ours as a server's program: where the guardian builds it, and how far that is where it is not there.

use crate::policy;
use house::bounds::brief;
use house::{House, instance, printable};
use processes::made;
use std::path::PathBuf;

/// Most characters told of the guardian's word.
const MOST_WORDS: usize = 300;

/// The program of a hand, or in words why there is none.
pub fn program(house: &House, hand: &str) -> Result<PathBuf, String> {
    if let Some(program) = made::hand(hand).filter(|program| program.is_file()) {
        return Ok(program);
    }
    let told = instance::last_published(house).unwrap_or_default();
    let told = told.pointer(&format!("/broker/hands/{hand}")).and_then(|told| told.as_str());
    Err(told.map_or_else(
        || format!("the hand {hand} is not built: the guardian builds it beside the broker"),
        |told| printable::flat(&brief(told, MOST_WORDS)),
    ))
}

/// Its arguments: the folders that its walls show.
pub fn arguments(house: &House, settings: &policy::Mcp) -> Vec<String> {
    let named = |way: &'static str, folders: &[String]| -> Vec<String> {
        let absolute = |folder: &String| house.root().join(folder).display().to_string();
        folders.iter().flat_map(|folder| [way.to_owned(), absolute(folder)]).collect()
    };
    [named("--read", &settings.read), named("--write", &settings.write)].concat()
}
