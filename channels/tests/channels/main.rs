//! Channels: what each part decides, and the whole over a house and platforms.

mod form;
mod home;
mod judged;
mod kept;
mod killed;
mod meant;
mod parted;
mod pressed;
mod said;
mod told;
