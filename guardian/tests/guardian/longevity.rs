//! Years of houses on machines good and bad, under the real policy: sound trees stand, and killers are found out.

use crate::world::{Nature, World};
use guardian::decide::vocabulary::{Blame, Cause, Phase};
use house::clock::Millis;

const MINUTE: Millis = 60_000;
const HOUR: Millis = 60 * MINUTE;
const DAY: Millis = 24 * HOUR;
const YEAR: Millis = 365 * DAY;
/// House-years on each machine.
const YEARS: usize = 12;

/// xorshift64*: the same numbers everywhere and always.
struct Chance(u64);

impl Chance {
    /// Between 0 and 1, neither of them.
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let bits = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11;
        (bits as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// How long until something that happens once in `mean` on average.
    fn wait(&mut self, mean: Millis) -> Millis {
        (-self.next().ln() * mean as f64) as Millis + 1
    }

    /// Between two times, as often in each order of magnitude.
    fn between(&mut self, least: Millis, most: Millis) -> Millis {
        (least as f64 * (most as f64 / least as f64).powf(self.next())) as Millis
    }
}

/// What kills trees that are sound.
#[derive(Clone, Copy, Debug)]
enum Machine {
    /// At random, once in so long.
    Steady(Millis),
    /// Once a month, and a spell of at most an hour each day in which everything dies every ten to twenty minutes.
    Flaky,
}

impl Machine {
    /// Times of a year at which whatever lives is killed.
    fn deaths(self, chance: &mut Chance) -> Vec<Millis> {
        let mean = if let Machine::Steady(mean) = self { mean } else { 30 * DAY };
        let mut deaths = Vec::new();
        let mut at = chance.wait(mean);
        while at < YEAR {
            deaths.push(at);
            at += chance.wait(mean);
        }
        for day in 0..365 {
            let Machine::Flaky = self else { break };
            let long = (chance.next() * HOUR as f64) as Millis;
            let begins = day * DAY + (chance.next() * (DAY - long) as f64) as Millis;
            let mut at = begins + (chance.next() * 15.0 * MINUTE as f64) as Millis;
            while at < begins + long {
                deaths.push(at);
                at += 10 * MINUTE + (chance.next() * 10.0 * MINUTE as f64) as Millis;
            }
        }
        deaths.sort_unstable();
        deaths
    }
}

/// A world in which only what is told happens: silence means nothing there, so that time can be skipped.
fn world(natures: &[(&str, Nature)]) -> World {
    let mut world = World::new(natures);
    (world.limits.beat_ms, world.limits.standstill_ms) = (10 * YEAR, 10 * YEAR);
    world
}

/// A year in which sound trees become other sound trees every few hours to days: how many, and what came of them.
fn year(machine: Machine, chance: &mut Chance) -> (usize, World) {
    let mut world = world(&[("0", Nature::Sound)]);
    let mut trees = 0;
    let mut edit_at = chance.between(2 * HOUR, 4 * DAY);
    for death in machine.deaths(chance) {
        while edit_at < death {
            world.skip_to(edit_at);
            if matches!(world.policy.phase, Phase::Settled { .. }) && !world.safe {
                trees += 1;
                let tree = trees.to_string();
                world.natures.insert(tree.clone(), Nature::Sound);
                world.becomes(&tree);
            }
            edit_at += chance.between(2 * HOUR, 4 * DAY);
        }
        world.skip_to(death);
        if world.life.is_some() {
            world.exit(Blame::Code, false);
        }
    }
    (trees, world)
}

#[test]
fn of_a_thousand_sound_trees_at_most_one_is_condemned_on_machines_good_and_bad() {
    let machines = [
        ("once a month", Machine::Steady(30 * DAY)),
        ("once a day", Machine::Steady(DAY)),
        ("once an hour", Machine::Steady(HOUR)),
        ("in spells", Machine::Flaky),
    ];
    for (name, machine) in machines {
        let mut chance = Chance(20_260_102);
        let (mut trees, mut deaths, mut falls) = (0, 0, vec![]);
        for _ in 0..YEARS {
            let (of_this, world) = year(machine, &mut chance);
            trees += of_this;
            deaths += world.deaths.len();
            falls.extend(world.falls);
        }
        println!("everything dies {name}: {trees} sound trees, {deaths} deaths, put back: {falls:?}");
        assert!(trees > 300 * YEARS, "{name}: only {trees} trees");
        assert!(falls.len() * 1_000 <= trees, "{name}: of {trees} trees {falls:?}");
    }
}

/// Deaths and time until `killer`, which comes after `sound` has lived for so long, is put back, within so long.
fn found_out(killer: Millis, sound: Millis, within: Millis) -> Option<(usize, Millis)> {
    let mut world = world(&[("sound", Nature::Sound), ("killer", Nature::DiesAt(killer))]);
    world.skip_to(sound);
    world.becomes("killer");
    while world.falls.is_empty() && world.now < sound + within {
        world.skip_to(world.now + HOUR);
    }
    let (cause, from, _) = world.falls.first()?;
    assert_eq!((*cause, from.as_str()), (Cause::LateDeaths, "killer"));
    Some((world.deaths.len(), world.now - sound))
}

#[test]
fn killers_are_found_out_after_a_few_deaths_if_their_predecessor_lived_for_longer() {
    let hours = |time: Millis| time as f64 / HOUR as f64;
    for killer in [6 * MINUTE, HOUR, 6 * HOUR, 25 * HOUR] {
        for sound in [3 * HOUR, DAY, 7 * DAY, 30 * DAY] {
            let found = found_out(killer, sound, 100 * DAY);
            let told = found.map_or("never".into(), |(deaths, after)| {
                format!("after {deaths} deaths, within {:.0} hours", hours(after))
            });
            println!(
                "dies every {:.1} hours, after one that lived {} hours: {told}",
                hours(killer),
                hours(sound)
            );
            let (deaths, after) = found.unwrap_or_default();
            match sound / killer {
                0..3 => assert_eq!(found, None, "nothing shows that it is worse"),
                20.. => assert!(deaths >= 3 && after <= (7 * killer).max(4 * HOUR), "{found:?}"),
                _ => {}
            }
        }
    }
}

/// A world that turns on all: two sound trees, each with days behind it, and what both are from then on.
fn turned(nature: Nature) -> World {
    let mut world = world(&[("first", Nature::Sound), ("second", Nature::Sound)]);
    world.skip_to(20 * DAY);
    world.becomes("second");
    world.skip_to(30 * DAY);
    for tree in ["first", "second"] {
        world.natures.insert(tree.into(), nature);
    }
    world
}

fn causes(world: &World) -> Vec<(Cause, &str)> {
    world.falls.iter().map(|(cause, _, to)| (*cause, to.as_str())).collect()
}

#[test]
fn what_falls_in_a_world_that_kills_all_is_acquitted_and_runs_again() {
    let mut world = turned(Nature::DiesAt(HOUR));
    world.skip_to(60 * DAY);
    assert_eq!(causes(&world), [(Cause::LateDeaths, "first"), (Cause::Acquitted, "second")]);
    assert!(world.fallen.is_empty() && world.ladder.last().is_some_and(|tree| tree == "second"));
}

#[test]
fn all_that_fell_in_a_row_is_forgiven_together() {
    let names = ["0", "1", "2", "3", "4", "5"];
    let mut world = world(&names.map(|name| (name, Nature::Sound)));
    world.skip_to(20 * DAY);
    for (name, day) in names.iter().skip(1).zip(21..) {
        world.becomes(name);
        world.skip_to(day * DAY);
    }
    names.iter().for_each(|name| _ = world.natures.insert((*name).into(), Nature::DiesAt(HOUR)));
    world.skip_to(60 * DAY);
    assert!(world.falls.len() > 2, "{:?}", world.falls);
    assert!(world.fallen.is_empty() && world.head == "5", "{:?}", world.falls);
}

#[test]
fn data_that_kills_all_costs_no_rung_and_heals() {
    let mut world = turned(Nature::Poisoned);
    world.live(2 * HOUR);
    assert_eq!(causes(&world), [(Cause::CrashLoop, "first"), (Cause::Acquitted, "second")]);
    assert!(world.safe, "{:?}", world.policy.phase);
    world.natures.insert("second".into(), Nature::Sound);
    world.live(HOUR);
    assert!(!world.safe && matches!(world.policy.phase, Phase::Settled { .. }), "{:?}", world.policy.phase);
    assert!(world.fallen.is_empty() && world.head == "second");
}

#[test]
fn data_that_kills_all_for_ever_ends_in_safe_mode_and_not_in_turns() {
    let mut world = turned(Nature::Poisoned);
    world.live(4 * DAY);
    let safe: usize = (0..24 * 60).map(|_| world.minute_in_safe_mode()).sum();
    assert!(safe > 20 * 60, "{safe} minutes of a day");
    let once = [(Cause::CrashLoop, "first"), (Cause::Acquitted, "second"), (Cause::CrashLoop, "first")];
    assert_eq!(causes(&world), once);
}
