//! The autonomous state: caps, order, conflicts, expiry and hints; the same for the same input, and no secret survives.

use agenda::standing::{Dated, FOOTER, Input, LOOP, Mode, OWNER, actionable, compose, redact, sentences};
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;

fn now() -> Timestamp {
    "2026-03-02T12:00:00Z".parse().unwrap()
}

fn ago(minutes: i64, text: &str) -> Dated {
    let at = now() - SignedDuration::from_mins(minutes);
    Dated { at, text: text.to_owned(), resolved: false, until: None }
}

fn said(words: &[(i64, &str)]) -> Input {
    Input { said: words.iter().map(|(minutes, text)| ago(*minutes, text)).collect(), ..Input::at(now()) }
}

fn owner(words: &[(i64, &str)]) -> String {
    compose(&said(words)).unwrap().owner_summary
}

#[test]
fn what_asks_for_an_act_is_told_from_talk() {
    for text in [
        "Focus on revenue this week",
        "please check my mail every 10 minutes",
        "don't message me unless it's about money",
        "Never post on Sundays.",
        "Could you look at the invoices?",
        "I want a landing page by Friday",
        "ok, and then write the report",
        "From now on you sign as Feral.",
        "pause",
        "The blog must not mention prices",
    ] {
        assert!(actionable(text), "{text}");
    }
    for text in [
        "thanks!",
        "good morning",
        "what are my priorities?",
        "How did the post go?",
        "The focus was good",
        "focus is everything",
        "I paused the movie",
        "nice work on the page",
        "do you like it?",
        "",
        "🦀🦀",
    ] {
        assert!(!actionable(text), "{text}");
    }
}

#[test]
fn the_owners_side_has_orders_with_their_age_newest_first() {
    let text = owner(&[
        (300, "Hello there. Write the report. How are you?"),
        (5, "post about crabs"),
        (1, "thanks"),
    ]);
    assert_eq!(text, "Your owner:\n- 5 min ago: post about crabs\n- 5 h ago: Write the report.");
    assert_eq!(owner(&[(5, "lovely weather")]), "Your owner:\n- no order of theirs that is still fresh");
}

#[test]
fn the_last_word_wins_and_the_conflict_is_marked() {
    for (older, newer) in [
        ("post about crabs", "don't post about crabs any more"),
        ("never mail the bank", "please mail the bank"),
        ("check my mail every 10 minutes", "check my mail every hour"),
        ("check my mail every 10min", "check my mail at 9"),
        ("focus on revenue", "focus on the blog"),
        ("pause", "resume"),
        ("stop posting about crabs", "post about crabs again"),
    ] {
        let text = owner(&[(50, older), (5, newer)]);
        assert!(
            text.contains(&format!("- 5 min ago: {newer} [conflict: the last word wins; not: {older}]")),
            "{text}"
        );
        assert!(!text.contains("50 min"), "{text}");
    }
    for (older, newer) in [("post about crabs", "write to the bank"), ("don't post", "check my mail")] {
        let text = owner(&[(50, older), (5, newer)]);
        assert!(text.contains("50 min") && !text.contains("conflict"), "{text}");
    }
    let again = owner(&[(50, "post about crabs"), (5, "Post about crabs!")]);
    assert!(!again.contains("conflict") && !again.contains("50 min"), "{again}");
}

#[test]
fn what_is_old_or_void_is_not_shown() {
    let mut input = said(&[(8 * 1_440, "write the old report"), (60, "write the new report")]);
    input.said.push(Dated { until: Some(now()), ..ago(30, "sell the car") });
    input.commitments = vec![ago(15 * 1_440, "I will mow"), ago(60, "I will paint")];
    input.commitments.push(Dated { resolved: true, ..ago(9, "I will sing") });
    input.outcomes = vec![ago(2_000, "repo.run: ages ago"), ago(3, "web.search: done")];
    let standing = compose(&input).unwrap();
    for shown in ["new report", "you promised, 1 h ago: I will paint", "web.search"] {
        assert!(standing.text.contains(shown), "{shown} is not in {}", standing.text);
    }
    for void in ["old report", "the car", "mow", "sing", "ages ago"] {
        assert!(!standing.text.contains(void), "{void} is in {}", standing.text);
    }
}

