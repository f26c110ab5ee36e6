//! Sub-sessions with a model over real HTTP: worked on beside one another, stopped, cut off, reported once.

mod deaths;
mod looks;
mod reviews;
mod talks;
mod told;
mod word;

use crate::broker::{self, Answer, Asked, StandIn, loopback};
use crate::house::TempHouse;
use agenda::sessions::{Mode, Origin, Request, Status};
use creature::clock::Clock;
use creature::config::Told;
use creature::life::birth::birth;
use creature::life::{Leaving, Life, Next};
use creature::paths::House;
use jiff::Timestamp;
use mind::thought::ToolCall;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Asked to leave once this many ms are over; never without.
struct After(Option<tokio::time::Instant>);

impl Leaving for After {
    async fn asked(&mut self) {
        match self.0 {
            Some(at) => tokio::time::sleep_until(at).await,
            None => std::future::pending().await,
        }
    }
}

/// A house with a virtual clock whose model answers by what it is asked.
struct Scene {
    house: TempHouse,
    second: Arc<AtomicI64>,
    asked: Arc<Mutex<Vec<String>>>,
    broker: StandIn,
}

impl Scene {
    fn new(mut model: impl FnMut(&str) -> Value + Send + 'static) -> Self {
        Self::offering(broker::offer("openai"), move |_, text| model(text))
    }

    /// One whose broker offers this; the model is told by which name it is asked.
    fn offering(offer: Value, mut model: impl FnMut(&str, &str) -> Value + Send + 'static) -> Self {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let noting = Arc::clone(&asked);
        let broker = StandIn::new(answering_as(offer, move |name: &str, text: &str| {
            noting.lock().unwrap().push(text.to_owned());
            model(name, text)
        }));
        Self { house: TempHouse::new(), second: Arc::new(AtomicI64::new(1_900_000_000)), asked, broker }
    }

    async fn born(&self, life: u64) -> Life {
        let second = Arc::clone(&self.second);
        let clock = Clock::told(move || Timestamp::from_second(second.load(Ordering::Relaxed)).unwrap());
        let told = Told {
            house: House::new(self.house.path("")),
            life,
            commit: String::new(),
            safe: false,
            rehearsal: false,
            broker: Some(self.broker.client()),
            lifeline: creature::lifeline::Lifeline::default(),
            clock,
        };
        birth(told).await.unwrap()
    }

