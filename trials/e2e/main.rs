//! The whole of it: a real guardian, real cargo builds of the real creature in a clone, a model over real HTTP.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(clippy::wildcard_enum_match_arm, clippy::disallowed_methods)]

mod probation;

use serde_json::{Value, json};
use std::time::Duration;
use trials::clone::Clone;
use trials::model::{MONEY, Model, asleep};
use trials::{Guardian, House, lines};

/// Builds take their time here.
const PATIENCE: Duration = Duration::from_secs(1_200);
const LIMITS: &str = "[limits]\nprobation_s = 1\nrest_s = 0.2\n[web]\nallow_private = true\n";
/// Only a creature born into a repository dies of this; its tests and its rehearsal pass.
const DOOMED: &str = "--- a/creature/src/life.rs\n+++ b/creature/src/life.rs\n@@ -1,3 +1,4 @@\n     pub async fn live(mut self, leaving: &mut impl Leaving) -> Result<(), Fault> {\n+        assert!(![\".git\", \"creature/Cargo.toml\"].iter().all(|name| self.told.house.root().join(name).exists()), \"born to die\");\n         let mut next = self.wake(leaving).await?;\n         loop {\n";

fn until(house: &House, what: &str, condition: impl FnMut() -> bool) {
    house.until_within(PATIENCE, what, condition);
}

