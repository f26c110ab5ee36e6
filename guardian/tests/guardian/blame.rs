//! Whose fault a failed build is, as data: what is known of it, what is asked for, and what must be made of the answers.

use guardian::decide::blame::{
    Answer, Control, Evidence, Failure, Judgement, build, death, says_fetching, says_full,
};
use guardian::decide::messages::Told;
use guardian::decide::vocabulary::Blame;
use serde_json::{Value, json};

/// Words that once excused whatever they stood in.
const EXCUSES: [&str; 6] = [
    "Connection refused",
    "failed to download",
    "linker `cc` not found",
    "is not installed",
    "No space left on device",
    "offline mode (via `--offline`)",
];

/// What cargo's messages tell, and the blame once every control run gave its answer.
fn heard(messages: &[Value]) -> Told {
    let mut told = Told::default();
    for message in messages {
        told.hear(message.to_string().as_bytes());
    }
    told
}

fn failure(told: &Told) -> Failure {
    Failure {
        began: told.began,
        refused: told.refused,
        foreign: told.is_foreign(),
        says_full: says_full(&told.said),
        ..Failure::default()
    }
}

/// Answers what is asked for until there is a judgement: tools, store, manifests, registries.
fn blamed(mut failure: Failure, answers: [Answer; 4]) -> (Blame, Vec<Control>) {
    let mut asked = vec![];
    loop {
        let control = match build(&failure) {
            Judgement::Blamed(blame) => return (blame, asked),
            Judgement::Ask(control) => control,
        };
        assert!(!asked.contains(&control), "{control:?} is asked for again");
        asked.push(control);
        failure.answers.insert(control, answers[control as usize]);
    }
}

fn error(package: &str, text: &str, placed: bool) -> Value {
    let spans = if placed { json!([{"is_primary": true, "file_name": "src/main.rs"}]) } else { json!([]) };
    let rendered = format!("error: {text}\n");
    json!({"reason": "compiler-message", "package_id": package, "target": {"kind": ["bin"]},
           "message": {"level": "error", "message": text, "rendered": rendered, "spans": spans}})
}

fn artifact(package: &str, kind: &str) -> Value {
    json!({"reason": "compiler-artifact", "package_id": package, "target": {"kind": [kind]}, "executable": null})
}

fn finished() -> Value {
    json!({"reason": "build-finished", "success": false})
}

const OWN: &str = "path+file:///house/creature#0.1.0";
const OTHER: &str = "registry+https://github.com/rust-lang/crates.io-index#thiserror@1.0.0";
const WELL: [Answer; 4] = [Answer::Yes; 4];

/// Found by attack: `compile_error!("Connection refused")` was blamed on the network, fifteen times over.
#[test]
fn a_feigned_error_of_the_network_is_the_codes() {
    for excuse in EXCUSES {
        let told = heard(&[artifact(OTHER, "lib"), error(OWN, excuse, true), finished()]);
        assert_eq!(told.said, format!("error: {excuse}\n"));
        let (blame, asked) = blamed(failure(&told), WELL);
        assert_eq!((blame, asked), (Blame::Code, vec![Control::Tools]), "{excuse}");
    }
}

/// A build script, a linker and a compiler that crashed leave no place in the source; their words are the creature's too.
#[test]
fn the_creatures_own_words_excuse_nothing_wherever_they_stand() {
    for excuse in EXCUSES {
        let scripted = heard(&[artifact(OWN, "custom-build"), finished()]);
        let roomy = Failure { says_full: says_full(excuse), ..failure(&scripted) };
        let roomy = Failure { measured: free(100_000), ..roomy };
        assert_eq!(blamed(roomy, WELL).0, Blame::Code, "a build script said {excuse}");
        let linked = failure(&heard(&[error(OWN, excuse, false), finished()]));
        let linked = Failure { measured: free(100_000), ..linked };
        assert_eq!(blamed(linked, WELL).0, Blame::Code, "the linker said {excuse}");
    }
    // A macro that prints a message of cargo's and takes the compiler down with it.
    let forged = heard(&[artifact(OWN, "proc-macro"), error(OTHER, "failed to download", true), finished()]);
    let forged = Failure { same_recipe: true, ..failure(&forged) };
    assert_eq!(blamed(forged, WELL).0, Blame::Code);
}

