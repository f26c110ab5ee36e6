//! What a creature left in the way of files of ours: moved aside whole, told in few words, and nothing is lost.

use std::fs;
use trials::House;

/// Found: 7,667 folders `N.json` in `.self/mind` became as many warnings and entries in `kept/`.
#[test]
fn thousands_of_things_in_the_way_are_one_warning_and_one_entry() {
    let house = House::new("live");
    let own = house::House::new(&house.root);
    for number in 0..7_667 {
        fs::create_dir_all(house.path(&format!(".self/mind/{number}.json"))).unwrap();
    }
    let told = house::repair::clear(&own);
    assert_eq!(told.len(), 1, "{} lines, as {}", told.len(), told[0]);
    assert!(told[0].contains("7667"), "{}", told[0]);
    assert_eq!(fs::read_dir(own.kept()).unwrap().count(), 1);
    let folder = fs::read_dir(own.kept()).unwrap().next().unwrap().unwrap().path();
    assert_eq!(fs::read_dir(folder).unwrap().count(), 7_667, "nothing is lost");
    assert_eq!(fs::read_dir(own.mind()).unwrap().count(), 0);
    assert!(house::repair::clear(&own).is_empty());
}

#[test]
fn a_few_things_in_the_way_are_told_one_by_one() {
    let house = House::new("live");
    let own = house::House::new(&house.root);
    for name in ["heartbeat", "mind/request.json"] {
        fs::create_dir_all(house.path(&format!(".self/{name}"))).unwrap();
    }
    let told = house::repair::clear(&own);
    assert!(
        told.len() == 2 && told.iter().all(|line| line.contains("was in the way; it is kept as")),
        "{told:?}"
    );
}
