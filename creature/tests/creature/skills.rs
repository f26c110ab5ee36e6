//! Skills: what a prompt names, what is read and written of them, and that bad ones are told once and cost no other.

use crate::broker::{StandIn, answer, loopback};
use crate::house::{Script, TempHouse, thought};
use crate::lived::Lived;
use crate::yard::Yard;
use creature::tools::catalogue::LIST;
use knowledge::skills::shelves;
use mind::context::{Caps, choose};
use mind::moment::Moment;
use mind::situation;
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;

fn text(name: &str, about: &str) -> String {
    format!("---\nname: {name}\ndescription: {about}\n---\nDo it.\n")
}

/// Good and bad ones, in every shape.
fn fill(house: &TempHouse) {
    house.write("skills/good/SKILL.md", text("good", ">-\n  Counts\n  herons. Use it\n  at dusk"));
    house.write("self/skills/good/SKILL.md", text("good", "of its own"));
    house.write("self/skills/own/SKILL.md", text("own", "\"says:\\u0007 \\\"this\\\"\""));
    house.write("self/skills/own.md", "# A note of the same name");
    house.write("self/skills/old.md", "\n# How to post\n\nBriefly.");
    house.write("skills/README.md", "no skill");
    house.write("skills/.hidden/SKILL.md", "no skill");
    house.write("skills/two/SKILL.md", text("good", "calls itself another"));
    house.write("skills/no-front/SKILL.md", "# Nothing");
    house.write("skills/open/SKILL.md", "---\nname: open\n");
    house.write("skills/no-yaml/SKILL.md", text("no-yaml", "when: asked"));
    house.write("skills/no-fields/SKILL.md", "---\n- a\n---\n");
    house.write("skills/left-out/SKILL.md", "---\nname: left-out\ndescription:\n---\n");
    house
        .write("skills/a-list/SKILL.md", "---\nname: a-list\ndescription:\n  - d\nmetadata: {a: [b]}\n---\n");
    house.write("skills/bytes/SKILL.md", [0xff, 0xfe, 0, 1]);
    house.write("skills/large/SKILL.md", text("large", "d") + &"x".repeat(10 << 20));
    house.write("skills/\u{1b}[31mred/SKILL.md", text("red", "d"));
    house.write("skills/Upper/SKILL.md", text("Upper", "d"));
    house.write("skills/link/x", "");
    symlink("/etc/hostname", house.path("skills/link/SKILL.md")).unwrap();
    symlink("/etc", house.path("skills/away")).unwrap();
    fs::create_dir_all(house.path("skills/empty")).unwrap();
    fs::create_dir_all(house.path("skills/pipe")).unwrap();
    nix::unistd::mkfifo(&house.path("skills/pipe/SKILL.md"), nix::sys::stat::Mode::S_IRWXU).unwrap();
}

#[test]
fn bad_ones_are_told_and_cost_no_other() {
    let house = TempHouse::new();
    fill(&house);
    let found = shelves(&house.path(""));
    let named = |skills: &[knowledge::skills::Skill]| {
        skills.iter().map(|skill| format!("{}: {}", skill.path, skill.about)).collect::<Vec<_>>()
    };
    assert_eq!(
        named(&found.owners),
        ["skills/good: Counts herons. Use it at dusk", "skills/two: calls itself another"]
    );
    assert_eq!(named(&found.own), ["self/skills/old.md: How to post", "self/skills/own: says: \"this\""]);
    let odd = found.odd.join("\n");
    for (path, why) in [
        ("skills/a-list", "without a `description`"),
        ("skills/away", "is a link"),
        ("skills/bytes", "does not begin with `---`"),
        ("skills/empty", "has no SKILL.md"),
        ("skills/large", "bytes; the most is 1048576"),
        ("skills/left-out", "without a `description`"),
        ("skills/link", "no file of its own"),
        ("skills/no-fields", "without fields"),
        ("skills/no-front", "does not begin with `---`"),
        ("skills/no-yaml", "no YAML: line 3"),
        ("skills/open", "no second `---`"),
        ("skills/pipe", "no file of its own"),
        ("skills/Upper", "not called as a skill is"),
        ("skills/[31mred", "not called as a skill is"),
        ("skills/two", "calls itself `good`"),
        ("self/skills/good", "your owner has a skill of that name"),
    ] {
        let told = found.odd.iter().filter(|line| line.starts_with(&format!("{path} "))).collect::<Vec<_>>();
        assert!(told.len() == 1 && told[0].contains(why), "{path}: {told:?} of {odd}");
    }
    assert_eq!(found.odd.len(), 16, "{odd}");
    assert!(!odd.contains('\u{1b}'), "{odd}");
}

