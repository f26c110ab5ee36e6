//! A model server that is busy, broken, lying, slow or gone: each has its kind, and none tells the token.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

#[macro_use]
mod server;

use std::time::{Duration, Instant};

use model::{Client, Endpoint, Error, Kind, Wire};
use serde_json::json;
use server::{Server, Step, TOKEN, WIRES, ask, bad, good};

async fn failure(server: &Server, wire: Wire) -> Error {
    let error = ask().to(&server.client(wire)).await;
    checked(error.expect_err("this server never replies"))
}

/// What holds for every error there is.
fn checked(error: Error) -> Error {
    let all = format!("{error} {error:?} {error:#?}");
    assert!(!all.contains("secret") && !all.contains(TOKEN), "{all}");
    assert!(!error.hint.is_empty() && !error.message.contains('\n'));
    assert!(error.message.len() < 600, "{}", error.message.len());
    let first = error.message.chars().next().unwrap();
    assert!(first.is_lowercase(), "{error}");
    error
}

#[tokio::test]
async fn busy_servers_are_asked_again_after_the_time_they_name() {
    loopback!();
    for wire in WIRES {
        let steps = vec![
            bad(429, "retry-after: 1\r\n", "rate_limit_error", "slow down"),
            bad(529, "", "overloaded_error", "overloaded"),
            good(wire),
        ];
        let server = Server::new(steps);
        let start = Instant::now();
        let reply = ask().to(&server.client(wire)).await.unwrap();
        assert_eq!((reply.attempts, server.seen().len()), (3, 3));
        assert!(start.elapsed() >= Duration::from_secs(1));
    }
}

