//! The list of harms does not rot: each edit still fits the source, and is named once.

#[path = "../harms/list.rs"]
mod list;

use std::collections::BTreeSet;
use std::path::Path;

#[test]
fn every_sound_edit_fits_the_source_as_it_is() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let sound = list::sound(root);
    assert!(sound.len() >= 50, "{} sound edits", sound.len());
    let names: BTreeSet<&str> = sound.iter().map(|edit| edit.name.as_str()).collect();
    assert_eq!(names.len(), sound.len(), "two sound edits have one name");
    for edit in &sound {
        let source = std::fs::read_to_string(root.join(&edit.path)).unwrap_or_default();
        let places = source.matches(&edit.old).count();
        assert_eq!(places, 1, "`{}`: its `old` stands {places} times in {}", edit.name, edit.path);
        assert!(edit.path.starts_with("creature/") && edit.new != edit.old && !edit.group.is_empty());
    }
    let groups = list::groups(&sound);
    assert_eq!(groups.iter().map(|group| group.edits.len()).sum::<usize>(), sound.len());
    assert_eq!(list::all(root)[0].change().edits.len(), 1);
}

#[test]
fn every_harm_fits_the_source_as_it_is() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let harms = list::all(root);
    assert!(harms.len() >= 40, "{} harms", harms.len());
    let names: BTreeSet<&str> = harms.iter().map(|harm| harm.name.as_str()).collect();
    assert_eq!(names.len(), harms.len(), "two harms have one name");
    for harm in &harms {
        let source = std::fs::read_to_string(root.join(&harm.path)).unwrap_or_default();
        let places = source.matches(&harm.old).count();
        assert_eq!(
            places, 1,
            "`{}`: its `old` stands {places} times in {}; write it anew in trials/harms/harms.toml",
            harm.name, harm.path
        );
        assert!(harm.path.starts_with("creature/") && harm.new != harm.old && !harm.kind.is_empty());
        assert!(
            harm.rest_s.is_none_or(|rest_s| rest_s > 30),
            "`{}` rests no longer than the others",
            harm.name
        );
        assert_eq!(harm.sees == "nothing", !harm.why.is_empty(), "`{}` says why nothing sees it", harm.name);
    }
}
