//! The figures of a run as the section that is kept in trials/CHANNELS.md; what else stands there stays.

use serde_json::Value;
use std::path::Path;

const TITLE: &str = "## Words over kills\n";

/// Puts the figures of a run in the place of those that stand there.
pub fn keep(page: &Path, run: &Value) {
    let before = std::fs::read_to_string(page).unwrap_or_else(|_| "# Channels\n\n".to_owned());
    let (head, rest) = before.split_once(TITLE).unwrap_or((&before, ""));
    let after = rest.find("\n## ").map_or("", |at| &rest[at..]);
    std::fs::write(page, format!("{}\n\n{TITLE}{}{after}", head.trim_end(), section(run))).unwrap();
}

fn section(run: &Value) -> String {
    let number = |name: &str| run[name].as_u64().unwrap_or(0);
    let struck = run["struck"].as_object().into_iter().flatten();
    let struck: Vec<String> = struck.map(|(what, times)| format!("{times} × {what}")).collect();
    let faults: Vec<&str> =
        run["faults"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut section = format!(
        "\nWritten by `scripts/trials channels kills --minutes {minutes} --words {words} --seed {seed} --keep` (commit {commit}).\n\n\
         A house as an owner has it, guardian, broker, console, channels and the real creature on instinct, behind walls, is paired \
         with an owner on Telegram: the server of the channels' tests as a program of its own, with a wire before it that can be cut. \
         The owner says a word every few seconds, two of three in the private chat, one in a group. Each word puts a thing on a \
         list and is answered by its name, so each is found again in the creature's memory, on the list, in the outbox and in the chat.\n\n\
         | | |\n|---|---|\n| time | {minutes} minutes, and judged {judged} |\n| words | {words} |\n| struck | {struck} |\n\
         | answers told once | {once} |\n| answers in doubt, and shown so | {doubtful}, of which {arrived} had arrived |\n\
         | cut off by a death before they were done, and told so | {cut_off} |\n\
         | messages of the bot in all | {messages}, {doubts} of them on what is in doubt |\n\
         | heard, done or answered not once, lost, told twice, astray, out of order, in doubt and not shown so | {faults} |\n",
        minutes = run["minutes"],
        commit = run["commit"].as_str().unwrap_or_default(),
        judged = run["judged"].as_str().unwrap_or_default(),
        seed = number("seed"),
        words = number("words"),
        struck = struck.join(", "),
        once = number("answered_once"),
        doubtful = number("doubtful"),
        arrived = number("doubtful_arrived"),
        cut_off = number("cut_off"),
        messages = number("messages"),
        doubts = number("doubts_told"),
        faults = faults.len(),
    );
    faults.iter().take(40).for_each(|fault| section += &format!("\n- {fault}"));
    section
}
