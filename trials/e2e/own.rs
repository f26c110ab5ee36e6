//! A house that nobody speaks to, with a mind that looks before it acts and two feeds: it greets, reads, notes and drafts.
//!
//! It takes up next what it said it would. `FERAL_OWN_MINUTES` says how long it is left alone; without it, until all is seen.

use super::faithful::{Faithful, Prices, Rules, Say, Seen, Wire, ledger};
use super::{LIMITS, memory, start, until};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use trials::clone::Clone;
use trials::lines;

const QUICK: &str = "claude-haiku-5-5";

/// The rests it chooses, in seconds: short where it is only to be seen doing everything once.
fn rest_s() -> u64 {
    if minutes() > 0 { 20 } else { 4 }
}

/// How long it is left alone.
fn minutes() -> u64 {
    std::env::var("FERAL_OWN_MINUTES").ok().and_then(|minutes| minutes.parse().ok()).unwrap_or(0)
}

/// Two feeds whose items grow in number, and the pages they lead to.
fn feeds() -> String {
    let server = tiny_http::Server::http("127.0.0.1:0").unwrap();
    let (address, began) = (format!("http://{}", server.server_addr()), Instant::now());
    let base = address.clone();
    std::thread::spawn(move || {
        for request in server.incoming_requests() {
            let items = 2 + began.elapsed().as_secs() / 240;
            let (kind, body) = match request.url().rsplit_once("/article/") {
                Some((_, number)) => ("text/html", page(number)),
                None => ("application/rss+xml", feed(&base, request.url(), items)),
            };
            let header = tiny_http::Header::from_bytes("content-type", kind).unwrap();
            let _ = request.respond(tiny_http::Response::from_string(body).with_header(header));
        }
    });
    address
}

fn feed(base: &str, path: &str, items: u64) -> String {
    let name = path.trim_matches('/');
    let item = |at: u64| {
        format!(
            "<item><title>{name} {at}: a tool that lasts</title><link>{base}/{name}/article/{at}</link></item>"
        )
    };
    let items: String = (0..items).rev().map(item).collect();
    format!("<rss version=\"2.0\"><channel><title>{name}</title>{items}</channel></rss>")
}

fn page(number: &str) -> String {
    format!(
        "<html><head><title>Tool {number}</title></head><body><article><h1>Tool {number}</h1><p>Tool {number} was written in \
         one file of plain C some {number}0 years ago, and is built by one command today as it was then.</p><p>Its maker \
         answers letters, refuses every flag that a pipe could be, and deletes more lines a year than come in.</p></article></body></html>"
    )
}

/// The last part of what it was told that stands under this heading.
fn section<'a>(text: &'a str, heading: &str) -> &'a str {
    let rest = text.rsplit_once(&format!("# {heading}")).map_or("", |(_, rest)| rest);
    let body = rest.split_once('\n').map_or("", |(_, body)| body);
    body.split("\n# ").next().unwrap_or_default().trim()
}

/// The newest link to an article in a text.
fn link(text: &str) -> Option<String> {
    let mut links = text.split_whitespace().filter(|word| word.contains("/article/"));
    links.next_back().map(|link| link.trim_matches(['"', ';', ',', '.', '(', ')']).to_owned())
}

