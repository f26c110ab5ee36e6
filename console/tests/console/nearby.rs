//! Model servers on this machine, as the owner hears of them: by `status` which run unused, by `doctor` a small window too.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use trials::{House, SOUND, said};

/// A server with these pages, for as long as the test lives; its port.
fn server(pages: Value) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(&stream);
            let mut lines = reader.by_ref().lines().map_while(Result::ok).take_while(|line| !line.is_empty());
            let first = lines.next().unwrap_or_default();
            let length =
                lines.filter_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
            let length: u64 = length.last().unwrap_or(0);
            let _ = std::io::copy(&mut reader.take(length), &mut std::io::sink());
            let page = pages.get(first.split(' ').nth(1).unwrap_or_default());
            let (status, body) = page.map_or((404, String::new()), |page| (200, page.to_string()));
            let length = body.len();
            let head =
                format!("HTTP/1.1 {status} x\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
            let _ = stream.write_all((head + &body).as_bytes());
        }
    });
    port
}

#[test]
fn a_server_that_runs_unused_shows_in_status_and_doctor() {
    let port = server(json!({"/v1/models": {"data": [{"id": "a-small-one"}]}}));
    let house = House::new(SOUND).with_broker();
    house.settings(&format!(
        "[makers.here]\nlocal = true\naddress = \"http://127.0.0.1:{port}/v1\"\n[model]\nprovider = \"instinct\"\n"
    ));
    let told = format!("here runs at 127.0.0.1:{port} with a-small-one, and is not used");
    let doctor = said(&house.ask(&["doctor"]));
    assert!(doctor.contains(&told), "{doctor}");
    let guardian = house.start();
    house.until("status to tell of it", || said(&house.ask(&["status"])).contains(&told));
    guardian.stop();
}

#[test]
fn doctor_says_how_a_window_that_is_too_small_is_made_larger() {
    let port = server(json!({
        "/api/ps": {"models": [{"name": "m", "model": "m", "context_length": 4_096}]},
        "/api/show": {"model_info": {"q.context_length": 131_072}},
    }));
    let house = House::new(SOUND).with_broker();
    house.settings(&format!(
        "[model]\nprovider = \"ollama\"\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:{port}\"\n"
    ));
    let doctor = said(&house.ask(&["doctor"]));
    assert!(doctor.contains("has loaded m with a window of 4096 tokens"), "{doctor}");
    assert!(
        doctor.contains("OLLAMA_CONTEXT_LENGTH=32000 ollama serve") && doctor.contains("num_ctx 32000"),
        "{doctor}"
    );
}
