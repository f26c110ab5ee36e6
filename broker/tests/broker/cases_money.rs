//! Usages as makers publish them, each with the bill computed by hand: `tests/cases/money` holds the bodies and bills.

use crate::paid::{Paid, request};
use crate::served::{self, served};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The prices of all bills, in USD per million tokens, so that a token in costs a micro-dollar and one out ten.
const SETTINGS: &str = "[budget]\ndaily_usd = 1000\nweekly_usd = 4000\nautonomous_percent = 100\n[prices.\"case-*\"]\n\
                        input = 1\noutput = 10\ncache_read = 0.1\ncache_write = 1.25\n";
/// What answers well, and so ends an outage.
const WELL: [(&str, &str); 3] =
    [("anthropic", "messages-whole"), ("openai", "chat-whole"), ("responses", "responses-whole")];

/// What a case is held against.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Right {
    source: String,
    wire: String,
    /// How the cost is computed.
    bill: Option<String>,
    cost_micro_usd: Option<u64>,
    /// In place of a figure: `as reserved`, `held` or `the prompt`.
    cost: Option<String>,
    /// What the same call costs a moment later.
    again_micro_usd: Option<u64>,
    /// The model's state afterwards, and the status it is down with.
    state: Option<String>,
    status: Option<u16>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/money")
}

/// Each case: its body as an HTTP answer, and what is right. Panics where one is without the other.
fn cases() -> BTreeMap<String, (Vec<u8>, Right)> {
    let (mut bodies, mut rights) = (BTreeMap::new(), BTreeMap::new());
    for file in std::fs::read_dir(folder()).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = std::fs::read(&path).unwrap();
        let typed = |kind: &str| {
            let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n");
            [head.into_bytes(), text.clone()].concat()
        };
        let body = match path.extension().unwrap().to_str().unwrap() {
            "toml" => {
                let right = toml::from_str(std::str::from_utf8(&text).unwrap());
                rights.insert(name.clone(), right.unwrap_or_else(|error| panic!("{name}: {error}")));
                continue;
            }
            "sse" => typed("text/event-stream"),
            "json" => typed("application/json"),
            "http" => text,
            other => panic!("{name}: a case is .sse, .json or .http, not .{other}"),
        };
        assert!(bodies.insert(name.clone(), body).is_none(), "{name}: two bodies");
    }
    assert_eq!(
        bodies.keys().collect::<Vec<_>>(),
        rights.keys().collect::<Vec<_>>(),
        "a body or its bill is missing"
    );
    bodies.into_iter().map(|(name, body)| (name.clone(), (body, rights.remove(&name).unwrap()))).collect()
}

/// A server that answers with the case that the request's model names.
fn server(bodies: BTreeMap<String, Vec<u8>>) -> String {
    let bodies = Arc::new(bodies);
    let at = served(move |stream| {
        tokio::spawn(serve(stream, bodies.clone()));
        std::future::ready(())
    });
    format!("http://{at}")
}

async fn serve(mut stream: TcpStream, bodies: Arc<BTreeMap<String, Vec<u8>>>) {
    let Some((_, asked)) = served::request(&mut stream).await else { return };
    let asked: Value = serde_json::from_slice(&asked).unwrap();
    let model = asked["model"].as_str().unwrap().strip_prefix("case-").unwrap().to_owned();
    let _ = stream.write_all(&bodies[&model]).await;
    let _ = stream.shutdown().await;
    // What is let go before the other side has read it is lost on the way.
    let _ = stream.read(&mut [0; 64]).await;
}

struct Asked<'a> {
    paid: &'a Paid,
    calls: usize,
}

/// What was reserved, what was settled, and how.
struct Settled {
    most: u64,
    cost: u64,
    how: String,
}

