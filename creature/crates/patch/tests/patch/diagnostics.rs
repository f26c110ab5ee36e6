//! Tests of what a failed step is told by: errors whole, others by a line, every failing test, and what is known of each.

use patch::proof::Known;
use patch::proof::diagnostics::{self, Failing};

#[test]
fn the_lines_that_say_what_is_wrong_come_first() {
    let running = "     Running tests/creature/main.rs (target/debug/deps/creature-1)\n";
    let failed = "test a ... ok\n\n---- b::c stdout ----\nb::c panicked at x.rs:1:1:\nno\n\nfailures:\n";
    let error = "   Compiling creature v0.1.0\nerror[E0425]: cannot find `x`\n  --> src/life.rs:1:1\n";
    let hung = "test a ... ok\ntest life::b has been running for over 60 seconds\n";
    for (stdout, stderr, first) in [
        (failed, "error: test failed, to rerun pass `--test creature`\n", "1 test fails:"),
        ("{\"reason\":\"compiler-message\"}\n", error, "error[E0425]: cannot find `x`"),
        (hung, running, "test life::b has been running for over 60 seconds"),
        ("test a ... ok\n", running, running.trim_end()),
        ("test a ... ok\n", "", "test a ... ok"),
        ("", "", ""),
    ] {
        let said = diagnostics::wrong(stdout, stderr, 8_000, &|_| "known".to_owned());
        assert_eq!(said.lines().next().unwrap_or_default(), first, "{said}");
    }
    let long = format!("error: {}\n{}", "x".repeat(1_000), "and more\n".repeat(100));
    let said = diagnostics::wrong("", &long, 8_000, &|_| String::new());
    assert_eq!(said, long.trim_end(), "nothing of it is cut here");
}

fn error(at: usize) -> String {
    format!(
        "error[E0425]: cannot find `x{at}`\n  --> src/life.rs:{at}:1\n   |\n{at} | let a = x{at};\n   |         ^^ not found\n\n"
    )
}

#[test]
fn the_first_errors_stand_whole_and_the_others_by_a_line_with_their_place() {
    let all: String = (1..=40).map(error).collect();
    let stderr = format!(
        "   Compiling creature v0.1.0\nwarning: unused\n --> src/a.rs:1:1\n\n{all}error: could not compile `creature` due to 40 errors\n"
    );
    let said = diagnostics::wrong("", &stderr, 1_000, &|_| String::new());
    assert!(
        said.starts_with(
            "error[E0425]: cannot find `x1`\n  --> creature/src/life.rs:1:1\n   |\n1 | let a = x1;"
        ),
        "{said}"
    );
    assert!(!said.contains("unused"), "{said}");
    for at in 1..=40 {
        let line = format!("error[E0425]: cannot find `x{at}` --> creature/src/life.rs:{at}:1");
        assert!(said.contains(&line) || said.contains(&format!("{at} | let a = x{at};")), "{at}: {said}");
    }
    assert!(said.ends_with("error: could not compile `creature` due to 40 errors"), "{said}");
    assert!((500..4_000).contains(&said.chars().count()), "{said}");
    // What is said twice, for a library and its tests, is told once.
    let twice = format!("{}{}", error(1), error(1));
    let once = error(1).replace("src/life.rs", "creature/src/life.rs");
    assert_eq!(diagnostics::wrong("", &twice, 1_000, &|_| String::new()), once.trim_end());
    let long = format!("error: {}\n{}", "x".repeat(600), "and more\n".repeat(500));
    assert!(diagnostics::wrong("", &long, 1_000, &|_| String::new()).chars().count() < 1_200);
}

const STDOUT: &str = "
running 4 tests
test a::one ... ok
test a::two ... FAILED
test b::three ... FAILED
test b::four ... ignored

failures:

---- a::two stdout ----
it says this
thread 'a::two' panicked at src/a.rs:3:5:
assertion `left == right` failed
  left: 1
 right: 2

---- b::three stdout ----
thread 'b::three' panicked at src/b.rs:9:5:
no

failures:
    a::two
    b::three

test result: FAILED. 1 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
";
const STDERR: &str = "     Running tests/creature/main.rs (target/debug/deps/creature-1)\nerror: test failed, to rerun pass `--test creature`\n";

