//! Failed sign-ins at the page beyond this machine, as the owner is told of them: each counted, and told once.

use crate::notices::{WRITES, end, kept, notices, notify, program, start, told};
use serde_json::json;
use trials::{House, SOUND};

#[test]
fn failed_sign_ins_are_counted_and_told_once() {
    let house = House::new(SOUND);
    let hook = program(&house, "tell", WRITES);
    let failed = |count: u64, from: &str| {
        let told = json!({"failed": count, "failed_ms": 1_767_323_045_000_u64, "from": from});
        house.write(".self/broker/page/guesses.json", &told.to_string());
    };
    let noted = |count: u64| house.until("that it is noted", || kept(&house).failed_sign_ins == Some(count));
    // Those from before anybody was told are old news.
    failed(7, "192.0.2.1");
    let settings = notify(&hook, "");
    let teller = start(&house, &settings, None);
    noted(7);
    failed(10, "203.0.113.7 \u{1b}[2J");
    house.until("the notice", || !told(&hook).is_empty());
    end(teller);
    let text = notices(&hook).remove(0).to_string();
    assert!(text.contains("3 sign-ins at your page failed, the last from 203.0.113.7"), "{text}");
    assert!(text.contains("sign_in") && text.contains("page sessions") && !text.contains('\u{1b}'), "{text}");
    // Started anew, and where the count begins anew, nothing is told again.
    let teller = start(&house, &settings, None);
    failed(2, "192.0.2.1");
    noted(2);
    end(teller);
    assert_eq!(notices(&hook).len(), 1);
}
