//! The owner's yes: what the owner's words approve, where they leave no doubt. Pure.
//!
//! Invariant: in doubt nothing is approved: words about a yes, a quoted yes and one with a condition are none.

use crate::Agenda;
use crate::text;
use crate::text::among;

/// Words that make a sentence a yes.
const YES: &str =
    "yes yep yeah ok okay sure ahead approve approved agreed agree accept accepted confirm confirmed granted";

/// Words that may stand around a yes; with any other word the sentence is none.
const AROUND: &str =
    "i you we may can go do it that this is on with the and for to from me please thanks thank then";

/// Words in the sentences after a yes that leave it in doubt.
const DOUBT: &str = "no not don't dont never nothing wait stop hold unless if but except until cancel only";

/// Yes of the owner's, and the items it is for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Yes {
    /// The ids of items named; empty where the yes answers what was asked last.
    pub ids: Vec<String>,
    /// Whether something else was said after the yes.
    pub more: bool,
}

/// Reads the owner's words as a yes; none where they leave a doubt.
pub fn understand(text: &str) -> Option<Yes> {
    let text = text.trim();
    let (said, rest) = text.split_once(['.', '!', ';', '\n']).unwrap_or((text, ""));
    if text.contains('?') || words_and_ids(rest).iter().any(|word| among(DOUBT, word) || named(word)) {
        return None;
    }
    let said = words_and_ids(said);
    let (ids, plain): (Vec<String>, Vec<String>) = said.into_iter().partition(|word| named(word));
    let yes = plain.iter().any(|word| among(YES, word));
    let only = plain.iter().all(|word| among(YES, word) || among(AROUND, word));
    (yes && only).then(|| Yes { ids, more: !rest.trim().is_empty() })
}

/// The ids of goals and opportunities that a text names, sorted, each once.
pub fn items_named(text: &str) -> Vec<String> {
    let plain = text.to_lowercase();
    let words = plain.split(|c: char| !c.is_alphanumeric() && c != '-');
    let mut ids: Vec<String> = words.filter(|word| named(word)).map(str::to_owned).collect();
    ids.sort();
    ids.dedup();
    ids
}

/// Words in lower case as they stand between spaces, an id such as `goal-7` and what is quoted whole.
fn words_and_ids(text: &str) -> Vec<String> {
    let plain = text.to_lowercase().replace('’', "'");
    let split = plain.split(|c: char| c.is_whitespace() || ",;!()`".contains(c));
    split
        .map(|word| word.trim_matches(['.', ':']))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

fn named(word: &str) -> bool {
    let parts = word.split_once('-');
    parts.is_some_and(|(kind, number)| {
        matches!(kind, "goal" | "opportunity")
            && number.parse::<u64>().is_ok_and(|of| of.to_string() == number)
    })
}

impl Agenda {
    /// Tells the item and its price, as the owner is asked about it.
    pub fn price(&self, id: &str) -> Option<String> {
        let told = |title: &str, usd: f64| format!("{id}, \"{}\", {usd} USD", text::clip(title, 120));
        let goal = self.goals.open().find(|goal| goal.id == id).map(|goal| told(&goal.about, goal.cost_usd));
        let mut ways = self.opportunities.items.open();
        goal.or_else(|| ways.find(|one| one.id == id).map(|one| told(&one.about, one.amount_usd)))
    }
}
