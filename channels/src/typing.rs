//! The sign that an answer is being written: shown while it thinks and a word of the owner's waits for it.

use crate::channel::{Channel, Chat};
use crate::switchboard::Shared;
use house::{clock, heartbeat};
use std::rc::Rc;
use std::time::Duration;

/// Time between two signs, which platforms show for five to ten seconds; longest that one word has it.
const EVERY: Duration = Duration::from_secs(4);
const LONGEST_MS: u64 = 10 * 60_000;

/// Shows it until this program ends.
pub async fn run(shared: Shared, name: String, channel: Rc<dyn Channel>) {
    loop {
        match awaited(&shared, &name) {
            Some(chat) => {
                if thinks(&shared) {
                    // That it does not arrive is no loss.
                    let _ = channel.typing(&chat).await;
                }
                tokio::time::sleep(EVERY).await;
            }
            None => {
                let spoken = shared.borrow().lines.get(&name).map(|line| line.spoken.clone());
                let Some(spoken) = spoken else { return };
                spoken.notified().await;
            }
        }
    }
}

/// The chat in which the owner waits for an answer.
fn awaited(shared: &Shared, name: &str) -> Option<Chat> {
    let all = shared.borrow();
    let line = all.lines.get(name)?;
    let said = line.state.said.back().filter(|said| clock::wall_ms().abs_diff(said.at_ms) < LONGEST_MS)?;
    line.state.chat(&said.thread).cloned()
}

fn thinks(shared: &Shared) -> bool {
    let path = shared.borrow().house.heartbeat();
    heartbeat::read(&path)
        .is_some_and(|claim| matches!(claim.stage.as_str(), "thinking" | "acting" | "remembering"))
}