#[tokio::test]
async fn three_attempts_are_enough() {
    loopback!();
    let server = Server::new(vec![bad(529, "", "overloaded_error", "overloaded")]);
    let error = failure(&server, Wire::Anthropic).await;
    assert_eq!((error.kind, error.status), (Kind::Busy, Some(529)));
    assert!(error.message.contains("overloaded"), "{error}");
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn a_wait_too_long_is_handed_back_at_once() {
    loopback!();
    let dates = "retry-after: Fri, 31 Dec 2999 23:59:59 GMT\r\n";
    let cases = [
        ("retry-after: 3600\r\n", 3600),
        ("retry-after: 61\r\n", 61),
        // Short of 60 s, but more than is left.
        ("retry-after: 30\r\n", 30),
        ("retry-after: 1e300\r\n", 86_400),
        (dates, 86_400),
    ];
    for (header, seconds) in cases {
        let server = Server::new(vec![bad(429, header, "rate_limit_error", "slow")]);
        let error = failure(&server, Wire::Chat).await;
        assert_eq!(error.kind, Kind::Busy);
        assert_eq!(error.retry_after, Some(Duration::from_secs(seconds)));
        assert_eq!(server.seen().len(), 1);
    }
}

#[tokio::test]
async fn odd_retry_after_headers_are_survived() {
    loopback!();
    for header in [
        "retry-after: soon\r\n",
        "retry-after: -5\r\n",
        "retry-after: NaN\r\n",
        "retry-after:\r\n",
        "retry-after: Wed, 21 Oct 2015 07:28:00 GMT\r\n",
    ] {
        let steps = vec![bad(503, header, "api_error", "down"), good(Wire::Chat)];
        let server = Server::new(steps);
        let reply = ask().to(&server.client(Wire::Chat)).await.unwrap();
        assert_eq!(reply.attempts, 2, "{header}");
    }
}

#[tokio::test]
async fn what_waiting_does_not_mend_is_not_asked_twice() {
    loopback!();
    let low = "Your credit balance is too low to access the API";
    let cases = [
        (401, "authentication_error", "invalid x-api-key", Kind::Refused),
        (403, "permission_error", "not yours", Kind::Refused),
        (402, "billing_error", "pay first", Kind::OutOfMoney),
        (429, "insufficient_quota", "You exceeded your quota", Kind::OutOfMoney),
        (400, "invalid_request_error", low, Kind::OutOfMoney),
        (404, "not_found_error", "model: x", Kind::BadRequest),
        (413, "request_too_large", "too large", Kind::TooLong),
        (301, "moved", "elsewhere", Kind::Settings),
        // The broker's word for a redirect of its upstream's.
        (502, "upstream_redirect", "redirects elsewhere", Kind::Settings),
        (204, "nothing", "", Kind::Garbled),
    ];
    for (status, code, message, kind) in cases {
        let server = Server::new(vec![bad(
            status,
            "location: /x\r\nx-feral-upstream: api.example.org\r\n",
            code,
            message,
        )]);
        let error = failure(&server, Wire::Anthropic).await;
        assert_eq!((error.kind, error.status), (kind, Some(status)), "{error}");
        assert_eq!(server.seen().len(), 1);
        if status != 204 {
            let said = error.message.contains(message) && error.message.contains("[token]");
            assert!(said && error.message.contains("api.example.org"), "{error}");
            assert!(error.cause.starts_with("api.example.org: ") || status == 502, "{}", error.cause);
            assert!(!error.message.contains("127.0.0.1"), "{error}");
        }
    }
}

#[tokio::test]
async fn an_html_page_is_told_in_few_words() {
    loopback!();
    let page = format!(
        "<html>\n<head><title>502 Bad Gateway</title></head>\n<body>{TOKEN} 3 > 2{}</body></html>",
        "<p class=\"x\">nginx &amp; more</p>\n".repeat(5_000)
    );
    let html = "content-type: text/html\r\n";
    let server = Server::new(vec![Step::Answer(502, html, page.clone())]);
    let error = failure(&server, Wire::Chat).await;
    assert_eq!((error.kind, error.status), (Kind::Busy, Some(502)));
    assert!(error.message.contains("502 Bad Gateway [token] 3 > 2"), "{error}");
    assert!(!error.message.contains('<'), "{error}");
    assert_eq!(server.seen().len(), 3);
    let server = Server::new(vec![Step::Answer(200, html, page)]);
    let error = failure(&server, Wire::Chat).await;
    assert_eq!((error.kind, error.status), (Kind::Garbled, Some(200)));
}

#[tokio::test]
async fn a_success_that_is_no_reply_is_garbled() {
    loopback!();
    let bodies = [
        "",
        "{}",
        "[]",
        "null",
        "{\"content\":[],\"choices\":[],\"output\":[]}",
        "{\"content\":[{\"type\":\"text\",\"text\":\" \"}],\"stop_reason\":\"end_turn\",\"output\":[{\"type\":\"message\",\"content\":[]}],\"choices\":[{\"message\":{\"content\":\"\"}}]}",
        "{\"content\":7,\"output\":7,\"choices\":[{\"message\":null}]}",
        "{\"content\":[{\"type\":\"text\",\"te",
        "\u{0}\u{1}",
    ];
    for (body, wire) in bodies.iter().flat_map(|body| WIRES.map(|wire| (body, wire))) {
        let server = Server::new(vec![Step::Answer(200, "", body.to_string())]);
        let error = failure(&server, wire).await;
        assert_eq!(error.kind, Kind::Garbled, "{body:?}: {error}");
        assert_eq!(server.seen().len(), 1, "it was paid for");
    }
}

#[tokio::test]
async fn a_failure_wrapped_in_a_success_is_a_failure() {
    loopback!();
    let body = "{\"error\":{\"code\":402,\"message\":\"Insufficient credits\"}}";
    let server = Server::new(vec![Step::Answer(200, "", body.to_string())]);
    let error = failure(&server, Wire::Chat).await;
    assert_eq!((error.kind, error.status), (Kind::OutOfMoney, Some(402)));
}

#[tokio::test]
async fn a_huge_body_is_not_held() {
    loopback!();
    let server = Server::new(vec![Step::Flood(50)]);
    let error = failure(&server, Wire::Anthropic).await;
    assert_eq!(error.kind, Kind::Garbled);
    assert!(error.message.contains("16 MiB"), "{error}");
}

#[tokio::test]
async fn silence_ends_at_the_deadline() {
    loopback!();
    let half = b"HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{\"content\":";
    for silence in [&half[..], b"", b"HTTP/1.1 20"] {
        let server = Server::new(vec![Step::Stall(silence.to_vec())]);
        let mut endpoint = server.endpoint(Wire::Anthropic);
        endpoint.silence = Duration::from_millis(700);
        let error = ask().to(&Client::new(endpoint).unwrap()).await;
        let error = checked(error.expect_err("silent"));
        assert_eq!(error.kind, Kind::Deadline, "{error}");
        assert!(error.message.contains("0.7 s"), "{error}");
    }
}

#[tokio::test]
async fn half_a_reply_is_a_broken_connection_and_not_paid_for_twice() {
    loopback!();
    let half = b"HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{\"content\":";
    let server = Server::new(vec![Step::Raw(half.to_vec())]);
    let error = failure(&server, Wire::Anthropic).await;
    assert_eq!(error.kind, Kind::Unreachable);
    assert!(error.message.contains("broke off"), "{error}");
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn no_answer_at_all_is_tried_again() {
    loopback!();
    let server = Server::new(vec![Step::Raw(Vec::new()), good(Wire::Chat)]);
    let reply = ask().to(&server.client(Wire::Chat)).await.unwrap();
    assert_eq!(reply.attempts, 2);
    let server = Server::new(vec![Step::Raw(b"SSH-2.0-OpenSSH_9\r\n".to_vec())]);
    let error = failure(&server, Wire::Chat).await;
    assert_eq!(error.kind, Kind::Unreachable, "{error}");
}

#[tokio::test]
async fn what_the_broker_withholds_or_paid_for_is_not_asked_twice_and_says_when() {
    loopback!();
    let cases = [
        (429, "budget_cap", "retry-after: 1\r\n", Kind::Withheld, Some(1)),
        (429, "budget_cap", "retry-after: 30000\r\n", Kind::Withheld, Some(30_000)),
        (403, "stopped_until_owner", "", Kind::Stopped, None),
        (503, "ledger_closed", "", Kind::Stopped, None),
        (401, "token_unknown", "", Kind::UnknownLife, None),
        // Paid for, though it broke off.
        (502, "upstream_broken", "", Kind::Unreachable, None),
    ];
    for ((status, code, headers, kind, seconds), wire) in
        cases.into_iter().flat_map(|case| WIRES.map(|wire| (case, wire)))
    {
        let error =
            json!({"type": code, "message": "it resets at midnight", "hint": "wait or ask the owner"});
        let body = json!({"type": "error", "error": error}).to_string();
        let server = Server::new(vec![Step::Answer(status, headers, body)]);
        let error = failure(&server, wire).await;
        assert_eq!((error.kind, error.hint.as_str()), (kind, "wait or ask the owner"), "{error}");
        assert_eq!(error.retry_after.map(|wait| wait.as_secs()), seconds);
        assert!(error.message.contains("it resets at midnight"), "{error}");
        assert_eq!(server.seen().len(), 1);
    }
}

#[tokio::test]
async fn a_server_the_broker_does_not_reach_is_asked_again_and_not_called_busy() {
    loopback!();
    let body =
        json!({"type": "error", "error": {"type": "upstream_unreachable", "message": "no answer from x"}});
    let away = Step::Answer(502, "", body.to_string());
    let server = Server::new(vec![away.clone(), away.clone(), away]);
    let error = failure(&server, Wire::Anthropic).await;
    assert!(error.message.contains("the server is not reached (502): no answer from x"), "{error}");
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn a_broker_that_is_away_is_unreachable() {
    loopback!();
    let server = Server::new(vec![good(Wire::Chat)]);
    let mut endpoint = server.endpoint(Wire::Chat);
    endpoint.base_url = "http://user:secret@127.0.0.1:1/v1".to_string();
    let client = Client::new(endpoint).unwrap();
    assert!(!format!("{client:?}").contains("secret"));
    let error = checked(ask().to(&client).await.expect_err("nobody there"));
    assert_eq!((error.kind, error.status), (Kind::Unreachable, None));
    assert!(error.message.contains("refused"), "{error}");
    assert!(error.message.contains("reach the broker") && !error.message.contains("127.0.0.1"), "{error}");
}

#[test]
fn settings_that_cannot_work_are_said_before_anything_is_sent() {
    let endpoint = Endpoint {
        wire: Wire::Chat,
        base_url: "http://127.0.0.1:1/llm/openai/v1".to_string(),
        model: "m".to_string(),
        token: TOKEN.to_string(),
        deadline: Duration::from_secs(1),
        silence: Duration::from_secs(1),
        max_tokens: 9,
        effort: String::new(),
    };
    Client::new(endpoint.clone()).unwrap();
    for base in ["", "model", "ftp://x", "http://", "https://h/v1", "http://h/v1?key=secret", "mailto:a@b"] {
        let endpoint = Endpoint { base_url: base.to_string(), ..endpoint.clone() };
        assert_eq!(checked(Client::new(endpoint).expect_err(base)).kind, Kind::Settings);
    }
    let nameless = Endpoint { model: " ".to_string(), ..endpoint.clone() };
    assert_eq!(Client::new(nameless).expect_err("no name").kind, Kind::Settings);
    let broken = Endpoint { token: "secret\nkey".to_string(), ..endpoint };
    assert_eq!(checked(Client::new(broken).expect_err("a broken token")).kind, Kind::Settings);
}