impl Asked<'_> {
    async fn call(&mut self, wire: &str, name: &str) -> Settled {
        let told = json!({"do": "stream", "pad": "a word and ".repeat(2_000)});
        let mut body = request(wire, &told, 8_192);
        body["model"] = json!(format!("case-{name}"));
        let mut answer = self.paid.post(wire, &body).send().await.unwrap();
        while let Ok(Some(_)) = answer.chunk().await {}
        drop(answer);
        self.calls += 1;
        let ledger = crate::llm_leaving::settled(self.paid, self.calls).await;
        let (reserve, settle) = (ledger.of("reserve"), ledger.of("settle"));
        let settle = &settle[self.calls - 1].entry;
        let most = reserve[self.calls - 1].entry.cost_micro_usd.unwrap();
        Settled { most, cost: settle.cost_micro_usd.unwrap(), how: settle.decision.clone() }
    }

    /// What is wrong with a case.
    async fn judged(&mut self, name: &str, right: &Right) -> Vec<String> {
        let well = WELL.iter().find(|(wire, _)| *wire == right.wire).unwrap().1;
        self.call(&right.wire, well).await;
        let got = self.call(&right.wire, name).await;
        let Settled { most, cost, how } = &got;
        let what = format!("{name}: {cost} of {most} ({how:?})");
        let mut wrong = Vec::new();
        let is_right = match (right.cost_micro_usd, right.cost.as_deref()) {
            (Some(bill), None) => *cost == bill,
            (None, Some("as reserved")) => cost == most,
            (None, Some("held")) => cost >= most && how.contains("held"),
            (None, Some("the prompt")) => *cost > 0 && cost < most && how.contains("prompt counts"),
            odd => panic!("{name}: {odd:?} says no cost"),
        };
        if !is_right {
            wrong.push(format!("{what}, right is {right:?}"));
        }
        if let Some(state) = &right.state {
            let page = self.paid.status().await;
            let models = page["budget"]["models"].as_array().unwrap().clone();
            let model = models.iter().find(|model| model["model"] == json!(format!("case-{name}")));
            let found = model.map(|model| (model["state"].clone(), model["status"].clone()));
            let status = right.status.map_or(Value::Null, |status| json!(status));
            let fits = found.as_ref().is_some_and(|(found, with)| {
                *found == json!(state) && (right.status.is_none() || *with == status)
            });
            if !fits {
                wrong.push(format!("{what}: {found:?}, right is {state} {status}"));
            }
        }
        if let Some(again) = right.again_micro_usd {
            let second = self.call(&right.wire, name).await;
            if second.cost != again {
                wrong.push(format!(
                    "{name}: {} the second time, right is {again} ({:?})",
                    second.cost, second.how
                ));
            }
        }
        wrong
    }
}

/// Found: thinking beside the completion was not counted, usages in other places and by other names were not seen,
/// and an error inside a 200 cost the whole reservation.
#[tokio::test]
async fn the_ledger_says_what_the_maker_bills() {
    let cases = cases();
    assert!(cases.len() >= 60, "{}", cases.len());
    let bodies = cases.iter().map(|(name, (body, _))| (name.clone(), body.clone())).collect();
    let (url, mut wrong) = (server(bodies), Vec::new());
    // Which models may be asked is another matter: all of an address of the owner's own, else those named.
    let named: Vec<String> = cases.keys().map(|name| format!("\"case-{name}\"")).collect();
    let anthropic = format!("[model]\nothers = [{}]\n", named.join(", "));
    for (is_anthropic, model) in [(true, anthropic.as_str()), (false, "[model]\nprovider = \"openai\"\n")] {
        let paid = Paid::start(&format!("{SETTINGS}{model}"), &url);
        let mut asked = Asked { paid: &paid, calls: 0 };
        for (name, (_, right)) in
            cases.iter().filter(|(_, (_, right))| (right.wire == "anthropic") == is_anthropic)
        {
            assert!(
                !right.source.is_empty() && right.bill.is_some() == right.cost_micro_usd.is_some(),
                "{name}"
            );
            wrong.extend(asked.judged(name, right).await);
        }
    }
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}