#[test]
fn what_is_open_goes_before_what_is_settled_and_the_rest_is_counted() {
    let mut input = Input::at(now());
    for n in 0..30 {
        let text = format!("report {n} {}", "on the matter of crabs ".repeat(3));
        input.said.push(Dated { resolved: n % 2 == 0, ..ago(100 - n, &format!("write {text}{n}")) });
        input.outcomes.push(Dated { resolved: n % 2 == 0, ..ago(100 - n, &text) });
    }
    input.failure = Some(ago(4_000, "repo.test: three tests failed"));
    let standing = compose(&input).unwrap();
    let (owner, work) = (&standing.owner_summary, &standing.loop_summary);
    assert!(owner.contains("write report 29") && !owner.contains("write report 28"), "{owner}");
    assert!(work.contains("report 29") && !work.contains("report 28"), "{work}");
    assert!(work.contains("latest failure, 2 d ago: repo.test: three tests failed"), "{work}");
    assert!(owner.contains("more left out)") && work.contains("more left out)"), "{}", standing.text);
}

#[test]
fn the_hint_follows_from_what_is_open() {
    let open = vec!["goal-7 a page: write its head".to_owned()];
    let standing = |input: Input| compose(&input).unwrap();
    let idle = standing(Input::at(now()));
    assert!(idle.mode == Mode::Continue && idle.text.contains("rest"), "{}", idle.text);
    let going = standing(Input { open: open.clone(), ..Input::at(now()) });
    assert!(going.mode == Mode::Continue && going.text.contains("continue with goal-7"), "{}", going.text);
    let mut input = Input { open: open.clone(), interrupted: true, ..said(&[(5, "write more")]) };
    let resumed = standing(input.clone());
    assert!(resumed.mode == Mode::Resume && resumed.text.contains("Hint: resume goal-7"), "{}", resumed.text);
    input.paused = true;
    let paused = standing(input);
    assert!(paused.mode == Mode::Pause && paused.text.contains("Hint: pause"), "{}", paused.text);
    let awaits = standing(Input { awaiting: 2, ..Input::at(now()) });
    assert_eq!(awaits.mode, Mode::AwaitConfirmation);
    assert_eq!(awaits.pending_items, ["2 acts wait for the owner's yes"]);
    assert!(
        awaits.text.contains("as of 2026-03-02T12:00:00Z, void after 2026-03-02T13:00:00Z"),
        "{}",
        awaits.text
    );
    assert!(idle.confidence <= going.confidence && resumed.confidence >= paused.confidence);
}

#[test]
fn a_clock_that_was_set_back_is_refused() {
    let refusal = compose(&said(&[(-3 * 1_440, "write the report")])).unwrap_err();
    assert!(refusal.error.contains("after tomorrow") && !refusal.hint.is_empty());
}

