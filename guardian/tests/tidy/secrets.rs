//! How secrets begin stands twice, once in each workspace: what one list knows, the other must.

use crate::none;
use crate::sources::{is_lived_in, root};
use house::secret_beginnings::{of_settings, of_texts};

const OURS: &str = "house/src/secret_beginnings.rs";
const CREATURES: &str = "creature/crates/agenda/src/standing/secrets.rs";

#[test]
fn both_lists_of_how_secrets_begin_know_the_same() {
    // A creature may have its own list by then.
    if is_lived_in() {
        return;
    }
    let text = std::fs::read_to_string(root().join(CREATURES)).unwrap();
    let (_, after) = text.split_once("PREFIXES: &str = \"").expect("the creature's list");
    let (list, _) = after.split_once("\";").unwrap();
    let list = list.replace('\\', " ");
    let creatures: Vec<&str> = list.split_whitespace().collect();
    // What stands before a key, or spans lines, the creature finds by its form.
    let by_form = |text: &&str| text.contains(' ') || text.starts_with('-');
    let ours = of_settings().chain(of_texts().map(|(text, _)| text));
    let ours: Vec<&str> = ours.filter(|text| !by_form(text)).collect();
    let covers =
        |list: &[&str], one: &str| list.iter().any(|other| one.starts_with(other) || other.starts_with(one));
    let missing = |from: &[&str], to: &[&str], place: &str| {
        let missing = from.iter().filter(|one| !covers(to, one));
        missing
            .map(|one| format!("{place}: `{one}` is missing, which the other list has"))
            .collect::<Vec<_>>()
    };
    none([missing(&ours, &creatures, CREATURES), missing(&creatures, &ours, OURS)].concat());
}
