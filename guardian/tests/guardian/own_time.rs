//! The creature's own time as the owner sees it: what the broker's page says in words, what its wakes came to, and the doctor.

use house::own_time;
use serde_json::{Value, json};
use trials::{House, SOUND, said};

fn told(own: Value) -> String {
    let now = "2026-11-25T12:00:00Z".parse().unwrap();
    own_time::line(&json!({"autonomy": own}), now).unwrap_or_default()
}

#[test]
fn the_rate_is_told_in_plain_words() {
    let local = |time: &str| house::moments::told(time);
    let own = |changes: Value| {
        let mut own = json!({"usd_per_day": 0.75, "usd_per_hour": 0.03125, "bucket_usd": 0.15, "waking": true,
            "waking_hours": "", "wakes_at": null, "room_at": "2026-11-25T11:00:00Z"});
        own.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        told(own)
    };
    let later = "2026-11-26T07:00:00Z";
    for (changes, wanted) in [
        (json!({}), "$0.03 an hour of $0.75 a day".to_owned()),
        (
            json!({"waking_hours": "08:00-23:00", "usd_per_hour": 0.05}),
            "$0.05 an hour of $0.75 a day, waking 08:00-23:00".to_owned(),
        ),
        (
            json!({"room_at": later}),
            format!("$0.03 an hour of $0.75 a day; room for a thought from {} on", local(later)),
        ),
        // Found: this named the time of the cheaper model, the refusal of a call that of the model it was for.
        (
            json!({"rooms": [{"model": "small", "at": "2026-11-25T11:00:00Z"}, {"model": "large", "at": later}]}),
            format!("$0.03 an hour of $0.75 a day; room for a thought from {} on with large", local(later)),
        ),
        (
            json!({"room_at": later, "rooms": [{"model": "large", "at": later}]}),
            format!("$0.03 an hour of $0.75 a day; room for a thought from {} on", local(later)),
        ),
        (
            json!({"waking": false, "wakes_at": later, "waking_hours": "08:00-23:00", "usd_per_hour": 0.0, "room_at": later}),
            format!("asleep until {}, $0.75 a day, waking 08:00-23:00", local(later)),
        ),
        (json!({"usd_per_day": 0.1, "usd_per_hour": 0.004_166}), "$0.0042 an hour of $0.10 a day".to_owned()),
        (
            json!({"room_at": null}),
            "$0.03 an hour of $0.75 a day; no thought fits into it: raise [budget], or name a cheaper model"
                .to_owned(),
        ),
        (
            json!({"usd_per_day": 0.0, "usd_per_hour": 0.0, "room_at": null}),
            "none: [autonomy] usd_per_day is 0, and it thinks when you speak to it".to_owned(),
        ),
    ] {
        assert_eq!(own(changes), wanted);
    }
    assert_eq!(told(Value::Null), "", "a broker that knows no rate");
    assert!(own_time::never(&json!({"autonomy": {"usd_per_day": 1.0, "room_at": null}})));
    let keyless = json!({"mind": "instinct: no key", "autonomy": {"usd_per_day": 1.0, "room_at": null}});
    assert_eq!(own_time::line(&keyless, house::moments::now()), None, "nothing to pay for");
    assert!(!own_time::never(&json!({"autonomy": {"usd_per_day": 0.0, "room_at": null}})));
}

/// What the creature says of itself is shown while it lives, cut to a length, and steers no terminal.
#[test]
fn what_its_own_wakes_came_to_is_in_the_status() {
    let words = format!("12 wakes of its own: 3 used \\u001b[2J {}", "x".repeat(900));
    let house = House::new(&format!(
        "beat() {{ printf '%s\\n' '{{\"life\":LIFE,\"turns\":1,\"thoughts\":1,\"mind\":\"shell\",\"own\":\"{words}\"}}' \
         | sed \"s/LIFE/$FERAL_LIFE/\" > .self/heartbeat; }}; {SOUND}"
    ));
    let guardian = house.start();
    let status = || said(&house.ask(&["status"]));
    house.until("it in the status", || status().contains("own wakes  12 wakes of its own: 3 used"));
    assert!(!status().contains('\u{1b}') && !status().contains(&"x".repeat(300)), "{}", status());
    // A shell that is writing its heartbeat leaves none for a moment.
    let json = || serde_json::from_slice::<Value>(&house.ask(&["status", "--json"]).stdout).unwrap();
    let mut own = String::new();
    house.until("it in the object", || {
        own = json()["own"].as_str().unwrap().to_owned();
        !own.is_empty()
    });
    assert!(own.starts_with("12 wakes of its own: 3 used") && own.chars().count() <= 301, "{own}");
    guardian.stop();
    assert!(!status().contains("own wakes"), "nobody lives: {}", status());
    let json: Value = serde_json::from_slice(&house.ask(&["status", "--json"]).stdout).unwrap();
    assert_eq!((&json["own"], &json["autonomy"]), (&json!(""), &Value::Null));
}