    fn later(&self, seconds: i64) {
        self.second.fetch_add(seconds, Ordering::Relaxed);
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// A broker with a model behind it; all other ways lead nowhere and take long.
fn answering(mut model: impl FnMut(&str) -> Value) -> impl FnMut(&Asked) -> Answer {
    answering_as(broker::offer("openai"), move |_, text| model(text))
}

fn answering_as(offer: Value, mut model: impl FnMut(&str, &str) -> Value) -> impl FnMut(&Asked) -> Answer {
    move |request| match request.path.as_str() {
        "/status" => broker::status(offer.clone(), &[]),
        "/llm/openai/v1/chat/completions" => {
            let name = request.body["model"].as_str().unwrap_or_default();
            match model(name, &request.body["messages"].to_string()) {
                Value::Null => broker::refusal(402, "budget_exhausted", Some(60)),
                said => {
                    let said = said.as_str().map_or_else(|| said.to_string(), str::to_owned);
                    let tokens = request.body.to_string().len() / 4;
                    let message = json!({"role": "assistant", "content": said});
                    let choice = json!({"finish_reason": "stop", "message": message});
                    let usage = json!({"prompt_tokens": tokens, "completion_tokens": 4});
                    broker::answer(200, &json!({"model": name, "usage": usage, "choices": [choice]}))
                }
            }
        }
        _ => Answer::Hangs,
    }
}

fn says(monologue: &str) -> Value {
    json!({"monologue": monologue, "intent": "i", "tool_calls": [], "sleep_s": 0})
}

fn calls(tool: &str, args: Value) -> Value {
    json!({"monologue": "m", "intent": "i", "tool_calls": [{"tool": tool, "args": args}], "sleep_s": 0})
}

/// Rests as long as a sub-session has something under way and no thought is told.
async fn work(life: &mut Life) -> Option<Next> {
    life.rest(None, &mut After(None)).await.unwrap()
}

/// Works until nothing is left for now: what one found interrupts the others.
async fn work_off(life: &mut Life) {
    while life.next_session(life.told.clock.now()).is_some_and(|next| next <= life.told.clock.now()) {
        assert!(work(life).await.is_none());
    }
}

async fn spawn(life: &mut Life, args: Value) -> Value {
    let Value::Object(args) = args else { panic!("no object") };
    life.lend(life.caller.clone())
        .call(&ToolCall { tool: "spawn".to_owned(), args, ..ToolCall::default() })
        .await
        .result
}

fn objective(origin: Origin, text: &str) -> Request {
    Request { origin, thread: "garden".to_owned(), objective: text.to_owned(), ..Request::default() }
}

#[tokio::test]
async fn a_graph_is_worked_off_and_reported_once() {
    loopback!();
    let scene = Scene::new(|text| match text {
        text if text.contains("Sum up") && text.contains("the mat hides the key") => says("It is the mat."),
        text if text.contains("Fail here") => says("[FAILED] no such door"),
        text if text.contains("Write it down") && !text.contains("key.txt") => {
            calls("files.write", json!({"path": "key.txt", "text": "mat"}))
        }
        text if text.contains("Write it down") && !text.contains("not among the tools") => {
            calls("x.post", json!({"text": "the mat!"}))
        }
        _ => says("the mat hides the key"),
    });
    let mut life = scene.born(1).await;
    let graph = json!({"graph": [
        {"objective": "Write it down", "name": "write"},
        {"objective": "Sum up", "mode": "none", "depends_on": ["write"]},
        {"objective": "Fail here", "mode": "base_only", "name": "fail"},
        {"objective": "Never begun", "depends_on": ["fail"]},
    ]});
    assert_eq!(spawn(&mut life, graph).await["ok"], true);
    work_off(&mut life).await;
    assert_eq!(std::fs::read_to_string(scene.house.path(".self/workspace/key.txt")).unwrap(), "mat");
    let [news] = life.cursors.events.news.as_slice() else {
        panic!("not told once: {:?}", life.cursors.events.news)
    };
    for said in
        ["session-1 done: the mat hides", "session-2 done: It is the mat.", "session-3 failed: no such door"]
    {
        assert_eq!(news.matches(said).count(), 1, "{said}: {news}");
    }
    assert!(news.contains("session-4 failed: session-3, which it waits for"), "{news}");
    assert!(news.starts_with("sub-sessions: 4 have ended, 2 done, but not session-3, session-4:"), "{news}");
    let acts: Vec<Value> =
        scene.house.records().into_iter().filter(|r| r.kind == "action").map(|r| r.data).collect();
    assert_eq!(
        (acts[0]["session"].clone(), acts[0]["result"]["ok"].clone()),
        (json!("session-1"), json!(true))
    );
    assert!(acts[1]["result"]["error"].as_str().unwrap().contains("x.post is not among the tools"));
    let end = scene.house.record("agenda", |data| data["session"] == "session-2" && data["status"] == "done");
    assert_eq!(end.data["answer"], "It is the mat.");
    let asked = scene.asked();
    let first = |objective: &str| asked.iter().find(|text| text.contains(objective)).unwrap();
    let (sum, write) = (first("Sum up"), first("Write it down"));
    assert!(!sum.contains("sub-session of Feral"), "one of mode none is told more than its objective: {sum}");
    assert!(
        write.contains("Your tools, of all that there are") && write.contains("sub-session of Feral"),
        "{write}"
    );
    let told = life.cursors.events.news.len();
    let asked = asked.len();
    drop(life);
    let mut life = scene.born(2).await;
    assert!(work(&mut life).await.is_none());
    assert_eq!((life.cursors.events.news.len(), scene.asked().len()), (told, asked), "told or asked again");
}

#[tokio::test]
async fn sessions_are_asked_beside_one_another() {
    loopback!();
    let server = Arc::new(tiny_http::Server::http("127.0.0.1:0").unwrap());
    let serving = Arc::clone(&server);
    let thread = std::thread::spawn(move || {
        let mut held = Vec::new();
        for request in serving.incoming_requests() {
            if request.url() == "/status" {
                let status = json!({"model": broker::offer("openai"), "services": []});
                let _ = request.respond(tiny_http::Response::from_string(status.to_string()));
                continue;
            }
            held.push(request);
            if held.len() == 2 {
                for request in held.drain(..) {
                    let message = json!({"role": "assistant", "content": says("both were here").to_string()});
                    let body =
                        json!({"model": "m", "choices": [{"finish_reason": "stop", "message": message}]});
                    let _ = request.respond(tiny_http::Response::from_string(body.to_string()));
                }
            }
        }
    });
    let base = format!("http://{}", server.server_addr().to_ip().unwrap());
    let house = TempHouse::new();
    let told = Told {
        house: House::new(house.path("")),
        life: 1,
        commit: String::new(),
        safe: false,
        rehearsal: false,
        broker: Some(hands::Broker::new(&base, broker::TOKEN).unwrap()),
        lifeline: creature::lifeline::Lifeline::default(),
        clock: Clock::default(),
    };
    let mut life = birth(told).await.unwrap();
    for text in ["one", "two"] {
        life.spawn_session(objective(Origin::Tool { parent: "thought-1".to_owned() }, text)).unwrap();
    }
    let worked = tokio::time::timeout(Duration::from_secs(20), work_off(&mut life)).await;
    worked.expect("one was waited for before the other was asked");
    assert!(life.store.sessions.all.iter().all(|session| session.answer == "both were here"));
    server.unblock();
    thread.join().unwrap();
}

#[tokio::test]
async fn one_that_was_cut_off_is_told_so_in_the_next_life() {
    loopback!();
    let scene = Scene::new(|text| match text.contains("You were asked to look") {
        true if text.contains("outcome unknown") && text.contains("Look at what is there before") => {
            says("careful now")
        }
        _ => calls("web.fetch_text", json!({"url": "https://example.org"})),
    });
    let mut life = scene.born(1).await;
    life.spawn_session(objective(Origin::Dream, "You were asked to look")).unwrap();
    // Dropped in the middle of a call that never answers: what a death leaves behind.
    let working = tokio::time::timeout(Duration::from_millis(900), work(&mut life)).await;
    assert!(working.is_err());
    drop(life);
    let mut life = scene.born(2).await;
    assert!(work(&mut life).await.is_none());
    assert_eq!(life.store.sessions.get("session-1").unwrap().answer, "careful now");
}

#[tokio::test]
async fn a_wish_to_leave_and_a_rebirth_leave_nothing_half_known() {
    loopback!();
    let scene = Scene::new(|text| match text.contains("asked to leave") {
        true => calls("notes.read", json!({"name": "scratch"})),
        false => calls("web.fetch_text", json!({"url": "https://example.org"})),
    });
    let mut life = scene.born(1).await;
    life.spawn_session(objective(Origin::Dream, "look")).unwrap();
    let soon = tokio::time::Instant::now() + Duration::from_millis(900);
    assert!(matches!(life.rest(None, &mut After(Some(soon))).await.unwrap(), Some(Next::Leave)));
    life.leave().unwrap();
    let stopped = scene.house.record("action", |data| data["session"] == "session-1");
    assert!(stopped.data["result"]["error"].as_str().unwrap().contains("asked to leave"));
    let mut life = scene.born(2).await;
    assert!(life.store.sessions.get("session-1").unwrap().acting.is_empty());
    // As its call leaves it.
    life.toolbox.left.rebirth = Some("wings".to_owned());
    assert!(matches!(work(&mut life).await, Some(Next::Reborn(summary)) if summary == "wings"));
    let session = life.store.sessions.get("session-1").unwrap();
    assert!(session.acting.is_empty() && session.cuts == 0, "{session:?}");
}

#[tokio::test]
async fn reviews_stay_silent_reminders_are_delivered_and_an_outage_is_a_rest() {
    loopback!();
    let scene = Scene::new(|text| match text {
        text if text.contains("Review the shop") => says("[NO_ACTION] all well"),
        text if text.contains("Wake the owner") => says("Good morning: it is dry outside."),
        text if text.contains("No money") => Value::Null,
        _ => says("the roof leaks"),
    });
    let mut life = scene.born(1).await;
    life.spawn_session(objective(Origin::Pulse("pulse-1".to_owned()), "Review the shop")).unwrap();
    life.spawn_session(objective(Origin::Pulse("pulse-2".to_owned()), "Review the roof")).unwrap();
    life.spawn_session(objective(Origin::Reminder("reminder-1".to_owned()), "Wake the owner")).unwrap();
    work_off(&mut life).await;
    let news = ["[thread garden] review of pulse-2 (your owner was told so): session-2 done: the roof leaks"];
    assert_eq!(life.cursors.events.news, news);
    let message = scene.house.record("message", |data| data["text"] == "pulse-2: the roof leaks");
    assert_eq!(message.data["thread"], "garden");
    let message = scene.house.record("message", |data| data["reminder"] == "reminder-1");
    assert_eq!(message.data["text"], "Good morning: it is dry outside.");
    assert_eq!(
        (message.data["from"].clone(), message.data["thread"].clone()),
        (json!("creature"), json!("garden"))
    );
    life.spawn_session(objective(Origin::Dream, "No money")).unwrap();
    assert!(work(&mut life).await.is_none());
    scene.house.record("observation", |data| data["about"] == "sessions");
    let (now, asked) = (life.told.clock.now(), scene.asked().len());
    assert!(life.next_session(now).is_some_and(|next| next > now), "an outage is waited out");
    assert!(work(&mut life).await.is_none());
    assert_eq!(scene.asked().len(), asked, "asked again at once");
    for _ in 0..4 {
        // The wait for an account that is empty.
        scene.later(3_600);
        work(&mut life).await;
    }
    let session = life.store.sessions.get("session-4").unwrap();
    assert_eq!(session.status, Status::Failed);
    assert!(life.cursors.events.news.last().unwrap().contains("not done within 4 hops"));
}

#[tokio::test]
async fn one_that_waits_begins_in_its_time_and_thinks_no_more_than_its_hops_allow() {
    loopback!();
    let clock = Arc::new(Mutex::new(None::<Arc<AtomicI64>>));
    let hand = Arc::clone(&clock);
    // Each of its thoughts takes forty seconds, so a leg has eight.
    let scene = Scene::new(move |_| {
        hand.lock().unwrap().as_ref().unwrap().fetch_add(40, Ordering::Relaxed);
        calls("notes.read", json!({"name": "scratch"}))
    });
    *clock.lock().unwrap() = Some(Arc::clone(&scene.second));
    let mut life = scene.born(1).await;
    let now = life.told.clock.now();
    spawn(&mut life, json!({"objective": "Later", "not_before": 3600, "mode": "full"})).await;
    assert!(work(&mut life).await.is_none());
    assert_eq!(scene.asked().len(), 0);
    assert_eq!(life.next_session(now).unwrap().as_second() - now.as_second(), 3_600);
    scene.later(3_600);
    work_off(&mut life).await;
    assert_eq!(scene.asked().len(), 32);
    assert!(scene.asked()[0].contains("Be curious about small things"));
    let session = life.store.sessions.get("session-1").unwrap();
    assert_eq!((session.status, session.mode), (Status::Failed, Mode::Full));
    assert_eq!(life.next_session(life.told.clock.now()), None);
}

#[tokio::test]
async fn what_the_owner_asked_for_is_not_asked_as_its_own() {
    loopback!();
    let scene = Scene::new(|_| says("done"));
    let mut life = scene.born(1).await;
    for owner in [true, false] {
        life.spawn_session(Request { owner, ..objective(Origin::Dream, "look") }).unwrap();
        assert!(work(&mut life).await.is_none());
    }
    let asked = scene.broker.heard("/llm/openai/v1/chat/completions");
    let classes: Vec<Option<&str>> = asked.iter().map(|asked| asked.class.as_deref()).collect();
    assert_eq!(classes, [None, Some("autonomous")]);
}

#[tokio::test]
async fn the_question_whether_tools_are_had_is_paid_as_the_sub_session_it_precedes() {
    loopback!();
    for (owner, class) in [(true, None), (false, Some("autonomous"))] {
        let scene = Scene::new(|_| says("done"));
        scene.house.owner("[model]\ntools = \"auto\"\n");
        let mut life = scene.born(1).await;
        life.spawn_session(Request { owner, ..objective(Origin::Dream, "look") }).unwrap();
        assert!(work(&mut life).await.is_none());
        let asked = scene.broker.heard("/llm/openai/v1/chat/completions");
        assert!(asked[0].body.to_string().contains("Call the tool echo"), "{:?}", asked[0].body);
        let classes: Vec<Option<&str>> = asked.iter().map(|asked| asked.class.as_deref()).collect();
        assert!(classes.len() >= 2 && classes.iter().all(|asked| *asked == class), "{classes:?}");
    }
}
