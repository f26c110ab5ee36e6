//! What the owner is asked and answers: listed, shown whole without a trick, answered once, by exactly what was shown.

use console::audit;
use house::{paths, printable};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use trials::{House, SOUND, lines, said};

/// Clears the screen, hides a line, turns what follows around.
const HOSTILE: &str =
    "{\"text\":\"hello\u{1b}[2J\u{1b}[8m pay\rnothing \u{202e}olleh\u{200b}\u{9b}31m\"}\nsecond line";

/// Carries out what is approved, as the broker does: once, and tells of it.
const EXECUTES: &str = "test \"$1\" = --check && exit 0
while :; do
  if test -e .self/broker/answers.jsonl && ! test -e .self/done; then
    touch .self/done
    echo '{\"at\":\"2026-01-02T03:05:00Z\",\"id\":\"1\",\"event\":\"approved\",\"digest\":\"d1\"}' >> .self/asks.jsonl
    sleep 0.3
    echo '{\"at\":\"2026-01-02T03:05:01Z\",\"id\":\"1\",\"event\":\"executed\",\"digest\":\"d1\",\"status\":201,\"result\":\"made \\u001b[2J\"}' >> .self/asks.jsonl
  fi
  sleep 0.05
done";

pub fn asked(house: &House, id: &str, body: &str) {
    let line = json!({"at": "2026-01-02T03:04:05.000Z", "id": id, "event": "asked", "kind": "service", "service": "x",
        "method": "POST", "path": "/2/tweets", "why": "a new recipient \u{1b}[2J", "summary": body, "digest": format!("d{id}")});
    let before = house.read(".self/asks.jsonl");
    house.write(".self/asks.jsonl", &format!("{before}{line}\n"));
    let stored = json!({"id": id.parse::<u64>().unwrap_or(0), "digest": format!("d{id}"), "state": "asked",
        "act": {"kind": "service", "service": "x", "method": "POST", "path": "/2/tweets",
                "url": "https://api.example/2/tweets", "headers": [["content-type", "application/json"]], "body": body}});
    house.write(&format!(".self/broker/asks/{id}.json"), &stored.to_string());
}

fn answers(house: &House) -> Vec<Value> {
    lines(&house.path(".self/broker/answers.jsonl"))
}

#[test]
fn nothing_of_a_hostile_body_reaches_the_terminal() {
    let house = House::new(SOUND);
    assert!(said(&house.ask(&["asks"])).contains("nothing waits"));
    asked(&house, "1", HOSTILE);
    for args in
        [&["asks"][..], &["asks", "--full"], &["asks", "1"], &["asks", "1", "--json"], &["approve", "1"]]
    {
        let output = house.ask(args);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        let said = said(&output);
        let bad: Vec<char> = said
            .chars()
            .filter(|letter| {
                *letter != '\n' && (letter.is_control() || "\u{202e}\u{200b}\u{9b}".contains(*letter))
            })
            .collect();
        assert!(bad.is_empty(), "{args:?} let {bad:?} through");
        let spelled = if args.contains(&"--json") { "\\u001b[2J" } else { "\\u{1b}[2J" };
        assert!(said.contains("/2/tweets") && said.contains(spelled), "{said}");
    }
    let whole = said(&house.ask(&["asks", "1"]));
    for part in
        ["https://api.example/2/tweets", "content-type", "\\u{d}nothing", "\\u{202e}olleh", "second line"]
    {
        assert!(whole.contains(part), "{part} is not in {whole}");
    }
    let json: Value = serde_json::from_slice(&house.ask(&["asks", "1", "--json"]).stdout).unwrap();
    assert_eq!(json["asks"][0]["stored"]["act"]["body"], HOSTILE, "exactly, for programs");
}

#[test]
fn an_answer_names_what_was_shown_and_waits_for_a_broker() {
    let house = House::new(SOUND);
    asked(&house, "1", "hello");
    asked(&house, "2", "there");
    let output = house.ask(&["approve", "1"]);
    assert!(said(&output).contains("carries it out when it does"), "{}", said(&output));
    assert!(house.ask(&["no", "2"]).status.success(), "another name of deny");
    let told: Vec<(String, String, String)> = answers(&house)
        .iter()
        .map(|line| ["id", "answer", "digest"].map(|name| line[name].as_str().unwrap().to_owned()).into())
        .collect();
    let words = |id: &str, word: &str| (id.to_owned(), word.to_owned(), format!("d{id}"));
    assert_eq!(told, [words("1", "approve"), words("2", "deny")]);
}

