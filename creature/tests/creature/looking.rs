//! Pictures and documents are put to the model that sees, once, in the form of its wire; where none sees, that is said.

use crate::broker::{TOKEN, loopback};
use crate::faithful::{Rules, Say, Seen, Wire};
use crate::lived::Lived;
use crate::probation::sight::world::{NATIVE, World};
use crate::yard::Yard;
use serde_json::{Value, json};

const PICTURES: [(&str, &[u8]); 4] = [
    ("heron.png", b"\x89PNG\r\n\x1a\nseven herons"),
    ("heron.jpg", b"\xff\xd8\xff\xe0seven herons"),
    ("heron.gif", b"GIF89aseven herons"),
    ("heron.webp", b"RIFF\x10\x00\x00\x00WEBPseven herons"),
];
const PDF: (&str, &[u8]) = ("herons.pdf", b"%PDF-1.7\nseven herons");

/// What of a request is a picture or a document, wherever it stands.
fn media(value: &Value) -> Vec<Value> {
    let kind = value["type"].as_str().unwrap_or_default();
    if ["image", "document", "image_url", "file", "input_image", "input_file"].contains(&kind) {
        return vec![value.clone()];
    }
    match value {
        Value::Array(all) => all.iter().flat_map(media).collect(),
        Value::Object(fields) => fields.values().flat_map(media).collect(),
        _ => Vec::new(),
    }
}

/// Tells of what the request shows, or that it shows nothing.
fn tells(seen: &Seen) -> Say {
    let kinds: Vec<String> =
        media(&seen.body).iter().map(|one| one["type"].as_str().unwrap().to_owned()).collect();
    Say::new().plainly(&format!("You ask: {} I see: {}.", seen.last_said().trim(), kinds.join(", ")))
}

fn yard(world: &World) -> Yard {
    let mut yard = Yard::new();
    yard.tools.broker = Some(hands::Broker::new(world.house.broker.as_ref().unwrap(), TOKEN).unwrap());
    for (name, bytes) in PICTURES.iter().chain([&PDF]) {
        yard.put(&format!(".self/workspace/{name}"), "");
        std::fs::write(yard.root().join(".self/workspace").join(name), bytes).unwrap();
    }
    yard
}

fn told(result: &Value) -> String {
    format!(
        "{}\n{}",
        result["error"].as_str().unwrap_or_default(),
        result["hint"].as_str().unwrap_or_default()
    )
}

#[tokio::test]
async fn what_lies_in_the_workspace_is_shown_in_the_form_of_every_wire() {
    loopback!();
    for (wire, picture, document) in [
        (Wire::Anthropic, "image", "document"),
        (Wire::Responses, "input_image", "input_file"),
        (Wire::Chat, "image_url", "file"),
    ] {
        let world = World::new(wire, Rules::default(), NATIVE, tells);
        world.offer(json!({"window": 200_000, "sees": ["image", "pdf"], "prices": {"input": 2.0, "cache_read": 0.2, "output": 10.0}}));
        let mut yard = yard(&world);
        for (name, _) in PICTURES {
            let seen = yard.call("files.see", json!({"path": name, "question": "which birds?"})).await;
            assert_eq!(
                seen["seen"],
                json!(format!("You ask: which birds? I see: {picture}.")),
                "{wire:?}: {seen}"
            );
        }
        let seen = yard.call("files.see", json!({"path": PDF.0})).await;
        assert!(seen["seen"].as_str().unwrap().ends_with(&format!("I see: {document}.")), "{wire:?}: {seen}");
        world.server.assert_no_violations();
        for seen in world.server.seen() {
            assert!(seen.tools.is_empty() && seen.autonomous, "nobody asked for it, and it can do nothing");
            assert!(
                !seen.body.to_string().contains("cache_control")
                    || !seen.body["messages"].to_string().contains("cache_control"),
                "{}",
                seen.body
            );
        }
    }
}

#[tokio::test]
async fn what_the_owner_sent_is_seen_where_it_lies_and_nothing_beside_it() {
    loopback!();
    let world = World::new(Wire::Anthropic, Rules::default(), NATIVE, tells);
    world.offer(json!({"window": 200_000, "sees": ["image"]}));
    let mut yard = yard(&world);
    let place = yard.root().join(".self/received/telegram");
    std::fs::create_dir_all(&place).unwrap();
    std::fs::write(place.join("heron.png"), PICTURES[0].1).unwrap();
    std::os::unix::fs::symlink(yard.root().join(".self/workspace/heron.png"), place.join("link.png"))
        .unwrap();
    let seen = yard.call("files.see", json!({"path": ".self/received/telegram/heron.png"})).await;
    assert_eq!(seen["ok"], json!(true), "{seen}");
    for (path, why) in [
        (".self/received/telegram/link.png", "symbolic link"),
        (".self/received/../memory.jsonl", "climbs"),
        (".self/received/telegram/nothing.png", "read .self/received/telegram/nothing.png"),
    ] {
        let refused = yard.call("files.see", json!({"path": path})).await;
        assert!(told(&refused).contains(why), "{path}: {refused}");
    }
    let args = json!({"path": ".self/received/telegram/heron.png", "text": "mine"});
    // Found: it wrote another file of that name, and files.read read that one.
    let refused = yard.call("files.write", args).await;
    assert!(told(&refused).contains("lies elsewhere in the house"), "{refused}");
    assert_eq!(std::fs::read(place.join("heron.png")).unwrap(), PICTURES[0].1, "never written");
}