/// What it says, calls and means to do next follows from what it is shown.
fn step(seen: &Seen) -> Say {
    if seen.model == QUICK {
        return look(seen);
    }
    let said = seen.last_said();
    if said.contains("This conversation has grown too long") {
        return Say::new().plainly("Goal: settle in. Next: the first line of the stack.");
    }
    // What came of a rest is a new wake.
    let mut results = seen.last_results();
    results.retain(|(name, _)| name != "rest");
    if let Some((_, text)) = results.iter().find(|(name, _)| name.contains("fetch_text")) {
        return noted(text, &said);
    }
    if let Some(say) = results
        .iter()
        .find(|(name, _)| name.replace('_', ".") == "notes.read")
        .and_then(|(_, text)| ticked(text))
    {
        return say;
    }
    if !results.is_empty() {
        let next = section(&seen.all_text(), "Goals").lines().next().unwrap_or_default().to_owned();
        let again = results.iter().find(|(_, text)| text.starts_with("failed:"));
        let doing = again.map_or(next, |(name, text)| format!("{name} failed: {text}"));
        return Say::new().says("That is done.").intends(&format!("next: {}", short(&doing))).rests(rest_s());
    }
    let events = section(&said, "Events");
    if let Some(found) = events.split("your quick look (").nth(1) {
        return match link(found) {
            Some(link) => {
                Say::new().says("Worth reading whole.").calls("web.fetch_text", json!({"url": link}))
            }
            None => Say::new().says("Not for me.").intends("next: the stack").rests(rest_s()),
        };
    }
    let all = seen.all_text();
    let Some((kind, id, next)) = first_line(&all) else {
        return Say::new().says("Nothing is ready.").intends("next: what my sources say").rests(rest_s());
    };
    match kind.as_str() {
        "goals" => goal_step(&id, &next),
        "tasks" if id.starts_with("item-") => Say::new()
            .says(&format!("I do this of my list: {next}."))
            .calls("notes.read", json!({"name": "heartbeat"})),
        _ => Say::new()
            .says("Nothing else is worth it now.")
            .intends("next: what my sources say")
            .rests(rest_s()),
    }
}

/// The first line of the stack: its kind, its name, and what it is about or what is next of it.
fn first_line(text: &str) -> Option<(String, String, String)> {
    let line = section(text, "What there is to do").lines().next()?;
    let (_, line) = line.split_once(". ")?;
    let (id, rest) = line.split_once(" (")?;
    let (kind, rest) = rest.split_once(") ")?;
    let title = rest.split(": ").next()?;
    let next = rest.rsplit_once("; next: ")?.1;
    let about = if kind == "goals" { next } else { title };
    Some((kind.to_owned(), id.to_owned(), about.to_owned()))
}

/// The paper as it was read, its first open item ticked off.
fn ticked(paper: &str) -> Option<Say> {
    let text = paper.split_once("# Heartbeat")?.1;
    let begins = text.rfind("-->")?;
    let open =
        text[begins..].find("- [ ] ").filter(|at| !text[begins + at..].starts_with("- [ ] every"))? + begins;
    let text = format!("# Heartbeat{}- [x] {}", &text[..open], &text[open + 6..]);
    Some(
        Say::new()
            .says("One is done, the others next.")
            .calls("notes.write", json!({"name": "heartbeat", "text": text})),
    )
}

fn short(text: &str) -> String {
    text.chars().take(160).collect()
}

fn noted(page: &str, said: &str) -> Say {
    let from = link(said).unwrap_or_default();
    let number = from.rsplit('/').next().unwrap_or_default().to_owned();
    let gist = page.lines().find(|line| line.contains("written in")).unwrap_or(page);
    let text = format!("# Tool {number}\n\n{from}\n\n{gist}\n\nGood for the goal on tools that last.");
    Say::new()
        .says("I keep it.")
        .calls("knowledge.write", json!({"name": format!("tool-{number}"), "text": text}))
}

fn goal_step(id: &str, next: &str) -> Say {
    let done = json!({"id": id, "status": "done", "reason": null});
    let say = Say::new().says(&format!("I work on {id}."));
    let say = if next.contains("greet your owner") {
        let text = "I am Feral, a small animal made of source code, new in this house. First I will read what your two feeds say \
                    about tools that last. From you I need a word whenever I am on the wrong track.";
        say.calls("owner.message", json!({"text": text, "kind": "milestone", "done": null}))
    } else if next.contains("diary") {
        say.calls("notes.append", json!({"name": "diary", "text": "\n## First hour\n\nI looked round: a purpose, two feeds, no notes yet.\n"}))
    } else if next.contains("first goal") {
        let steps = ["read three pages on tools that last", "write what they have in common"];
        say.calls(
            "goal.add",
            json!({"title": "what makes tools last", "checkpoints": steps, "cost_usd": null}),
        )
    } else if next.contains("can reach") {
        say.calls("service.list", json!({}))
    } else if next.contains("draft one thing") {
        let text = "Small tools last because one person can read them in an evening. (draft)";
        say.calls("knowledge.write", json!({"name": "draft-first", "text": text}))
    } else {
        say.calls("knowledge.search", json!({"query": "tool lasts", "kind": null, "most": null}))
    };
    say.calls("goal.checkpoint", done)
}

