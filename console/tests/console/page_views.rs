//! What the owner's page shows of a house that was lived in: each view, and of hostile text nothing but text.

use crate::asks::asked;
use crate::page::Page;
use serde_json::{Value, json};
use trials::{House, SOUND};

const HOSTILE: &str = "<script>pwned()</script></textarea></pre></title><img src=x onerror=pwned()>\"onmouseover=\"pwned() &lt;b&gt; \u{1b}[2J\u{202e}olleh\u{200b}";

fn record(number: u32, kind: &str, data: Value) -> String {
    let at = format!("2026-01-02T03:{:02}:{:02}.000Z", number / 60, number % 60);
    json!({"at": at, "life": 1, "kind": kind, "data": data}).to_string() + "\n"
}

/// A house whose every text is hostile.
fn lived_in() -> House {
    let house = House::new(SOUND);
    let commit = house.commit(&format!("self: {HOSTILE}"));
    house.write("creature/hostile.txt", &format!("{HOSTILE}\n"));
    let edit = house.commit("self: another");
    house.git(&["update-ref", "refs/guardian/good/00000001", &commit]);
    house.write("self/facts.md", &format!("# Facts\n\n- {HOSTILE}\n"));
    house.write("self/notes/herons.md", "# Herons\n\n</textarea><script>pwned()</script>\n");
    house.write(".self/snapshots/20260102T030405.000Z.md", HOSTILE);
    let mut memory = record(
        1,
        "message",
        json!({"from": "owner", "text": HOSTILE, "at": "2026-01-02T03:00:01.000Z", "thread": "main"}),
    );
    memory +=
        &record(2, "message", json!({"from": HOSTILE, "text": HOSTILE, "kind": HOSTILE, "thread": HOSTILE}));
    memory += &record(
        3,
        "thought",
        json!({"mind": HOSTILE, "thought": 1, "wake": 1, "round": 0, "monologue": HOSTILE, "intent": HOSTILE,
        "tool_calls": [{"tool": HOSTILE, "args": {HOSTILE: HOSTILE}}, {"tool": HOSTILE}], "usage": {"input_tokens": 1}}),
    );
    memory += &record(
        4,
        "action",
        json!({"thought": 1, "tool": HOSTILE, "args": {"a": HOSTILE}, "result": {"ok": false, "error": HOSTILE}}),
    );
    memory += &record(
        5,
        "self_change",
        json!({"ok": false, "stage": HOSTILE, "summary": HOSTILE, "files": [HOSTILE], "error": HOSTILE}),
    );
    memory += &record(6, HOSTILE, json!({"told": HOSTILE, HOSTILE: HOSTILE}));
    house.write(".self/memory.jsonl", &memory);
    house.write(
        ".self/mind/bookkeeping.jsonl",
        &record(3, "heartbeat", json!({"wake": 1, "thoughts": 1, "why": [HOSTILE]})),
    );
    house.write(
        ".self/mind/conversations/work.jsonl",
        &format!(
            "{}\n{}\n",
            json!({"entry": "said", "text": HOSTILE}),
            json!({"entry": "thought", "calls": [{"tool": HOSTILE}], "at_s": 1_767_322_983})
        ),
    );
    house.write(".self/mind/thinking.txt", HOSTILE);
    house.write(".self/mind/agenda.json", &json!({"goals": {"list": [{"id": HOSTILE, "title": HOSTILE, "status": "open"}]}, "reminders": {"list": [{"id": "r", "text": HOSTILE, "next": "2030-01-01T00:00:00Z"}]}}).to_string());
    house.write(".self/ledger.jsonl", &format!("{}\n", json!({"at": "2026-01-02T03:00:03.000Z", "event": "settle", "service": HOSTILE, "note": HOSTILE, "class": "owner", "day": "2026-01-02", "cost_micro_usd": 1_500_000, "decision": "by usage"})));
    guarded(&house, &commit);
    asked(&house, "1", HOSTILE);
    house.write("edit", &edit);
    house
}

