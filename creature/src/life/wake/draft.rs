//! The unfinished draft of the creature's source: when it is looked at again, and that an old one is put away.

use crate::fault::Fault;
use crate::guardian_post::{self, Kind};
use crate::store::Store;
use jiff::Timestamp;
use patch::draft::{self, Draft};
use std::time::Duration;

/// Seconds after which a draft that nobody touched is put away.
const OLD_S: i64 = 7 * 86_400;

/// Keeps a draft that nobody touched for a week under a ref and puts it aside; without a guardian it stays.
pub(crate) async fn put_old_away(
    store: &mut Store,
    draft: Option<Draft>,
    patience: Duration,
) -> Result<(), Fault> {
    let now = store.clock.now();
    let old = |draft: &Draft| {
        let touched = draft.state.touched.parse::<Timestamp>();
        touched.is_ok_and(|touched| now.duration_since(touched).as_secs() > OLD_S)
    };
    let Some(draft) = draft.filter(old) else { return Ok(()) };
    let said = match put_away(store, &draft, patience).await {
        Ok(said) => said,
        Err(fault) => format!("an old draft could not be put away: {fault}"),
    };
    store.observe("draft", &said)
}

async fn put_away(store: &Store, draft: &Draft, patience: Duration) -> Result<String, Fault> {
    let (house, line) = (&store.house, draft.line());
    let _lock = draft::hold(house)?;
    let kept = guardian_post::ask(house, store.life, Kind::Draft, &line, patience).await?;
    Draft::put_aside(house)?;
    let kept = kept.commit.unwrap_or_default();
    Ok(format!(
        "untouched for a week, it was kept as {kept} under refs/guardian/rescued and put away: {line}"
    ))
}
