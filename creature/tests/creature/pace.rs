//! The constants that instinct edits: each stands alone on its line, within its bounds, and is what it lives by.

use creature::pace;

#[test]
fn the_lines_instinct_edits_stand_in_pace_rs_exactly_once() {
    let source = include_str!("../../src/pace.rs");
    for (name, value, bounds) in [
        ("IDLE_REST_S", pace::IDLE_REST_S, pace::IDLE_REST_BOUNDS_S),
        ("SOURCE_BACKOFF_S", pace::SOURCE_BACKOFF_S, pace::SOURCE_BACKOFF_BOUNDS_S),
    ] {
        let line = format!("pub const {name}: u64 = {value};");
        assert_eq!(source.lines().filter(|found| *found == line).count(), 1, "{line}");
        assert_eq!(source.matches(&line).count(), 1, "{line}");
        assert!(value >= bounds.0 && value <= bounds.1, "{name} is out of its bounds");
    }
    assert_eq!(pace::BUILT.idle_rest_s, pace::IDLE_REST_S);
    assert_eq!(pace::BUILT.source_backoff_s, pace::SOURCE_BACKOFF_S);
}
