//! Paths of the channels' state in a house: `.self/broker/channels/`, closed to the creature, and what the owner sent.

use house::House;
use std::path::PathBuf;

/// The folder that all of it lies in.
pub fn folder(house: &House) -> PathBuf {
    house.channels()
}

/// State of a channel: its owner, how far it was heard, and whom it refused.
pub fn state(house: &House, channel: &str) -> PathBuf {
    folder(house).join(format!("{channel}.json"))
}

/// Messages to be sent, a line a step.
pub fn outbox(house: &House) -> PathBuf {
    folder(house).join("out.jsonl")
}

/// The asks that were shown on channels, and the buttons below them.
pub fn buttons(house: &House) -> PathBuf {
    folder(house).join("buttons.json")
}

/// How far memory was read.
pub fn talk(house: &House) -> PathBuf {
    folder(house).join("talk.json")
}

/// Notices that were told, and how far the records are read for them.
pub fn notices(house: &House) -> PathBuf {
    folder(house).join("notices.json")
}

/// Folder of the files that the owner sent on a channel, from `.self` on.
pub fn received(channel: &str) -> PathBuf {
    PathBuf::from("received").join(channel)
}
