//! A password asked for at the terminal: nothing of it is shown, and the terminal is as before whatever comes.

use anyhow::{Context, Result, bail};
use house::terminal;
use nix::sys::termios::{self, LocalFlags, SetArg, SpecialCharacterIndices, Termios};
use std::io::{BufRead, Read, Stdin};

/// Most bytes that are taken of a line.
const MOST_BYTES: usize = 4 << 10;

/// The terminal without echo, until this is dropped.
struct Unseen<'t> {
    terminal: &'t Stdin,
    before: Termios,
}

impl<'t> Unseen<'t> {
    fn begin(terminal: &'t Stdin) -> nix::Result<Self> {
        let before = termios::tcgetattr(terminal)?;
        let mut unseen = before.clone();
        // Ctrl-C comes as a letter: ended by a signal, this process would leave the terminal without echo.
        unseen.local_flags -= LocalFlags::ECHO | LocalFlags::ICANON | LocalFlags::ISIG | LocalFlags::IEXTEN;
        // Letter by letter, however few come at once.
        for (at, value) in [(SpecialCharacterIndices::VMIN, 1), (SpecialCharacterIndices::VTIME, 0)] {
            unseen.control_chars.get_mut(at as usize).into_iter().for_each(|held| *held = value);
        }
        termios::tcsetattr(terminal, SetArg::TCSADRAIN, &unseen)?;
        Ok(Self { terminal, before })
    }
}

impl Drop for Unseen<'_> {
    fn drop(&mut self) {
        let _ = termios::tcsetattr(self.terminal, SetArg::TCSADRAIN, &self.before);
    }
}

/// Asks for a line that is not shown; where the input is no terminal, it is the next line of that.
pub fn unseen(asks: &str) -> Result<String> {
    let stdin = std::io::stdin();
    terminal::error(asks);
    let Ok(_unseen) = Unseen::begin(&stdin) else {
        let mut line = String::new();
        stdin.lock().take(MOST_BYTES as u64).read_line(&mut line).context("failed to read the password")?;
        return Ok(line.trim_end_matches(['\r', '\n']).to_owned());
    };
    typed(&mut stdin.lock())
}

/// The letters typed up to Enter, as they were corrected.
fn typed(keys: &mut impl Read) -> Result<String> {
    let mut line = Vec::new();
    loop {
        let mut key = [0];
        let read = keys.read(&mut key).context("failed to read the password")?;
        match key {
            _ if read == 0 => bail!("the input ended; nothing was changed"),
            [3 | 4] => bail!("nothing was changed"),
            [b'\r' | b'\n'] => break,
            // Backspace takes a whole letter, whatever bytes it has.
            [8 | 127] => while line.pop().is_some_and(|byte: u8| byte & 0xc0 == 0x80) {},
            // Ctrl-U begins anew.
            [21] => line.clear(),
            [byte] if byte >= 32 && line.len() < MOST_BYTES => line.push(byte),
            _ => {}
        }
    }
    String::from_utf8(line).context("the password is no text in UTF-8")
}