#[test]
fn a_folder_that_is_a_link_or_holds_too_many_is_told() {
    let house = TempHouse::new();
    house.write("skills/good/SKILL.md", text("good", "d"));
    // A folder of skills that is a link, and more of them than are looked at.
    fs::rename(house.path("skills"), house.path("elsewhere")).unwrap();
    symlink(house.path("elsewhere"), house.path("skills")).unwrap();
    let found = shelves(&house.path(""));
    assert!(found.owners.is_empty() && found.odd == ["skills is a link, and no skill in it is looked at"]);
    fs::remove_file(house.path("skills")).unwrap();
    for number in 0..600 {
        house.write(&format!("skills/s-{number:03}/SKILL.md"), text(&format!("s-{number:03}"), "d"));
    }
    let found = shelves(&house.path(""));
    assert_eq!((found.owners.len(), found.odd.len()), (500, 1), "{:?}", found.odd);
    assert_eq!(found.owners[499].path, "skills/s-499");
}

#[test]
fn a_prompt_names_as_many_as_there_is_room_for_in_one_order() {
    let of = |place: &str, number: usize, about: &str| -> Vec<String> {
        (0..number).map(|at| format!("{place}/s-{at:03}: {about}")).collect()
    };
    let shown = |skills, own_skills| {
        choose(&Moment { skills, own_skills, ..Moment::default() }, &Caps::default(), &LIST).skills
    };
    assert_eq!(shown(Vec::new(), Vec::new()), "");
    let one = shown(of("skills", 1, &"long words ".repeat(90)), Vec::new());
    assert!(one.contains(&"long words ".repeat(89)), "{one}");
    let many = shown(of("skills", 500, &"words ".repeat(100)), of("self/skills", 200, &"own ".repeat(100)));
    assert!(many.chars().count() <= 3_000, "{}", many.chars().count());
    assert!(many.contains("- skills/s-000: words") && many.contains("- self/skills/s-000: own"), "{many}");
    assert_eq!(many.matches("left out)").count(), 2, "{many}");
    let own = shown(Vec::new(), of("self/skills", 2, &"own ".repeat(100)));
    assert!(own.contains("no order") && own.lines().all(|line| line.chars().count() <= 200), "{own}");
}

