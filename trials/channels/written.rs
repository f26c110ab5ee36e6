//! The figures of a run as the page that is kept, trials/CHANNELS.md.

use serde_json::Value;

pub fn page(run: &Value) -> String {
    let number = |name: &str| run[name].as_u64().unwrap_or(0);
    let struck = run["struck"].as_object().into_iter().flatten();
    let struck: Vec<String> = struck.map(|(what, times)| format!("{times} × {what}")).collect();
    let faults: Vec<&str> =
        run["faults"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut page = format!(
        "# Words over kills\n\nWritten by `scripts/trials channels kills --minutes {minutes} --keep` (commit {commit}, seed {seed}).\n\n\
         A house as an owner has it, guardian, broker, console, channels and the real creature on instinct, behind walls, is paired \
         with an owner on Telegram: the server of the channels' tests as a program of its own, with a wire before it that can be cut. \
         The owner says a word every few seconds, two of three in the private chat, one in a group. Each word puts a thing on a \
         list and is answered by its name, so each is found again in the inbox's records, on the list and in the chat.\n\n\
         | | |\n|---|---|\n| time | {minutes} minutes |\n| words | {words} |\n| struck | {struck} |\n\
         | answers told once | {once} |\n| answers in doubt, and shown so | {doubtful}, of which {arrived} had arrived |\n\
         | idle, before it began | {idle} |\n| messages of the bot in all | {messages}, {doubts} of them on what is in doubt |\n\
         | heard not once, not done once, answered never or twice, lost, astray or out of order | {faults} |\n\n",
        minutes = run["minutes"],
        commit = run["commit"].as_str().unwrap_or_default(),
        seed = number("seed"),
        words = number("words"),
        struck = struck.join(", "),
        once = number("answered_once"),
        doubtful = number("doubtful"),
        arrived = number("doubtful_arrived"),
        messages = number("messages"),
        doubts = number("doubts_told"),
        faults = faults.len(),
        idle = idle(&run["idle"]),
    );
    faults.iter().take(40).for_each(|fault| page += &format!("- {fault}\n"));
    page
}

fn idle(cost: &Value) -> String {
    let of = |at: usize| cost[at].as_f64().unwrap_or(f64::NAN);
    let [resident, own, wakes, ran_ms] = [of(0), of(1), of(2), of(3)];
    format!(
        "{resident:.1} MiB resident, {own:.1} proportional; {wakes:.0} wakes and {ran_ms:.0} ms of the processor a minute"
    )
}
