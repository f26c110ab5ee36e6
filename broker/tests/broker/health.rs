//! Which models answer, as `budget.json` says it: up or down, since when, with which error of whom.

use crate::paid::{ANTHROPIC_KEY, Paid, request};
use crate::upstream::Upstream;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

const RICH: &str = "[budget]\ndaily_usd = 100\nweekly_usd = 400\nautonomous_percent = 100\n";

/// What the page says of the model, once it says that.
async fn page(paid: &Paid, is: impl Fn(&Value) -> bool) -> Value {
    let page = || serde_json::from_str::<Value>(&paid.file(".self/budget.json")).unwrap_or_default();
    let said = || Some(page()["models"][0].clone()).filter(|model| is(model));
    crate::outside::found_beside(said).await.unwrap_or_else(|| panic!("{}", page()))
}

/// Found by an outage of ten minutes: neither status nor doctor could say it, and errors named the broker's port.
#[tokio::test]
async fn a_model_that_is_down_stands_on_the_page_with_the_upstreams_error() {
    let upstream = Upstream::start();
    let paid = Paid::start(RICH, &upstream.url());
    let ask = |told: Value| paid.post("anthropic", &request("anthropic", &told, 10)).send();
    let at = upstream.at.to_string();
    assert_eq!(ask(json!({"do": "plain"})).await.unwrap().headers()["x-feral-upstream"], at.as_str());
    let up = page(&paid, |model| model["state"] == "up").await;
    assert_eq!((&up["error"], &up["status"], &up["upstream"]), (&Value::Null, &Value::Null, &json!(at)));
    assert_eq!((&up["model"], &up["provider"]), (&json!("claude-sonnet-5-5"), &json!("anthropic")));
    let answer = ask(json!({"do": "error", "status": 503})).await.unwrap();
    assert_eq!(answer.headers()["x-feral-upstream"], at.as_str());
    let down = page(&paid, |model| model["state"] == "down").await;
    let error = down["error"].as_str().unwrap();
    assert!(
        error.starts_with("503 Service Unavailable: said with") && !error.contains(ANTHROPIC_KEY),
        "{down}"
    );
    assert_eq!(down["status"], 503);
    // A request that is not accepted says nothing of the model; another error keeps since when.
    assert_eq!(ask(json!({"do": "error", "status": 400})).await.unwrap().status(), 400);
    assert_eq!(ask(json!({"do": "error", "status": 529})).await.unwrap().status(), 529);
    let later = page(&paid, |model| model["status"] == 529).await;
    assert_eq!(later["since"], down["since"]);
    assert_eq!(ask(json!({"do": "plain"})).await.unwrap().status(), 200);
    page(&paid, |model| model["state"] == "up").await;
    assert_eq!(paid.status().await["budget"]["models"][0]["state"], "up");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_down_and_named() {
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let paid = Paid::start(RICH, &format!("http://{gone}"));
    let told = json!({"do": "plain"});
    let answer = paid.post("anthropic", &request("anthropic", &told, 10)).send().await.unwrap();
    let said = String::from_utf8(answer.bytes().await.unwrap().to_vec()).unwrap();
    assert!(said.contains(&format!("no answer from {gone}")), "{said}");
    let down = page(&paid, |model| model["state"] == "down").await;
    assert!(down["error"].as_str().unwrap().contains("refused"), "{down}");
    assert_eq!((&down["upstream"], &down["status"]), (&json!(gone.to_string()), &Value::Null));
}

#[test]
fn what_an_upstream_said_is_cut_and_plain_and_its_wait_is_believed_within_a_day() {
    use broker::ground::wait::{asked_s, next_try};
    use broker::health::meaning::named;
    let now = "2026-11-25T12:00:00Z".parse().unwrap();
    assert_eq!(
        named(502, b"<html><h1>Bad gateway</h1>\n<p>nginx</p></html>"),
        "502 Bad Gateway: Bad gateway nginx"
    );
    assert_eq!(
        named(429, br#"{"error": {"message": "slow\u001b[2J down"}}"#),
        "429 Too Many Requests: slow [2J down"
    );
    assert_eq!(named(529, b"[]"), "529");
    assert!(named(500, "x".repeat(1 << 20).as_bytes()).chars().count() < 300);
    for (wait, at) in [
        ("60", Some("2026-11-25T12:01:00Z")),
        ("12.5", Some("2026-11-25T12:00:13Z")),
        ("0", Some("2026-11-25T12:00:00Z")),
        ("Wed, 25 Nov 2026 12:01:30 GMT", Some("2026-11-25T12:01:30Z")),
        ("Wed, 25 Nov 2026 11:00:00 GMT", Some("2026-11-25T12:00:00Z")),
        ("2026-11-25T12:00:07Z", Some("2026-11-25T12:00:07Z")),
        ("9999999999", Some("2026-11-26T12:00:00Z")),
        ("soon", None),
        ("-1", None),
        ("NaN", None),
    ] {
        let headers = [("retry-after", wait)];
        assert_eq!(
            next_try(asked_s(&told(&headers), b"", now), now),
            at.map(|at| at.parse().unwrap()),
            "{wait}"
        );
    }
    // Only what is used up is waited for: OpenAI's and Groq's spans, Anthropic's times, OpenRouter's milliseconds.
    for (left, until, wait_s) in [
        (("x-ratelimit-remaining-requests", "0"), ("x-ratelimit-reset-requests", "6m0s"), Some(360)),
        (("x-ratelimit-remaining-tokens", "0"), ("x-ratelimit-reset-tokens", "12ms"), Some(1)),
        (("x-ratelimit-remaining-tokens", "7"), ("x-ratelimit-reset-tokens", "12s"), None),
        (
            ("anthropic-ratelimit-tokens-remaining", "0"),
            ("anthropic-ratelimit-tokens-reset", "2026-11-25T12:00:30Z"),
            Some(30),
        ),
        (("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1795608045000"), Some(45)),
        (("ratelimit-remaining", "0"), ("ratelimit-reset", "50"), Some(50)),
    ] {
        assert_eq!(asked_s(&told(&[left, until]), b"", now), wait_s, "{until:?}");
    }
}

fn told(headers: &[(&'static str, &str)]) -> http::HeaderMap {
    headers
        .iter()
        .map(|(name, value)| (http::HeaderName::from_static(name), value.parse().unwrap()))
        .collect()
}

/// Found: what was stopped stayed so until the owner acted, for a passing refusal too.
#[test]
fn a_stopped_provider_is_tried_anew_once_an_hour_and_asked_again_when_it_answers() {
    use broker::health::Health;
    use broker::health::meaning::stop;
    let at = |minutes: i64| Timestamp::UNIX_EPOCH + SignedDuration::from_mins(minutes);
    let health = Health::new(None, "f".into(), at(0));
    assert!(health.stop(stop("one", 402, "top up"), at(0)).is_some());
    assert!(health.stop(stop("one", 402, "top up"), at(0)).is_none(), "told once");
    let refusal = health.may("one", at(59), Some(at(-1))).unwrap_err();
    assert_eq!((refusal.kind, refusal.retry_after_s), ("stopped_until_owner", Some(61)));
    assert!(health.may("other", at(1), None).is_ok());
    assert!(health.may("one", at(60), None).is_ok() && health.may("one", at(60), None).is_err(), "one call");
    assert!(health.may("one", at(119), None).is_err() && health.may("one", at(120), None).is_ok());
    assert!(health.resume("other").is_none());
    let entry = health.resume("one").unwrap();
    assert_eq!((entry.decision.as_str(), entry.path.as_str()), ("resumed", "one"));
    assert!(health.may("one", at(121), None).is_ok() && health.stopped().is_none());
}

/// Anthropic says with 400 that there is no money, which is no fault of the request's.
#[test]
fn no_money_is_no_money_whatever_the_status() {
    use broker::health::meaning::Meaning;
    let said = |fields: Value| json!({"error": fields}).to_string().into_bytes();
    let low =
        said(json!({"type": "invalid_request_error", "message": "Your credit balance is too low to go on"}));
    assert!(matches!(Meaning::of(true, 400, &low), Meaning::Account(_)));
    assert_eq!(Meaning::of(false, 400, &low), Meaning::Request, "another maker's words");
    assert_eq!(Meaning::of(true, 400, &said(json!({"message": "no such field"}))), Meaning::Request);
    assert_eq!(Meaning::of(true, 400, b"<html>"), Meaning::Request);
    assert_eq!(Meaning::of(true, 529, b""), Meaning::Passing);
}
