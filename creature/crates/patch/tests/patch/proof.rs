//! The proof of a self-edit, with a stand-in for cargo: what passes stays, and every way to fail leaves no trace.

use crate::yard::{Files, Yard};
use ground::fault::Fault;
use patch::change::Change;
use patch::plan::{self, Edit, Roots};
use patch::proof::{self, Proof};
use patch::{Failed, Stage};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// A creature that rehearses as the real one does: a thought in the copy's memory, exit status 0.
const CREATURE: &str = r#"#!/bin/sh
answer=42
[ "$*" = rehearse ] && [ "$FERAL_REHEARSAL" = 1 ] && [ "$FERAL_LIFE" = 7 ] || exit 3
grep -q 'real memory' "$FERAL_HOUSE/.self/memory.jsonl" && test -f "$FERAL_HOUSE/self/diary.md" || exit 4
memory="$FERAL_HOUSE/.self/memory.jsonl"
echo '{"at":"2026-01-01T00:00:00.000Z","life":7,"kind":"thought","data":{"monologue":"m"}}' >> "$memory"
echo $answer
"#;

/// `cargo build`: notes in the lock that it was there, and refuses what is no number.
const BUILD: &str = r#"
source=$(dirname "$2") target=$4
echo '# built' >> "$source/Cargo.lock"
while grep -q answer=late "$source/creature.sh"; do touch begun; sleep 0.02; done
if grep -q answer=forty "$source/creature.sh"; then
    printf 'error[E0425]: cannot find value `forty`\n --> src/main.rs:2:8\n' >&2
    exit 101
fi
mkdir -p "$target/debug"
cp "$source/creature.sh" "$target/debug/creature"
chmod +x "$target/debug/creature"
"#;

/// `cargo test`: the one test fails where the answer begins with 5.
const TEST: &str = r#"
source=$(dirname "$2")
echo '     Running tests/creature/main.rs (target/debug/deps/creature-1)' >&2
if grep -q answer=5 "$source/creature.sh"; then
    printf 'test it_answers ... FAILED\n\nfailures:\n\n---- it_answers stdout ----\nnot this\n\nfailures:\n'
    printf '    it_answers\n\ntest result: FAILED. 0 passed; 1 failed\n'
    exit 101
fi
printf 'test it_answers ... ok\n\ntest result: ok. 1 passed; 0 failed\n'
"#;

/// A house whose cargo is a shell: `sh build …` runs the file of that name in the folder it is started in.
fn yard() -> Yard {
    let mut yard = Yard::new();
    yard.context.cargo = "sh".into();
    for (path, text) in [
        ("build", BUILD),
        ("test", TEST),
        ("update", ""),
        ("creature/Cargo.toml", "[package]\nname = \"creature\"\n"),
        ("creature/Cargo.lock", "# lock\n"),
        ("creature/creature.sh", CREATURE),
        ("self/diary.md", "dear diary\n"),
        (".self/memory.jsonl", "{\"text\":\"real memory\"}\n"),
    ] {
        yard.put(path, text);
    }
    yard
}

/// What one passage put in another's place makes of the house, beside a new file in new folders and another purpose.
fn changes(yard: &Yard, path: &str, old: &str, new: &str) -> Vec<Change> {
    let edit = |path: &str, old: &str, new: &str| Edit {
        path: path.to_owned(),
        old: old.to_owned(),
        new: new.to_owned(),
    };
    let edits = [
        edit(path, old, new),
        edit("creature/src/deep/er/x.rs", "", "//! X.\n"),
        edit("PURPOSE.md", "Be", "Do not be"),
    ];
    let roots = Roots { source: yard.root(), papers: yard.root() };
    plan::from_edits(&roots, &edits).unwrap().changes
}

async fn try_out(yard: &Yard, old: &str, new: &str) -> Result<Proof, Failed> {
    let changes = changes(yard, "creature/creature.sh", old, new);
    proof::try_out(&yard.context, changes, &|| panic!("no manifest changes")).await
}

/// Tries this, sees that nothing is left of it, and says how it failed.
async fn fails(yard: &Yard, old: &str, new: &str) -> (Stage, String) {
    let before = yard.files();
    let Failed { stage, fault } = try_out(yard, old, new).await.unwrap_err();
    assert_eq!(yard.files(), before, "after a failed {stage:?}");
    (stage, fault.error)
}

