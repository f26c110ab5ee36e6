//! The owner's settings in the course of a life: what is handed over anew counts before the next word is heard.

use crate::config::Settings;
use crate::fault::Fault;
use crate::life::Life;
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

impl Life {
    /// Takes up settings that the guardian handed over since they were last read; how a model is asked counts with the
    /// next one that is offered.
    pub(crate) fn follow_settings(&mut self) -> Result<(), Fault> {
        let handed = Settings::handed_anew(&self.told.house, self.told.life, &mut self.handed);
        let Some((settings, odd)) = handed else { return Ok(()) };
        self.settings = settings;
        let unfollowed = put(&self.settings, &mut self.store, &mut self.toolbox);
        let odd: Vec<String> = odd.into_iter().chain(unfollowed).collect();
        self.heart.odd(&odd.join("; "));
        self.store.observe("settings", &odd.join("; "))
    }
}
