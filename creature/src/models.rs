//! Models by name, as the owner's settings offer them: which one a sub-session may be given, and how much it may think.

use serde_json::Value;
use std::sync::Arc;

/// How much a model thinks, in ascending order, in the words of all makers: Anthropic's `output_config.effort`
/// (platform.claude.com/docs/en/build-with-claude/effort), OpenAI's `reasoning.effort` and `reasoning_effort`
/// (developers.openai.com/api/docs/guides/reasoning). A word that a model does not know is refused and left out.
const EFFORTS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/// The models of the broker's offer.
#[derive(Clone, Debug, Default)]
pub struct Models {
    /// Offers: the first, the quick one, those that stand in, and others that the owner named.
    offers: Arc<Vec<Value>>,
    /// Effort the owner set for the first model; empty: the maker's default.
    owners_effort: String,
}

impl Models {
    /// Reads the models of the `model` part of the broker's status.
    pub fn of(offer: &Value, owners_effort: &str) -> Self {
        let more =
            ["fallback", "others"].into_iter().filter_map(|list| offer.get(list)?.as_array()).flatten();
        let all = [offer].into_iter().chain(offer.get("quick")).chain(more);
        let named = all.filter(|one| one.get("name").is_some_and(Value::is_string)).cloned();
        Self { offers: Arc::new(named.collect()), owners_effort: owners_effort.to_owned() }
    }

    /// The whole name of the model that is meant: by its name, or by a part that no other has, as in `haiku`.
    pub fn named(&self, said: &str) -> Result<String, String> {
        let said = said.trim();
        if said.is_empty() {
            return Ok(String::new());
        }
        let mut meant: Vec<&str> = self.names().filter(|name| *name == said).collect();
        if meant.is_empty() {
            let said = said.to_lowercase();
            meant = self.names().filter(|name| name.to_lowercase().contains(&said)).collect();
        }
        meant.dedup();
        match meant.as_slice() {
            [one] => Ok((*one).to_owned()),
            _ => Err(format!("names no model your owner allows; these are: {}", self.listed())),
        }
    }

    /// Returns the effort that is meant. Where the owner set one for the first model, it is the most.
    pub fn effort(&self, said: &str) -> Result<String, String> {
        let (said, most) = (said.trim().to_lowercase(), self.owners_effort.as_str());
        let rank = |word: &str| EFFORTS.iter().position(|known| *known == word);
        if said.is_empty() || said == most {
            return Ok(said);
        }
        let Some(wanted) = rank(&said) else {
            return Err(format!("takes one of {} as `effort`", EFFORTS.join(", ")));
        };
        match (most.is_empty(), rank(most)) {
            (true, _) => Ok(said),
            (false, Some(most)) if wanted <= most => Ok(said),
            _ => Err(format!("may have the effort {most} at most, as your owner set it")),
        }
    }

    /// The offer of the model with this whole name; of the first where it is empty.
    pub fn offer(&self, name: &str) -> Option<&Value> {
        self.offers
            .iter()
            .find(|offer| name.is_empty() || offer.get("name").is_some_and(|known| known == name))
    }

    /// Returns the effort of the model with this name where nobody set another: the owner's for the first, else empty.
    pub fn usual_effort(&self, name: &str) -> &str {
        let is_first = self.names().next().is_some_and(|first| name.is_empty() || name == first);
        if is_first { &self.owners_effort } else { "" }
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.offers.iter().filter_map(|offer| offer.get("name")?.as_str())
    }

    fn listed(&self) -> String {
        let mut names: Vec<&str> = self.names().collect();
        names.dedup();
        names.join(", ")
    }
}