#[tokio::test]
async fn what_passes_stays_with_the_lock_that_cargo_made_of_it() {
    let yard = yard();
    let proof = try_out(&yard, "answer=42", "answer=43").await.unwrap();
    assert_eq!((proof.passed, proof.flaky), (vec!["it_answers".to_owned()], Vec::new()));
    assert!(yard.text("creature/creature.sh").contains("answer=43"));
    assert_eq!(yard.text("creature/Cargo.lock"), "# lock\n# built\n");
    assert_eq!(yard.text("PURPOSE.md"), "Do not be curious.\n");
    let memory = yard.text(".self/memory.jsonl");
    assert!(!memory.contains("thought"), "the rehearsal's thought belongs to the copy alone: {memory}");
}

#[tokio::test]
async fn what_does_not_build_or_fails_a_test_leaves_no_trace() {
    let yard = yard();
    let (stage, said) = fails(&yard, "answer=42", "answer=forty").await;
    assert_eq!(stage, Stage::Build);
    assert!(said.contains("error[E0425]: cannot find value `forty`"), "{said}");
    let (stage, said) = fails(&yard, "answer=42", "answer=57").await;
    assert_eq!(stage, Stage::Test);
    assert!(
        said.contains("1 test fails:\n- it_answers: not known whether") && said.contains("not this"),
        "{said}"
    );
}

#[tokio::test]
async fn a_rehearsal_that_dies_leaves_no_trace() {
    let yard = yard();
    let (stage, said) = fails(&yard, "echo $answer", "echo last words >&2; exit 1").await;
    assert_eq!(stage, Stage::Rehearsal);
    assert!(said.contains("exit status 1\nlast words"), "{said}");
}

#[tokio::test]
async fn a_rehearsal_that_hangs_leaves_no_trace() {
    let mut yard = yard();
    yard.context.limits.rehearsal = Duration::from_millis(500);
    let (stage, said) = fails(&yard, "echo $answer", "sleep 600").await;
    assert_eq!(stage, Stage::Rehearsal);
    assert!(said.contains("deadline"), "{said}");
}

#[tokio::test]
async fn a_rehearsal_without_a_thought_that_reads_leaves_no_trace() {
    let yard = yard();
    for (old, new) in [(">> \"$memory\"", "> /dev/null"), ("monologue", "no_monologue"), ("thought", "wake")]
    {
        let (stage, said) = fails(&yard, old, new).await;
        assert_eq!(stage, Stage::Rehearsal, "{new}");
        assert!(said.contains("no readable thought"), "{said}");
    }
}

/// Asked once before the build and once after it; a refusal at either leaves no trace, and the first builds nothing.
#[tokio::test]
async fn a_lock_that_is_refused_leaves_no_trace() {
    for refused_at in [1, 2] {
        let yard = yard();
        let before = yard.files();
        let asked = AtomicU32::new(0);
        let judge = || {
            let question = asked.fetch_add(1, Ordering::Relaxed) + 1;
            let built = yard.text("creature/Cargo.lock").contains("# built");
            assert_eq!(built, question > 1, "question {question}");
            if question == refused_at { Err(Fault::new("no such package", "")) } else { Ok(()) }
        };
        let changes =
            changes(&yard, "creature/Cargo.toml", "\"creature\"\n", "\"creature\"\nversion = \"1.0.0\"\n");
        let Failed { stage, fault } = proof::try_out(&yard.context, changes, &judge).await.unwrap_err();
        assert_eq!((stage, fault.error.as_str()), (Stage::Boundary, "no such package"));
        assert_eq!((yard.files(), asked.load(Ordering::Relaxed)), (before, refused_at));
    }
}

/// As when this life is asked to leave.
#[tokio::test]
async fn a_proof_that_is_dropped_half_way_leaves_no_trace() {
    let yard = yard();
    let before: Files = yard.files();
    let begun = async {
        while !yard.root().join("begun").exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        came = try_out(&yard, "answer=42", "answer=late") => panic!("{came:?}"),
        () = begun => {}
    }
    assert_eq!(yard.files(), before);
}
