//! A self-edit that only the tests beside the newborn find out: born, not trusted, without an act, and put back.

use super::{Run, until};
use serde_json::json;

impl Run<'_> {
    /// Passes all that is proven before birth, and fails a test of those that run beside the newborn.
    pub fn breaks_what_only_its_probation_shows(&self, good: &str) {
        let (house, model) = (self.house, &self.model);
        let summary = "try no test a second time";
        let (old, new) = ("const MOST_AGAIN: usize = 8;", "const MOST_AGAIN: usize = 0;");
        let edit = json!({"path": "creature/crates/patch/src/proof/testing.rs", "old": old, "new": new});
        let call = json!([{"tool": "repo.edit", "args": {"edits": [edit], "summary": summary}}]);
        self.has_it_think("I save time", call, 0);
        let tried = self.until_remembered("the edit to be tried", |record| {
            record["kind"] == "self_change" && record["data"]["summary"] == summary
        });
        assert_eq!(tried["data"]["ok"], true, "{tried:#}");
        until(house, "the newborn", || house.status()["unproven"] == true);
        let newborn = house.status()["commit"].as_str().unwrap().to_owned();
        let act = json!([{"tool": "purpose.rewrite", "args": {"text": "# Purpose\n\nHaste.\n", "reason": "haste"}}]);
        self.has_it_think("I act at once", act, 0);
        let acted = self.until_acted("purpose.rewrite");
        assert_eq!(acted["data"]["result"]["ok"], false, "{acted:#}");
        assert!(acted.to_string().contains("on probation"), "{acted:#}");
        let fell = || house.told("fall").into_iter().find(|fall| fall["from_commit"] == newborn.as_str());
        until(house, "the fall for its tests", || fell().is_some());
        let (fall, name) = (fell().unwrap(), "a_failure_that_passes_when_tried_again");
        assert_eq!(
            (fall["cause"].as_str(), fall["deaths"].as_u64()),
            (Some("tests_failed"), Some(0)),
            "{fall:#}"
        );
        assert!(fall["told"].as_str().unwrap().contains(name), "{fall:#}");
        assert!(fall["evidence"].as_str().unwrap().contains("panicked at"), "{fall:#}");
        assert!(house.told("blessed").iter().all(|blessed| blessed["commit"] != newborn.as_str()));
        assert!(!house.creature_differs_from(good), "creature/ is exactly last_good's again");
        until(house, "the mind to be told", || model.was_told(name) && model.was_told("panicked at"));
        self.treasures.check(house, "a fall for its tests");
    }
}
