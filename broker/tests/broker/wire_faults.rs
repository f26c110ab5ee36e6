//! Faults of the wire, seeded, on both wires: what is counted is held against what the server itself counted.

use crate::dice::Dice;
use crate::paid::{Paid, request};
use crate::served::{self, served};
use crate::upstream::{SONNET, TERRA};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const RICH: &str = "[budget]\ndaily_usd = 100\nweekly_usd = 400\nautonomous_percent = 100\n";
/// Tokens of a reply at most.
const LIMIT: u64 = 2_000;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    Whole,
    WholeStream,
    /// Figures no request can have cost.
    Absurd(u64),
    Silent,
    Page,
    Empty,
    Status(u16),
    /// It wants the limit by its other name.
    OtherLimit,
    ResetAtOnce,
    ResetAfterReading,
    ResetAfterHead,
    NoHttp,
    /// A part of the answer, then the end.
    Cut,
    CutStream,
    CutReset,
}

#[derive(Default)]
struct Counted {
    faults: VecDeque<Fault>,
    /// What each call did cost, in micro-dollars, by the server's own count.
    costs: Vec<u64>,
    bodies: Vec<Value>,
}

/// A server that takes one call a connection and does with it what comes next.
struct Faulty {
    url: String,
    counted: Arc<Mutex<Counted>>,
}

impl Faulty {
    fn start(faults: &[Fault]) -> Self {
        let counted =
            Arc::new(Mutex::new(Counted { faults: faults.iter().copied().collect(), ..Counted::default() }));
        let state = counted.clone();
        let at = served(move |stream| serve(stream, state.clone()));
        let url = format!("http://{at}");
        Self { url, counted }
    }

    fn cost(&self) -> u64 {
        self.counted.lock().unwrap().costs.iter().sum()
    }
}

async fn serve(mut stream: TcpStream, counted: Arc<Mutex<Counted>>) {
    let fault = counted.lock().unwrap().faults.pop_front().unwrap_or(Fault::Whole);
    if fault == Fault::ResetAtOnce {
        counted.lock().unwrap().costs.push(0);
        stream.set_zero_linger().unwrap();
        return;
    }
    let (head, body) = served::request(&mut stream).await.unwrap_or_default();
    let is_anthropic = head.contains("/messages");
    let (cost, answer) = answer(fault, is_anthropic, &body);
    {
        let mut counted = counted.lock().unwrap();
        counted.costs.push(cost);
        counted.bodies.push(serde_json::from_slice(&body).unwrap_or_default());
    }
    let _ = stream.write_all(&answer).await;
    let _ = stream.flush().await;
    if matches!(fault, Fault::ResetAfterReading | Fault::ResetAfterHead | Fault::CutReset) {
        stream.set_zero_linger().unwrap();
        return;
    }
    let _ = stream.shutdown().await;
    // What is let go before the other side has read it is lost on the way.
    let _ = stream.read(&mut [0; 64]).await;
}

/// What it costs, and the bytes that are sent.
fn answer(fault: Fault, is_anthropic: bool, body: &[u8]) -> (u64, Vec<u8>) {
    // Of the usual density; both prices come to whole micro-dollars.
    let (input, output) = (body.len() as u64 / 4, 100 + body.len() as u64 % 50);
    let [in_usd, out_usd, ..] = if is_anthropic { SONNET } else { TERRA };
    let made = input * in_usd as u64 + output * out_usd as u64;
    let usage = |input: u64, output: u64| match is_anthropic {
        true => json!({"input_tokens": input, "output_tokens": output}),
        false => json!({"prompt_tokens": input, "completion_tokens": output}),
    };
    let whole = |usage: Value| match is_anthropic {
        true => json!({"content": [{"type": "text", "text": "well"}], "usage": usage}).to_string(),
        false => json!({"choices": [{"message": {"content": "well"}}], "usage": usage}).to_string(),
    };
    let kind = "application/json";
    let stream = |is_whole: bool| {
        let end = if is_whole { usage(input, output) } else { Value::Null };
        let events = match is_anthropic {
            true => vec![
                json!({"type": "message_start", "message": {"usage": usage(input, 1)}}),
                json!({"type": "message_delta", "usage": {"output_tokens": end["output_tokens"]}}),
                json!({"type": if is_whole { "message_stop" } else { "ping" }}),
            ],
            false => vec![
                json!({"choices": [{"delta": {"content": "well"}, "finish_reason": "stop"}]}),
                json!({"choices": [], "usage": end}),
            ],
        };
        let events: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
        http(200, "text/event-stream", &events, events.len() + usize::from(!is_whole))
    };
    match fault {
        Fault::Whole => (made, http(200, kind, &whole(usage(input, output)), 0)),
        Fault::WholeStream => (made, stream(true)),
        Fault::Absurd(tokens) => (made, http(200, kind, &whole(usage(tokens, tokens)), 0)),
        Fault::Silent => (made, http(200, kind, "{\"content\":[],\"choices\":[]}", 0)),
        Fault::Cut | Fault::CutReset => (made, http(200, kind, &whole(usage(input, output)), 4_000)),
        Fault::CutStream => (made, stream(false)),
        Fault::Page => (0, http(200, "text/html", "\n<!doctype html><p>Log in first</p>", 0)),
        Fault::Empty => (0, http(200, kind, "", 0)),
        Fault::Status(status) => (0, http(status, kind, "{\"error\":{\"message\":\"in trouble\"}}", 0)),
        Fault::OtherLimit => {
            let said = "Unsupported parameter: 'max_tokens' is not supported with this model. Use \
                        'max_completion_tokens' instead.";
            (0, http(400, kind, &json!({"error": {"message": said}}).to_string(), 0))
        }
        Fault::NoHttp => (0, b"SSH-2.0-OpenSSH_9.9\r\n".to_vec()),
        Fault::ResetAfterHead => (0, http(200, kind, "", 500)),
        Fault::ResetAtOnce | Fault::ResetAfterReading => (0, vec![]),
    }
}