/// What the guardian and the broker keep of that house.
fn guarded(house: &House, commit: &str) {
    let life = |what: &str, more: Value| {
        let mut line = json!({"at": "2026-01-02T03:00:00.000Z", "what": what, "life": 1, "commit": commit});
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        line.to_string() + "\n"
    };
    house.write(
        ".self/history.jsonl",
        &(life("life", json!({}))
            + &life("examined", json!({"told": HOSTILE}))
            + &life(HOSTILE, json!({HOSTILE: HOSTILE}))),
    );
    house.write(
        ".self/deaths.jsonl",
        &life("x", json!({"ended": HOSTILE, "cause": HOSTILE, "blame": HOSTILE, "log_tail": HOSTILE})),
    );
    house.write(".self/log/life-1.log", HOSTILE);
    house.write(".self/budget.json", &json!({"day": "2026-01-02", "caps": [{"span": HOSTILE, "cap_usd": 5, "spent_usd": 1}], "warning": HOSTILE}).to_string());
    house.write(
        ".self/guardian.json",
        &json!({"phase": "settled", "life": 1, "note": HOSTILE, "commit": commit, "walls": HOSTILE})
            .to_string(),
    );
    house.write(".self/heartbeat", &json!({"life": 1, "stage": HOSTILE, "mind": HOSTILE}).to_string());
}

/// Every view of that house, and a piece of it that must be there.
fn views(house: &House) -> Vec<(String, &'static str)> {
    let edit = house.read("edit");
    let given = [
        ("/", "What it means to do"),
        ("/more", "Self-edits"),
        ("/talk", "Your message"),
        ("/asks", "POST https://api.example/2/tweets"),
        ("/asks/1", "https://api.example/2/tweets"),
        ("/life", "<svg"),
        ("/life.svg", "<svg"),
        ("/life?from=1767312000000&to=1767398400000", "life 1"),
        ("/lives/1", "How it ended"),
        ("/thought/1", "What it thought"),
        ("/edits", "Go back here"),
        ("/ladder/1", "Line by line"),
        ("/report?since=2026-01-01", "words"),
        ("/search?q=PWNED", "<mark>pwned</mark>"),
        ("/spend?days=3660", "$1.50"),
        ("/memory", "self/notes/herons.md"),
        ("/memory/paper/self/facts.md", "change it with an editor"),
        ("/memory/paper/self/notes/herons.md", "Save it"),
        ("/memory/snapshot/20260102T030405.000Z.md", "Say what is wrong with it"),
        ("/record/memory.jsonl/0", "The record"),
    ];
    let mut views: Vec<(String, &str)> = given.map(|(path, part)| (path.to_owned(), part)).to_vec();
    views.push((format!("/commit/{edit}"), "creature/hostile.txt"));
    views
}

#[test]
fn hostile_text_stays_text_on_every_view() {
    let house = lived_in();
    let page = Page::of(&house);
    for (path, part) in views(&house) {
        let answer = page.get(&path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        let shown = &answer.body;
        assert!(shown.contains(part), "{part} is not on {path}: {shown}");
        let steers = |letter: &char| {
            *letter != '\n' && (letter.is_control() || "\u{202e}\u{200b}\u{9b}".contains(*letter))
        };
        assert_eq!(shown.chars().find(steers), None, "{path}");
        for element in shown.split('<').skip(1) {
            let inside = element.split('>').next().unwrap_or_default();
            let name = inside.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
            assert!(name != "img" && name != "iframe" && name != "style", "{path}: <{inside}>");
            assert!(
                name != "script" || inside == "/script" || inside.starts_with("script src=\"/"),
                "{path}: <{inside}>"
            );
            let attributes = [" on", "\"on", " style=", "javascript:", "data:", "srcdoc"];
            let quoted = inside.replace("&quot;onmouseover=&quot;", "").replace("&lt;img src=x onerror=", "");
            assert!(!attributes.iter().any(|odd| quoted.contains(odd)), "{path}: <{inside}>");
        }
    }
}

#[test]
fn a_page_says_what_it_is_and_leads_to_the_others() {
    let house = lived_in();
    let page = Page::of(&house);
    for (path, _) in views(&house) {
        if path == "/life.svg" {
            continue;
        }
        let shown = page.get(&path).body;
        for part in [
            "<html lang=\"en\">",
            " · Feral</title>",
            "rel=\"icon\"",
            "href=\"#main\"",
            "<nav aria-label=\"Pages\">",
            "<main id=\"main\"",
            "</main></body></html>",
        ] {
            assert_eq!(shown.matches(part).count(), 1, "{part} on {path}");
        }
        assert_eq!(shown.matches("<h1").count(), 1, "{path}");
        let mut ids: Vec<&str> =
            shown.split(" id=\"").skip(1).filter_map(|after| after.split('"').next()).collect();
        let all = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all, "ids that are there twice on {path}");
    }
}

