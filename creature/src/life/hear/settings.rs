//! The owner's settings in the course of a life: what is handed over anew counts before the next word is heard.

use crate::config::Settings;
use crate::store::Store;
use crate::tools::catalogue::MARKS;
use crate::tools::{Toolbox, permission};
use patch::Limits;

/// Puts settings where they count; a sentence for each that cannot be followed.
pub(crate) fn put(settings: &Settings, store: &mut Store, toolbox: &mut Toolbox) -> Vec<String> {
    toolbox.limits = Limits::from(&settings.self_edit);
    toolbox.permissions = settings.permissions.clone();
    toolbox.files = settings.files.clone();
    toolbox.model = settings.model.clone();
    let (rules, odd) = settings.rules();
    store.rules = rules;
    permission::unknown(&settings.permissions, &MARKS).into_iter().chain(odd).collect()
}