/// The owner's money where the owner asked.
#[tokio::test]
async fn a_look_for_the_owner_is_the_owners() {
    loopback!();
    let world = World::new(Wire::Anthropic, Rules::default(), NATIVE, tells);
    world.offer(json!({"window": 200_000, "sees": ["image"]}));
    let mut yard = yard(&world);
    yard.caller.owner = true;
    assert_eq!(yard.call("files.see", json!({"path": "heron.png"})).await["ok"], json!(true));
    assert!(!world.server.seen()[0].autonomous);
}

#[tokio::test]
async fn where_no_model_sees_that_is_said_and_nothing_is_sent() {
    loopback!();
    let world = World::new(Wire::Anthropic, Rules::default(), NATIVE, tells);
    let mut yard = yard(&world);
    yard.put(".self/workspace/words.txt", "seven herons");
    yard.put(".self/workspace/large.png", &"x".repeat(4 << 20));
    for (offer, path, error, hint) in [
        (json!({"sees": ["image"]}), "herons.pdf", "does not see PDF", "pdftotext"),
        (json!({"sees": []}), "heron.png", "does not see pictures", "tesseract"),
        (json!({}), "heron.png", "it is not known whether", "`sees` in [makers.NAME.models]"),
        (json!({"sees": ["image"]}), "words.txt", "is no PNG, JPEG, GIF, WebP or PDF", "files.read"),
        (json!({"sees": ["image"]}), "large.png", "larger than 3932160 bytes", "3.75 MiB at most"),
        (json!({"sees": ["image"]}), "nowhere.png", "read nowhere.png", "files.list"),
        (json!({"sees": ["image"]}), "../memory.jsonl", "climbs", "it takes"),
    ] {
        world.offer(offer.clone());
        let refused = yard.call("files.see", json!({"path": path})).await;
        assert!(
            refused["error"].as_str().is_some_and(|told| told.contains(error)),
            "{offer} {path}: {refused}"
        );
        assert!(told(&refused).contains(hint), "{offer} {path}: {refused}");
    }
    assert_eq!(world.server.seen().len(), 0);
    // The quick model sees in the first one's place.
    let quick =
        json!({"wire": "anthropic", "name": "claude-haiku-5-5", "path": "/llm/anthropic", "sees": ["image"]});
    world.offer(json!({"sees": [], "quick": quick}));
    let seen = yard.call("files.see", json!({"path": "heron.png"})).await;
    assert_eq!(seen["by"], json!("anthropic claude-haiku-5-5"), "{seen}");
}

/// A server that refuses is told in its own words, and the call is no more than failed.
#[tokio::test]
async fn a_model_that_cannot_after_all_is_told_in_its_words() {
    loopback!();
    let rules = Rules {
        refuses: Some(crate::faithful::Refuses(std::sync::Arc::new(|body| {
            (!media(body).is_empty())
                .then(|| (400, json!({"error": {"message": "no image input here"}}).to_string()))
        }))),
        ..Rules::default()
    };
    let world = World::new(Wire::Chat, rules, NATIVE, tells);
    world.offer(json!({"sees": ["image"]}));
    let refused = yard(&world).call("files.see", json!({"path": "heron.png"})).await;
    assert!(told(&refused).contains("no image input here"), "{refused}");
}

/// Sent once: what follows in the conversation has what was seen in words, and the cost is on record.
#[tokio::test]
async fn a_thought_sees_once_and_the_cost_is_on_record() {
    loopback!();
    let world = World::new(Wire::Anthropic, Rules::default(), NATIVE, |seen| {
        if !media(&seen.body).is_empty() {
            return tells(seen);
        }
        match seen.history().iter().filter(|(name, ..)| name.replace('_', ".") == "files.see").count() {
            0 if seen.all_text().contains("look at the heron") => Say::new()
                .says("I look.")
                .calls("files.see", json!({"path": "heron.png", "question": "how many?"})),
            1 if seen.last_results().iter().any(|(_, text)| text.contains("You ask: how many?")) => {
                Say::new().says("I go on.").calls("files.list", json!({}))
            }
            _ => Say::new().says("I see a heron."),
        }
    });
    world.offer(json!({"window": 200_000, "sees": ["image"], "prices": {"input": 2.0, "cache_read": 0.2, "output": 10.0}}));
    std::fs::create_dir_all(world.house.path(".self/workspace")).unwrap();
    std::fs::write(world.house.path(".self/workspace/heron.png"), PICTURES[0].1).unwrap();
    world.house.say(
        &json!({"at": "2026-05-28T12:00:00Z", "text": "look at the heron", "thread": "main"}).to_string(),
    );
    let mut lived = Lived::born(&world.house, "2026-05-28T12:00:00Z", 1).await;
    lived.wake().await;
    world.server.assert_no_violations();
    let seen = world.server.seen();
    let shown = seen.iter().filter(|seen| !media(&seen.body).is_empty()).count();
    assert!(shown == 1 && seen.len() >= 4, "{shown} of {}", seen.len());
    assert!(!seen.last().unwrap().body.to_string().contains("usage"), "what it cost is no news to the mind");
    let look = world
        .house
        .records()
        .into_iter()
        .find(|record| record.kind == "action" && record.data["tool"] == "files.see");
    let look = look.unwrap();
    assert!(look.data["usage"]["cost_usd"].as_f64().is_some_and(|usd| usd > 0.0), "{}", look.data);
    assert_eq!(memory::kinds::account(&look), Some(memory::kinds::Account::Owner));
}
