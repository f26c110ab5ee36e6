//! Strikes from exports the values of `.env` in their usual encodings, texts that look like secrets, the house's path.

use house::{House, makers};
use redact::keys::Keys;
use redact::{env_file, patterns};
use serde_json::Value;

/// Replaces the house's path.
const HOUSE: &str = "[house]";

pub struct Secrets {
    keys: Keys,
    /// The house's path, and as addresses have it.
    paths: Vec<String>,
}

impl Secrets {
    /// All that is known of a house. An `.env` that is there and cannot be read is an error: what it holds could not
    /// be struck.
    pub fn of(house: &House) -> anyhow::Result<Self> {
        let named: Vec<String> = makers::keys().map(str::to_owned).collect();
        let mut keys = Keys::load(house, &named)?;
        // An address there may hold a password: the creature may see it, others may not.
        env_file::read(house)?.iter().for_each(|(_, value)| keys.know(value));
        let root = house.root();
        let roots = [Some(root.to_owned()), root.canonicalize().ok()].into_iter().flatten();
        let plain = roots.map(|path| path.to_string_lossy().into_owned()).filter(|path| path.len() > 1);
        let paths = plain.flat_map(|path| [in_address(&path), path]).collect();
        Ok(Self { keys, paths })
    }

    pub fn struck(&self, text: &str) -> String {
        let struck = patterns::scrub(self.keys.scrub(text));
        self.paths.iter().fold(struck, |text, path| text.replace(path, HOUSE))
    }

    /// Strikes every text of a record, names of its fields too.
    pub fn strike(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.struck(text),
            Value::Array(list) => list.iter_mut().for_each(|value| self.strike(value)),
            Value::Object(fields) => {
                let taken = std::mem::take(fields);
                for (name, mut value) in taken {
                    self.strike(&mut value);
                    fields.insert(self.struck(&name), value);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// A path with everything escaped that an address escapes.
pub fn in_address(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~/".contains(&byte);
    path.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
