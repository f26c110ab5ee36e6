//! What strikes at random: programs of the house are killed, the server is restarted, the wire is cut.

use super::house::Place;
use super::relay::Wire;
use crate::survival::soak::Dice;
use std::collections::BTreeMap;
use std::time::Duration;

#[derive(Default)]
pub struct Struck(pub BTreeMap<&'static str, usize>);

impl Struck {
    pub fn all(&self) -> usize {
        self.0.values().sum()
    }
}

pub fn strike(place: &mut Place, dice: &mut Dice, struck: &mut Struck) {
    let short = Duration::from_millis(100 + dice.below(6_000) as u64);
    let what = match dice.below(13) {
        0..=3 => place.kill_child("channels").then_some("channels"),
        4 => place.kill_child("console").then_some("console"),
        5 => place.kill_child("broker").then_some("broker"),
        6 => {
            place.kill_guardian();
            Some("guardian")
        }
        7 => {
            let both = place.kill_child("channels") & place.kill_child("broker");
            both.then_some("channels and broker")
        }
        8 => place.kill_creature().then_some("creature"),
        9 => {
            place.platform.kill();
            std::thread::sleep(short / 2);
            place.platform.begin();
            Some("server restarted")
        }
        10 => {
            place.relay.set(Wire::Cut);
            std::thread::sleep(short);
            Some("wire cut")
        }
        11 => {
            // The guardian has to notice: nothing else ends it.
            place.child("channels").map(|pid| trials::send("-STOP", pid)).map(|()| "channels hung")
        }
        _ => {
            place.relay.set(Wire::LosesAnswers);
            std::thread::sleep(short);
            Some("answers lost on the wire")
        }
    };
    place.relay.set(Wire::Carries);
    if let Some(what) = what {
        *struck.0.entry(what).or_default() += 1;
    }
}