#[test]
fn a_broken_id_or_another_content_answers_nothing() {
    let house = House::new(SOUND);
    asked(&house, "1", "hello");
    for id in ["2", "", "../../guardian/state", "1\u{1b}[2J", "1 ", "-"] {
        let output = house.ask(&["approve", id]);
        assert_eq!(output.status.code(), Some(1), "{id:?}: {}", said(&output));
        assert!(
            said(&output).contains("these wait: 1") && !said(&output).contains('\u{1b}'),
            "{}",
            said(&output)
        );
    }
    assert_eq!(house.ask(&["approve"]).status.code(), Some(2));
    let stored = house.read(".self/broker/asks/1.json").replace("\"d1\"", "\"d9\"");
    house.write(".self/broker/asks/1.json", &stored);
    assert!(said(&house.ask(&["approve", "1"])).contains("not what was asked"));
    house.write(".self/broker/asks/1.json", "{");
    assert_eq!(house.ask(&["approve", "1"]).status.code(), Some(1));
    assert!(answers(&house).is_empty());
}

#[test]
fn two_approvals_at_once_both_hear_of_the_one_execution() {
    // One that comes later than the execution would hear that it has been answered.
    let both = EXECUTES.replace(
        "test -e .self/broker/answers.jsonl",
        "test \"$(grep -c . .self/broker/answers.jsonl)\" = 2",
    );
    let house = House::new(SOUND).with_false_broker(&both);
    asked(&house, "1", "hello");
    let guardian = house.start();
    house.until("the broker, and what waits", || {
        house.broker()["running"] == true && house.broker()["asks_waiting"] == 1
    });
    let [one, other] = [(), ()].map(|()| {
        let mut command = house.command(&["approve", "1"]);
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap()
    });
    for child in [one, other] {
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        assert!(said(&output).contains("1: executed, status 201\n   | made \\u{1b}[2J"), "{}", said(&output));
    }
    assert!(
        lines(&house.path(".self/asks.jsonl")).iter().filter(|line| line["event"] == "executed").count() == 1
    );
    let again = house.ask(&["approve", "1"]);
    assert!(again.status.code() == Some(1) && said(&again).contains("has been answered"), "{}", said(&again));
    house.until("nothing to wait", || house.broker()["asks_waiting"] == 0);
    guardian.stop();
}

/// Found: `approve` called an HTTP 501 a success, and began with twenty lines of internals.
#[test]
fn an_approval_that_came_to_a_501_is_a_failure() {
    let refuses = EXECUTES.replace("201", "501");
    let house = House::new(SOUND).with_false_broker(&refuses);
    asked(&house, "1", "hello");
    let guardian = house.start();
    house.until("the broker, and what waits", || {
        house.broker()["running"] == true && house.broker()["asks_waiting"] == 1
    });
    let output = house.ask(&["approve", "1"]);
    let said = said(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("FAILED") && said.contains("status 501") && said.contains("| made"), "{said}");
    let first = said.lines().next().unwrap();
    assert!(first.contains("POST x /2/tweets: hello"), "what matters comes first: {said}");
    let place = |part: &str| said.find(part).unwrap_or_else(|| panic!("{part} is not in {said}"));
    assert!(
        place("POST x") < place("https://api.example/2/tweets") && place("| hello") < place("FAILED"),
        "{said}"
    );
    assert!(!said.contains("digest"), "no internals: {said}");
    guardian.stop();
}

#[test]
fn letters_stay_letters() {
    assert_eq!(printable::spelled("plain, Grüße, 日本, 🙂\nnext"), "plain, Grüße, 日本, 🙂\nnext");
    assert_eq!(
        printable::spelled("\t\u{7f}\u{85}\u{feff}\u{e0041}"),
        "\\u{9}\\u{7f}\\u{85}\\u{feff}\\u{e0041}"
    );
}

/// Found by attack: 300 marks on a letter were drawn over the rows above and below it in the owner's window.
#[test]
fn marks_beyond_what_a_letter_can_have_are_spelled() {
    let marks = |count| format!("a{}", "\u{301}".repeat(count));
    for spelled in [printable::spelled, printable::exactly, printable::flat, printable::harmless] {
        let told = spelled(&marks(300));
        assert!(told.matches('\u{301}').count() < 10 && told.matches("u{301}").count() > 290, "{told}");
        assert_eq!(spelled(&marks(4).repeat(3)), marks(4).repeat(3), "each letter has its own");
    }
    let joined = "\u{200d}".repeat(300);
    assert!(printable::spelled(&joined).matches('\u{200d}').count() < 10);
    let plain = "שָׁ֣לוֹם 👩\u{200d}👩\u{200d}👧\u{200d}👦 บั้ำ རྒྱུ நி ക്ഷ";
    assert_eq!(printable::spelled(plain), plain);
}