/// Secrets as they come in texts: what stands around them, and the secret itself.
const SECRETS: [(&str, &str, &str); 26] = [
    ("", "sk-ant-api03-abcdefghijkl", ""),
    ("use ", "ghp_16C7e42F292c6912E7710c838347Ae178B4a", " for it"),
    ("(", "AKIAIOSFODNN7EXAMPLE", ")"),
    ("key:", "xoxb-1234567890-abcdef", ","),
    ("Authorization: Bearer ", "abcdef.ghijkl-mnop", ""),
    ("bearer ", "0a1b2c3d4e5f", ""),
    ("password=", "hunter2", ""),
    ("Password: ", "correct-horse", " ok"),
    ("the password is ", "swordfish", "."),
    ("{\"api_key\":\"", "plainword", "\"}"),
    ("{\"client_secret\": \"", "plainword", "\"}"),
    ("DB_PASSWORD='", "two words", "' run"),
    ("passphrase: \"", "three plain words", "\""),
    ("https://bob:", "letmein", "@example.com/x"),
    ("https://example.com/?access_token=", "abcd", "&x=1"),
    ("sha ", "d41d8cd98f00b204e9800998ecf8427e", ""),
    ("", "dGhpcyBpcyBhIHNlY3JldCBrZXk0Mg==", ""),
    ("id 🦀", "550e8400-e29b-41d4-a716-446655440000", ""),
    ("card ", "4111111111111111", ""),
    ("jwt ", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", ""),
    ("-----BEGIN RSA PRIVATE KEY-----\n", "MIIB\nabcd", "\n-----END RSA PRIVATE KEY-----"),
    ("-----BEGIN OPENSSH PRIVATE KEY-----\n", "b3BlbnNzaC1r", ""),
    ("token ", "a1b2c3d4e5", ""),
    ("password : Password: ", "correct-horse", " ok"),
    ("then pause Authorization: Bearer ", "abcdef.ghijkl-mnop", ""),
    ("my api_key = ", "zzz", " thanks"),
];

#[test]
fn secrets_are_taken_out_and_plain_words_left() {
    for (before, secret, after) in SECRETS {
        let text = redact(&format!("Write it {before}{secret}{after} today"));
        assert!(!text.contains(secret), "{text}");
        assert!(text.contains("[hidden]") && text.starts_with("Write it"), "{text}");
    }
    for plain in [
        "Focus on revenue this week, please: it is due at 10:30",
        "the key is to be patient; the token of my love",
        "read creature/src/mind/context.rs and goal-17 (2026-03-02T12:00:00Z)",
        "bearer of bad news, risk-averse, task-12345678",
        "see https://example.com/page?q=crabs#top",
    ] {
        assert_eq!(redact(plain), plain);
    }
}

#[test]
fn its_own_paths_refs_and_numbers_are_never_struck() {
    let commit = "4f3c2b1a09f8e7d6c5b4a39281706f5e4d3c2b1a";
    for plain in [
        "see .self/snapshots/20260302T120000.000Z.md and self/drafts/20260302T120000.678Z-one-two-three.md",
        "your edit is under refs/guardian/rescued/20261122T130501.123Z, diff it",
        "look at refs/guardian/rescued/20261122T130501.123Z",
        "at 1764000000000 ms, 1764000000000000 us, 1764000000123456789 ns",
        "{\"input_tokens\":38700,\"output_tokens\":250}, max_tokens: 8192, tokens: 123456789",
        "1234567890123 bytes of 10000000000000000",
        "pi is 3.14159265358979323846",
        "goal-17 of task12 in creature/src/tools/repo_edit.rs:57 and creature/tests/creature/broker_away.rs",
        "the key creature/crates/agenda/src/standing/secrets.rs holds",
        "pay {\"to\":\"0x70997970C51812dc3A010C7d01b50e0d17dc79C8\"}, or 0x70997970C51812dc3A010C7d01b50e0d17dc79C8.",
    ] {
        assert_eq!(redact(plain), plain);
    }
    for before in
        ["commit ", "back to commit ", "\"commit\":\"", "refs/guardian/fallen/", "HEAD=", "rescued at ref "]
    {
        let plain = format!("{before}{commit}, and on");
        assert_eq!(redact(&plain), plain);
    }
    // What only lies beside them is hidden all the same.
    for secret in [
        "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "5555555555554444",
        "378282246310005",
        commit,
        "self/AbCdEf0123456789GhIjKl.md",
        "550e8400-e29b-41d4-a716-446655440000",
        "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d",
        "refs/heads/AbCdEf0123456789GhIjKl",
    ] {
        assert!(!redact(&format!("Write it {secret} today")).contains(secret), "{secret}");
    }
}

#[test]
fn a_whole_text_loses_its_secrets_and_nothing_else() {
    for (before, secret, after) in SECRETS {
        let text =
            redact(&format!("First line,  as it is.\nWrite it {before}{secret}{after} today\n\tLast."));
        assert!(!text.contains(secret), "{text}");
        assert!(
            text.starts_with("First line,  as it is.\nWrite it") && text.ends_with("\n\tLast."),
            "{text}"
        );
    }
    for (before, secret, after) in SECRETS {
        let told = serde_json::json!({"tool": "files.read", "result": {"text": format!("a\n{before}{secret}{after}\nb")}});
        let text = redact(&told.to_string());
        let secret = serde_json::to_string(secret).unwrap();
        assert!(!text.contains(secret.trim_matches('"')), "{text}");
        assert!(text.starts_with("{\"tool\":\"files.read\""), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_text_without_labels_and_keys_is_whole(text in "[a-z ,.\n]{0,200}") {
        prop_assume!(!["pass", "pwd", "secret", "token", "key", "auth", "credential", "bearer"].iter().any(|label| text.contains(label)));
        prop_assert_eq!(redact(&text), text);
    }

    #[test]
    fn no_text_stops_it(text in r#"(password|token|: |=|\\|"|'|`|\n|\\n|é|-----BEGIN |-----|A1b2C3d4| |is ){0,60}"#) {
        redact(&text);
    }
}

/// Every file below, with its text.
fn sources(folder: &std::path::Path, all: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let name = path.to_string_lossy().into_owned();
        if path.is_dir() && !name.ends_with("/target") && !name.ends_with("/tests") {
            sources(&path, all);
        } else if [".rs", ".md", ".toml"].iter().any(|end| name.ends_with(end)) {
            all.push((name, std::fs::read_to_string(&path).unwrap()));
        }
    }
}

#[test]
fn its_own_source_passes_as_it_is() {
    let mut all = Vec::new();
    sources(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."), &mut all);
    assert!(all.len() > 100);
    let mut struck = Vec::new();
    for (name, text) in all {
        let shown = redact(&text);
        let lines = shown.lines().zip(text.lines()).filter(|(shown, own)| shown != own);
        struck.extend(lines.map(|(shown, own)| format!("{name}: {own}\n   {shown}")));
        let told = serde_json::json!({ "text": text }).to_string();
        if redact(&text) == text && redact(&told) != told {
            struck.push(format!("{name} as JSON"));
        }
    }
    assert!(struck.is_empty(), "{} lines:\n{}", struck.len(), struck.join("\n"));
}

fn words() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "write", "don't", "post", "crabs", "focus", "on", "pause", "resume", "\n", ". ", "漢字", "🦀", "\"",
        "never", "I will", "10", "password", ":", "is", "key", "\u{0}", "\u{301}", "x",
    ]);
    let sentence = prop::collection::vec(word, 0..12).prop_map(|words| words.join(" "));
    prop_oneof![4 => sentence.clone(), 1 => any::<String>(), 1 => sentence.prop_map(|text| text.repeat(60))]
}