#[test]
fn every_failing_test_is_named_with_what_is_known_of_it_without_the_change() {
    let tests = diagnostics::tests(STDOUT, STDERR);
    assert_eq!((tests.passed, tests.whole), (vec!["a::one".to_owned()], true));
    let said = "thread 'b::three' panicked at src/b.rs:9:5:\nno".to_owned();
    assert_eq!(tests.failed.get(1), Some(&Failing { name: "b::three".to_owned(), said }));
    let known = Known {
        at: "2026-11-23T14:02:09Z".to_owned(),
        passed: vec!["a::two".to_owned()],
        failed: vec!["b::three".to_owned()],
    };
    let told = diagnostics::wrong(STDOUT, STDERR, 150, &|name| known.without_change(name));
    assert!(told.starts_with("2 tests fail:\n- a::two: passes without the change (2026-11-23 14:02)\n- b::three: fails without the change as well"), "{told}");
    assert!(
        told.contains("it says this\nthread 'a::two'") && told.contains("  left: 1\n right: 2"),
        "{told}"
    );
    assert!(!told.contains("---- b::three"), "there was room for the first alone: {told}");
    assert_eq!(known.without_change("c"), "not known whether it passes without the change");
    let crashed =
        format!("{STDERR}\nCaused by:\n  process didn't exit successfully: `x` (signal: 6, SIGABRT)\n");
    assert!(
        !diagnostics::tests(STDOUT, &crashed).whole,
        "a crash is no failing test that could be tried again"
    );
    let green = known.green("2026-11-24T00:00:00Z".to_owned(), vec!["b::three".to_owned()]);
    assert!(
        green.without_change("b::three").starts_with("passes")
            && green.without_change("a::two").starts_with("passes")
    );
}

#[test]
fn places_are_named_from_the_root_of_the_house_as_the_tools_name_them() {
    let said = "error[E0425]: cannot find value `x`\n  --> src/a.rs:3:5\n   |\n3  |     x\n\n\
                error: two\n  --> crates/agenda/src/b.rs:1:1\n  ::: /a/.cargo/registry/src/c.rs:9:1\n\n\
                error: three\n  --> creature/build.rs:1:1\n";
    let told = diagnostics::wrong("", said, 4_000, &|_| String::new());
    for line in ["  --> creature/src/a.rs:3:5", "  --> creature/crates/agenda/src/b.rs:1:1"] {
        assert!(told.contains(line), "{told}");
    }
    assert!(told.contains("::: /a/.cargo") && told.contains("--> creature/build.rs:1:1"), "{told}");
    // Those for which there is no room are named with their places.
    let told = diagnostics::wrong("", said, 60, &|_| String::new());
    assert!(told.contains("error: two --> creature/crates/agenda/src/b.rs:1:1"), "{told}");
    let stdout = "test a::one ... FAILED\n\nfailures:\n\n---- a::one stdout ----\n\
                  thread 'a::one' panicked at tests/creature/a.rs:9:5:\nno --> way\n\nfailures:\n    a::one\n\n\
                  test result: FAILED. 0 passed; 1 failed;\n";
    let told = diagnostics::wrong(stdout, "", 4_000, &|_| "known".to_owned());
    assert!(
        told.contains("panicked at creature/tests/creature/a.rs:9:5") && told.contains("no --> way"),
        "{told}"
    );
}

#[test]
fn a_test_that_came_with_the_change_is_said_to_be_new() {
    let dir = tempfile::TempDir::new().unwrap();
    let house = ground::paths::House::new(dir.path());
    let repo = git2::Repository::init(dir.path()).unwrap();
    assert_eq!(patch::repository::has_function(&house, "old"), None, "git cannot say");
    std::fs::create_dir_all(dir.path().join("creature/tests/deep")).unwrap();
    std::fs::write(dir.path().join("creature/tests/deep/a.rs"), "#[test]\nfn old() {}\n").unwrap();
    let mut index = repo.index().unwrap();
    index.add_all(["creature"], git2::IndexAddOption::DEFAULT, None).unwrap();
    let tree = repo.find_tree(index.write_tree().unwrap()).unwrap();
    let me = git2::Signature::now("a", "a@example.com").unwrap();
    repo.commit(Some("HEAD"), &me, &me, "first", &tree, &[]).unwrap();
    let known = Known::default();
    assert_eq!(known.told(&house, "deep::new"), "new: without the change there is no such test");
    assert_eq!(known.told(&house, "deep::old"), "not known whether it passes without the change");
    let known = Known { failed: vec!["deep::gone".to_owned()], ..known };
    assert!(known.told(&house, "deep::gone").starts_with("fails without the change as well"));
}
