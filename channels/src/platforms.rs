//! The platforms there are: each a file, and a row here that makes a channel of its settings.

pub mod calls;
pub mod discord;
pub mod mail;
pub mod matrix;
pub mod slack;
pub mod telegram;
pub mod upload;
pub mod websocket;

use crate::channel::{Channel, Limits};
use crate::door::Door;
use house::settings::channels::Channel as Settings;

/// Makes a channel of its settings; `secrets` looks a variable up as `.env` has it. An error says what is missing and what to do.
pub type Make = fn(&Settings, &dyn Fn(&str) -> Option<String>, Door) -> Result<Box<dyn Channel>, String>;

const PLATFORMS: [(&str, &Limits, Make); 5] = [
    ("discord", &discord::LIMITS, |settings, secrets, door| {
        Ok(Box::new(discord::Discord::new(settings, secrets, door)?))
    }),
    ("mail", &mail::LIMITS, |settings, secrets, door| {
        Ok(Box::new(mail::Mail::new(settings, secrets, door)?))
    }),
    ("matrix", &matrix::LIMITS, |settings, secrets, door| {
        Ok(Box::new(matrix::Matrix::new(settings, secrets, door)?))
    }),
    ("slack", &slack::LIMITS, |settings, secrets, door| {
        Ok(Box::new(slack::Slack::new(settings, secrets, door)?))
    }),
    ("telegram", &telegram::LIMITS, |settings, secrets, door| {
        Ok(Box::new(telegram::Telegram::new(settings, secrets, door)?))
    }),
];

/// Bounds of a platform, also of one whose channel could not be made: what is for it waits.
pub fn limits(name: &str) -> &'static Limits {
    PLATFORMS.iter().find(|(known, ..)| *known == name).map_or(&Limits::USUAL, |(_, limits, _)| *limits)
}

/// Makes the channel of this name.
pub fn made(
    name: &str,
    settings: &Settings,
    secrets: &dyn Fn(&str) -> Option<String>,
    door: Door,
) -> Result<Box<dyn Channel>, String> {
    match PLATFORMS.iter().find(|(known, ..)| *known == name) {
        Some((.., make)) => make(settings, secrets, door),
        None => Err(format!("this version has no channel called {name}")),
    }
}
