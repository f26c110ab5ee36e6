//! Streams that end before their end, in every way a stream can: never counted below what was written and sent.

use crate::paid::{Paid, request};
use crate::served::{self, served};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const RICH: &str = "[budget]\ndaily_usd = 100\nweekly_usd = 400\nautonomous_percent = 100\n";
/// Tokens of a reply at most, and those that were made: four letters each.
const LIMIT: u64 = 8_192;
const MADE: u64 = 8_000;

/// How an answer ends that has not come to its own end.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    /// The connection is closed; nothing said how long the answer would be.
    Closed,
    /// The last chunk, as a gateway sends it whose own upstream broke off.
    LastChunk,
    /// Fewer bytes than were promised.
    Short,
    Reset,
    /// The server says that it failed, and closes.
    Failed,
    /// Nothing more comes; the client leaves.
    Left,
}

const ENDS: [End; 6] = [End::Closed, End::LastChunk, End::Short, End::Reset, End::Failed, End::Left];

/// Serves one connection after the other, each with these events and this end.
fn server(events: String, end: End) -> String {
    let at = served(move |stream| {
        tokio::spawn(serve(stream, events.clone(), end));
        std::future::ready(())
    });
    format!("http://{at}")
}

async fn serve(mut stream: TcpStream, mut events: String, end: End) {
    if served::request(&mut stream).await.is_none() {
        return;
    }
    if end == End::Failed {
        events += "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}\n\n";
    }
    let kind = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";
    let (head, body) = match end {
        End::LastChunk => {
            ("transfer-encoding: chunked".to_owned(), format!("{:x}\r\n{events}\r\n0\r\n\r\n", events.len()))
        }
        End::Short => (format!("content-length: {}", events.len() + 5_000), events),
        _ => ("connection: close".to_owned(), events),
    };
    let _ = stream.write_all(format!("{kind}{head}\r\n\r\n{body}").as_bytes()).await;
    let _ = stream.flush().await;
    match end {
        End::Left => drop(stream.read(&mut [0; 64]).await),
        End::Reset => stream.set_zero_linger().unwrap(),
        _ => {
            let _ = stream.shutdown().await;
            // What is let go before the other side has read it is lost on the way.
            let _ = stream.read(&mut [0; 64]).await;
        }
    }
}

fn events(all: &[Value]) -> String {
    all.iter().map(|event| format!("data: {event}\n\n")).collect()
}

/// An early usage of zeros, and 32,000 letters after it.
fn early_zeros(wire: &str) -> String {
    let words = "word".repeat(MADE as usize / 8);
    let usage = match wire {
        "openai" => json!({"prompt_tokens": 0, "completion_tokens": 0}),
        _ => json!({"input_tokens": 0, "output_tokens": 0}),
    };
    let mut all = match wire {
        "anthropic" => vec![
            json!({"type": "message_start", "message": {"usage": usage}}),
            json!({"type": "message_delta", "delta": {}, "usage": usage}),
        ],
        "responses" => vec![json!({"type": "response.in_progress", "response": {"usage": usage}})],
        _ => vec![json!({"choices": [], "usage": usage})],
    };
    for _ in 0..8 {
        all.push(match wire {
            "anthropic" => {
                json!({"type": "content_block_delta", "delta": {"type": "text_delta", "text": words}})
            }
            "responses" => json!({"type": "response.output_text.delta", "delta": words}),
            _ => json!({"choices": [{"index": 0, "delta": {"content": words}}]}),
        });
    }
    events(&all)
}

/// Found: zeros first, 32 kB after them, then the end of the connection: nothing was counted.
#[tokio::test]
async fn a_stream_cut_after_an_early_usage_counts_what_it_wrote() {
    for wire in ["anthropic", "openai", "responses"] {
        for end in ENDS {
            let paid = Paid::start(RICH, &server(early_zeros(wire), end));
            let told = json!({"do": "stream", "pad": "a word and ".repeat(400)});
            let mut answer = paid.post(wire, &request(wire, &told, LIMIT)).send().await.unwrap();
            let mut bytes = 0;
            while let Ok(Some(piece)) = answer.chunk().await {
                bytes += piece.len();
                if end == End::Left && bytes > 32_000 {
                    break;
                }
            }
            drop(answer);
            let ledger = crate::llm_leaving::settled(&paid, 1).await;
            let (reserve, settle) = (&ledger.of("reserve")[0].entry, &ledger.of("settle")[0].entry);
            let (most, cost) = (reserve.cost_micro_usd.unwrap(), settle.cost_micro_usd.unwrap());
            let [input, output] = if wire == "anthropic" { [2, 10] } else { [1, 5] };
            let made = 1_100 * input + MADE * output;
            let what = format!("{wire}, {end:?}: {cost} of {most}, {:?}", settle.decision);
            if end == End::Reset && settle.decision.contains("prompt counts") {
                // The reset overtook every byte of the answer.
                assert!(cost > 0, "{what}");
                continue;
            }
            assert!(cost >= made, "made {made}; {what}");
            assert!(cost <= most, "{what}");
        }
    }
}

/// What comes to its own end counts by its usage, to the token, whatever came early.
#[tokio::test]
async fn a_stream_that_came_to_its_own_end_counts_by_its_last_usage() {
    let chat = |choices: Value, usage: Value| json!({"choices": choices, "usage": usage});
    let usage = json!({"prompt_tokens": 500, "completion_tokens": 60});
    let stop = json!([{"index": 0, "delta": {}, "finish_reason": "stop"}]);
    let anthropic = events(&[
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"input_tokens": 500, "output_tokens": 60}}),
        json!({"type": "message_stop"}),
    ]);
    let responses = |kind: &str| {
        events(&[json!({"type": kind, "response": {"usage": {"input_tokens": 500, "output_tokens": 60}}})])
    };
    let rows = [
        ("anthropic", anthropic),
        ("openai", events(&[chat(stop.clone(), Value::Null), chat(json!([]), usage.clone())])),
        ("openai", events(&[chat(stop, usage)]) + "data: [DONE]\n\n"),
        ("responses", responses("response.completed")),
        ("responses", responses("response.incomplete")),
        ("responses", responses("response.failed")),
    ];
    for (wire, last) in rows {
        for end in [End::Closed, End::LastChunk, End::Short] {
            let paid = Paid::start(RICH, &server(early_zeros(wire) + &last, end));
            let told = json!({"do": "stream", "pad": "a word and ".repeat(400)});
            let mut answer = paid.post(wire, &request(wire, &told, LIMIT)).send().await.unwrap();
            while let Ok(Some(_)) = answer.chunk().await {}
            let settle = crate::llm_leaving::settled(&paid, 1).await.of("settle")[0].entry.clone();
            let cost = if wire == "anthropic" { 500 * 2 + 60 * 10 } else { 500 + 60 * 5 };
            assert_eq!(settle.cost_micro_usd, Some(cost), "{wire}, {end:?}, {last}: {:?}", settle.decision);
        }
    }
}
