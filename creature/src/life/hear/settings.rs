//! The owner's settings in the course of a life: what is handed over anew counts before the next word is heard.

use crate::config::{Handed, Settings, Told};
use crate::store::Store;
use crate::tools::catalogue::MARKS;
use crate::tools::{Toolbox, permission};
use patch::Limits;

/// The settings a life is born with. Where none can be read they are the defaults, and until some are read nothing
/// reaches outward, for what the owner forbids is unknown; a rehearsal has none and does nothing outward anyway.
pub(crate) fn at_birth(
    told: &Told,
    handed: &mut Handed,
    toolbox: &mut Toolbox,
) -> (Settings, Option<String>) {
    match Settings::handed_anew(&told.house, handed) {
        Some(Ok(handed)) => handed,
        Some(Err(why)) if !told.rehearsal => {
            toolbox.settings_unread = true;
            (Settings::default(), Some(unread(&why, toolbox)))
        }
        _ => Default::default(),
    }
}

/// Says what counts while the settings cannot be read.
pub(crate) fn unread(why: &str, toolbox: &Toolbox) -> String {
    let counts = match toolbox.settings_unread {
        true => "tools that act outward are refused",
        false => "what it said before counts",
    };
    format!("until the guardian writes settings.json anew {counts}: it cannot be read ({why})")
}

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
