//! What a start says of the time before it.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};
use trials::{House, SOUND};

fn begins_after(gap: Option<Duration>) -> String {
    let house = House::new(SOUND);
    let guardian = house.start();
    house.until("a life to be trusted", || house.status()["blessed"] == true);
    guardian.kill_only();
    house.until("its life to be gone", || house.leftovers().is_empty());
    if let Some(gap) = gap {
        for path in [".self/heartbeat", ".self/guardian.json"] {
            let file = File::options().append(true).open(house.path(path)).unwrap();
            file.set_modified(SystemTime::now() - gap).unwrap();
        }
    }
    let log = house.folder.path().join("guardian.log");
    fs::remove_file(&log).unwrap();
    let guardian = house.start();
    house
        .until("the next life", || house.status()["life"] == 2 && house.status()["creature_pid"].is_number());
    assert_eq!(guardian.stop(), 0);
    fs::read_to_string(&log).unwrap()
}

/// Found: after a reboot the screen said nothing of the night in between.
#[test]
fn a_start_after_a_gap_says_from_when_to_when_nothing_ran() {
    let told = begins_after(Some(Duration::from_secs(6 * 60 * 60)));
    assert!(told.contains("nothing ran here from "), "{told}");
    let told = begins_after(None);
    assert!(!told.contains("nothing ran here from "), "{told}");
}

/// Found: a first start told of a time in which nothing ran, since a command had made the heartbeat's empty file.
#[test]
fn a_first_start_tells_of_no_gap() {
    let house = House::new(SOUND);
    house.write(".self/heartbeat", "");
    let file = File::options().append(true).open(house.path(".self/heartbeat")).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(6 * 60 * 60)).unwrap();
    let guardian = house.start();
    house.until("a life to be trusted", || house.status()["blessed"] == true);
    assert_eq!(guardian.stop(), 0);
    let told = fs::read_to_string(house.folder.path().join("guardian.log")).unwrap();
    assert!(!told.contains("nothing ran here from "), "{told}");
}
