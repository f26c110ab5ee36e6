//! What is done from the owner's page is done once, as at the terminal, by exactly what was shown; nothing written is lost.

use crate::asks::asked;
use crate::page::{Page, field};
use crate::page_stream::living;
use crate::say::ANSWERS;
use serde_json::{Value, json};
use trials::{House, SOUND, lines, said};

fn words(house: &House) -> Vec<Value> {
    lines(&house.path(".self/inbox.jsonl"))
}

fn answers(house: &House) -> Vec<Value> {
    lines(&house.path(".self/broker/answers.jsonl"))
}

#[test]
fn a_word_reaches_the_inbox_once_on_the_thread_of_the_window() {
    let house = House::new(SOUND);
    asked(&house, "1", "hello");
    let page = Page::of(&house);
    let act = page.act("/talk", "/say");
    let answer = page.post("/say", &[("act", &act), ("words", "grüße\r\nund <b>mehr</b>")]);
    assert_eq!(answer.status, 303, "{}", answer.body);
    let kept = words(&house);
    assert_eq!(
        (kept[0]["text"].as_str(), kept[0]["thread"].as_str()),
        (Some("grüße\nund <b>mehr</b>"), Some("main"))
    );
    assert!(page.get("/talk").body.contains("kept; not heard yet"));
    let again = page.post("/say", &[("act", &act), ("words", "grüße")]);
    assert_eq!(again.status, 409);
    assert!(again.body.contains("already, once"), "{}", again.body);
    // Without a token of this server's nothing is said, and what was written can be sent from there.
    for odd in ["", "1-2-3", &page.act("/asks/1", "/asks/1/no")] {
        let refused = page.post("/say", &[("act", odd), ("words", "lost </textarea>?")]);
        assert_eq!(refused.status, 409);
        assert!(refused.body.contains("lost &lt;/textarea&gt;?"), "{}", refused.body);
        assert!(field(&refused.body, "/say", "act").is_some());
    }
    assert_eq!(words(&house).len(), 1);
    let act = page.act("/talk", "/say");
    let wrong = page.post("/say", &[("act", &act), ("words", " ")]);
    assert!(wrong.status == 409 && wrong.body.contains("the message is empty"), "{}", wrong.body);
    assert_eq!(words(&house).len(), 1);
}

#[test]
fn the_button_stop_says_stop() {
    let house = House::new(SOUND);
    let lock = living(&house, "thinking");
    let page = Page::of(&house);
    let now = page.get("/").body;
    let words = field(&now, "/say", "words").unwrap();
    assert!(now.contains("Stop what it is at") && words == "stop that", "{now}");
    assert_eq!(page.post("/say", &[("act", &page.act("/", "/say")), ("words", &words)]).status, 303);
    assert_eq!(self::words(&house)[0]["text"], "stop that");
    drop(lock);
    // A program that another test starts just now holds a copy of the lock until it runs.
    house.until("no more to stop where nothing runs", || !page.get("/").body.contains("Stop what it is at"));
}

#[test]
fn a_word_is_answered_and_a_pause_is_the_guardians() {
    let house = House::new(ANSWERS);
    let guardian = house.start();
    house.until("it lives", || !house.thoughts().is_empty());
    let page = Page::of(&house);
    let act = page.act("/talk", "/say");
    assert_eq!(page.post("/say", &[("act", &act), ("words", "what are you up to")]).status, 303);
    house.until("the answer", || page.get("/talk").body.contains("you said: what are you up to"));
    assert!(!page.get("/talk").body.contains("not heard yet"));
    let paused = page.post("/pause", &[("act", &page.act("/", "/pause"))]);
    assert!(paused.status == 200 && paused.body.contains("Done."), "{}", paused.body);
    house.until("the pause", || house.status()["phase"] == "paused");
    let now = page.get("/").body;
    assert!(
        !now.contains("action=\"/pause\"") && now.contains("action=\"/resume\""),
        "the one that applies: {now}"
    );
    let resumed = page.post("/resume", &[("act", &page.act("/", "/resume"))]);
    assert!(resumed.body.contains("it goes on"), "{}", resumed.body);
    house.until("the switch", || page.get("/").body.contains("action=\"/pause\""));
    let act = page.act("/", "/pause");
    guardian.stop();
    let unheard = page.post("/pause", &[("act", &act)]);
    assert!(unheard.status == 409 && unheard.body.contains("no guardian is running"), "{}", unheard.body);
    let now = page.get("/").body;
    assert!(
        !now.contains("action=\"/pause\"") && !now.contains("action=\"/resume\""),
        "no switch that does nothing"
    );
}

