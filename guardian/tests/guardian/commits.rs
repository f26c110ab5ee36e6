//! Commits of the guardian's: what their objects become on the disk, and what their messages say.

use guardian::act::commits::MOST_KEPT_PER_HOUR;
use guardian::act::requests::Request;
use repo::Repo;
use serde_json::Value;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use trials::lease::Lease;
use trials::{House, living};

fn open(house: &House) -> Repo {
    Repo::open(&house::House::new(&house.root)).unwrap()
}

fn packs(house: &House) -> Vec<PathBuf> {
    let entries = fs::read_dir(house.path(".git/objects/pack")).unwrap().flatten().map(|entry| entry.path());
    entries.filter(|path| path.extension().is_some_and(|end| end == "pack")).collect()
}

fn loose(house: &House) -> usize {
    let count = house.git(&["count-objects"]);
    count.split(' ').next().unwrap().parse().unwrap()
}

/// Found by attack: 20,000 papers in one commit were as many syncs, and the guardian was deaf for 74 s.
#[test]
fn many_papers_are_one_pack_and_few_are_files_of_their_own() {
    let house = House::new("live");
    let before = loose(&house);
    (0..500).for_each(|number| house.write(&format!("self/{number}"), &format!("paper {number}\n")));
    let made = open(&house).commit("self: papers", &["self"]).unwrap().unwrap();
    assert_eq!(packs(&house).len(), 1);
    assert!(loose(&house) - before < 10, "only the commit and its root are files of their own");
    house.write("self/one-more", "x");
    let more = open(&house).commit("self: a paper", &["self"]).unwrap().unwrap();
    assert_eq!(packs(&house).len(), 1, "packs do not become many");
    assert_ne!(made.commit, more.commit);
    assert_eq!(house.git(&["fsck", "--strict", "--full"]), "");
    assert_eq!(house.git(&["ls-tree", "-r", "--name-only", "HEAD", "self/"]).lines().count(), 502);
}

/// A skill of the creature's is a folder: text, a script that may be run, and what it names, as one commit and back.
#[test]
fn a_skill_of_several_files_is_committed_whole_and_a_commit_brings_it_back() {
    let house = House::new("live");
    house.write("self/skills/count/SKILL.md", "---\nname: count\ndescription: d\n---\n");
    house.write("self/skills/count/scripts/count.sh", "#!/bin/sh\necho 7\n");
    house.write("self/skills/count/references/deep/er.md", "more\n");
    let script = house.path("self/skills/count/scripts/count.sh");
    fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    fs::write(house.path("self/skills/count/large"), vec![7; (64 << 20) + 1]).unwrap();
    house.write("self/skills/count/Makefile", "all:\n\tfalse\n");
    let mut told = Vec::new();
    open(&house).clear_planted(&mut told).unwrap();
    assert!(told.len() == 1 && told[0].contains("self/skills/count/Makefile (make)"), "{told:?}");
    open(&house).commit("self: a skill", &["self"]).unwrap().unwrap();
    let kept = house.git(&["ls-tree", "-r", "HEAD", "self/skills/"]);
    let kept: Vec<(&str, &str)> =
        kept.lines().map(|line| (&line[..6], line.rsplit('/').next().unwrap())).collect();
    assert_eq!(kept, [("100644", "SKILL.md"), ("100644", "er.md"), ("100755", "count.sh")]);
    assert!(!house.path("self/skills/count/large").exists(), "too large for git: moved aside");
}

/// Found while mending: two texts of 16 MiB were compared line by line for 163 s, only to say how many lines changed.
#[test]
fn lines_of_large_files_are_not_counted() {
    let house = House::new("live");
    let text = |from: u32| (from..from + 100_000).map(|line| format!("{}\n", line.wrapping_mul(line) % 50));
    house.write("self/large", &text(0).collect::<String>());
    house.commit("a large paper");
    house.write("self/large", &text(777_777).collect::<String>());
    house.write("self/small", "one\ntwo\n");
    let repo = open(&house);
    let made = repo.commit("self: papers", &["self"]).unwrap().unwrap();
    assert_eq!(repo.diff_stat(&repo.find(&made.commit.to_string()).unwrap()).unwrap(), (2, 2, 0));
}

