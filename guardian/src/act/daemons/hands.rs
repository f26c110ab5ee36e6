//! Programs that `owner.toml` names, hands of ours among them: built like the daemons'; the broker is told how far its hands are.

use crate::act::around::Around;
use crate::act::daemons::jobs::{CHANNELS, HANDS, PHONE_PAGE, Package};
use crate::act::daemons::keep::Daemons;
use serde_json::{Map, Value};

impl Daemons {
    /// Brings up to date what only some owners name, hands, channels and the page beyond this machine: when the daemons are
    /// called, and after each change of settings.
    pub fn want_named(&mut self, around: &Around) {
        if self.made.is_none() {
            return;
        }
        let settings = &around.settings;
        let hands = HANDS.into_iter().filter(|hand| settings.hands.contains(hand.name));
        let channels = settings.has_channels.then_some(&CHANNELS);
        let page = settings.page.listen.is_some().then_some(&PHONE_PAGE);
        for package in channels.into_iter().chain(page).chain(hands) {
            if !self.is_due(package) {
                self.to_build.push(package);
            }
        }
    }

    /// How far each hand is that is named and not there, in words, for the broker.
    pub fn hands_told(&self, around: &Around) -> Value {
        let named = HANDS.into_iter().filter(|hand| around.settings.hands.contains(hand.name));
        let missing = named.filter(|hand| !hand.program().is_file());
        let told = |hand: &Package| match self.troubles.get(hand.name) {
            _ if self.is_due(hand) => format!("the hand {} is still being built", hand.name),
            Some(why) => why.clone(),
            None => {
                format!("the hand {} is not built: this guardian does not run from its source", hand.name)
            }
        };
        Value::Object(missing.map(|hand| (hand.name.to_owned(), told(hand).into())).collect::<Map<_, _>>())
    }

    pub(super) fn is_due(&self, wanted: &Package) -> bool {
        self.to_build.iter().any(|package| package.name == wanted.name)
            || self.job.as_ref().is_some_and(|job| job.builds(wanted))
    }
}
