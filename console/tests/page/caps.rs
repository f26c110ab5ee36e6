//! Caps are drawn as they were then: as far back as the settings stayed the same, and no further.

use console::life::caps::{Caps, Held, Read};

fn read(at_ms: u64, all: u64) -> Read {
    Read { at_ms, all, own: all / 10 }
}

fn held(caps: &Caps) -> Vec<(u64, u64, u64)> {
    caps.between(100, 1_000)
        .into_iter()
        .map(|Held { from_ms, to_ms, all, .. }| (from_ms, to_ms, all))
        .collect()
}

#[test]
fn a_cap_reaches_back_to_the_last_change_of_the_settings() {
    let mut caps = Caps::default();
    assert_eq!(held(&caps), []);
    caps.read.push(read(900, 50));
    assert_eq!(held(&caps), [(100, 1_000, 50)], "no change is on record: it was always so");
    caps.changed_ms = vec![300, 600];
    assert_eq!(held(&caps), [(600, 1_000, 50)], "what it was before is not known");
}

#[test]
fn a_cap_that_was_changed_is_another_from_then_on() {
    let mut caps = Caps { read: vec![read(400, 50), read(710, 30)], changed_ms: vec![700] };
    assert_eq!(held(&caps), [(100, 700, 50), (700, 1_000, 30)]);
    // A change while nobody read, and back: the last one that is known counts.
    caps.changed_ms.push(800);
    caps.read.push(read(900, 70));
    assert_eq!(held(&caps), [(100, 700, 50), (700, 800, 30), (800, 1_000, 70)]);
}

#[test]
fn many_changes_stay_in_order() {
    let read = (0..2_000).map(|number| read(number * 2 + 1, number + 1)).collect();
    let caps = Caps { read, changed_ms: (0..2_000).map(|number| number * 2).collect() };
    let held = caps.between(0, u64::MAX);
    assert_eq!(held.len(), 2_000);
    assert!(held.windows(2).all(|pair| pair[0].to_ms <= pair[1].from_ms && pair[0].from_ms < pair[0].to_ms));
}