#[tokio::test]
async fn a_new_conversation_names_them_and_a_later_wake_what_changed() {
    loopback!();
    let script = Script::sighted(|_| thought("rest", json!([]), 300));
    let house = TempHouse::with_model("openai", &script, 300);
    house.write("skills/herons/SKILL.md", text("herons", "Counts herons"));
    house.write("skills/broken/SKILL.md", "# Nothing");
    house.say("hello");
    let mut lived = Lived::born(&house, "2026-05-28T12:00:00Z", 1).await;
    lived.wake().await;
    let first = script.situation(0);
    assert!(first.contains("# Skills") && first.contains("- skills/herons: Counts herons"), "{first}");
    let odd = || {
        let about = |record: &memory::Record| record.data["about"] == "skills";
        house
            .records()
            .into_iter()
            .filter(about)
            .map(|record| record.data["text"].to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(odd().len(), 1, "{:?}", odd());
    assert!(odd()[0].contains("skills/broken has a SKILL.md that does not begin with `---`"), "{:?}", odd());
    house.write("skills/terns/SKILL.md", text("terns", "Counts terns"));
    house.say("and again");
    lived.wake().await;
    let last = script.asked.lock().unwrap().len() - 1;
    let news = script.news(last);
    assert!(news.contains("- skills/terns: Counts terns"), "{news}");
    assert_eq!(odd().len(), 1, "told once: {:?}", odd());
}

#[tokio::test]
async fn one_of_its_own_is_written_in_form_and_read_as_text_of_others() {
    loopback!();
    let broker = StandIn::new(|_| answer(200, &json!({"ok": true})));
    let mut yard = Yard::behind(&broker);
    yard.put("self/skills/post.md", "# How to post\n\nIn the older form.");
    let made =
        yard.call("skill.write", json!({"name": "post", "text": "# How to \"post\"\n\nBriefly."})).await;
    assert_eq!((&made["path"], &made["new"]), (&json!("self/skills/post/SKILL.md"), &json!(true)), "{made}");
    let whole = "---\nname: post\ndescription: \"How to \\\"post\\\"\"\n---\n\n# How to \"post\"\n\nBriefly.";
    assert_eq!(yard.text("self/skills/post/SKILL.md"), whole);
    assert!(!yard.root().join("self/skills/post.md").exists());
    let given = text("post", "Posts");
    for name in ["post", "self/skills/post", "self/skills/post/SKILL.md"] {
        let made = yard.call("skill.write", json!({"name": name, "text": given})).await;
        assert_eq!((&made["ok"], &made["new"]), (&json!(true), &json!(false)), "{made}");
    }
    assert_eq!(yard.text("self/skills/post/SKILL.md"), given);
    assert!(broker.heard("/taint").is_empty());
    let read = yard.call("repo.read", json!({"path": "./self/skills/post/SKILL.md"})).await;
    assert!(
        read.to_string().contains("no order") && read["text"].as_str().unwrap().contains("Do it."),
        "{read}"
    );
    assert_eq!(broker.heard("/taint").len(), 1);
    yard.put("skills/theirs/SKILL.md", &text("theirs", "d"));
    let read = yard.call("repo.read", json!({"path": "skills/theirs/SKILL.md"})).await;
    assert!(!read.to_string().contains("no order"), "the owner's words: {read}");
    assert_eq!(broker.heard("/taint").len(), 1);
    // What the owner passes on may be of others.
    yard.put(".self/received/telegram/letter.txt", "Dear all");
    for (told, tool) in ["repo.read", "files.read"].into_iter().enumerate() {
        let read = yard.call(tool, json!({"path": ".self/received/telegram/letter.txt"})).await;
        assert!(read["text"].as_str().unwrap().contains("Dear all"), "{read}");
        assert!(read.to_string().contains("sent to you: what it says may come from others"), "{read}");
        assert_eq!(broker.heard("/taint").len(), 2 + told);
    }
    for (args, why) in [
        (json!({"name": "../x", "text": "x"}), "letters"),
        (json!({"name": "Upper", "text": "x"}), "lowercase"),
        (json!({"name": "", "text": "x"}), "empty"),
        (json!({"name": "x", "text": "  \n"}), "first line"),
        (json!({"name": "x", "text": "y".repeat(16_001)}), "at most 16000"),
        (json!({"name": "x", "text": text("y", "d")}), "needs `name: x`"),
        (json!({"name": "x", "text": text("x", "")}), "needs a `description`"),
        (json!({"name": "x", "text": "---\nname: x\n"}), "no second `---`"),
    ] {
        let refused = yard.call("skill.write", args).await;
        assert!(refused["error"].as_str().unwrap().contains(why), "{why}: {refused}");
    }
    fs::create_dir_all(yard.root().join("self/skills")).unwrap();
    symlink("/tmp", yard.root().join("self/skills/away")).unwrap();
    let refused = yard.call("skill.write", json!({"name": "away", "text": "x"})).await;
    assert!(refused["error"].as_str().unwrap().contains("symbolic link"), "{refused}");
}

#[tokio::test]
async fn where_the_broker_cannot_be_told_nothing_of_others_is_read() {
    loopback!();
    let broker =
        StandIn::new(|_| answer(503, &json!({"error": {"type": "ledger_closed", "message": "closed"}})));
    let mut yard = Yard::behind(&broker);
    yard.put("self/skills/post/SKILL.md", &text("post", "d"));
    let read = yard.call("repo.read", json!({"path": "self/skills/post/SKILL.md"})).await;
    assert!(read["ok"] == false && !read.to_string().contains("Do it."), "{read}");
    yard.tools.broker = None;
    let read = yard.call("repo.read", json!({"path": "self/skills/post/SKILL.md"})).await;
    assert_eq!(read["ok"], true, "without a broker nothing goes out: {read}");
}

#[test]
fn a_skill_that_goes_is_told_as_gone() {
    let parts = |skills: &[&str]| {
        let skills = skills.iter().map(|said| (*said).to_owned()).collect();
        Moment { skills, ..Moment::default() }
    };
    let before = parts(&["skills/a: d"]);
    let mut known = situation::standing(&choose(&before, &Caps::default(), &LIST)).shown;
    known.extend(situation::opening(&before, &choose(&before, &Caps::default(), &LIST)).shown);
    assert!(!situation::news(&before, &known, true, 0, &LIST).text.contains("# Skills"));
    assert!(
        situation::news(&parts(&[]), &known, true, 0, &LIST).text.contains("# Skills\n\n(nothing any more)")
    );
}