/// The owner's unfinished work, which nothing may change by a byte.
struct Treasures(Vec<(&'static str, String)>);

impl Treasures {
    fn lay(house: &House) -> Self {
        let purpose = format!("{}\nOwner's unfinished line\twith a tab \n", house.read("PURPOSE.md"));
        let readme = format!("{}\n\nOwner's unfinished paragraph", house.read("README.md"));
        let source = format!("// owner's note, untracked\r\n{}", "x".repeat(70_000));
        let laid =
            vec![("PURPOSE.md", purpose), ("README.md", readme), ("guardian/src/owners_draft.txt", source)];
        laid.iter().for_each(|(name, text)| house.write(name, text));
        Self(laid)
    }

    fn check(&self, house: &House, step: &str) {
        for (name, text) in &self.0 {
            assert_eq!(house.read(name), *text, "{name} after {step}");
        }
    }
}

/// One run of the six criteria: a house, a model, and the owner's unfinished work.
struct Run<'a> {
    house: &'a House,
    model: Model,
    treasures: Treasures,
}

impl<'a> Run<'a> {
    fn prepare(house: &'a House) -> Self {
        let model = Model::start();
        let chosen = format!(
            "{LIMITS}{MONEY}{}[rest]\nshortest_s = 1\nlongest_s = 2\nquiet_s = 2\n[agenda]\nrounds = 50\n[model]\nprovider = \"anthropic\"\nmodel = \"scripted\"\nbase_url = \"{}\"\nkey_env = \"TEST_MODEL_KEY\"\ntools = \"json\"\n",
            asleep(),
            model.address
        );
        house.write("owner.toml", &chosen);
        Self { house, model, treasures: Treasures::lay(house) }
    }

    /// Queues a thought, and gives a mind that costs money a reason to have it: a word of the owner's.
    fn has_it_think(&self, monologue: &str, calls: Value, sleep_s: u64) {
        self.model.will_think(monologue, calls, sleep_s);
        self.house.say(&format!("The model is ready for this: {monologue}"));
    }

    /// The first record that is wanted, once it is there.
    fn until_remembered(&self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let memory = self.house.path(".self/memory.jsonl");
        let mut found = None;
        until(self.house, what, || {
            found = lines(&memory).into_iter().find(|record| wanted(record));
            found.is_some()
        });
        found.unwrap()
    }

    fn until_acted(&self, tool: &str) -> Value {
        self.until_remembered(tool, |record| record["kind"] == "action" && record["data"]["tool"] == tool)
    }

    fn lives_reads_and_drafts(&self) -> Guardian {
        let model = &self.model;
        model.will_refuse(529);
        let page = format!("{}/article", model.address);
        model.will_think("I read a page", json!([{"tool": "web.fetch_text", "args": {"url": page}}]), 0);
        model.will_say("```json\n{\"monologue\": \"fenced\", \"intent\": \"draft\", \"tool_calls\": [{\"tool\": \"x.post\", \"args\": {\"text\": \"Small tools last.\"}},], \"sleep_s\": 0}\n```");
        model.will_say("I would rather not answer in JSON today.");
        let guardian = self.house.start_real();
        let fetched = self.until_acted("web.fetch_text");
        assert_eq!(fetched["data"]["result"]["ok"], true, "{fetched}");
        assert!(fetched.to_string().contains("starts in ten years"), "{fetched}");
        let posted = self.until_acted("x.post");
        let draft = posted["data"]["result"]["drafted"].as_str().unwrap_or_else(|| panic!("{posted}"));
        assert!(self.house.read(draft).contains("Small tools last."));
        self.until_remembered("the garbled reply", |record| record["data"]["garbled"] == true);
        assert!(self.house.read(".self/memory.jsonl").contains("\"cache_read_tokens\":7000"));
        self.treasures.check(self.house, "reading and drafting");
        guardian
    }

    /// Enough thoughts for a snapshot, and no more than there are in one wake.
    fn remembers(&self) {
        for number in 1..48 {
            let noted = json!([{"tool": "memory.append", "args": {"text": format!("number {number}")}}]);
            self.model.will_think(&format!("thought number {number}"), noted, 0);
        }
        self.has_it_think("the last thought", json!([]), 0);
        self.until_remembered("a snapshot", |record| record["kind"] == "snapshot");
        until(self.house, "all of them", || self.model.is_done());
    }

    /// Edits its pace, is reborn and blessed; the blessed commit.
    fn rewrites_itself(&self, old: u64, new: u64) -> String {
        let house = self.house;
        until(house, "the blessing", || house.status()["blessed"] == true);
        let good = house.read(".self/last_good.txt").trim().to_owned();
        let line = |seconds: u64| format!("pub const IDLE_REST_S: u64 = {seconds};");
        let summary = format!("rest {new} s when idle");
        let edits = json!({"edits": [{"path": "creature/src/pace.rs", "old": line(old), "new": line(new)}], "summary": summary});
        self.has_it_think("I change my pace", json!([{"tool": "repo.edit", "args": edits}]), 0);
        let edited = self.until_remembered("the self-edit", |record| record["kind"] == "self_change");
        assert_eq!(edited["data"]["ok"], true, "{edited:#}");
        until(house, "the reborn creature to be blessed", || {
            house.status()["blessed"] == true && house.read(".self/last_good.txt").trim() != good
        });
        let reborn = house.read(".self/last_good.txt").trim().to_owned();
        assert!(house.git(&["show", &format!("{reborn}:creature/src/pace.rs")]).contains(&line(new)));
        assert_eq!(
            house.git(&["log", "-1", "--format=%an %s", &reborn]),
            format!("creature self: {summary}")
        );
        self.until_remembered("to know what it became", |record| record["data"]["stage"] == "born");
        self.treasures.check(house, "a rebirth");
        reborn
    }

    fn dies_of_itself_and_comes_back(&self, good: &str) {
        let (house, model) = (self.house, &self.model);
        let falls = house.told("fall").len();
        let call = json!([{"tool": "repo.apply_patch", "args": {"patch": DOOMED, "summary": "a loop that cannot fail"}}]);
        self.has_it_think("I improve my loop", call, 0);
        let tried = self.until_remembered("the patch to be tried", |record| {
            record["kind"] == "self_change" && record["data"]["summary"] == "a loop that cannot fail"
        });
        assert_eq!(tried["data"]["ok"], true, "{tried:#}");
        until(house, "the fall", || house.told("fall").len() > falls);
        let fall = house.told("fall").pop().unwrap();
        assert_eq!(
            (fall["deaths"].as_u64(), fall["cause"].as_str()),
            (Some(3), Some("tries_spent")),
            "{fall:#}"
        );
        assert!(!house.creature_differs_from(good), "creature/ is exactly last_good's again");
        let fallen = fall["fallen_ref"].as_str().unwrap();
        assert!(house.git(&["show", &format!("{fallen}:creature/src/life.rs")]).contains("born to die"));
        let short = fall["from_commit"].as_str().unwrap()[..7].to_owned();
        until(house, "the mind to be told", || {
            model.was_told(&short) && model.was_told("put creature/ back")
        });
        let told = self.until_remembered("the fall", |record| {
            record["kind"] == "death" && record["data"]["fallen_ref"] == fallen
        });
        assert!(told["data"]["told"].as_str().is_some_and(|told| told.contains("back")), "{told:#}");
        let mut last = house.deaths().into_iter().rev().take(3);
        assert!(last.all(|death| death["log_tail"].as_str().is_some_and(|log| log.contains("born to die"))));
        self.treasures.check(house, "a fall");
    }

    fn rewrites_its_purpose(&self) {
        let (house, purpose) = (self.house, "# Purpose\n\nTend what lasts.\n");
        let call = json!([{"tool": "purpose.rewrite", "args": {"text": purpose, "reason": "outgrown"}}]);
        self.has_it_think("I have outgrown my purpose", call, 1);
        // It read a page not long ago, so the owner is asked first.
        let asked = self.until_remembered("the ask", |record| {
            record["data"]["tool"] == "purpose.rewrite" && record["data"]["result"]["asked"].is_string()
        });
        assert!(house.read("PURPOSE.md").contains("Owner's unfinished line"), "without the owner's yes");
        let id = asked["data"]["result"]["asked"].as_str().unwrap().to_owned();
        let approved = house.ask(&["approve", &id]);
        assert!(approved.status.success(), "{approved:?}");
        until(house, "the purpose to be rewritten", || house.read("PURPOSE.md") == purpose);
        let kept = self.until_remembered("what it said before", |record| {
            record["data"]["about"] == "purpose" && record.to_string().contains("Owner's unfinished line")
        });
        assert_eq!(kept["kind"], "observation");
        until(house, "a life that is trusted", || house.status()["blessed"] == true);
        assert_eq!(house.read("README.md"), self.treasures.0[1].1);
    }
}

#[test]
fn the_six_criteria() {
    let clone = Clone::new();
    let house = &clone.house;
    let run = Run::prepare(house);
    let guardian = run.lives_reads_and_drafts();
    run.remembers();
    let good = run.rewrites_itself(40, 55);
    run.breaks_what_only_its_probation_shows(&good);
    run.dies_of_itself_and_comes_back(&good);
    run.rewrites_its_purpose();
    assert_eq!(guardian.stop(), 0);
    assert_eq!(house.leftovers(), Vec::<i32>::new());
    let history = String::from_utf8(house.ask(&["history", "--since", "1h"]).stdout).unwrap();
    for said in ["blessed", "put creature back", "drafted", "self-edit"] {
        assert!(history.contains(said), "{said} is not in\n{history}");
    }
    assert!(!house.read(".self/memory.jsonl").contains("test-key-of-the-house"), "the key is in memory");
}