/// Found while mending: what rotted in a pack kept every commit and every rescue that needed it from being made.
#[test]
fn what_rotted_in_a_pack_is_written_anew() {
    let house = House::new("live");
    let treasure: String =
        (0..3_000_u32).map(|at| char::from(b'a' + (at.wrapping_mul(at) >> 5) as u8 % 26)).collect();
    house.write("creature/treasure", &treasure);
    house.commit("a treasure");
    house.git(&["repack", "-a", "-d", "-q"]);
    let blob = house.git(&["rev-parse", "HEAD:creature/treasure"]);
    let [pack] = packs(&house).try_into().unwrap();
    let list = house.git(&["verify-pack", "-v", &pack.with_extension("idx").display().to_string()]);
    let line = list.lines().find(|line| line.starts_with(&blob)).unwrap();
    let offset: u64 = line.split_whitespace().nth(4).unwrap().parse().unwrap();
    fs::set_permissions(&pack, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    File::options().write(true).open(&pack).unwrap().write_all_at(&[0; 40], offset + 20).unwrap();
    house.write("creature/more", "x");
    open(&house).commit("self: more", &["creature"]).unwrap().unwrap();
    assert_eq!(house.git(&["show", "HEAD:creature/treasure"]), treasure);
    fs::remove_file(house.path("creature/treasure")).unwrap();
    let repo = open(&house);
    repo.put_back(repo.head().unwrap().commit).unwrap();
    assert_eq!(house.read("creature/treasure"), treasure);
}

#[test]
fn a_subject_has_at_most_72_characters_of_whole_words_and_the_rest_stands_below() {
    let request = |summary: &str| Request { summary: summary.into(), ..Request::default() };
    let long = "a word and another ".repeat(20);
    let (summary, message) = (request(&long).summary(), request(&long).message("self"));
    assert!(summary.chars().count() <= 200, "{summary}");
    assert!(
        summary.ends_with("word …") || summary.ends_with("and …") || summary.ends_with("another …"),
        "{summary}"
    );
    let (subject, body) = message.split_once(" …\n\n… ").unwrap();
    assert!((60..=70).contains(&subject.chars().count()), "{subject}");
    assert_eq!(
        format!("{subject} {body}"),
        format!("self: {}\n", long.trim()),
        "nothing is lost, no word is cut"
    );
    let wide = request(&"größer ".repeat(40)).message("self");
    assert!(
        wide.lines().next().unwrap().chars().count() <= 72 && wide.contains("größer …\n\n… größer"),
        "{wide}"
    );
    assert_eq!(request("short and\n sweet\u{7}").message("self"), "self: short and sweet");
    assert_eq!(request(" \n").message("self"), "self: no summary given");
    let endless = request(&"x".repeat(1_000_000)).message("self");
    assert!(endless.chars().count() < 4_300 && endless.starts_with("self: xxx"));
    assert_eq!(endless.lines().next().unwrap().chars().count(), 72);
    let exactly = "x".repeat(66);
    assert_eq!(request(&exactly).message("self"), format!("self: {exactly}"));
}

#[test]
fn a_draft_is_kept_under_a_ref_and_nothing_of_the_house_is_touched() {
    let house = House::new("live");
    assert_eq!(open(&house).keep_draft().unwrap(), None, "there is none");
    house.write(".self/workspace/draft/creature/src/new.rs", "//! New.\n");
    house.write(".self/workspace/draft/draft.json", "{}");
    let before = house.git(&["status", "--porcelain"]);
    let kept = open(&house).keep_draft().unwrap().unwrap().to_string();
    assert_eq!(house.git(&["show", &format!("{kept}:creature/src/new.rs")]), "//! New.");
    assert!(house.git(&["for-each-ref", "refs/guardian/rescued"]).contains(&kept));
    assert_eq!(house.git(&["status", "--porcelain"]), before);
    assert!(house.path(".self/workspace/draft/creature/src/new.rs").exists());
}

/// Found by attack: U+202E and U+200B stood raw in subjects, so `git log` showed another text than was written.
#[test]
fn letters_that_hide_or_turn_are_spelled_in_commit_messages() {
    let summary = |text: &str| Request { summary: text.into(), ..Request::default() };
    for letter in ['\u{202e}', '\u{200b}', '\u{2066}', '\u{feff}', '\u{e0041}', '\u{115f}'] {
        let asked = summary(&format!("mend{letter}ed the loop"));
        let spelled = letter.escape_unicode().to_string();
        for told in [asked.message("self"), asked.summary()] {
            assert!(!told.contains(letter) && told.contains(&spelled), "{told:?}");
        }
    }
    let many = summary(&"\u{202e}".repeat(5_000)).message("self");
    assert!(many.chars().count() < 4_100, "spelled out it is no longer than any other");
    assert_eq!(summary("Grüße, 日本, 👩\u{200d}🚀").message("self"), "self: Grüße, 日本, 👩\u{200d}🚀");
}

/// Found by attack: a creature that asked for `reset` after each change made 15 refs a second, without an end.
#[test]
fn requests_make_a_bounded_number_of_refs() {
    let life = "turn=0; while [ $turn -lt 40 ]; do turn=$((turn + 1)); beat; echo $turn > creature/file; \
                ask reset again $turn; \
                until grep -q \"\\\"$FERAL_LIFE-$turn\\\"\" .self/guardian.json; do sleep 0.02; done; done; \
                echo done > .self/workspace/done; live";
    let house = House::new(life);
    let guardian = house.start();
    house.until("all to be answered", || house.path(".self/workspace/done").exists());
    let refs = house.git(&["for-each-ref", "--format=%(refname)", "refs/guardian/rescued/"]);
    let answers = house.status()["answers"].to_string();
    guardian.stop();
    assert!(answers.contains("ask again in an hour"), "{answers}");
    assert!((2..=MOST_KEPT_PER_HOUR + 1).contains(&refs.lines().count()), "{refs}");
}

/// A rebirth without a change runs the kept binary at once: that life finds the answer to what the last one asked.
#[test]
fn a_rebirth_is_answered_before_the_next_life_begins() {
    let (house, guardian, _) = living(
        "if [ $FERAL_LIFE = 2 ]; then cp .self/guardian.json .self/mind/new; mv .self/mind/new .self/mind/seen; fi; \
         think alive; blessed; until [ -e .self/go ]; do beat; sleep 0.02; done; \
         if [ $FERAL_LIFE = 1 ]; then ask rebirth again r; exit 0; fi; live",
    );
    // The guardian is held up at its record of the next life, which runs by then.
    let lease = Lease::of(&house.path(".self/history.jsonl"));
    house.write(".self/go", "");
    house.until("the next life", || house.path(".self/mind/seen").exists());
    house.until("the guardian to be held up", || lease.is_waited_for());
    let seen: Value = serde_json::from_str(&house.read(".self/mind/seen")).unwrap();
    assert_eq!(seen["answers"][0]["id"], "1-r", "{seen:#}");
    drop(lease);
    house.until("the record", || house.told("life").len() == 2);
    guardian.stop();
}
