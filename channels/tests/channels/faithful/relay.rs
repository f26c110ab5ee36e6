//! A wire that can be cut: it carries bytes to a server on this machine, or loses the answers, or is not there.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    Carries,
    /// A connection ends before anything of it arrived.
    Cut,
    /// All arrives at the server; of its answer not a byte comes back.
    LosesAnswers,
    /// What was connected before is forgotten: nothing comes or goes, and no end is told. What is new is carried.
    ForgetsTheOld,
}

pub struct Relay {
    port: u16,
    wire: Arc<Mutex<Wire>>,
}

impl Relay {
    pub fn to(server: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let (port, wire) = (listener.local_addr().unwrap().port(), Arc::new(Mutex::new(Wire::Carries)));
        let of = wire.clone();
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let of = of.clone();
                thread::spawn(move || carry(client, server, &of));
            }
        });
        Self { port, wire }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn set(&self, wire: Wire) {
        *self.wire.lock().unwrap() = wire;
    }
}

fn carry(client: TcpStream, server: u16, wire: &Arc<Mutex<Wire>>) {
    let now = || *wire.lock().unwrap();
    let born = now();
    if born == Wire::Cut {
        return;
    }
    let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else { return };
    let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    let (of, is_old) = (wire.clone(), born != Wire::ForgetsTheOld);
    let is_forgotten = move || is_old && *of.lock().unwrap() == Wire::ForgetsTheOld;
    let forgotten = is_forgotten.clone();
    let out = thread::spawn(move || {
        let mut bytes = vec![0; 64 << 10];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            if !forgotten() && to.write_all(bytes.get(..count).unwrap_or_default()).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Write);
    });
    let (mut from, mut to, mut bytes) = (server, client, vec![0; 64 << 10]);
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if is_forgotten() {
            continue;
        }
        // What is cut while an answer is under way loses it too.
        let is_carried = matches!(now(), Wire::Carries | Wire::ForgetsTheOld);
        if !is_carried || to.write_all(bytes.get(..count).unwrap_or_default()).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
    let _ = out.join();
}