/// An answer with its length, or with another one.
fn http(status: u16, kind: &str, body: &str, length: usize) -> Vec<u8> {
    let length = if length == 0 { body.len() } else { length };
    let head = format!(
        "HTTP/1.1 {status} Some\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
    );
    (head + body).into_bytes()
}

/// A call as large as a thought's, and the status it ends with.
async fn call(paid: &Paid, wire: &str, is_stream: bool, kilobytes: usize) -> u16 {
    let told = json!({"do": if is_stream { "stream" } else { "plain" }, "pad": "a word and ".repeat(kilobytes * 93)});
    let mut answer = paid.post(wire, &request(wire, &told, LIMIT)).send().await.unwrap();
    let status = answer.status().as_u16();
    while let Ok(Some(_)) = answer.chunk().await {}
    status
}

fn is_unanswered(fault: Fault) -> bool {
    use Fault::{Empty, NoHttp, Page, ResetAfterHead, ResetAfterReading, ResetAtOnce};
    matches!(fault, Page | Empty | NoHttp | ResetAtOnce | ResetAfterReading | ResetAfterHead)
}

/// What happens to each call, and on which wire.
fn plan(dice: &mut Dice) -> Vec<(Fault, &'static str)> {
    (0..200)
        .map(|n| {
            let fault = match dice.roll(20) {
                0..=3 => Fault::Whole,
                4 => Fault::WholeStream,
                5 => Fault::Absurd(4_294_967_295),
                6 => Fault::Absurd(u64::MAX),
                7 => Fault::Silent,
                8 => Fault::Page,
                9 => Fault::Empty,
                10 => Fault::Status([500, 502, 503, 529, 429][dice.roll(5)]),
                11..=13 => Fault::ResetAtOnce,
                14 => Fault::ResetAfterReading,
                15 => Fault::ResetAfterHead,
                16 => Fault::NoHttp,
                17 => Fault::Cut,
                18 => Fault::CutStream,
                _ => Fault::CutReset,
            };
            (fault, if n % 2 == 0 { "anthropic" } else { "openai" })
        })
        .collect()
}

#[tokio::test]
async fn two_hundred_faults_are_counted_as_the_server_counts_them() {
    let mut dice = Dice::fixed(1_000);
    let plan = plan(&mut dice);
    let server = Faulty::start(&plan.iter().map(|(fault, _)| *fault).collect::<Vec<_>>());
    let paid = Paid::start(RICH, &server.url);
    for (fault, wire) in &plan {
        let is_stream = matches!(fault, Fault::WholeStream | Fault::CutStream);
        call(&paid, wire, is_stream, 1 + dice.roll(40)).await;
    }
    let ledger = paid.wait_for("settle", plan.len());
    let (reserves, settled) = (ledger.of("reserve"), ledger.settled());
    assert_eq!((reserves.len(), settled.len()), (plan.len(), plan.len()));
    let costs = server.counted.lock().unwrap().costs.clone();
    assert_eq!(costs.len(), plan.len(), "each call was one try");
    let (mut silent, mut spent, mut beyond) = (std::collections::BTreeSet::new(), 0, 0);
    for (n, (fault, wire)) in plan.iter().enumerate() {
        let (most, line) =
            (reserves[n].entry.cost_micro_usd.unwrap(), &settled[reserves[n].entry.call.as_str()].entry);
        let counted = line.cost_micro_usd.unwrap();
        let what = format!(
            "call {n}, {fault:?} on {wire}: {counted} of {most}, the server says {}, {:?}",
            costs[n], line.decision
        );
        let output = LIMIT * if *wire == "anthropic" { 10 } else { 5 };
        let cut_unread = *fault == Fault::CutReset && !line.decision.starts_with("stands");
        if line.decision == "no connection" {
            // A reset at once may come before anything is sent.
            assert_eq!((*fault, counted), (Fault::ResetAtOnce, 0), "{what}");
        } else if is_unanswered(*fault) || cut_unread {
            match silent.insert(*wire) {
                true => assert!(counted > 0 && counted <= most - output, "{what}"),
                false => assert_eq!(counted, 0, "{what}"),
            }
            // Of a reply that was made and never came the prompt is all that is known.
            assert!(cut_unread || counted >= costs[n], "{what}");
        } else if !matches!(fault, Fault::Status(_)) {
            silent.remove(wire);
            // A usage may go beyond what was reserved, up to all that was sent.
            let is_held = counted <= most || line.decision.contains("held");
            assert!(counted >= costs[n] && is_held, "{what}");
        }
        match fault {
            Fault::Whole | Fault::WholeStream | Fault::Status(_) => assert_eq!(counted, costs[n], "{what}"),
            Fault::Absurd(_) => {
                assert!(counted >= most && counted < 3 * most && line.decision.contains("held"), "{what}")
            }
            Fault::Silent | Fault::Cut | Fault::CutStream => assert_eq!(counted, most, "{what}"),
            _ => {}
        }
        spent += counted;
        beyond += counted.saturating_sub(costs[n]);
    }
    eprintln!(
        "the server counts {} micro-dollars, the broker {spent}, of it {beyond} for what nobody knows",
        server.cost()
    );
    let shown = paid.status().await["budget"].clone();
    assert_eq!(
        (shown["spent_today_usd"].as_f64(), shown["reserved_usd"].as_f64()),
        (Some(spent as f64 / 1e6), Some(0.0))
    );
}

