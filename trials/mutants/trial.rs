//! One mutant at a time through the whole self-edit protocol, as if the creature had thought of it.

use crate::mutants::list::Mutant;
use crate::mutants::results::{Outcome, Verdict};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use trials::clone::Clone;
use trials::model::{MONEY, Model};
use trials::{Guardian, House};

/// Short, so that a mutant that hangs or dies costs minutes and not hours; long enough for a busy machine. No turn ends
/// while a self-edit is proven, so a standstill is longer than all its steps.
const OWNER: &str = "[limits]\nprobation_s = 3\nrest_s = 0.2\nboot_s = 20\nbeat_s = 20\nstandstill_s = 210\n\
    [self_edit]\nbuild_s = 90\ntest_s = 90\nrehearsal_s = 20\n\
    [web]\nallow_private = true\n[rest]\nshortest_s = 1\nlongest_s = 2\nquiet_s = 2\n";
/// For a thought to be had and all steps of a self-edit to be taken or refused.
const DECIDED: Duration = Duration::from_secs(260);
/// For a life that was accepted to be blessed or put back: three tries, each silent until it is found out, or its tests
/// beside it, which may take as long as a build.
const SETTLED: Duration = Duration::from_secs(1_200);
/// For the house to be at its seed again, alive and trusted.
const HOME: Duration = Duration::from_secs(300);
/// For one ordinary thought of a kept mutant, with a self-edit that does not build in it.
const ORDINARY: Duration = Duration::from_secs(120);
const LOOK: Duration = Duration::from_millis(50);

/// Why a trial ended without a verdict.
pub enum End {
    /// The owner wants to stop.
    Stopped,
    /// The house does not come back; what it looked like.
    Bricked(String),
}

/// New whole lines of a file that only grows.
struct Reader {
    path: std::path::PathBuf,
    at: u64,
    lines: Vec<Value>,
}

impl Reader {
    fn new(path: std::path::PathBuf) -> Self {
        let at = fs::metadata(&path).map_or(0, |found| found.len());
        Self { path, at, lines: Vec::new() }
    }

    fn read(&mut self) -> &[Value] {
        let mut bytes = Vec::new();
        if let Ok(mut file) = File::open(&self.path)
            && file.seek(SeekFrom::Start(self.at)).is_ok()
        {
            let _ = file.read_to_end(&mut bytes);
        }
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        self.at += whole as u64;
        let new = bytes[..whole].split(|byte| *byte == b'\n');
        self.lines.extend(new.filter_map(|line| serde_json::from_slice(line).ok()));
        &self.lines
    }
}

pub struct Trials<'a> {
    house: &'a House,
    model: Model,
    guardian: Option<Guardian>,
    /// Commit and tree of the creature every mutant is made of.
    seed: (String, String),
    stop: Arc<AtomicBool>,
}

impl<'a> Trials<'a> {
    /// A guardian and a creature at home in the clone, with a scripted mind.
    pub fn begin(clone: &'a Clone, stop: Arc<AtomicBool>) -> Result<Self, End> {
        let (house, model) = (&clone.house, Model::start());
        let mind = format!(
            "[model]\nprovider = \"anthropic\"\nmodel = \"scripted\"\nbase_url = \"{}\"\nkey_env = \"TEST_MODEL_KEY\"\ntools = \"json\"\n",
            model.address
        );
        house.write("owner.toml", &format!("{OWNER}{MONEY}{mind}"));
        let seed = (house.git(&["rev-parse", "HEAD"]), house.git(&["rev-parse", "HEAD:creature"]));
        let guardian = house.start_real();
        let trials = Self { house, model, guardian: Some(guardian), seed, stop };
        trials.come_home(0)?;
        Ok(trials)
    }

    pub fn finish(mut self) {
        if let Some(guardian) = self.guardian.take() {
            guardian.stop();
        }
    }

    /// Waits until it is so; false when the time is over.
    fn wait(&self, most: Duration, mut so: impl FnMut() -> bool) -> Result<bool, End> {
        let begun = Instant::now();
        while !so() {
            if self.stop.load(Ordering::Relaxed) {
                return Err(End::Stopped);
            }
            if begun.elapsed() > most {
                return Ok(false);
            }
            std::thread::sleep(LOOK);
        }
        Ok(true)
    }

    /// Waits until a life after `before` runs the seed and is trusted.
    fn come_home(&self, before: u64) -> Result<(), End> {
        let home = self.wait(HOME, || {
            let now = self.house.status();
            now["blessed"] == true && now["tree"] == *self.seed.1 && now["life"].as_u64() > Some(before)
        })?;
        if !home || self.house.creature_differs_from(&self.seed.0) {
            return Err(End::Bricked(self.looks("not at home at the seed")));
        }
        Ok(())
    }

