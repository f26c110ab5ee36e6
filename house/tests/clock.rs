//! Times as the ground's clock writes them are those of the calendar.
#![allow(clippy::unwrap_used)]

use house::clock::{name_of, stamp_of};
use jiff::Timestamp;

#[test]
fn a_stamp_is_the_time_as_rfc_3339_has_it() {
    let days = (0..80_000).map(|day: u64| day * 86_400_000 + day * 1_009 % 86_400_000);
    for ms in days.chain([951_868_799_999, 951_868_800_000]) {
        let known = Timestamp::from_millisecond(ms.try_into().unwrap()).unwrap();
        assert_eq!(stamp_of(ms), format!("{known:.3}"));
    }
    assert_eq!(name_of(1_767_323_045_678), "20260102T030405.678Z");
    assert_eq!(stamp_of(u64::MAX), "9999-12-31T23:59:59.999Z");
}
