//! The tests beside a newborn with real processes: what is read of them, what comes of it, and that nothing of them is left.

use guardian::act::exam::{Shown, named, read};
use guardian::act::state::{Falling, State};
use guardian::decide::blame::Evidence;
use guardian::decide::vocabulary::Blame;
use nix::sys::signal::Signal;
use nix::sys::wait::WaitStatus;
use nix::unistd::Pid;
use std::fs;
use std::time::Duration;
use trials::House;

/// What a failing test prints, whichever run it is.
const FAILS: &str = "cat <<'SAID'\n\
    test probation::lives::one ... ok\n\
    test probation::lives::other ... FAILED\n\
    thread 'probation::lives::other' panicked at tests/lives.rs:7: it does not live\n\
    SAID\n\
    exit 101";
/// Waits to be let go on.
const HELD: &str = "until [ -e .self/workspace/go ]; do sleep 0.05; done";

/// A house whose first life, once blessed, makes an edit that brings these tests; later lives run `later`.
fn with_later(tests: &str, later: &str) -> House {
    House::new(&format!(
        "[ \"$FERAL_LIFE\" = 1 ] || {{ {later}; }}\nthink first; blessed\ncat > creature/test.sh <<'TESTS'\n\
         echo run >> .self/workspace/runs\n{tests}\nTESTS\nask rebirth 'with tests' r; exit 0"
    ))
}

fn house(tests: &str) -> House {
    with_later(tests, "think alive; live")
}

fn runs(house: &House) -> usize {
    house.read(".self/workspace/runs").lines().count()
}

fn note(house: &House) -> String {
    house.status()["note"].as_str().unwrap_or_default().to_owned()
}

fn until_run(house: &House, times: usize) {
    house.until("the tests to run", || runs(house) >= times);
}

fn until_fallen(house: &House) -> serde_json::Value {
    house.until("the fall", || !house.told("fall").is_empty());
    house.until("a trusted life after it", || house.status()["blessed"] == true);
    house.told("fall").remove(0)
}

/// Blessed is the self-edit, not what was before it.
fn until_trusted(house: &House) {
    house.until("the self-edit to be trusted", || house.told("blessed").len() == 2);
    assert!(house.told("fall").is_empty());
}

/// Processes of the house whose command line holds this.
fn at_work(house: &House, words: &str) -> Vec<i32> {
    let is = |pid: &i32| {
        fs::read(format!("/proc/{pid}/cmdline"))
            .is_ok_and(|line| String::from_utf8_lossy(&line).contains(words))
    };
    house.leftovers().into_iter().filter(is).collect()
}

#[test]
fn only_how_a_run_ends_decides() {
    let (green, red) = (WaitStatus::Exited(Pid::this(), 0), WaitStatus::Exited(Pid::this(), 101));
    let roomy = || Evidence { free_mib: 9_999, floor_mib: 64, ..Evidence::default() };
    let said = "test probation::a ... FAILED\ntest probation::b ... ok\n";
    assert_eq!(read(green, said, roomy()), Shown::Passed, "words alone condemn nobody");
    let shown = read(red, "test probation::b ... ok\ntest result: ok. 1 passed\n", roomy());
    assert_eq!(shown, Shown::Failed(vec![], "exit status 101".into()), "words alone excuse nobody");
    assert_eq!(read(red, said, roomy()), Shown::Failed(vec!["probation::a".into()], "probation::a".into()));
    let shown =
        read(red, "warning: x\nerror[E0308]: mismatched \u{1b}[31mtypes\nnote\nerror: gone\n", roomy());
    let Shown::Failed(names, told) = shown else { panic!("{shown:?}") };
    assert!(
        names.is_empty() && told.starts_with("error[E0308]: mismatched") && told.ends_with("; error: gone")
    );
    assert!(!told.contains('\u{1b}'), "{told:?}");
    let full = Evidence { free_mib: 10, ..roomy() };
    assert_eq!(read(red, said, full), Shown::Unsure(Blame::Disk));
    assert_eq!(read(red, said, Evidence { memory_kills: 1, ..roomy() }), Shown::Unsure(Blame::Memory));
    let killed = WaitStatus::Signaled(Pid::this(), Signal::SIGKILL, false);
    assert_eq!(read(killed, said, Evidence { signal: Some(9), ..roomy() }), Shown::Unsure(Blame::Owner));
}