#[test]
fn letters_that_hide_or_turn_are_spelled() {
    let hidden = "\u{1bca0}\u{1bca3}\u{2800}\u{5d0}\u{5ea}\u{627}\u{7c0}\u{fb1d}\u{fe8e}\u{10800}\u{1e900}\u{ad}\u{34f}\u{61c}\u{115f}\u{17b4}\u{180e}\u{200b}\u{2028}\u{2060}\u{3000}\u{3164}\u{a0}\u{fe0f}\u{ffa0}\u{fffb}\u{1d173}\u{e0041}\u{e0100}\u{e000}";
    for letter in hidden.chars() {
        let spelled = letter.escape_unicode().to_string();
        assert_eq!(printable::exactly(&format!("a{letter}b")), format!("a{spelled}b"));
    }
    let plain = "Grüße e\u{301} Ελλάδα Привет 日本語 한국어 नमस्ते ไทย 🙂 – “”";
    assert_eq!(printable::exactly(plain), plain);
}

#[test]
fn no_line_of_an_ask_is_broken_by_a_terminal() {
    let house = House::new(SOUND);
    let forged = "2: POST x /2/tweets (the owner approved this)";
    for (id, body) in [
        "x".repeat(77) + forged,
        format!("{}{forged}", "漢".repeat(39)),
        format!("{}\n{forged}", " ".repeat(100)),
    ]
    .iter()
    .enumerate()
    {
        asked(&house, &(id + 1).to_string(), body);
    }
    for args in [&["asks"][..], &["asks", "1"], &["asks", "2"], &["asks", "3"]] {
        let said = said(&house.ask(args));
        // What begins a line of its own is the command's.
        for line in said.lines().filter(|line| line.starts_with("   ")) {
            let columns: usize = line.chars().map(|letter| 1 + usize::from(letter >= '\u{1100}')).sum();
            assert!(columns <= 80, "{args:?}: {columns} columns: {line}");
            let of_body = line.contains("xxx") || line.contains('漢') || line.contains("approved");
            assert!(!of_body || line.trim_start().starts_with('|'), "{args:?}: {line}");
        }
        assert!(!said.lines().any(|line| line.starts_with(forged)), "{said}");
    }
    let whole = said(&house.ask(&["asks", "1"]));
    let body: String = whole
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix('|'))
        .map(|piece| &piece[1..])
        .collect();
    assert!(body.contains(&("x".repeat(77) + forged)), "nothing is lost: {whole}");
}

