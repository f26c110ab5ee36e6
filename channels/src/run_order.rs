//! Commands carried out: by the guardian's or the console's program, whose lines are the reply.

use crate::channel::Chat;
use crate::order::{self, Meant};
use crate::switchboard::Shared;
use anyhow::{Context, Result};
use console::window::child::Running;
use console::window::typed::Order;
use house::{House, clock};
use nix::poll::{PollFd, PollFlags, poll};

/// Columns of what a command prints: a phone is narrow, and the chat breaks its lines.
const COLUMNS: usize = 36;
/// Longest time of a command, and between two looks at it.
const LONGEST_MS: u64 = 60_000;
const LOOK_MS: u16 = 500;
/// Most bytes of what it prints.
const MOST_BYTES: usize = 1 << 20;

/// Carries out a command of the owner's; `late`: when it was said, where that is long ago.
pub async fn carry_out(
    shared: &Shared,
    name: &str,
    chat: &Chat,
    id: &str,
    meant: Meant,
    late: Option<&str>,
) -> Result<()> {
    if let (Some(at), Meant::Run(args), true) = (late, &meant, meant.is_asked_again()) {
        let told = format!("You said /{} at {at}; still? Then say it again.", args.join(" "));
        return shared.borrow_mut().reply(name, chat, &[id], &told);
    }
    match meant {
        Meant::Run(args) => {
            let told = ran(shared, &args).await;
            let text = match told {
                Ok(lines) if lines.is_empty() => "Done.".to_owned(),
                Ok(lines) => lines,
                Err(error) => format!("{error:#}"),
            };
            shared.borrow_mut().reply(name, chat, &[id], &text)
        }
        Meant::Asks(one) => shared.borrow_mut().show_asks(name, chat, id, one.as_deref()),
        Meant::Answer { id: ask, approve } => {
            let told = shared.borrow_mut().answered_by_word(name, chat, &ask, approve, late)?;
            told.map_or(Ok(()), |told| shared.borrow_mut().reply(name, chat, &[id], &told))
        }
        Meant::Verbosity(which) => {
            let mut all = shared.borrow_mut();
            let Some(line) = all.lines.get_mut(name) else { return Ok(()) };
            if let Some(which) = which {
                line.state.verbosity = Some(which);
            }
            let told = format!(
                "{}: {}",
                line.verbosity(),
                match line.verbosity() {
                    "minimal" => "answers, asks and notices",
                    "normal" => "a line for each act too",
                    _ => "acts and thoughts with their details too",
                }
            );
            all.save(name)?;
            all.reply(name, chat, &[id], &told)
        }
        Meant::Help => shared.borrow_mut().reply(name, chat, &[id], &order::help()),
        Meant::Wrong(wrong) => shared.borrow_mut().reply(name, chat, &[id], &wrong),
        Meant::Word(_) => Ok(()),
    }
}

async fn ran(shared: &Shared, args: &[String]) -> Result<String> {
    let house = shared.borrow().house.clone();
    let args: Vec<String> = args.to_vec();
    tokio::task::spawn_blocking(move || output(&house, &args)).await.context("the command did not end")?
}

/// Runs a command to its end, or to the end of its time.
fn output(house: &House, args: &[String]) -> Result<String> {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut running = Running::start(house, &Order::new(&words), COLUMNS)?;
    let begun_ms = clock::running_ms();
    let (mut lines, mut bytes) = (Vec::new(), 0);
    loop {
        let mut asked = [PollFd::new(running.out(), PollFlags::POLLIN)];
        let _ = poll(&mut asked, LOOK_MS);
        let came = running.look()?;
        bytes += came.lines.iter().map(String::len).sum::<usize>();
        lines.extend(came.lines);
        if came.ended.is_some() {
            break;
        }
        if bytes > MOST_BYTES {
            running.end();
            lines.push("… and more, which the window shows".to_owned());
            break;
        }
        if clock::running_ms() - begun_ms > LONGEST_MS {
            running.end();
            lines.push(format!("… ended after {} s", LONGEST_MS / 1_000));
            break;
        }
    }
    Ok(lines.join("\n").trim_end().to_owned())
}