#[test]
fn a_yes_is_for_the_bytes_that_were_shown_and_happens_once() {
    let house = House::new(SOUND);
    asked(&house, "1", "hello\u{202e}");
    asked(&house, "2", "there");
    let page = Page::of(&house);
    let shown = page.get("/asks/1").body;
    assert!(shown.contains("hello\\u{202e}") && shown.contains("/2/tweets"), "{shown}");
    let digest = field(&shown, "/asks/1/yes", "digest").unwrap();
    let act = |path: &str| page.act("/asks/1", path);
    // Another content than was shown, another digest, another ask's token: nothing is answered.
    for (digest, act) in [("d9", act("/asks/1/yes")), ("", act("/asks/1/yes")), (&digest, act("/asks/1/no"))]
    {
        assert_eq!(page.post("/asks/1/yes", &[("act", &act), ("digest", digest)]).status, 409);
    }
    assert!(answers(&house).is_empty());
    let stored = house.read(".self/broker/asks/1.json");
    let given = act("/asks/1/yes");
    house.write(".self/broker/asks/1.json", &stored.replace("\"d1\"", "\"d9\""));
    let changed = page.post("/asks/1/yes", &[("act", &given), ("digest", &digest)]);
    assert!(changed.body.contains("not what was asked"), "{}", changed.body);
    house.write(".self/broker/asks/1.json", &stored);
    let given = act("/asks/1/yes");
    let yes = page.post("/asks/1/yes", &[("act", &given), ("digest", &digest)]);
    assert_eq!(yes.status, 303, "{}", yes.body);
    assert_eq!(page.post("/asks/1/yes", &[("act", &given), ("digest", &digest)]).status, 409);
    let no = page.post("/asks/2/no", &[("act", &page.act("/asks/2", "/asks/2/no")), ("digest", "d2")]);
    assert_eq!(no.status, 303);
    let told: Vec<[String; 3]> = answers(&house)
        .iter()
        .map(|line| ["id", "answer", "digest"].map(|name| line[name].as_str().unwrap().to_owned()))
        .collect();
    assert_eq!(told, [["1", "approve", "d1"], ["2", "deny", "d2"]]);
    // The broker has carried it out: a second answer hears what came of it.
    let late = act("/asks/1/yes");
    let before = house.read(".self/asks.jsonl");
    let done = json!({"at": "2026-01-02T03:05:00Z", "id": "1", "event": "executed", "digest": "d1", "status": 201, "result": "made <b>"});
    house.write(".self/asks.jsonl", &format!("{before}{done}\n"));
    let second = page.post("/asks/1/yes", &[("act", &late), ("digest", &digest)]);
    assert!(second.status == 409 && second.body.contains("executed, status 201"), "{}", second.body);
    assert_eq!(answers(&house).len(), 2);
    let whole = page.get("/asks/1").body;
    assert!(whole.contains("made &lt;b&gt;") && !whole.contains("action=\"/asks/1/yes\""), "{whole}");
}

#[test]
fn an_ask_is_answered_where_it_is_listed_and_where_one_talks() {
    let house = House::new(SOUND);
    asked(&house, "1", "{\"text\": \"hello\", \"to\": \"Ann\"}");
    asked(&house, "2", "plain words");
    let page = Page::of(&house);
    for (view, id, way) in [("/asks", "1", "yes"), ("/talk", "2", "no")] {
        let shown = page.get(view).body;
        // What is approved is on the page: readable, and its exact bytes in a fold.
        assert!(shown.contains("Send to x?") && shown.contains("<dd>Ann</dd>"), "{view}: {shown}");
        assert!(
            shown.contains("Exactly these bytes") && shown.contains("{&quot;text&quot;: &quot;hello&quot;"),
            "{shown}"
        );
        let path = format!("/asks/{id}/{way}");
        let field = |name: &str| field(&shown, &path, name).unwrap();
        let fields = [("act", field("act")), ("digest", field("digest")), ("from", field("from"))];
        let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
        let answer = page.post(&path, &fields);
        assert_eq!(answer.status, 303, "{}", answer.body);
        let to = if view == "/talk" { "location: /talk#last" } else { "location: /asks" };
        assert!(answer.head.to_lowercase().contains(&format!("{to}\r\n")), "{}", answer.head);
        if view == "/asks" {
            assert!(page.get("/talk").body.contains("<title>(1) Talk"), "an answered one is not counted");
            asked(&house, "3", "{\"text\": \"hello\", \"to\": \"Ann\"}");
        }
    }
    let told: Vec<_> =
        answers(&house).iter().map(|line| line["answer"].as_str().unwrap().to_owned()).collect();
    assert_eq!(told, ["approve", "deny"]);
    // No form leads anywhere but to these pages.
    let shown = page.get("/asks").body;
    let (act, digest) =
        (field(&shown, "/asks/3/no", "act").unwrap(), field(&shown, "/asks/3/no", "digest").unwrap());
    let odd = page.post("/asks/3/no", &[("act", &act), ("digest", &digest), ("from", "//evil.test/")]);
    assert!(odd.head.to_lowercase().contains("location: /asks/3\r\n"), "{}", odd.head);
}

