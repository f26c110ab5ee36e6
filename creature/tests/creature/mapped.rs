//! The map that instinct writes down, made by the tool it really calls.

use crate::house::TempHouse;
use crate::lived::Lived;

/// Found: the line ended "its map begins: " with nothing behind it, and was ticked off as written down.
#[tokio::test]
async fn the_map_that_instinct_writes_down_has_its_beginning() {
    let house = TempHouse::new();
    house.write("creature/src/lib.rs", "//! A small creature.\n");
    house.write("self/HEARTBEAT.md", "- [ ] map\n");
    let mut lived = Lived::born(&house, "2026-05-28T12:00:00Z", 1).await;
    let scratch = || std::fs::read_to_string(house.path("self/scratch.md")).unwrap_or_default();
    for _ in 0..12 {
        lived.wake().await;
    }
    let text = scratch();
    let line =
        text.lines().find(|line| line.contains("its map begins: ")).unwrap_or_else(|| panic!("{text}"));
    assert!(line.contains("its map begins: creature/src/ (1 files, 1 lines)"), "{line}");
}