fn dated() -> impl Strategy<Value = Dated> {
    let secret = prop::option::of(prop::sample::select(SECRETS.to_vec()));
    (0_i64..20_000, words(), words(), secret, any::<bool>()).prop_map(
        |(minutes, one, two, secret, resolved)| {
            let (before, secret, after) = secret.unwrap_or_default();
            // A secret with a quote before it that never closes is that quote's; here each stands by itself.
            let [one, two] = [one, two].map(|text| text.replace(['"', '\'', '`'], " "));
            Dated { resolved, ..ago(minutes, &format!("{one} {before}{secret}{after} {two}")) }
        },
    )
}

fn input() -> impl Strategy<Value = Input> {
    let many = || prop::collection::vec(dated(), 0..12);
    let texts = || prop::collection::vec(dated().prop_map(|dated| dated.text), 0..12);
    let rest = (texts(), texts(), prop::option::of(dated()), any::<u64>(), any::<bool>(), -99_i64..99);
    (many(), many(), many(), many(), rest).prop_map(|(said, commitments, identities, outcomes, rest)| {
        let (directives, open, failure, awaiting, paused, cooling) = rest;
        let cooling_until = Some(now() + SignedDuration::from_mins(cooling));
        Input {
            now: now(),
            said,
            directives: directives.clone(),
            commitments,
            identities,
            outcomes,
            failure,
            cooling_until,
            open,
            draft: directives.first().cloned().unwrap_or_default(),
            awaiting,
            paused,
            interrupted: !paused,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_state_keeps_its_caps_and_no_secret_survives(input in input()) {
        let standing = compose(&input).unwrap();
        prop_assert_eq!(&compose(&input).unwrap(), &standing);
        let count = |text: &str| text.chars().count();
        prop_assert!(count(&standing.text) <= OWNER + LOOP + FOOTER);
        prop_assert!(count(&standing.owner_summary) < OWNER && count(&standing.loop_summary) < LOOP);
        let footer = standing.text.lines().last().unwrap();
        prop_assert!(count(footer) <= FOOTER && footer.contains("void after 2026-03-02T13:00:00Z"));
        prop_assert!(standing.pending_items.len() <= 9 && standing.pending_items.iter().all(|item| count(item) <= 120));
        prop_assert_eq!(input.failure.is_some(), standing.loop_summary.contains("latest failure"));
        let whole = format!("{} {}", standing.text, standing.pending_items.join(" "));
        // Short plain words may stand there by themselves.
        for (_, secret, _) in SECRETS.iter().filter(|(_, secret, _)| secret.len() > 5) {
            prop_assert!(!whole.contains(secret), "{} in {}", secret, whole);
        }
    }
}

#[test]
fn a_quote_that_stays_open_hides_no_sentence() {
    let said = |text| sentences(text).collect::<Vec<_>>();
    assert_eq!(said("A 15\" screen. Buy it; now!"), ["A 15\" screen.", "Buy it", "now!"]);
    assert_eq!(said("Say \"Hi. Bye.\" twice.\n- \nDone"), ["Say \"Hi. Bye.\" twice.", "Done"]);
}