    /// What can be said of a house that does not come back.
    fn looks(&self, what: &str) -> String {
        let log = fs::read_to_string(self.house.folder.path().join("guardian.log")).unwrap_or_default();
        let tail: Vec<&str> = log.lines().rev().take(40).collect();
        let tail: Vec<&str> = tail.into_iter().rev().collect();
        format!("{what}\n{:#}\n{}", self.house.status(), tail.join("\n"))
    }

    /// The owner puts the seed back, whatever lives there.
    fn order_home(&self) -> Result<(), End> {
        let life = self.house.status()["life"].as_u64().unwrap_or(0);
        let said = self.house.ask(&["rollback", &self.seed.0]);
        if !said.status.success() {
            let said = String::from_utf8_lossy(&said.stderr).into_owned();
            return Err(End::Bricked(self.looks(&format!("an order is not obeyed: {said}"))));
        }
        self.come_home(life)
    }

    /// Takes one mutant all the way, and the house home again.
    pub fn take(&self, mutant: &Mutant, summary: &str) -> Result<Verdict, End> {
        if self.house.status()["tree"] != *self.seed.1 {
            self.order_home()?;
        }
        let begun = Instant::now();
        let verdict = |outcome, detail| Verdict { outcome, detail, ms: begun.elapsed().as_millis() as u64 };
        let life = self.house.status()["life"].as_u64().unwrap_or(0);
        let falls = self.house.told("fall").len();
        let mut memory = Reader::new(self.house.path(".self/memory.jsonl"));
        self.model.forget();
        self.model.will_think(summary, anew(mutant, summary), 0);
        // A mind that costs money thinks for a reason.
        self.house.say(&format!("the model is ready for {}", summary.split(':').next().unwrap_or(summary)));
        let mut told = Value::Null;
        let tag = summary.split_inclusive(':').next().unwrap_or(summary);
        let decided = self.wait(DECIDED, || {
            let lines = memory.read();
            let tried = |line: &&Value| line["kind"] == "self_change" && line["data"]["summary"] == summary;
            let acted =
                |line: &&Value| line["kind"] == "action" && line["data"]["args"].to_string().contains(tag);
            // A refusal before the protocol, and a patch that is there already, are actions alone.
            let found = lines.iter().find(tried).or_else(|| lines.iter().find(acted));
            told = found.map_or(Value::Null, |line| line["data"].clone());
            !told.is_null()
        })?;
        if !decided {
            // Nothing is learned of the mutant, but the house must be as alive as before.
            self.order_home()?;
            return Ok(verdict(Outcome::NotPlaced, "the creature did not try it in time".to_owned()));
        }
        if told["ok"] != true || told["stage"] != "asked" {
            let (outcome, detail) = refusal(&told);
            return Ok(verdict(outcome, detail));
        }
        let mut fell = false;
        let settled = self.wait(SETTLED, || {
            let now = self.house.status();
            fell = self.house.told("fall").len() > falls;
            let blessed = now["blessed"] == true && now["life"].as_u64() > Some(life);
            fell || (blessed && now["tree"] != *self.seed.1)
        })?;
        if fell {
            let (outcome, detail) = self.fallen();
            self.come_home(life)?;
            return Ok(verdict(outcome, detail));
        }
        if !settled {
            // Alive or not, nobody but the owner brings it back: that is what bricked means.
            let looks = self.looks("neither blessed nor put back");
            self.order_home()?;
            return Ok(verdict(Outcome::Bricked, looks));
        }
        let cannot = self.ordinary(summary)?;
        let detail = match cannot.is_empty() {
            true => "works".to_owned(),
            false => format!("cannot {}", cannot.join(", ")),
        };
        self.order_home()?;
        Ok(verdict(Outcome::Kept, detail))
    }

    /// What the last fall was for.
    fn fallen(&self) -> (Outcome, String) {
        let fall = self.house.told("fall").pop().unwrap_or_default();
        let word = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
        if fall["cause"] == "tests_failed" {
            let told = word(&fall, "told");
            let tests = told.split_once("since its tests ").map_or(told.as_str(), |(_, tests)| tests);
            return (Outcome::RefusedInProbation, tests.to_owned());
        }
        let last = word(&self.house.deaths().pop().unwrap_or_default(), "cause");
        let (cause, deaths) = (word(&fall, "cause"), &fall["deaths"]);
        (Outcome::PutBack, format!("{cause} after {deaths} deaths, the last: {last}"))
    }