fn free(free_mib: u64) -> Evidence {
    Evidence { free_mib, ..Evidence::default() }
}

/// Nothing is the code's as long as nothing builds: without its standard library the compiler refuses any source.
#[test]
fn tools_that_build_nothing_are_at_fault_whatever_the_compiler_says() {
    let broken = [Answer::No, Answer::Yes, Answer::Yes, Answer::Yes];
    for message in [error(OWN, "can't find crate for `std`", true), error(OWN, "in other words", false)] {
        assert_eq!(blamed(failure(&heard(&[message])), broken).0, Blame::Toolchain);
    }
    assert_eq!(blamed(Failure::default(), broken).0, Blame::Toolchain);
    assert_eq!(blamed(Failure { same_recipe: true, ..Failure::default() }, broken).0, Blame::Toolchain);
}

/// Found with cargo 1.95, which words it otherwise: a registry out of reach condemned the commit.
#[test]
fn a_build_that_never_began_is_judged_by_answers_and_not_by_words() {
    use Answer::{No, Silent, Yes};
    let (new, same) = (false, true);
    let rows = [
        (new, [Yes, Yes, Yes, Yes], Blame::Code, "nothing was missing, and still cargo refuses it"),
        (same, [Yes, Yes, Yes, Yes], Blame::Toolchain, "nothing was missing, nothing was changed"),
        (same, [Yes, No, Yes, Yes], Blame::Network, "what was built before is not here any more"),
        (new, [Yes, No, No, Yes], Blame::Code, "the manifests cannot be read"),
        (new, [Yes, No, Yes, No], Blame::Code, "the registries answered, and have it not"),
        (new, [Yes, No, Yes, Silent], Blame::Network, "offline, or nobody answered"),
        (new, [Yes, No, Yes, Yes], Blame::Network, "it can be had now"),
    ];
    for (same_recipe, answers, wanted, why) in rows {
        let failure = Failure { same_recipe, ..Failure::default() };
        assert_eq!(blamed(failure, answers).0, wanted, "{why}");
    }
}

/// Once it compiles all is fetched: a crate from elsewhere that was built before fails by what changed around it.
#[test]
fn a_crate_from_elsewhere_is_the_codes_only_if_the_code_chose_it_anew() {
    let refused = heard(&[error(OTHER, "mismatched types", true), finished()]);
    let scripted = heard(&[artifact(OTHER, "custom-build"), finished()]);
    for told in [refused, scripted] {
        assert!(told.began && !told.refused && told.is_foreign());
        let of = |same_recipe| Failure { same_recipe, ..failure(&told) };
        assert_eq!(blamed(of(true), WELL).0, Blame::Toolchain);
        assert_eq!(blamed(of(false), WELL).0, Blame::Code);
    }
    let executed = json!({"reason": "build-script-executed", "package_id": OTHER});
    let own = heard(&[artifact(OTHER, "custom-build"), executed, finished()]);
    assert!(!own.is_foreign(), "its script ended well");
    let both = heard(&[error(OTHER, "x", true), error(OWN, "x", true)]);
    assert!(!both.is_foreign());
}

#[test]
fn what_was_measured_comes_first() {
    let began = || Failure { began: true, ..Failure::default() };
    let of = |measured: Evidence| blamed(Failure { measured, ..began() }, WELL);
    let measured = |blame| (blame, vec![]);
    assert_eq!(
        of(Evidence { free_mib: 3, floor_mib: 64, overdue: true, ..Evidence::default() }),
        measured(Blame::Disk)
    );
    assert_eq!(of(Evidence { signal: Some(9), ..Evidence::default() }), measured(Blame::Owner));
    assert_eq!(
        of(Evidence { signal: Some(9), memory_kills: 1, ..Evidence::default() }),
        measured(Blame::Memory)
    );
    assert_eq!(of(Evidence { memory_kills: 1, ..Evidence::default() }), measured(Blame::Memory));
    assert_eq!(of(Evidence { folder_gone: true, ..Evidence::default() }), measured(Blame::Owner));
    // What the compiler refused it would refuse with more memory, and with more room.
    let refused = Failure { refused: true, says_full: true, ..began() };
    let refused = Failure { measured: Evidence { memory_kills: 1, ..free(100) }, ..refused };
    assert_eq!(blamed(refused, WELL).0, Blame::Code);
    let full = |free_mib| Failure { says_full: true, measured: free(free_mib), ..began() };
    assert_eq!(blamed(full(100), WELL), measured(Blame::Disk));
    assert_eq!(blamed(full(100_000), WELL).0, Blame::Code, "said, and not so");
}

