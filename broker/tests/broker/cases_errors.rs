//! Errors of model servers by what they mean: `tests/cases/errors` holds answers, and what follows each.

use crate::paid::{Paid, request};
use crate::served::{self, served};
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const GOOD: &str = "HTTP/1.1 200 x\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{\"choices\":[{\"message\":\
                    {\"content\":\"well\"}}],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":1}}";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Right {
    source: String,
    /// How often the server is asked for one call.
    calls: usize,
    /// Whether the provider is not asked afterwards.
    stopped: bool,
    /// The model's state afterwards; none: the error says nothing about it.
    state: Option<String>,
    /// The wait that is passed on.
    wait_s: Option<u64>,
    /// The limit of the reply that is asked for the second time.
    second_limit: Option<u64>,
}

/// A server that gives these answers in turn, the last one for ever, and keeps what it was asked.
fn server(answers: Vec<Vec<u8>>) -> (String, Arc<Mutex<Vec<Value>>>) {
    let asked: Arc<Mutex<Vec<Value>>> = Arc::default();
    let (answers, seen) = (Arc::new(answers), asked.clone());
    let at = served(move |stream| serve(stream, answers.clone(), seen.clone()));
    (format!("http://{at}"), asked)
}

async fn serve(mut stream: TcpStream, answers: Arc<Vec<Vec<u8>>>, seen: Arc<Mutex<Vec<Value>>>) {
    let Some((_, body)) = served::request(&mut stream).await else { return };
    let number = {
        let mut seen = seen.lock().unwrap();
        seen.push(serde_json::from_slice(&body).unwrap());
        seen.len() - 1
    };
    let _ = stream.write_all(&answers[number.min(answers.len() - 1)]).await;
    let _ = stream.shutdown().await;
    let _ = stream.read(&mut [0; 64]).await;
}

fn body() -> Value {
    let mut body = request("openai", &json!({"do": "plain"}), 8_192);
    body["model"] = json!("gpt-6.1-terra");
    body
}

async fn judged(name: &str, right: &Right, answer: Vec<u8>) -> Vec<String> {
    let (url, asked) = server(vec![answer]);
    let paid = Paid::start("", &url);
    let answer = paid.post("openai", &body()).send().await.unwrap();
    let wait_s =
        answer.headers().get("retry-after").map(|wait| wait.to_str().unwrap().parse::<u64>().unwrap());
    drop(answer.bytes().await);
    let budget = paid.status().await["budget"].clone();
    let state = budget["models"].get(0).map(|model| model["state"].as_str().unwrap().to_owned());
    let limits: Vec<Value> = asked.lock().unwrap().iter().map(|body| body["max_tokens"].clone()).collect();
    let spent = &budget["spent_today_usd"];
    let mut wrong = Vec::new();
    let mut check = |what: &str, is: bool, found: String| {
        if !is {
            wrong.push(format!("{name}: {what} is {found}; right is {right:?}"));
        }
    };
    check("calls", limits.len() == right.calls, format!("{limits:?}"));
    check("stopped", budget["stopped"].is_object() == right.stopped, budget["stopped"].to_string());
    check("state", state == right.state, format!("{state:?}"));
    check("wait", wait_s == right.wait_s, format!("{wait_s:?}"));
    check("cost", spent == &json!(0.0), spent.to_string());
    let second = right.second_limit.map_or(json!(8_192), |limit| json!(limit));
    check("limit", limits.get(1).is_none_or(|limit| *limit == second), format!("{limits:?}"));
    wrong
}

/// Found: one 402 or 403 stopped its provider, and a wait was heard in whole seconds only.
#[tokio::test]
async fn an_error_is_followed_by_what_it_means() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/errors");
    let (mut wrong, mut count) = (Vec::new(), 0);
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let with = |kind: &str| std::fs::read(path.with_extension(kind));
        let (answer, right) = (with("http").expect(&name), with("toml").expect(&name));
        if path.extension().unwrap() == "toml" {
            continue;
        }
        let right: Right = toml::from_str(std::str::from_utf8(&right).unwrap()).expect(&name);
        assert!(!right.source.is_empty(), "{name}");
        wrong.extend(judged(&name, &right, answer).await);
        count += 1;
    }
    assert!(count >= 20 && wrong.is_empty(), "of {count} cases:\n{}", wrong.join("\n"));
}

#[tokio::test]
async fn a_refusal_that_passes_is_not_even_noticed() {
    for (status, message) in
        [(401, "try again"), (402, "8192 were asked for, 2100 can be afforded"), (403, "not now")]
    {
        let error = json!({"error": {"code": status, "message": message}});
        let refused = format!(
            "HTTP/1.1 {status} x\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{error}"
        );
        let (url, asked) = server(vec![refused.into_bytes(), GOOD.into()]);
        let paid = Paid::start("", &url);
        for _ in 0..2 {
            assert_eq!(paid.post("openai", &body()).send().await.unwrap().status(), 200, "{status}");
        }
        assert_eq!(asked.lock().unwrap().len(), 3, "{status}: once more, and then as ever");
        let budget = paid.status().await["budget"].clone();
        assert_eq!(
            (&budget["stopped"], &budget["models"][0]["state"]),
            (&Value::Null, &json!("up")),
            "{status}"
        );
        let costs: Vec<_> =
            paid.wait_for("settle", 2).of("settle").iter().map(|line| line.entry.cost_micro_usd).collect();
        assert_eq!(costs, [Some(14), Some(14)], "{status}: 9 × 1 + 1 × 5");
    }
}
