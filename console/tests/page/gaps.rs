//! The picture's scale: idle times that are cut take a few columns, and everything else is as long as it was.

use console::life::picture::scale::{CUT, Cut, Scale, ticks};
use house::moments::Place;

const HOUR_MS: u64 = 3_600_000;

fn scale() -> Scale {
    // Ten hours on 300 columns, of which eight are cut in two parts.
    let cuts = [(1, 4), (5, 10)].map(|(from, to)| Cut { from_ms: from * HOUR_MS, to_ms: to * HOUR_MS });
    Scale::new(0, 10 * HOUR_MS + HOUR_MS, 328.0, cuts.to_vec())
}

#[test]
fn what_is_not_cut_is_as_long_as_any_other() {
    let scale = scale();
    let x = |hour: u64| scale.x(hour * HOUR_MS);
    assert_eq!(
        [x(0), x(1), x(4), x(5), x(10), x(11)],
        [0.0, 100.0, 100.0 + CUT, 200.0 + CUT, 200.0 + 2.0 * CUT, 328.0]
    );
    assert!((1..=660).all(|minute| scale.x(minute * 60_000) >= scale.x((minute - 1) * 60_000)), "in order");
    assert_eq!((scale.ms_of(50.0), scale.columns_of(HOUR_MS)), (HOUR_MS / 2, 100.0));
    assert_eq!(
        scale.stops(),
        "0.0,0 100.0,3600000 114.0,14400000 214.0,18000000 228.0,36000000 328.0,39600000"
    );
    assert_eq!((scale.x(u64::MAX), Scale::new(5, 6, 100.0, vec![]).x(0)), (328.0, 0.0));
}

#[test]
fn no_mark_of_the_axis_stands_in_an_idle_time() {
    let place = Place::named("UTC0").unwrap();
    let at: Vec<u64> = ticks(&scale(), &place).into_iter().map(|tick| tick.at_ms / 60_000).collect();
    assert!(
        !at.is_empty() && at.iter().all(|minute| !(61..240).contains(minute) && !(301..600).contains(minute)),
        "{at:?}"
    );
}