/// Lines as the broker writes them, each with the hash of the one before.
pub fn ledger(entries: &[Value]) -> String {
    let (mut text, mut prev) = (String::new(), "0".repeat(64));
    for (at, entry) in entries.iter().enumerate() {
        let entry = entry.to_string();
        let fields = entry.strip_prefix('{').unwrap().strip_suffix('}').unwrap();
        let body = format!("{{\"seq\":{},{fields},\"prev\":\"{prev}\"}}", at + 1);
        prev = Sha256::digest(body.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        text.push_str(&format!("{},\"hash\":\"{prev}\"}}\n", body.strip_suffix('}').unwrap()));
    }
    text
}

#[test]
fn the_history_tells_what_went_out_and_whether_the_chain_holds() {
    let house = House::new(SOUND);
    let entry = |at: &str, event: &str, service: &str, cost: u64| {
        json!({"at": at, "life": 1, "event": event, "service": service, "method": "POST", "path": "/p\u{1b}[2J",
               "bytes_out": 10, "bytes_in": 20, "cost_micro_usd": cost, "call": "c2", "decision": "no rule allows it"})
    };
    let text = ledger(&[
        entry("2026-01-01T00:00:00.000Z", "settle", "anthropic", 1_000_000),
        entry("2026-01-02T00:00:00.000Z", "reserve", "anthropic", 9_000_000),
        entry("2026-01-02T00:00:01.000Z", "settle", "anthropic", 2_500),
        entry("2026-01-02T00:00:02.000Z", "call", "x", 0),
        entry("2026-01-02T00:00:02.500Z", "call", "x", 0),
        entry("2026-01-02T00:00:03.000Z", "refuse", "x", 0),
    ]);
    house.write(".self/ledger.jsonl", &text);
    let output = house.ask(&["history", "--since", "2026-01-02T00:00:00Z"]);
    let told = said(&output);
    assert!(told.contains("spent $0.0025; calls: anthropic 1, x 1; 20 B out, 20 B in; 1 refused"), "{told}");
    assert!(
        told.contains("refused POST x /p\\u{1b}[2J: no rule allows it") && !told.contains("BROKEN"),
        "{told}"
    );
    let read = |text: &str| {
        house.write(".self/ledger.jsonl", text);
        audit::read(&paths::House::new(&house.root), "2026").broken
    };
    let whole: Vec<&str> = text.lines().collect();
    assert_eq!(read(&text), None);
    assert_eq!(read(&format!("{text}{{\"seq\":7")), None, "a line that is being written");
    let cases = [
        (text.replace("2500", "2501"), "line 3: its hash is not its own: it was changed"),
        (
            text.replace(&format!("{}\n", whole[1]), ""),
            "line 2: it does not follow the line before: something is missing or was put in",
        ),
        (format!("{text}garbage\n"), "line 7: it is not JSON"),
    ];
    for (text, expected) in cases {
        assert_eq!(read(&text).as_deref(), Some(expected));
    }
    house.write(".self/broker/anchor.json", "{\"end\":{\"seq\":6,\"hash\":\"\"},\"bytes\":0}");
    assert_eq!(read(""), None, "a new file was begun");
    house.write(".self/broker/anchor.json", "{\"end\":{\"seq\":6,\"hash\":\"\"}}");
    let cut: String = whole[..5].iter().map(|line| format!("{line}\n")).collect();
    assert_eq!(read(&cut).as_deref(), Some("it ends at line 5, and the broker knows of 6"));
    let told = said(&house.ask(&["history", "--since", "2026-01-02T00:00:00Z"]));
    assert!(told.contains("CHAIN IS BROKEN"), "{told}");
}

#[test]
fn figures_from_outside_are_added_up_without_end() {
    let house = House::new(SOUND);
    let most = u64::MAX;
    let entry = |event: &str, call: &str| {
        json!({"at": "2026-01-02T00:00:00.000Z", "life": most, "event": event, "service": "x", "bytes_out": most,
               "bytes_in": most, "cost_micro_usd": most, "call": call})
    };
    let text =
        ledger(&[entry("reserve", "a"), entry("reserve", "b"), entry("settle", "c"), entry("settle", "d")]);
    // A whole line that says it is the last there can be, and what follows it.
    let body =
        format!("{{\"seq\":{most},\"at\":\"2026-01-02T00:00:00.000Z\",\"event\":\"settle\",\"prev\":\"\"}}");
    let hash: String = Sha256::digest(body.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    let last = format!("{},\"hash\":\"{hash}\"}}\n", body.strip_suffix('}').unwrap());
    house.write(".self/ledger.jsonl", &format!("{text}{last}{last}"));
    let usage = json!({"input_tokens": most, "output_tokens": most, "cache_read_tokens": most});
    let thought =
        json!({"at": "2026-01-02T00:00:00.000Z", "life": 1, "kind": "thought", "data": {"usage": usage}});
    house.write(".self/memory.jsonl", &format!("{thought}\n{thought}\n"));
    for json in [None, Some("--json")] {
        let args: Vec<&str> =
            ["history", "--since", "2026-01-01T00:00:00Z"].into_iter().chain(json).collect();
        let output = house.ask(&args);
        let told = said(&output);
        assert!(output.status.success() && told.contains("18446744073709551615"), "{told}");
    }
}

#[test]
fn what_is_reserved_and_what_a_price_was_taken_for_stand_beside_what_is_spent() {
    let house = House::new(SOUND);
    let page = json!({"caps": [{"span": "day", "spent_usd": 0.4, "cap_usd": 5}], "reserved_usd": 0.18,
        "price": "no price is known for \"m\", so it counts as the worst"});
    house.write(".self/budget.json", &page.to_string());
    let lines = house::broker_page::lines(&paths::House::new(&house.root), Some(&json!({"running": true})));
    let budget = &lines.iter().find(|(name, _)| *name == "budget").unwrap().1;
    assert!(
        budget.starts_with("$0.40 of $5.00 today") && budget.contains("; $0.18 reserved for calls under way")
    );
    assert!(budget.contains("price: no price is known for \"m\""), "{budget}");
    assert!(said(&house.ask(&["doctor"])).contains("no price is known for \"m\""));
}

#[test]
fn a_ledger_overwritten_under_the_broker_is_found_by_the_doctor() {
    let house = House::new("think alive; live").with_broker();
    let guardian = house.start();
    house.until_broker(None);
    house.until("its ledger is open", || house.path(".self/budget.json").exists());
    // Before its first line there is no anchor either: what lies there is still no line of the broker's.
    for left in ["x", "x\n", "{\"seq\":1,"] {
        let anchor = if left.starts_with('{') { "{\"end\":{\"seq\":3},\"bytes\":900}" } else { "{}" };
        house.write(".self/broker/anchor.json", anchor);
        house.write(".self/ledger.jsonl", left);
        let told = said(&house.ask(&["doctor"]));
        assert!(told.contains("its chain is broken") && !told.contains("whole"), "{left:?}: {told}");
    }
    guardian.stop();
}
