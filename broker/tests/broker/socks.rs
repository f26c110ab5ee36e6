//! A SOCKS proxy in the owner's environment: pages come through it (RFC 1928).

use crate::outside::{Start, reply, start};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// Greets, takes one CONNECT, and answers as the server behind it; keeps the names that were asked for.
fn serve(stream: &mut TcpStream, names: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let mut two = [0; 2];
    stream.read_exact(&mut two)?;
    stream.read_exact(&mut vec![0; usize::from(two[1])])?;
    stream.write_all(&[5, 0])?;
    let mut head = [0; 4];
    stream.read_exact(&mut head)?;
    // Version, CONNECT, reserved, and what follows: an IPv4 address or a name with its length.
    assert_eq!((head[0], head[1]), (5, 1), "{head:?}");
    let mut length = [4];
    if head[3] == 3 {
        stream.read_exact(&mut length)?;
    }
    let mut asked = vec![0; usize::from(length[0]) + 2];
    stream.read_exact(&mut asked)?;
    asked.truncate(usize::from(length[0]));
    let name = match (head[3], &asked[..]) {
        (1, [a, b, c, d]) => format!("{a}.{b}.{c}.{d}"),
        _ => String::from_utf8(asked).unwrap(),
    };
    names.lock().unwrap().push(name);
    stream.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0])?;
    let mut lines = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    while lines.read_line(&mut line)? > 2 {
        line.clear();
    }
    reply(stream, "200 OK", b"by socks");
    Ok(())
}

fn proxy() -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (at, names) = (listener.local_addr().unwrap(), Arc::new(Mutex::new(Vec::new())));
    let told = Arc::clone(&names);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = serve(&mut stream, &told);
        }
    });
    (at, names)
}

/// Found: each call failed with "unsupported scheme socks5", and nothing at the start had said so.
#[test]
fn pages_come_through_the_owners_socks_proxy() {
    for (scheme, host) in [("socks5h", "example.invalid"), ("socks5", "192.0.1.9")] {
        let (at, names) = proxy();
        let variables = vec![("ALL_PROXY", format!("{scheme}://{at}"))];
        let outside = start(Start { variables, ..Start::default() });
        let answer = outside.page(&format!("http://{host}/page"));
        assert_eq!((answer.status, answer.text().as_str()), (200, "by socks"), "{scheme}: {answer:?}");
        assert_eq!(*names.lock().unwrap(), [host], "{scheme}");
    }
}