#[test]
fn what_is_not_there_is_said_and_no_path_leads_out() {
    let house = lived_in();
    house.write(".env", "ANTHROPIC_API_KEY=sk-live-secret\n");
    std::os::unix::fs::symlink(house.path(".self"), house.path("self/out")).unwrap();
    std::os::unix::fs::symlink(house.path(".env"), house.path("self/env.md")).unwrap();
    let page = Page::of(&house);
    for path in [
        "/asks/99",
        "/lives/99",
        "/commit/ffffffff",
        "/commit/HEAD",
        "/ladder/9",
        "/nothing",
        "/asks/..%2f..%2fguardian",
        "/record/memory.jsonl/1",
        "/record/memory.jsonl/99999999",
        "/record/guardian.json/0",
        "/record/..%2f.env/0",
        "/record/broker%2ftokens.json/0",
        "/record/%2fetc%2fpasswd/0",
        "/record/memory.jsonl/18446744073709551615",
        "/commit/--help",
        "/commit/HEAD%7e1",
        "/memory/paper/.env",
        "/memory/paper/self/../.env",
        "/memory/paper/self/%2e%2e/.env",
        "/memory/paper/self/out/memory.jsonl",
        "/memory/paper/self/env.md",
        "/memory/paper/creature/creature.sh",
        "/memory/paper/owner.toml",
        "/memory/snapshot/..%2finbox.jsonl",
        "/memory/snapshot/%2e%2e%2f%2e%2e%2f.env",
        "/export/life/x.json",
        "/export/life/1.sh",
        "/export/span.json?from=1",
    ] {
        let answer = page.get(path);
        // A body that comes late has a status before it.
        assert!([200, 404].contains(&answer.status), "{path}: {}", answer.status);
        assert!(!answer.body.contains("sk-live"), "{path}");
        assert!(
            answer.status == 404
                || answer.body.contains("role=\"alert\"")
                || answer.body.contains("There is no")
                || answer.body.contains("No such")
                || answer.body.contains("not in memory"),
            "{path}: {}",
            answer.body
        );
    }
    assert_eq!(page.get("/thought/x").status, 400);
}

#[test]
fn search_goes_back_to_the_first_record_page_by_page() {
    let house = House::new(SOUND);
    let word = |number: u32| {
        record(
            number,
            "message",
            json!({"from": "creature", "text": format!("Größe {number} \"quoted\"\nend")}),
        )
    };
    house.write(".self/memory-20260102T030100.000Z.jsonl", &(0..60).map(word).collect::<String>());
    house.write(".self/memory.jsonl", &(60..120).map(word).collect::<String>());
    let page = Page::of(&house);
    let (mut path, mut found) = ("/search?q=gr%C3%96%C3%9Fe".to_owned(), vec![]);
    loop {
        let shown = page.get(&path).body;
        let hits =
            shown.split("<mark>").skip(1).filter_map(|after| after.split(' ').nth(1)?.parse::<u32>().ok());
        found.extend(hits);
        let Some((_, next)) = shown.split_once("class=\"button\" href=\"") else {
            assert!(shown.contains("back to the first record"), "{shown}");
            break;
        };
        path = next.split('"').next().unwrap().replace("&amp;", "&");
    }
    assert_eq!(found, (0..120).rev().collect::<Vec<_>>(), "the newest first, none twice, none left out");
    let quoted = page.get("/search?q=%22QUOTED%22").body;
    assert_eq!(quoted.matches("<li class=\"row\">").count(), 50, "{quoted}");
    assert!(page.get("/search?q=nothing+of+the+kind").body.contains("Nothing found"));
}

#[test]
fn times_are_the_owners() {
    let house = lived_in();
    let shown = Page::in_zone(&house, "XYZ-5").get("/talk").body;
    assert!(shown.contains("2026-01-02 08:00:01"), "{shown}");
}
