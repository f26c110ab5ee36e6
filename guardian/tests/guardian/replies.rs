//! What each action of the policy may answer at once, for a walk over all that can come of it.

use guardian::decide::vocabulary::{Action, Blame, Event, Examined, Standing, Subject};

/// What an action that answers at once may answer.
pub fn answers(action: &Action) -> Vec<Option<Event>> {
    match action {
        Action::Survey { .. } => {
            let mut answers = vec![Some(Event::OwnerEdits), Some(Event::Failed), Some(Event::Interrupted)];
            for (tree, standing, unexamined) in [
                ("a", Standing::Bottom, false),
                ("b", Standing::Unproven, false),
                ("b", Standing::Unproven, true),
                ("b", Standing::Blessed, false),
                ("c", Standing::Fallen, false),
            ] {
                for (kept, built) in [(false, false), (false, true), (true, false)] {
                    let rungs = vec!["a".into(), "b".into()];
                    let subject = Subject { tree: tree.into(), standing, rungs, kept, built, unexamined };
                    answers.push(Some(Event::Surveyed(subject)));
                }
            }
            answers
        }
        Action::Tidy => vec![Some(Event::Tidied), Some(Event::Failed), Some(Event::Interrupted)],
        Action::SetAside => vec![Some(Event::StateSetAside)],
        Action::Commit => vec![Some(Event::Committed), Some(Event::Failed), Some(Event::Interrupted)],
        Action::Bless => vec![Some(Event::Blessed), Some(Event::Failed)],
        Action::Rollback { .. } => {
            let kept = Subject {
                tree: "a".into(),
                standing: Standing::Bottom,
                rungs: vec!["a".into()],
                kept: true,
                built: false,
                unexamined: false,
            };
            let ends = [Event::RollbackDone, Event::RollbackExhausted, Event::Failed, Event::Interrupted];
            let stuck = [Event::Stuck(None), Event::Stuck(Some(kept))];
            ends.into_iter().chain(stuck).map(Some).collect()
        }
        Action::Spawn { .. } => vec![None, Some(Event::Failed), Some(Event::Interrupted)],
        Action::Build => vec![None, Some(Event::BuildFailed(Blame::Toolchain))],
        Action::Examine => vec![None, Some(Event::Examined(Examined::Unsure(Blame::Toolchain)))],
        Action::BuildBeside | Action::StopBuild | Action::Terminate | Action::KillTree => vec![None],
        Action::StopExam => vec![None],
        Action::Bury { .. } | Action::Answer | Action::Leave | Action::TellBroken { .. } => vec![None],
    }
}
