//! The owner's page beyond this machine: over TLS, behind a sign-in by password or passkey; the pages are the console's own.
//!
//! A program of its own, so that nobody builds TLS and passkeys for the page who does not open it to a phone.

pub mod asking;
pub mod browser;
pub mod certificate;
pub mod check;
pub mod entrance;
pub mod guesses;
pub mod passkeys;
pub mod password;
pub mod phone;
pub mod seats;
pub mod sessions_page;
pub mod sign_in;
pub mod standing;
pub mod stored;
pub mod tls;
pub mod words;