#[test]
fn a_paper_changed_meanwhile_is_never_overwritten() {
    let house = House::new(SOUND);
    house.write("self/notes/herons.md", "# Herons\n\n\tGrey & <white>.\n");
    let page = Page::of(&house);
    let path = "/memory/paper/self/notes/herons.md";
    let shown = page.get(path).body;
    assert!(shown.contains("\n# Herons\n\n\tGrey &amp; &lt;white&gt;.\n</textarea>"), "{shown}");
    let hash = field(&shown, path, "hash").unwrap();
    let act = |page: &Page| page.act(path, path);
    let save =
        |act: &str, hash: &str, text: &str| page.post(path, &[("act", act), ("hash", hash), ("text", text)]);
    assert_eq!(save(&act(&page), &hash, "mine\r\n\tand <b>\r\n").status, 303);
    assert_eq!(house.read("self/notes/herons.md"), "mine\n\tand <b>\n");
    // The creature wrote since: both texts are shown, neither is lost, and the second try is for what is there now.
    let hash = field(&page.get(path).body, path, "hash").unwrap();
    house.write("self/notes/herons.md", "its own\n");
    let conflict = save(&act(&page), &hash, "my own\n");
    assert_eq!(conflict.status, 409);
    assert!(
        conflict.body.contains("its own") && conflict.body.contains("\nmy own\n</textarea>"),
        "{}",
        conflict.body
    );
    assert_eq!(house.read("self/notes/herons.md"), "its own\n");
    let (hash, again) =
        (field(&conflict.body, path, "hash").unwrap(), field(&conflict.body, path, "act").unwrap());
    assert_eq!(save(&again, &hash, "both\n").status, 303);
    assert_eq!(house.read("self/notes/herons.md"), "both\n");
    let hash = field(&page.get(path).body, path, "hash").unwrap();
    let given = act(&page);
    std::fs::remove_file(house.path("self/notes/herons.md")).unwrap();
    let gone = save(&given, &hash, "kept by me\n");
    assert!(gone.status == 409 && gone.body.contains("kept by me"), "{}", gone.body);
    assert!(!house.path("self/notes/herons.md").exists());
    let left: Vec<_> = std::fs::read_dir(house.path("self/notes")).unwrap().flatten().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn no_paper_is_written_outside_of_the_papers() {
    let house = House::new(SOUND);
    house.write("self/notes/a.md", "a\n");
    std::os::unix::fs::symlink(house.path("creature"), house.path("self/out")).unwrap();
    let page = Page::of(&house);
    let hash =
        field(&page.get("/memory/paper/self/notes/a.md").body, "/memory/paper/self/notes/a.md", "hash")
            .unwrap();
    for name in [
        "creature/creature.sh",
        "self/out/creature.sh",
        "owner.toml",
        "self/../owner.toml",
        ".env",
        "self/new.md",
    ] {
        let path = format!("/memory/paper/{name}");
        let offered = page.post(&path, &[("act", ""), ("hash", &hash), ("text", "x")]);
        let act = field(&offered.body, &path, "act").unwrap_or_default();
        let answer = page.post(&path, &[("act", &act), ("hash", &hash), ("text", "x")]);
        assert!(answer.status >= 400, "{name}: {}", answer.status);
    }
    assert_ne!(house.read("creature/creature.sh"), "x");
    assert!(!house.path("self/new.md").exists() && !house.path(".env").exists());
    assert_ne!(house.read("owner.toml"), "x");
}

#[test]
fn going_back_is_ordered_of_the_guardian_for_what_was_shown() {
    let house = House::new(SOUND);
    let guardian = house.start();
    let first = house.git(&["rev-parse", "HEAD"]);
    house.until_blessed(&first);
    let page = Page::of(&house);
    let shown = page.get("/edits").body;
    assert!(shown.contains("runs now") && !shown.contains("Go back here"), "{shown}");
    let (view, path) = (format!("/ladder/{first}"), format!("/ladder/{first}/back"));
    let at_it = page.get(&view).body;
    assert!(at_it.contains("already what that has") && !at_it.contains("<form"), "{at_it}");
    house.write("creature/more.txt", "more\n");
    house.commit("more");
    let listed = page.get("/edits").body;
    assert!(listed.contains(&format!("href=\"{view}\"")) && listed.contains("proved itself"), "{listed}");
    let shown = page.get(&view).body;
    assert!(shown.contains("more.txt") && shown.contains("Commits undone"), "{shown}");
    let head = field(&shown, &path, "head").unwrap();
    let given = page.act(&view, &path);
    house.write("creature/more.txt", "still more\n");
    house.commit("still more");
    let stale = page.post(&path, &[("act", &given), ("head", &head)]);
    assert!(stale.status == 409 && stale.body.contains("look at them again"), "{}", stale.body);
    let shown = page.get(&view).body;
    let head = field(&shown, &path, "head").unwrap();
    let back = page.post(&path, &[("act", &field(&shown, &path, "act").unwrap()), ("head", &head)]);
    assert!(back.status == 200, "{}", back.body);
    house.until("it is back", || !house.path("creature/more.txt").exists());
    guardian.stop();
    let output = house.ask(&["rollback", "--list"]);
    assert!(output.status.success(), "{}", said(&output));
}
