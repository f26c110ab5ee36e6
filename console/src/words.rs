//! Words to the creature by a command's name: the short command, and the sentence that any mind understands.

/// A command, and what it says. Instinct knows each by name (`creature/crates/instinct/abilities.toml`, where a test
/// holds them); to a model they are plain requests, each for a tool it has.
const SENTENCES: [(&str, &str); 3] = [
    ("pulse", "List your standing concerns, please."),
    ("dream", "Dream now, please."),
    ("compact", "Take a snapshot now, please."),
];

/// The word of a command; none where it is no word, or says nothing.
pub fn word(command: &str, more: &[&str]) -> Option<String> {
    if command == "remind" {
        let said = more.join(" ");
        let said = said.trim();
        let said = said.strip_prefix("me ").unwrap_or(said);
        return (!said.is_empty()).then(|| format!("remind me {said}"));
    }
    let found = SENTENCES.iter().find(|(name, _)| *name == command);
    found.filter(|_| more.is_empty()).map(|(_, sentence)| (*sentence).to_owned())
}