#[test]
fn what_overstays_is_the_codes_once_it_compiles() {
    let overdue = |began, locked, connected, same_recipe| {
        let measured = Evidence { overdue: true, ..Evidence::default() };
        build(&Failure { measured, began, locked, connected, same_recipe, ..Failure::default() })
    };
    for same_recipe in [true, false] {
        for connected in [true, false] {
            assert_eq!(overdue(true, false, connected, same_recipe), Judgement::Blamed(Blame::Code));
            assert_eq!(overdue(true, true, connected, same_recipe), Judgement::Blamed(Blame::Owner));
            assert_eq!(overdue(false, true, connected, same_recipe), Judgement::Blamed(Blame::Owner));
        }
        assert_eq!(overdue(false, false, true, same_recipe), Judgement::Blamed(Blame::Network));
    }
    // It reads a manifest for ever, or its tools hang where they did not before.
    assert_eq!(overdue(false, false, false, false), Judgement::Blamed(Blame::Code));
    assert_eq!(overdue(false, false, false, true), Judgement::Blamed(Blame::Toolchain));
}

/// Whoever makes cargo crash has not killed it.
#[test]
fn a_cargo_that_crashed_of_itself_was_killed_by_nobody() {
    for (signal, wanted) in [
        (1, Blame::Owner),
        (2, Blame::Owner),
        (9, Blame::Owner),
        (15, Blame::Owner),
        (6, Blame::Code),
        (11, Blame::Code),
    ] {
        let measured = Evidence { signal: Some(signal), ..Evidence::default() };
        let failure = Failure { measured, ..Failure::default() };
        let unreadable = [Answer::Yes, Answer::No, Answer::No, Answer::Silent];
        assert_eq!(blamed(failure, unreadable).0, wanted, "signal {signal}");
    }
}

/// A registry that answers, and breaks off at the one crate that is asked for, has not said that it has none.
#[test]
fn words_of_fetching_ask_for_patience_unless_the_manifests_brought_them_in() {
    for words in [
        "failed to get successful HTTP response from `http://x/fl/ak/flaky` (127.0.0.1), got 503",
        "error: failed to download from `x`",
        "[7] Could not connect to server (Failed to connect)",
        "[6] Couldn't resolve host name (Could not resolve host: index.crates.io)",
        "[28] Timeout was reached",
    ] {
        assert!(says_fetching(words), "{words}");
    }
    for words in [
        "error: no matching package named `never` found\nlocation searched: `sparse+http://connect/` index",
        "package `creature` depends on `sound` with feature `download` but `sound` does not have that feature.",
    ] {
        assert!(!says_fetching(words), "{words}");
    }
}

#[test]
fn what_the_compiler_says_is_kept_within_bounds_and_nonsense_is_passed_over() {
    let long = "é".repeat(40_000);
    let told = heard(&[error(OWN, &long, true), error(OWN, &long, true)]);
    assert!(told.said.len() <= 64 << 10);
    let mut told = Told::default();
    for line in [&b"warning: plain words"[..], b"{\"reason\":7}", b"[]", b"\xff", b""] {
        assert_eq!(told.hear(line), None);
    }
    assert!(!told.began);
}

/// Found under faults: a tree whose lives were killed from outside stayed fallen.
#[test]
fn a_kill_that_nothing_inside_can_have_sent_is_not_the_codes() {
    let killed = Evidence { signal: Some(9), sheltered: true, ..Evidence::default() };
    assert_eq!(death(&killed), Blame::Owner);
    assert_eq!(death(&Evidence { sheltered: false, ..killed.clone() }), Blame::Code);
    assert_eq!(death(&Evidence { overdue: true, ..killed.clone() }), Blame::Code, "that was the guardian");
    assert_eq!(death(&Evidence { signal: Some(6), ..killed.clone() }), Blame::Code, "it aborted");
    assert_eq!(death(&Evidence { memory_kills: 1, ..killed }), Blame::Memory);
}
