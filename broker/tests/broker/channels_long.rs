//! What a channel meets after hours: a tunnel that is silent between heartbeats, a crowd beside it, and the most that an hour may send.

use crate::channels::{connect, house, leaving, says};
use crate::outside::{CHANNELS, Server, happens, reply};
use broker::channels::{MOST, MOST_MESSAGES};
use broker::net::tunnel::{Most, Passed, both_ways};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

/// RFC 2177 (IDLE): a client begins anew "at least every 29 minutes", and is silent between. Discord's heartbeats, Slack's pings and
/// Telegram's polls come more often.
const LONGEST_SILENCE: Duration = Duration::from_secs(29 * 60);

#[test]
fn a_tunnel_lives_while_anything_passes_and_ends_after_the_silence_it_is_given() {
    assert!(MOST.silence > LONGEST_SILENCE);
    let silence = Duration::from_secs(2);
    let most = Most { silence, ..MOST };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for beats_of_server in [false, true] {
        let (why, lived, beats) = runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let at = listener.local_addr().unwrap();
            let (mut outer, accepted) = tokio::join!(tokio::net::TcpStream::connect(at), listener.accept());
            let (mut platform, mut inner) = (accepted.unwrap().0, duplex(1_024));
            let begun = Instant::now();
            let talk = async {
                let mut heard = [0; 4];
                for _ in 0..12 {
                    tokio::time::sleep(silence / 8).await;
                    if beats_of_server {
                        platform.write_all(b"beat").await.unwrap();
                        inner.0.read_exact(&mut heard).await.unwrap();
                    } else {
                        inner.0.write_all(b"beat").await.unwrap();
                        platform.read_exact(&mut heard).await.unwrap();
                    }
                    assert_eq!(&heard, b"beat");
                }
                // Whichever side beats no more, neither closes.
                std::future::pending::<()>().await;
            };
            let mut passed = Passed::default();
            let outer = outer.as_mut().unwrap();
            let carried = both_ways(&mut inner.1, outer, most, &mut passed);
            let why = tokio::select! { why = carried => why, () = talk => unreachable!() };
            (why, begun.elapsed(), passed.bytes_out + passed.bytes_in)
        });
        assert_eq!((why, beats), ("idle", 48));
        assert!(lived >= silence / 8 * 12 + silence, "{lived:?}");
    }
}

#[test]
fn a_crowd_of_connections_ends_no_tunnel() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut heard = [0; 4];
        while stream.read_exact(&mut heard).is_ok() {
            stream.write_all(&heard).unwrap();
        }
    });
    let outside = house(&format!("http://{at}"));
    let (mut tunnel, answer) = connect(&outside, &at.to_string(), CHANNELS);
    assert_eq!(answer.status, 200, "{answer:?}");
    // More than the door holds, so that the oldest that is idle has to go for each.
    let crowd: Vec<_> = (0..400).map(|_| outside.connect()).collect();
    for beat in [b"beat", b"more"] {
        tunnel.write_all(beat).unwrap();
        let mut heard = [0; 4];
        tunnel.read_exact(&mut heard).unwrap();
        assert_eq!(&heard, beat);
    }
    drop(crowd);
}

#[test]
fn beyond_the_most_of_an_hour_a_message_waits_for_the_next_and_other_channels_do_not() {
    let server = Server::new(|_, _, stream| reply(stream, "200 OK", b"{}"));
    let outside = house(&server.url(""));
    let left = AtomicU32::new(MOST_MESSAGES);
    std::thread::scope(|scope| {
        for _ in 0..32 {
            scope.spawn(|| {
                while left
                    .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1))
                    .is_ok()
                {
                    assert_eq!(says(&outside, "/channels/send", CHANNELS, &leaving("matrix")).status, 200);
                }
            });
        }
    });
    let written = || outside.ledger().iter().filter(|line| line["event"] == "message").count();
    assert_eq!(written(), MOST_MESSAGES as usize);
    let refused = says(&outside, "/channels/send", CHANNELS, &leaving("matrix"));
    assert_eq!((refused.status, refused.kind()), (429, "too_many_messages"), "{refused:?}");
    let wait: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((3_000..=3_601).contains(&wait), "{wait} s until the hour is over");
    assert_eq!(says(&outside, "/channels/send", CHANNELS, &leaving("telegram")).status, 200);
    assert!(happens(|| written() == MOST_MESSAGES as usize + 1));
}
