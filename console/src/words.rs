//! Words to the creature by a command's name: the sentence that any mind understands.
//!
//! Instinct knows each (`creature/crates/instinct/abilities.toml`, where a test holds them); to a model they are plain
//! requests, each for a tool it has.

/// Ends its work under way.
pub const STOP: &str = "stop that";
pub const PULSE: &str = "List your standing concerns, please.";
pub const DREAM: &str = "Dream now, please.";
pub const COMPACT: &str = "Take a snapshot now, please.";

/// The word of a reminder; empty where it says nothing.
pub fn reminder(words: &[String]) -> String {
    let said = words.join(" ");
    let said = said.trim();
    let said = said.strip_prefix("me ").unwrap_or(said);
    if said.is_empty() { String::new() } else { format!("remind me {said}") }
}