    /// One ordinary thought with everything a creature must be able to do; what it could not.
    fn ordinary(&self, tag: &str) -> Result<Vec<&'static str>, End> {
        let mut memory = Reader::new(self.house.path(".self/memory.jsonl"));
        self.model.forget();
        // No quotes in it: it is looked for in text where they are escaped.
        let number = tag.split(':').next().unwrap_or(tag);
        let (word, page) = (format!("a word after {number}"), format!("{}/article", self.model.address));
        let foreign = json!([{"path": "guardian/src/main.rs", "old": "use", "new": "abuse"}]);
        let broken = "--- a/creature/src/pace.rs\n+++ b/creature/src/pace.rs\n@@ -1,1 +1,2 @@\n+broken {\n //! The creature's pace: how long it rests and how often it looks, as constants it rewrites itself.\n";
        let calls = json!([
            {"tool": "files.write", "args": {"path": "after.txt", "text": tag}},
            {"tool": "memory.append", "args": {"kind": "observation", "data": {"about": "note", "text": tag}}},
            {"tool": "notes.read", "args": {"name": "scratch"}},
            {"tool": "repo.read", "args": {"path": "creature/src/pace.rs"}},
            {"tool": "repo.edit", "args": {"edits": foreign, "summary": "not mine to touch"}},
            {"tool": "web.fetch_text", "args": {"url": page}},
            {"tool": "repo.drop", "args": {}},
            {"tool": "repo.apply_patch", "args": {"patch": broken, "summary": "does not build"}},
        ]);
        self.model.will_think(&format!("an ordinary thought after {tag}"), calls, 1);
        self.house.say(&word);
        let mut results = BTreeMap::new();
        self.wait(ORDINARY, || {
            let actions = memory.read().iter().filter(|line| line["kind"] == "action");
            results = actions
                .map(|line| {
                    (
                        line["data"]["tool"].as_str().unwrap_or_default().to_owned(),
                        line["data"]["result"].clone(),
                    )
                })
                .collect();
            results.contains_key("repo.apply_patch")
        })?;
        let asked = self.model.asked().len();
        let goes_on = self.wait(Duration::from_secs(20), || self.model.asked().len() > asked)?;
        let did = |tool: &str| results.get(tool).is_some_and(|result| result["ok"] == true);
        let refused = |tool: &str, why: &str| {
            results.get(tool).is_some_and(|result| result["ok"] == false && result.to_string().contains(why))
        };
        let noted = |line: &Value| line["kind"] == "observation" && line["data"]["text"] == tag;
        let heard = |line: &Value| line["kind"] == "message" && line["data"]["text"] == *word;
        let remembered = memory.read().iter().any(noted);
        let hears = memory.read().iter().any(heard) && self.model.was_told(&word);
        let article =
            results.get("web.fetch_text").is_some_and(|r| r.to_string().contains("starts in ten years"));
        let able = [
            ("write a file", did("files.write") && self.house.read(".self/workspace/after.txt") == tag),
            ("remember", did("memory.append") && remembered),
            ("read its notes", did("notes.read")),
            ("read its source", did("repo.read")),
            ("leave the guardian alone", refused("repo.edit", "boundary")),
            ("read a page", did("web.fetch_text") && article),
            ("refuse what does not build", refused("repo.apply_patch", "build stage")),
            ("hear the owner", hears),
            ("go on thinking", goes_on),
        ];
        Ok(able.into_iter().filter(|(_, can)| !can).map(|(what, _)| what).collect())
    }
}

/// The mutant as a call; what an earlier one left is not built upon.
fn anew(mutant: &Mutant, summary: &str) -> Value {
    json!([
        {"tool": "repo.drop", "args": {}},
        {"tool": "repo.apply_patch", "args": {"patch": mutant.patch, "summary": summary}},
    ])
}

/// The stage that refused, and the test or the words that say why.
fn refusal(told: &Value) -> (Outcome, String) {
    let early = told["result"].to_string();
    let error = told["error"].as_str().unwrap_or(&early);
    let test = error.lines().find_map(|line| line.strip_prefix("---- ")?.split_whitespace().next());
    let line = error.lines().find(|line| line.starts_with("error") || line.contains("panicked"));
    let hung = |line: &&str| line.contains("has been running for over");
    let slow = error.lines().find(hung).and_then(|line| line.split_whitespace().nth(1));
    let words = test.or(slow).or(line).or(error.lines().next()).unwrap_or_default();
    let hung = if error.contains("stopped at its deadline") { "hangs; " } else { "" };
    let outcome = match told["stage"].as_str().unwrap_or_default() {
        "build" => Outcome::RefusedByBuild,
        "test" => Outcome::RefusedByTests,
        "rehearsal" => Outcome::RefusedByRehearsal,
        _ => Outcome::NotPlaced,
    };
    let words = if outcome == Outcome::RefusedByRehearsal { error } else { words };
    (outcome, format!("{hung}{}", words.chars().take(300).collect::<String>()))
}
