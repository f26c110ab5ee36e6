//! Receiving on a channel: connects, hears, acknowledges what is kept; comes back after growing pauses, trouble by trouble.

use crate::channel::{Channel, Trouble};
use crate::hear;
use crate::pause::Pause;
use crate::switchboard::Shared;
use house::clock;
use std::rc::Rc;
use std::time::Duration;

/// Pauses where the owner has to act first, and where another program receives.
const REVOKED: Duration = Duration::from_secs(15 * 60);
const ELSEWHERE: Duration = Duration::from_secs(60);
/// Longest pause that a platform may ask for.
const LONGEST: Duration = Duration::from_secs(60 * 60);
/// Rest after what was heard or fetched could not be kept: the disk is full.
pub const UNKEPT: Duration = Duration::from_secs(10);

/// Receives until this program ends.
pub async fn run(shared: Shared, name: String, channel: Rc<dyn Channel>) {
    let mut pause = Pause::default();
    loop {
        let after = shared.borrow().lines.get(&name).and_then(|line| line.state.cursor.clone());
        channel.welcome(&shared.borrow().welcome(&name));
        let trouble = match channel.connect(after.as_ref()).await {
            Ok(known) => {
                if let Some(line) = shared.borrow_mut().lines.get_mut(&name) {
                    line.known = Some(known);
                }
                note(&shared, &name, "connected", "");
                let since_ms = clock::since_boot_ms();
                let trouble = received(&shared, &name, channel.as_ref(), &mut pause).await;
                pause.lasted(clock::since_boot_ms().saturating_sub(since_ms));
                trouble
            }
            Err(trouble) => trouble,
        };
        rest(&shared, &name, &trouble, &mut pause).await;
    }
}

/// Receives as long as the connection lasts; returns why it does not.
async fn received(shared: &Shared, name: &str, channel: &dyn Channel, pause: &mut Pause) -> Trouble {
    loop {
        let batch = match channel.receive().await {
            Ok(batch) => batch,
            Err(Trouble::Slower(wait)) => {
                tokio::time::sleep(wait.min(LONGEST)).await;
                continue;
            }
            Err(trouble) => return trouble,
        };
        pause.over();
        let cursor = batch.cursor.clone();
        if let Err(error) = hear::batch(shared, name, channel, batch).await {
            shared.borrow_mut().row(
                name,
                &format!("{name}: what was heard could not be kept, and is heard again: {error:#}"),
            );
            tokio::time::sleep(UNKEPT).await;
            return Trouble::Away(format!("{error:#}"));
        }
        // Somebody may have been paired.
        channel.welcome(&shared.borrow().welcome(name));
        if let Err(trouble) = channel.acknowledge(&cursor).await {
            return trouble;
        }
    }
}

/// Waits as a trouble asks for, and says it where that is new.
async fn rest(shared: &Shared, name: &str, trouble: &Trouble, pause: &mut Pause) {
    let grown = pause.next(clock::since_boot_ms());
    let (state, wait) = match trouble {
        Trouble::Slower(wait) => ("away", (*wait).min(LONGEST)),
        Trouble::Revoked(_) => ("revoked", REVOKED),
        Trouble::Elsewhere(_) => ("elsewhere", ELSEWHERE.max(grown)),
        Trouble::Away(_) | Trouble::Doubtful(_) | Trouble::Form(_) | Trouble::Refused(_) => ("away", grown),
    };
    note(shared, name, state, &trouble.to_string());
    tokio::time::sleep(wait).await;
}

fn note(shared: &Shared, name: &str, state: &str, trouble: &str) {
    let mut all = shared.borrow_mut();
    if let Err(error) = all.stands(name, state, trouble) {
        all.row(name, &format!("{name}: {error:#}"));
    }
}
