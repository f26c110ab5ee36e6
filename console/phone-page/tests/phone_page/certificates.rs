//! Certificates: one that is made and kept, the owner's taken and taken anew, what does not fit told and not used.

use crate::client::open;
use crate::served::{Browser, Phone, command, house};
use house::settings::page::Page;
use phone_page::certificate::Certificate;
use phone_page::stored::Stored;
use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use std::time::Duration;
use trials::{House, said};

/// A certificate and its key, as PEM.
fn pair(host: &str, until_year: i32) -> (String, String) {
    let mut params = CertificateParams::new(vec![host.to_owned()]).unwrap();
    params.not_before = date_time_ymd(2024, 1, 1);
    params.not_after = date_time_ymd(until_year, 1, 1);
    let key = KeyPair::generate().unwrap();
    (params.self_signed(&key).unwrap().pem(), key.serialize_pem())
}

/// A house with the owner's certificate, whose files lie outside of it.
fn owners(host: &str, until_year: i32) -> House {
    let house = house("");
    put(&house, pair(host, until_year));
    let at = |name: &str| house.folder.path().join(name).display().to_string();
    house.settings(&format!(
        "[page]\nlisten = \"127.0.0.1:0\"\nhost = \"house.example.org\"\ncert = \"{}\"\nkey = \"{}\"\n",
        at("cert.pem"),
        at("key.pem")
    ));
    house
}

fn put(house: &House, (cert, key): (String, String)) {
    std::fs::write(house.folder.path().join("cert.pem"), cert).unwrap();
    std::fs::write(house.folder.path().join("key.pem"), key).unwrap();
}

fn check(house: &House) -> String {
    said(&command(house, &["check"], ""))
}

#[test]
fn one_is_made_kept_and_shown_by_its_fingerprint() {
    let house = house("");
    assert!(check(&house).contains("does not"), "nothing is made by looking: {}", check(&house));
    assert!(!house.path(".self/broker/page/key.pem").exists());
    let phone = Phone::of(&house);
    assert_eq!(open(phone.at).unwrap().1, phone.fingerprint);
    assert!(check(&house).contains(&phone.fingerprint), "{}", check(&house));
    let fingerprint = phone.fingerprint.clone();
    phone.kill();
    assert_eq!(Phone::of(&house).fingerprint, fingerprint, "the same from then on");
    let stored = Stored::of(&house::House::new(&house.root));
    let kept = Certificate::of(&Page::default(), &stored).unwrap();
    assert!(kept.is_for("localhost") && kept.is_for("127.0.0.1"), "{:?}", kept.names);
    assert!(!kept.is_for("house.example.org") && !kept.ends_within(700) && kept.ends_within(825));
    // With a name it is made anew, for that; and so is one that is damaged.
    let named = Page { host: Some("house.example.org".into()), ..Page::default() };
    let anew = Certificate::of(&named, &stored).unwrap();
    assert!(anew.is_for("house.example.org") && anew.fingerprint != fingerprint);
    assert_eq!(Certificate::of(&named, &stored).unwrap().fingerprint, anew.fingerprint);
    // Made while the clock was years ahead, it is made anew once the clock is right.
    let mut params = CertificateParams::new(vec!["house.example.org".to_owned()]).unwrap();
    (params.not_before, params.not_after) = (date_time_ymd(2090, 1, 1), date_time_ymd(2092, 1, 1));
    let key = KeyPair::generate().unwrap();
    house.write(".self/broker/page/key.pem", &key.serialize_pem());
    house.write(".self/broker/page/certificate.pem", &params.self_signed(&key).unwrap().pem());
    let ahead = Certificate::there(&named, &stored).unwrap().unwrap();
    assert!(!ahead.has_begun() && check(&house).contains("not good before"), "{}", check(&house));
    let anew = Certificate::of(&named, &stored).unwrap();
    assert!(anew.has_begun() && anew.fingerprint != ahead.fingerprint);
    house.write(".self/broker/page/key.pem", "garbage");
    assert_ne!(Certificate::of(&named, &stored).unwrap().fingerprint, anew.fingerprint);
}

#[test]
fn the_owners_is_taken_and_taken_anew_once_it_is_replaced() {
    let house = owners("house.example.org", 2090);
    let phone = Phone::of(&house);
    let browser = Browser::new(&phone);
    assert_eq!(browser.get("/sign-in").header("strict-transport-security"), Some("max-age=2592000"));
    let first = open(phone.at).unwrap().1;
    assert_eq!(first, phone.fingerprint);
    assert!(
        check(&house).contains("by your certificate") && !check(&house).contains("\"BAD\""),
        "{}",
        check(&house)
    );
    // Half of a renewal: the key is another one's. The pair from before goes on.
    let (cert, key) = pair("house.example.org", 2091);
    std::fs::write(house.folder.path().join("cert.pem"), &cert).unwrap();
    assert!(check(&house).contains("the key is not the certificate's"), "{}", check(&house));
    std::thread::sleep(Duration::from_millis(1_500));
    assert_eq!(open(phone.at).unwrap().1, first);
    put(&house, (cert, key));
    house.until("the new one", || open(phone.at).unwrap().1 != first);
    let second = open(phone.at).unwrap().1;
    house.until("that it is told", || check(&house).contains(&second));
    put(&house, ("garbage".into(), "garbage".into()));
    std::thread::sleep(Duration::from_millis(1_500));
    assert_eq!(open(phone.at).unwrap().1, second, "what does not fit changes nothing");
}

#[test]
fn what_is_wrong_with_the_owners_is_told() {
    let house = owners("house.example.org", 2025);
    assert!(check(&house).contains("no longer good"), "{}", check(&house));
    put(&house, pair("other.example.org", 2090));
    assert!(check(&house).contains("is not for house.example.org"), "{}", check(&house));
    put(&house, pair("*.example.org", 2090));
    assert!(!check(&house).contains("is not for"), "{}", check(&house));
    let (cert, _) = pair("house.example.org", 2090);
    put(&house, (cert, pair("house.example.org", 2090).1));
    assert!(check(&house).contains("the key is not the certificate's"), "{}", check(&house));
    let output = command(&house, &["serve"], "");
    assert_eq!(output.status.code(), Some(1), "it does not begin with one that does not fit");
    assert!(said(&output).contains("the key is not the certificate's"), "{}", said(&output));
    std::fs::remove_file(house.folder.path().join("cert.pem")).unwrap();
    assert!(check(&house).contains("failed to open"), "{}", check(&house));
}
