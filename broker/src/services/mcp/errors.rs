//! The end of what a server's program writes to its error output: for the owner who tries it, and nobody else.

use crate::secrets::Secrets;
use house::mutex::lock;
use house::{bounds::brief, printable};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::process::ChildStderr;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Bytes that are kept, and lines of these that are shown, with the characters of each.
const MOST_BYTES: usize = 8 << 10;
const MOST_LINES: usize = 8;
const MOST_CHARS: usize = 300;
/// Time that the words of a program which has ended may take to be read.
const LAST_WORDS: Duration = Duration::from_secs(1);

#[derive(Clone, Default)]
pub struct Errors {
    kept: Arc<Mutex<Vec<u8>>>,
    reader: Arc<Mutex<Option<JoinHandle<()>>>>,
}

impl Errors {
    /// Reads to the end, whatever is kept of it: a program whose output nobody reads would wait.
    pub fn follow(&self, mut output: ChildStderr) {
        let kept = self.kept.clone();
        let reader = tokio::spawn(async move {
            let mut bytes = vec![0; MOST_BYTES];
            while let Ok(read @ 1..) = output.read(&mut bytes).await {
                let mut kept = lock(&kept);
                kept.extend_from_slice(bytes.get(..read).unwrap_or_default());
                let over = kept.len().saturating_sub(MOST_BYTES);
                kept.drain(..over);
            }
        });
        *lock(&self.reader) = Some(reader);
    }

    /// Its last lines, without secrets; of a program that has ended, all it wrote is read first.
    pub async fn told(&self, secrets: &Secrets) -> Vec<String> {
        let reader = lock(&self.reader).take();
        if let Some(reader) = reader {
            let _ = timeout(LAST_WORDS, reader).await;
        }
        let text = secrets.scrub_all(&String::from_utf8_lossy(&lock(&self.kept)));
        let lines: Vec<String> = text
            .lines()
            .map(|line| brief(printable::flat(&printable::without_codes(line)).trim(), MOST_CHARS))
            .filter(|line| !line.is_empty())
            .collect();
        lines.into_iter().rev().take(MOST_LINES).rev().collect()
    }
}
