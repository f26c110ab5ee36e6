//! Short names of models: the owner's settings, else the makers'; pure.

use crate::makers::Makers;
use std::collections::BTreeMap;

/// The model that each short name means.
#[derive(Clone, Debug, Default)]
pub struct Aliases(BTreeMap<String, String>);

impl Aliases {
    pub fn new(makers: &Makers, owners: &BTreeMap<String, String>) -> Self {
        let all = makers.aliases().chain(owners);
        Self(all.map(|(short, whole)| (short.clone(), whole.clone())).collect())
    }

    /// A model's whole name.
    pub fn meant<'a>(&'a self, name: &'a str) -> &'a str {
        self.0.get(name).map_or(name, String::as_str)
    }
}
