//! The owner's mistakes that no start refuses: told once, in the status and by the doctor for as long as they stand.

use trials::{House, SOUND, said};

fn note(house: &House) -> String {
    house.status()["note"].as_str().unwrap_or_default().to_owned()
}

/// Found: a purpose above 256 kB was passed over in silence.
#[test]
fn a_purpose_that_is_too_large_is_told_until_it_is_mended() {
    let house = House::new(SOUND);
    let guardian = house.start();
    house.until("a thought", || !house.thoughts().is_empty());
    house.write("PURPOSE.md", &"live\n".repeat(60_000));
    house.until("it in the status", || note(&house).contains("PURPOSE.md is larger than 262144 bytes"));
    let doctor = house.ask(&["doctor"]);
    assert_eq!(doctor.status.code(), Some(1), "{}", said(&doctor));
    assert!(said(&doctor).contains("PURPOSE.md is larger than 262144 bytes"), "{}", said(&doctor));
    house.write("PURPOSE.md", "# Live\n");
    house.until("a plain note", || !note(&house).contains("PURPOSE.md"));
    let log = std::fs::read_to_string(&guardian.log).unwrap();
    assert_eq!(log.matches("PURPOSE.md is larger").count(), 1, "told once: {log}");
    assert!(log.contains("what it said before counts"), "{log}");
    guardian.stop();
}

/// Found: an unknown tool under `[permissions]` started without a word.
#[test]
fn what_the_creature_cannot_follow_is_in_the_status_and_told_by_the_doctor() {
    let odd = "owner.toml [permissions]: there is no tool shell.rnu";
    let house = House::new(&format!(
        "beat() {{ printf '{{\"life\":%s,\"turns\":%s,\"thoughts\":%s,\"stage\":\"resting\",\"mind\":\"shell\",\"odd\":\"{odd}\"}}\\n' \
         \"$FERAL_LIFE\" \"$turns\" \"$turns\" > .self/heartbeat; }}; {SOUND}"
    ));
    let guardian = house.start();
    house.until("it in the status", || note(&house).contains(odd));
    // A heartbeat that a shell writes is empty for a moment.
    let says = format!("the creature says: {odd}");
    house.until("it from the doctor", || said(&house.ask(&["doctor"])).contains(&says));
    guardian.stop();
    let told = said(&house.ask(&["doctor"]));
    assert!(!told.contains(odd), "nobody lives: {told}");
}

/// Found: ten minutes of a model that was down, and neither status nor doctor said a word.
#[test]
fn a_model_that_is_down_is_in_the_status_and_told_by_the_doctor() {
    let house = House::new(SOUND).with_broker();
    house.settings("[model]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:9\"\n");
    let guardian = house.start();
    house.until_broker(None);
    let status = || said(&house.ask(&["status"]));
    house
        .until("the mind in use", || status().contains("model      openai: m at 127.0.0.1:9, without a key"));
    // As the broker writes it after a call; what it really says, its own tests show.
    let mut page: serde_json::Value = serde_json::from_str(&house.read(".self/budget.json")).unwrap();
    page["models"] = serde_json::json!([{"model": "m", "provider": "openai", "upstream": "127.0.0.1:9", "state": "down",
        "since": "2026-11-23T02:09:03Z", "status": 503, "error": "503 Service Unavailable: The engine is overloaded", "next_try": null}]);
    let told = "m at 127.0.0.1:9 has not answered since 2026-11-23 02:09:03: 503 Service Unavailable: The engine is overloaded";
    let doctor = || said(&house.ask(&["doctor"]));
    // The broker may write the page anew meanwhile.
    let tells = |said: &dyn Fn() -> String, line: &str| {
        house.until(line, || {
            house.write(".self/budget.json", &page.to_string());
            said().contains(line)
        });
    };
    tells(&status, &format!("down       {told}"));
    tells(&doctor, &format!("BAD  model        {told}"));
    assert!(doctor().contains("ok   mind         openai: m at 127.0.0.1:9"), "{}", doctor());
    guardian.stop();
    assert!(!status().contains("has not answered"), "old news: {}", status());
}
