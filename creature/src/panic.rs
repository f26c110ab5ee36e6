//! Panics: each is logged in one line with its place, and ends the process, except within a tool call.
//!
//! Invariant: a panic of the loop or the heartbeat ends the process with status 101 at once, so that
//! nothing half alive keeps beating. A tool that panics is a failed result, and the life goes on.

use crate::fault::Fault;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::pin::pin;
use std::task::Poll;

/// The exit status of a Rust program that panicked; the guardian knows it.
const PANICKED: i32 = 101;

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
    static SAID: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Sets the hook, once, before anything else runs.
pub fn install() {
    std::panic::set_hook(Box::new(|panic| {
        let said = sentence(panic);
        tracing::error!("{said}");
        if GUARDED.get() {
            SAID.set(said);
            return;
        }
        // Other threads are the runtime's, and carry parts of tool calls: their panics come back to
        // the call as errors.
        let thread = std::thread::current();
        if matches!(thread.name(), None | Some("main" | "heartbeat")) {
            std::process::exit(PANICKED);
        }
    }));
}

fn sentence(panic: &PanicHookInfo) -> String {
    let payload = panic.payload();
    let what = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    let place = panic.location().map_or("an unknown place".to_owned(), ToString::to_string);
    format!("panicked at {place}: {}", what.replace('\n', " "))
}

/// Awaits the call of this name; a panic in it is a fault.
pub async fn caught<T>(name: &str, call: impl Future<Output = T>) -> Result<T, Fault> {
    let mut call = pin!(call);
    std::future::poll_fn(|context| {
        GUARDED.set(true);
        let polled = catch_unwind(AssertUnwindSafe(|| call.as_mut().poll(context)));
        GUARDED.set(false);
        match polled {
            Ok(polled) => polled.map(Ok),
            Err(_) => {
                let hint = "this is a bug in the tool's source under creature/; other tools still work";
                Poll::Ready(Err(Fault::new(format!("{name} {}", SAID.take()), hint)))
            }
        }
    })
    .await
}
