//! The creature's own time as status and doctor tell it while the owner changes the rate.

use serde_json::Value;
use trials::{House, SOUND, said};

#[test]
fn the_rate_is_in_the_status_and_judged_by_the_doctor() {
    let house = House::new(SOUND).with_broker();
    const MODEL: &str = "[model]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:9\"\n";
    house.settings(&format!("{MODEL}[autonomy]\nusd_per_day = 0.5\nwaking_hours = \"00:00-24:00\"\n"));
    let guardian = house.start();
    house.until_broker(None);
    let status = || said(&house.ask(&["status"]));
    house.until("the rate", || status().contains("own time   $0.02 an hour of $0.50 a day"));
    let json: Value = serde_json::from_slice(&house.ask(&["status", "--json"]).stdout).unwrap();
    assert_eq!(json["autonomy"]["bucket_usd"], 0.1, "{json}");
    let doctor = said(&house.ask(&["doctor"]));
    assert!(doctor.contains("ok   own time     $0.02 an hour of $0.50 a day"), "{doctor}");
    // Good while it runs, and taken over; what is wrong is named, and what was good goes on.
    house.settings(&format!("{MODEL}[autonomy]\nusd_per_day = 0\n"));
    house.until("the new rate", || status().contains("own time   none: [autonomy] usd_per_day is 0"));
    house.settings(&format!("{MODEL}[autonomy]\nusd_per_day = 0.76\n"));
    let wrong = "[autonomy] usd_per_day: must be at most 0.75";
    house.until("the mistake", || status().contains(wrong));
    let doctor = said(&house.ask(&["doctor"]));
    assert!(doctor.contains("BAD  owner.toml") && doctor.contains(wrong), "{doctor}");
    guardian.stop();
}