#[tokio::test]
async fn resets_before_any_reply_do_not_mute_it_for_the_day() {
    let resets = [Fault::ResetAfterReading, Fault::ResetAtOnce, Fault::NoHttp].repeat(8);
    let server = Faulty::start(&resets);
    // As much at once as a thought of its own may use in a day by default.
    let paid = Paid::start("[budget]\ndaily_usd = 3.75\nautonomous_percent = 100\n", &server.url);
    for _ in &resets {
        assert_eq!(call(&paid, "anthropic", false, 36).await, 502);
    }
    for _ in 0..5 {
        assert_eq!(call(&paid, "anthropic", false, 36).await, 200, "the model is there again");
    }
    let ledger = paid.wait_for("settle", resets.len() + 5);
    let costs: Vec<u64> = ledger.of("settle").iter().filter_map(|line| line.entry.cost_micro_usd).collect();
    assert!(costs[0] > 0 && costs[0] < 105_000, "its prompt, once: {costs:?}");
    assert!(costs[1..resets.len()].iter().all(|cost| *cost == 0), "{costs:?}");
    assert_eq!(costs.iter().sum::<u64>(), costs[0] + server.cost());
}

#[tokio::test]
async fn pages_for_people_instead_of_answers_count_one_prompt() {
    let server = Faulty::start(&[Fault::Page; 12]);
    let paid = Paid::start("", &server.url);
    for _ in 0..12 {
        assert_eq!(call(&paid, "openai", false, 36).await, 200);
    }
    let ledger = paid.wait_for("settle", 12);
    let costs: Vec<u64> = ledger.of("settle").iter().filter_map(|line| line.entry.cost_micro_usd).collect();
    assert!(costs[0] > 0 && costs[0] < 55_000 && costs[1..].iter().all(|cost| *cost == 0), "{costs:?}");
}

#[tokio::test]
async fn absurd_usage_does_not_close_the_week() {
    let server = Faulty::start(&[Fault::Absurd(4_294_967_295), Fault::Absurd(u64::MAX)]);
    let paid = Paid::start("[budget]\ndaily_usd = 3.75\nautonomous_percent = 100\n", &server.url);
    for _ in 0..3 {
        assert_eq!(call(&paid, "anthropic", false, 14).await, 200);
    }
    let ledger = paid.wait_for("settle", 3);
    let said = &ledger.of("settle")[0].entry.decision;
    assert!(said.contains("held") && said.contains("4294967295"), "{said}");
    let budget = paid.status().await["budget"].clone();
    assert!(budget["spent_week_usd"].as_f64() < Some(0.3), "{budget}");
    assert!(budget["price"].as_str().unwrap().contains("claim more tokens"), "{budget}");
}

#[tokio::test]
async fn a_reasoning_model_takes_one_refusal_and_no_life_after_it_another() {
    let server = Faulty::start(&[Fault::OtherLimit]);
    let paid = Paid::start(RICH, &server.url);
    let body =
        json!({"model": "gpt-6.1-terra", "max_tokens": 50, "messages": [{"role": "user", "content": "hi"}]});
    let mut statuses = Vec::new();
    for _ in 0..3 {
        statuses.push(paid.post("openai", &body).send().await.unwrap().status().as_u16());
    }
    assert_eq!(statuses, [400, 200, 200]);
    let bodies = server.counted.lock().unwrap().bodies.clone();
    let limits: Vec<_> =
        bodies.iter().map(|body| (&body["max_tokens"], &body["max_completion_tokens"])).collect();
    assert_eq!(limits, [(&json!(50), &Value::Null), (&Value::Null, &json!(50)), (&Value::Null, &json!(50))]);
}
