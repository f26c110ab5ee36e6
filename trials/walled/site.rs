//! What is outside of the house: a page, a feed, a search, an account on X and a service, on loopback.

use serde_json::json;

const FEED: &str = "<rss version=\"2.0\"><channel><title>Reed</title><item><title>A heron</title>\
    <link>http://reed.example/1</link><guid>1</guid></item></channel></rss>";

/// Starts it; its address.
pub fn start() -> String {
    let server = tiny_http::Server::http("127.0.0.1:0").unwrap();
    let address = format!("http://{}", server.server_addr());
    std::thread::spawn(move || {
        for mut request in server.incoming_requests() {
            let mut body = String::new();
            let _ = request.as_reader().read_to_string(&mut body);
            let url = request.url().to_owned();
            let path = url.split('?').next().unwrap_or_default();
            let (kind, text) = match path {
                "/article" => ("text/html; charset=utf-8", trials::model::ARTICLE.to_owned()),
                "/feed" => ("application/rss+xml", FEED.to_owned()),
                "/search" => ("application/json", json!({"results": [{"title": "Herons", "url": "http://reed.example/", "content": "seven herons"}]}).to_string()),
                "/2/users/me" => ("application/json", json!({"data": {"id": "7", "username": "heron"}}).to_string()),
                "/2/tweets" => ("application/json", json!({"data": {"id": "77", "text": "posted"}}).to_string()),
                path if path.starts_with("/2/media/") => ("application/json", json!({"data": {"id": "79"}}).to_string()),
                path if path.starts_with("/2/") => ("application/json", json!({"data": [{"id": "78", "text": "seven herons", "author_id": "8"}], "meta": {"result_count": 1}}).to_string()),
                _ => ("application/json", json!({"note": "seven herons", "said": body}).to_string()),
            };
            let header = tiny_http::Header::from_bytes("Content-Type", kind).unwrap();
            let _ = request.respond(tiny_http::Response::from_string(text).with_header(header));
        }
    });
    address
}