#[test]
fn names_are_those_a_test_can_have_and_bounded() {
    let said =
        |names: &[&str]| names.iter().map(|name| format!("test {name} ... FAILED\n")).collect::<String>();
    let found =
        named(&said(&["probation::a", "probation::a", "x::probation::größe - should panic"]), "FAILED");
    assert_eq!(found, ["probation::a", "x::probation::größe"]);
    let long = format!("probation::{}", "x".repeat(5_000));
    let forged =
        ["other::a", "probation::a b", "--probation::x", "probation::$(x)", "probation::\u{1b}[0m", &long];
    assert!(named(&said(&forged), "FAILED").is_empty());
    let many: String = (0..50_000).map(|nth| format!("test probation::t{nth} ... FAILED\n")).collect();
    assert!(named(&many, "FAILED").len() <= 101);
    let Shown::Failed(_, told) = read(
        WaitStatus::Exited(Pid::this(), 101),
        &said(&["probation::a", "probation::b", "probation::c", "probation::d", "probation::e"]),
        Evidence::default(),
    ) else {
        panic!("it failed")
    };
    assert_eq!(told, "probation::a, probation::b, probation::c and 2 others");
}

#[test]
fn a_state_of_before_there_were_such_tests_is_read() {
    let state: State = serde_json::from_str(r#"{"life":7}"#).unwrap();
    assert_eq!((state.unexamined, state.exam.told()), (None, "since its tests failed".into()));
    let falling = r#"{"cause":"tries_spent","from_commit":"a","from_tree":"b","to_commit":"c","to_tree":"d","deaths":3}"#;
    assert_eq!(serde_json::from_str::<Falling>(falling).unwrap().evidence, "");
}

#[test]
fn a_self_edit_whose_tests_fail_is_born_not_blessed_and_falls_by_their_name() {
    let house = house(&format!("{HELD}\n{FAILS}"));
    let first = house.git(&["rev-parse", "HEAD"]);
    let guardian = house.start();
    until_run(&house, 1);
    house.until("its word", || note(&house) == "alive, its tests run");
    // Longer than a probation takes: however late it is by then, it must not be trusted.
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!((house.status()["blessed"].clone(), house.told("blessed").len()), (false.into(), 1));
    house.write(".self/workspace/go", "");
    let fall = until_fallen(&house);
    let told = format!(
        "guardian: put creature back to {} since its tests failed: probation::lives::other",
        &first[..7]
    );
    assert_eq!((&fall["cause"], &fall["told"]), (&"tests_failed".into(), &told.as_str().into()));
    assert_eq!(house.git(&["log", "-1", "--format=%s"]), told);
    assert!(fall["evidence"].as_str().unwrap().contains("panicked at tests/lives.rs:7"), "{fall:#}");
    assert_eq!(house.status()["falls"][0]["evidence"], fall["evidence"]);
    assert!(!fall["fallen_ref"].is_null() && !house.creature_differs_from(&first));
    let examined = house.told("examined");
    assert_eq!(
        (examined.len(), &examined[0]["outcome"], &examined[0]["life"]),
        (1, &"failed".into(), &2.into())
    );
    assert!(examined[0]["seconds"].as_f64().unwrap() >= 1.0);
    assert_eq!(runs(&house), 2, "what fails is tried once more");
    assert_eq!(examined[0]["told"], "failed: probation::lives::other");
    assert_eq!(house.deaths().len(), 0, "the life did nothing wrong");
    guardian.stop();
}

#[test]
fn a_self_edit_is_blessed_once_its_tests_passed_and_they_are_not_asked_for_again() {
    let house = house(HELD);
    let guardian = house.start();
    until_run(&house, 1);
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(house.told("blessed").len(), 1);
    house.write(".self/workspace/go", "");
    until_trusted(&house);
    assert_eq!(house.told("examined")[0]["outcome"], "passed");
    guardian.stop();
    // At debug the log says of what commit, why, and which run of the tests.
    let log = std::fs::read_to_string(house.folder.path().join("guardian.log")).unwrap();
    let commit = &house.git(&["rev-parse", "HEAD"])[..7];
    for span in [&format!("build{{commit=\"{commit}\" why=\"for a life\"}}"), "exam{run=ToTheFirst"] {
        assert!(log.contains(span), "{span} is not in the log: {log}");
    }
    let guardian = house.start();
    house.until("another life", || house.status()["blessed"] == true);
    assert_eq!(runs(&house), 1);
    guardian.stop();
}

/// Found at the keys: two tests had failed after a minute, a third hung, and for eight minutes nothing was said.
#[test]
fn a_test_that_fails_twice_ends_the_run_at_once_though_another_hangs() {
    let house = house(
        "case \"$*\" in *--exact*) echo 'test probation::lives::other ... FAILED'; exit 101;; esac\n\
         echo 'test probation::lives::other ... FAILED'; sleep 86397",
    );
    let guardian = house.start();
    let fall = until_fallen(&house);
    assert!(
        fall["told"].as_str().unwrap().ends_with("since its tests failed: probation::lives::other"),
        "{fall:#}"
    );
    assert_eq!(runs(&house), 2);
    assert!(at_work(&house, "86397").is_empty());
    guardian.stop();
}

#[test]
fn a_flaky_test_passes_and_is_called_so() {
    let house = house(&format!(
        "case \"$*\" in *--exact\\ probation::lives::other*) echo 'test probation::lives::other ... ok'; exit 0;; esac\n\
         [ -e .self/workspace/failed ] && {{ echo 'test probation::lives::other ... ok'; exit 0; }}\n\
         touch .self/workspace/failed\n{FAILS}"
    ));
    let guardian = house.start();
    until_trusted(&house);
    let told = house.told("examined")[0]["told"].as_str().unwrap().to_owned();
    assert_eq!((runs(&house), told.as_str()), (3, "passed, flaky: probation::lives::other"), "all run again");
    guardian.stop();
}

/// A name misread, or printed by nobody's test, finds nothing that could fail the second time.
#[test]
fn a_second_run_without_the_test_proves_nothing() {
    let house =
        house(&format!("case \"$*\" in *--exact*) echo '0 passed; 9 filtered out'; exit 0;; esac\n{FAILS}"));
    let guardian = house.start();
    assert_eq!(until_fallen(&house)["cause"], "tests_failed");
    guardian.stop();
}

#[test]
fn tests_that_do_not_compile_fall_by_the_first_errors() {
    let house =
        house("echo 'error[E0308]: mismatched types'; echo 'error: could not compile `creature`'; exit 101");
    let guardian = house.start();
    let told = until_fallen(&house)["told"].as_str().unwrap().to_owned();
    assert!(
        told.ends_with("failed: error[E0308]: mismatched types; error: could not compile `creature`"),
        "{told}"
    );
    assert_eq!(runs(&house), 1, "there is nothing to be tried by name");
    guardian.stop();
}

#[test]
fn a_guardian_killed_meanwhile_begins_the_tests_anew_and_does_not_bless_before() {
    let house = house(&format!("{HELD}\n{FAILS}"));
    let guardian = house.start();
    until_run(&house, 1);
    guardian.kill_only();
    let guardian = house.start();
    until_run(&house, 2);
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!((house.status()["blessed"].clone(), house.told("blessed").len()), (false.into(), 1));
    house.write(".self/workspace/go", "");
    let fall = until_fallen(&house);
    assert!(!fall["fallen_ref"].is_null(), "a killed guardian is no excuse for tests that fail: {fall:#}");
    guardian.stop();
}

#[test]
fn what_has_passed_and_is_not_yet_trusted_is_not_examined_again() {
    let house =
        with_later("exit 0", "until [ -e .self/workspace/go ]; do beat; sleep 0.05; done; think alive; live");
    let guardian = house.start();
    house.until("the tests to pass", || house.told("examined").len() == 1);
    guardian.kill_only();
    house.write(".self/workspace/go", "");
    let guardian = house.start();
    until_trusted(&house);
    assert_eq!(runs(&house), 1);
    guardian.stop();
}

#[test]
fn an_owner_who_stops_or_pauses_meanwhile_is_obeyed_and_no_process_is_left() {
    let house = house(HELD);
    let guardian = house.start();
    until_run(&house, 1);
    assert!(house.ask(&["pause"]).status.success());
    house.until("the pause", || house.status()["phase"] == "paused");
    assert_eq!((at_work(&house, "test.sh"), house.told("examined").len()), (vec![], 0));
    assert!(house.ask(&["resume"]).status.success());
    until_run(&house, 2);
    assert_eq!(guardian.stop(), 0);
    assert_eq!(house.leftovers(), Vec::<i32>::new());
}

#[test]
fn what_lies_in_creature_must_be_what_was_committed() {
    let house = with_later("exit 0", "think alive; echo x > creature/beside; live");
    let guardian = house.start();
    let fall = until_fallen(&house);
    assert_eq!((&fall["cause"], house.told("examined").len()), (&"tests_failed".into(), 3));
    let told = fall["told"].as_str().unwrap();
    assert!(
        told.contains("its tests came to nothing: creature/ is not as it was committed; blamed on owner"),
        "{told}"
    );
    guardian.stop();
}

#[test]
fn a_forged_failure_of_a_test_that_does_not_exist_condemns_nobody() {
    let house = house(
        "echo 'test probation::none ... FAILED'\n[ $(wc -l < .self/workspace/runs) -gt 1 ] || sleep 86397",
    );
    let guardian = house.start();
    until_trusted(&house);
    assert_eq!(runs(&house), 3, "all, the one that does not exist, all again");
    guardian.stop();
}

#[test]
fn daemons_forged_words_and_floods_change_nothing() {
    let house = with_later(
        "setsid sleep 86398 > /dev/null 2>&1 &\nyes flood | head -c 150000000; echo 'test probation::a ... FAILED'; exit 0",
        "think alive; echo 'test probation::b ... FAILED' >> .self/log/exam.log || true; live",
    );
    let guardian = house.start();
    until_trusted(&house);
    assert_eq!(at_work(&house, "86398"), Vec::<i32>::new());
    house.until("the log to be cut", || {
        fs::metadata(house.path(".self/log/exam.log")).unwrap().len() <= 64 << 20
    });
    guardian.stop();
}