/// The quick model looks: what is new is named, else nothing.
fn look(seen: &Seen) -> Say {
    let text = seen.all_text();
    let objective = section(&text, "Your objective");
    let new = text.split_once("New at your sources:").map_or("", |(_, new)| new);
    match link(new.split("\n# ").next().unwrap_or_default()) {
        Some(link) if objective.starts_with("Look at what your sources say") => {
            Say::new().plainly(&format!("There is something new on tools that last: {link}"))
        }
        _ => Say::new().plainly("NOTHING"),
    }
}

fn has(records: &[Value], kind: &str, with: &str) -> bool {
    let mut mine = records.iter().filter(|record| record["kind"] == kind);
    mine.any(|record| record["data"].to_string().contains(with))
}

#[test]
fn left_alone_it_greets_makes_a_goal_reads_notes_and_drafts() {
    let clone = Clone::new();
    let house = &clone.house;
    let rules = Rules { models: vec![QUICK.to_owned()], ..Rules::default() };
    let server = Faithful::start(Wire::Anthropic, rules, step);
    let (model, address, site) = (Wire::Anthropic.model(), server.base_url(), feeds());
    house.write("owner.toml", &format!(
        "{LIMITS}[budget]\ndaily_usd = 20\nweekly_usd = 100\nautonomous_percent = 50\n[rest]\nshortest_s = 1\n[model]\nprovider = \
         \"anthropic\"\nmodel = \"{model}\"\nbase_url = \"{address}\"\nkey_env = \"TEST_MODEL_KEY\"\n[model.quick]\nmodel = \"{QUICK}\"\n"
    ));
    let purpose = house.read("PURPOSE.md");
    house.write("PURPOSE.md", &format!("{purpose}\nfeed: {site}/one\nfeed: {site}/two\n"));
    let (began, guardian) = (Instant::now(), start(house));
    let steps: [(&str, &str, &str); 6] = [
        ("the greeting", "message", "I am Feral, a small animal"),
        ("the diary", "action", "First hour"),
        ("a goal", "action", "what makes tools last"),
        ("a draft", "action", "self/notes/draft-first"),
        ("a page read", "action", "/article/"),
        ("a note of it", "action", "self/notes/tool-"),
    ];
    for (what, kind, with) in steps {
        until(house, what, || has(&memory(house), kind, with));
        println!("{what} after {:.0} s", began.elapsed().as_secs_f64());
    }
    while began.elapsed() < Duration::from_secs(minutes() * 60) {
        std::thread::sleep(Duration::from_secs(5));
        server.assert_no_violations();
    }
    assert_eq!(guardian.stop(), 0);
    server.assert_no_violations();
    let records = memory(house);
    took_up_what_it_said(&records);
    let (spent, _) = ledger::cost(&server.ledger(), &Prices::MIDDLE);
    let count = |kind: &str| records.iter().filter(|record| record["kind"] == kind).count();
    println!(
        "{} records: {} thoughts, {} actions, {} messages, {} agenda; {} requests, {spent:.4} USD at the price of the dearer",
        records.len(),
        count("thought"),
        count("action"),
        count("message"),
        count("agenda"),
        server.seen().len(),
    );
    println!("{}", house.status());
    let kept = lines(&house.path(".self/mind/bookkeeping.jsonl"));
    println!("{} lines of bookkeeping", kept.len());
}

/// What a thought means to do next is what the next one of its own does.
fn took_up_what_it_said(records: &[Value]) {
    let thoughts: Vec<&Value> = records
        .iter()
        .filter(|record| record["kind"] == "thought" && record["data"]["mind"] != "instinct")
        .collect();
    let mut kept = 0;
    for pair in thoughts.windows(2) {
        let (meant, next) = (pair[0]["data"]["intent"].as_str().unwrap_or(""), pair[1]["data"].to_string());
        let Some(goal) = meant.strip_prefix("next: ").and_then(|meant| meant.split(' ').next()) else {
            continue;
        };
        if goal.starts_with("goal-") && (next.contains(goal) || next.contains("quick look")) {
            kept += 1;
        }
    }
    assert!(kept >= 3, "of what it meant to do it took up {kept}: {thoughts:#?}");
}
