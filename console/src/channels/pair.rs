//! `channels pair` and `unpair`: the code that makes its sender the owner on a channel, and the word that ends that.

use super::named;
use anyhow::Result;
use house::channels::{COUNTS_S, Pairing, TRIES, standing};
use house::settings::channels::platform;
use house::terminal::{self, typed};
use house::{House, clock, files, moments};
use jiff::SignedDuration;

/// Letters and digits that nobody takes for others.
const LETTERS: &[u8] = b"ABCDEFGHJKMNPQRSTUVWXYZ23456789";
/// Characters of a code, shown in two halves.
const CODE: usize = 8;

pub fn pair(house: &House, name: &str) -> Result<u8> {
    named(house, name)?;
    let until = moments::now() + SignedDuration::from_secs(COUNTS_S);
    let code = code()?;
    let before = Pairing::read(house);
    let pairing = Pairing {
        channel: name.to_owned(),
        code: code.clone(),
        until: until.to_string(),
        tries: TRIES,
        unpaired: before.unpaired.clone(),
    };
    pairing.write(house)?;
    let (title, known) =
        (platform(name).map_or(name, |platform| platform.title), standing(house).remove(name));
    let whom = known.as_ref().map(|known| known.name.as_str()).filter(|name| !name.is_empty());
    let whom = whom.unwrap_or("the creature's account");
    terminal::field("code", &code);
    terminal::line(&format!(
        "Send it to {whom} on {title} from your own account, within ten minutes and five tries. It counts once, for \
         whoever sends it: show it to nobody."
    ));
    if !before.channel.is_empty()
        && before.channel != name
        && before.code(&before.channel, moments::now()).is_some()
    {
        terminal::line(&format!("The code for {} counts no more.", before.channel));
    }
    if let Some(paired) = known.map(|known| known.paired).filter(|paired| !paired.is_empty()) {
        terminal::line(&format!("{paired} is heard there until then."));
    }
    terminal::line(&format!("{} says how it stands.", typed("channels")));
    Ok(0)
}

pub fn unpair(house: &House, name: &str) -> Result<u8> {
    named(house, name)?;
    take_back(house, name)?;
    let again = typed(&format!("channels pair {name}"));
    terminal::line(&format!(
        "Nobody is heard on {name} any more, and nothing is sent there; {again} pairs anew."
    ));
    Ok(0)
}

/// Takes back a pairing, and the code of one that is waited for.
pub fn take_back(house: &House, name: &str) -> Result<()> {
    let mut pairing = Pairing::read(house);
    pairing.unpaired.insert(name.to_owned(), clock::stamp());
    if pairing.channel == name {
        pairing = Pairing { unpaired: pairing.unpaired, ..Pairing::default() };
    }
    pairing.write(house)
}

/// A code that nobody guesses in five tries: 39 random bits.
fn code() -> Result<String> {
    let mut code = String::new();
    while code.len() < CODE {
        // Bytes beyond the last whole round of the letters would make some likelier.
        let fair = files::random()?
            .into_iter()
            .filter(|byte| usize::from(*byte) < 256 / LETTERS.len() * LETTERS.len());
        let letters = fair.filter_map(|byte| LETTERS.get(usize::from(byte) % LETTERS.len()));
        code.extend(letters.take(CODE - code.len()).map(|letter| char::from(*letter)));
    }
    code.insert(CODE / 2, '-');
    Ok(code)
}
