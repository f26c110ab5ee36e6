//! Summaries of conversations that have grown too long: by the quick model, and in the words that the house wants.

use super::world::{JSON, NATIVE, World};
use crate::broker::loopback;
use crate::faithful::{Rules, Say, Seen, Wire};
use serde_json::json;

const QUICK: &str = "claude-haiku-5-5";

/// How many pages the summary says are read, as far as the one who sums up can see.
fn summed(text: &str) -> String {
    let last = text.split("page <").filter_map(|rest| rest.split('>').next()?.parse::<u32>().ok()).max();
    format!("GOAL read on, LAST page {}", last.unwrap())
}

/// Reads page after page, goes on where the summary says, and tells its owner how far it came.
fn reader(seen: &Seen, quick_is_away: bool) -> Say {
    let text = seen.all_text();
    if seen.model == QUICK {
        return match quick_is_away {
            true => Say::new().status(503, "{}"),
            false => Say::new().plainly(&summed(&text)),
        };
    }
    if seen.last_said().contains("has grown too long") {
        return Say::new().plainly(&summed(&text));
    }
    let Some((_, rest)) = text.split_once("GOAL read on, LAST page ") else {
        let page = text.matches("page <").count();
        return Say::new().says("On.").calls("files.read", json!({"path": format!("{page}.txt")}));
    };
    let last: u32 = rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap();
    match seen.last_results().pop() {
        Some((name, _)) if name.contains("owner") => Say::new().rests(300),
        Some((_, page)) if page.contains(&format!("page <{}>", last + 1)) => {
            Say::new().says("Enough.").calls("owner.message", json!({"text": format!("after page {last}")}))
        }
        _ => Say::new().says("On.").calls("files.read", json!({"path": format!("{}.txt", last + 1)})),
    }
}

fn world(form: &str, quick_is_away: bool) -> World {
    let rules = Rules { window: 24_000, ..Rules::default() };
    let world = World::new(Wire::Anthropic, rules, form, move |seen| reader(seen, quick_is_away));
    let quick = json!({"wire": "anthropic", "name": QUICK, "path": "/llm/anthropic", "window": 60_000});
    world.offer(json!({"window": 24_000, "quick": quick}));
    for page in 0..40 {
        let text = format!("page <{page}>\n{}", "words \n".repeat(300));
        world.house.write(&format!(".self/workspace/{page}.txt"), text);
    }
    world.house.write("self/prompts/summary.md", "Say GOAL and LAST, in the words of a sailor.\n");
    world.house.say(r#"{"text": "read on"}"#);
    world
}

#[test]
fn the_quick_model_reads_the_conversation_as_text_and_the_first_goes_on_from_its_summary() {
    loopback!();
    let world = world(NATIVE, false);
    let living = world.house.live(1);
    let told = world.house.record("message", |data| data["from"] == "creature");
    assert!(told.data["text"].as_str().unwrap().starts_with("after page "), "{}", told.data);
    let seen = world.server.seen();
    let (quick, first): (Vec<&Seen>, Vec<&Seen>) = seen.iter().partition(|seen| seen.model == QUICK);
    assert_eq!(quick.len(), 1);
    let text = quick[0].all_text();
    assert!(quick[0].tools.is_empty() && quick[0].messages.len() == 1, "it was given more than the text");
    assert!(text.contains("== called ==\nfiles.read {\"path\":\"0.txt\"}"), "{text}");
    assert!(text.contains("== came back ==") && text.contains("page <0>"), "{text}");
    assert!(
        text.trim_end().ends_with("Call no tool. Say GOAL and LAST, in the words of a sailor."),
        "{text}"
    );
    assert!(
        first.iter().all(|seen| !seen.all_text().contains("has grown too long")),
        "the first was asked too"
    );
    assert!(first.iter().any(|seen| seen.all_text().contains("Handover of your last conversation")));
    assert!(living.leave().success());
    world.server.assert_no_violations();
}

#[test]
fn where_the_quick_model_is_away_the_first_sums_up_in_the_words_the_house_wants() {
    loopback!();
    for form in [NATIVE, JSON] {
        let world = world(form, true);
        let living = world.house.live(1);
        let told = world.house.record("message", |data| data["from"] == "creature");
        assert!(told.data["text"].as_str().unwrap().starts_with("after page "), "{}", told.data);
        let mut asked = 0;
        for seen in world.server.seen().iter().filter(|seen| seen.model != QUICK) {
            if seen.last_said().contains("has grown too long") {
                assert!(seen.last_said().contains("in the words of a sailor"), "{}", seen.last_said());
                asked += 1;
            }
        }
        assert_eq!(asked, 1, "{form}");
        assert!(living.leave().success());
        world.server.assert_no_violations();
    }
}
