//! The runtime line: the hour, the life, the round, the money, and why there is a thought at all. Pure.

use super::moment::Moment;
use ground::text::shorten;

/// The line within `most` characters; of many reasons the first that fit, and how many more there are.
pub fn runtime(moment: &Moment, most: usize) -> String {
    let short = |text: &str, most: usize| text.chars().take(most).collect::<String>();
    let commit = if moment.commit.is_empty() { "unknown".to_owned() } else { short(&moment.commit, 7) };
    let (now, life, before) = (short(&moment.now, 30), moment.life, moment.thoughts_before);
    let (round, (shortest, longest)) = (u64::from(moment.round) + 1, moment.rest_s);
    let rounds = if moment.rounds > 0 { format!(" of {}", moment.rounds) } else { String::new() };
    let mut line = format!(
        "{now}. Life {life}, commit {commit}, {before} thoughts before; round {round}{rounds}; \
         rests of {shortest} to {longest} s."
    );
    let thread = short(&moment.thread, 40);
    match (moment.owner, thread.as_str()) {
        (false, _) => line += " You act by yourself.",
        (true, "" | "main") => line += " For your owner.",
        (true, thread) => line += &format!(" For your owner, thread {thread}."),
    }
    if moment.purpose_changed {
        line += " PURPOSE.md changed: read it again.";
    }
    if moment.safe {
        line += " This is safe mode: earlier lives died early, only talking works.";
    }
    if moment.rehearsal {
        line += " A rehearsal: nothing outward happens.";
    }
    if moment.asks_waiting > 0 {
        line += &format!(" {} acts wait for your owner.", moment.asks_waiting);
    }
    if !moment.budget.is_empty() {
        line += &format!(" {}", shorten(&moment.budget, 110));
    }
    let room = most.saturating_sub(line.chars().count());
    line += &reasons(&moment.reasons, room);
    shorten(&line.replace(['\n', '\r'], " "), most)
}

/// The reasons within `room` characters: whole ones, and the end of the first where it alone is too long.
fn reasons(reasons: &[String], room: usize) -> String {
    const MORE: usize = "; and 100 more".len();
    let mut text = String::new();
    for (at, reason) in reasons.iter().enumerate() {
        let begins = if at == 0 { " Awake for: " } else { "; " };
        let left = room.saturating_sub(text.chars().count() + begins.len());
        let most = if at + 1 == reasons.len() { left } else { left.saturating_sub(MORE) };
        match (reason.chars().count() <= most, at) {
            (true, _) => text += &format!("{begins}{reason}"),
            (false, 0) => {
                let head: String = reason.chars().take(most.saturating_sub(1)).collect();
                text += &format!("{begins}{head}…");
            }
            (false, _) => return format!("{text}; and {} more", reasons.len() - at),
        }
    }
    text
}
