//! The unfinished draft of the creature's source: when it is looked at again, and that an old one is put away.

use crate::fault::Fault;
use crate::guardian_post::{self, Kind};
use crate::life::Life;
use jiff::Timestamp;
use patch::draft::{self, Draft};

/// Seconds after which a draft that nobody touched is put away.
const OLD_S: i64 = 7 * 86_400;

impl Life {
    /// Keeps a draft that nobody touched for a week under a ref and puts it aside; without a guardian it stays.
    pub(crate) async fn put_old_draft_away(&mut self) -> Result<(), Fault> {
        let now = self.told.clock.now();
        let old = |draft: &Draft| {
            let touched = draft.state.touched.parse::<Timestamp>();
            touched.is_ok_and(|touched| now.duration_since(touched).as_secs() > OLD_S)
        };
        let Some(draft) = self.draft().filter(old) else { return Ok(()) };
        let said = match self.put_away(&draft).await {
            Ok(said) => said,
            Err(fault) => format!("an old draft could not be put away: {fault}"),
        };
        self.store.observe("draft", &said)
    }

    async fn put_away(&self, draft: &Draft) -> Result<String, Fault> {
        let (house, line) = (&self.told.house, draft.line());
        let _lock = draft::hold(house)?;
        let kept =
            guardian_post::ask(house, self.told.life, Kind::Draft, &line, self.toolbox.patience).await?;
        Draft::put_aside(house)?;
        let kept = kept.commit.unwrap_or_default();
        Ok(format!(
            "untouched for a week, it was kept as {kept} under refs/guardian/rescued and put away: {line}"
        ))
    }
}
