//! The tools of knowledge: notes and facts are written, found again and kept within their bounds.

use crate::yard::Yard;
use creature::dream::changed;
use serde_json::json;

#[tokio::test]
async fn what_is_written_is_found() {
    let mut yard = Yard::new();
    let note = yard
        .call("knowledge.write", json!({"name": "birds", "text": "# Birds\n\nSwifts sleep in the air."}))
        .await;
    assert_eq!(note["path"], "self/notes/birds.md");
    yard.call("fact.add", json!({"text": "A swift weighs 40 g", "source": "https://birds.example"})).await;
    yard.call("skill.write", json!({"name": "counting", "text": "# How to count swifts\n\nAt dusk."})).await;
    yard.call("memory.append", json!({"text": "three swifts over the roof"})).await;
    let found = yard.call("knowledge.search", json!({"query": "swift"})).await;
    let kinds: Vec<&str> =
        found["hits"].as_array().unwrap().iter().map(|hit| hit["kind"].as_str().unwrap()).collect();
    for kind in ["note", "fact", "skill", "memory"] {
        assert!(kinds.contains(&kind), "{kind}: {found:#}");
    }
    let only =
        yard.call("knowledge.search", json!({"query": "roof swifts", "kind": "memory", "most": 1})).await;
    assert!(only["hits"][0]["text"].as_str().unwrap().contains("over the roof"), "{only:#}");
    let nothing = yard.call("knowledge.search", json!({"query": "unicorns"})).await;
    assert_eq!((&nothing["ok"], &nothing["hits"]), (&json!(true), &json!([])));
    yard.call("notes.write", json!({"name": "facts", "text": "- A swift weighs 40 g"})).await;
    assert!(changed(&yard.store.house).is_empty(), "what it wrote itself is known");
    yard.put("self/notes/birds.md", "by another hand, about swifts");
    assert_eq!(changed(&yard.store.house), ["self/notes/birds.md"]);
    yard.call("repo.read", json!({"path": "self/notes/birds.md"})).await;
    assert!(changed(&yard.store.house).is_empty(), "what it read is known");
    yard.put("self/notes/birds.md", "# Birds\n\nSwifts sleep in the air.");
    // A search of garbage, and of an index that is garbage.
    yard.put(".self/mind/index.sqlite", &"garbage ".repeat(1_000));
    let found = yard.call("knowledge.search", json!({"query": "\"sleep in the air\" OR ("})).await;
    assert_eq!(found["hits"][0]["path"], "self/notes/birds.md", "{found:#}");
}

#[tokio::test]
async fn facts_are_held_once_with_the_first_source() {
    let mut yard = Yard::new();
    yard.put("self/facts.md", "# Facts\n");
    let added = yard.call("fact.add", json!({"text": "Swifts sleep\nin the air"})).await;
    assert_eq!((&added["ok"], &added["facts"]), (&json!(true), &json!(1)));
    let again = yard.call("fact.add", json!({"text": "The swift sleep in the air!", "source": "mail"})).await;
    assert_eq!((&again["known"], &again["source"]), (&json!("Swifts sleep in the air"), &json!("myself")));
    let text = yard.text("self/facts.md");
    assert!(text.starts_with("# Facts\n- Swifts sleep in the air [myself, 2"), "{text}");
    for (args, why) in [
        (json!({"text": " "}), "empty"),
        (json!({"text": "x".repeat(501)}), "500"),
        (json!({"text": "x", "source": 5}), "`source`"),
    ] {
        let refused = yard.call("fact.add", args).await;
        assert!(refused["error"].as_str().unwrap().contains(why), "{refused}");
    }
    yard.put("self/facts.md", &"x".repeat(300_000));
    assert_eq!(yard.call("fact.add", json!({"text": "one more"})).await["ok"], false);
    std::fs::remove_file(yard.root().join("self/facts.md")).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", yard.root().join("self/facts.md")).unwrap();
    assert_eq!(yard.call("fact.add", json!({"text": "one more"})).await["ok"], false);
}
