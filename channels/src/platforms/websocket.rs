//! A WebSocket that passes the door: TLS unless the owner's own server is on this machine, everything bounded.

use crate::channel::Trouble;
use crate::door::Door;
use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::protocol::frame::CloseFrame;

/// Longest wait for TLS and the handshake, and for a frame to leave.
const PATIENCE: Duration = Duration::from_secs(20);
/// Largest message that is read: the first of a Discord bot in many servers is the largest there is.
const MESSAGE_BYTES: usize = 8 << 20;
const BUFFER_BYTES: usize = 16 << 10;

/// Bytes both ways, with or without TLS.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// An open WebSocket.
pub struct Socket(WebSocketStream<Box<dyn Stream>>);

/// A frame that came.
#[derive(Debug)]
pub enum Frame {
    /// JSON; `Null` where it was none.
    Json(Value),
    /// A ping or a pong.
    Alive,
    /// The other side closes, with its code; `None`: the connection ended.
    Closed(Option<u16>),
}

impl Socket {
    /// Opens `url`; without TLS only where `is_plain` is the owner's wish.
    pub async fn open(door: &Door, url: &str, is_plain: bool) -> Result<Self, Trouble> {
        // Behind its question mark it may hold a ticket, with which anybody could listen.
        let shown = url.split('?').next().unwrap_or_default();
        let wrong = || Trouble::Away(format!("no address of a WebSocket: {shown:.100}"));
        let parsed = reqwest::Url::parse(url).map_err(|_| wrong())?;
        let is_open = match parsed.scheme() {
            "wss" => false,
            "ws" if is_plain => true,
            _ => return Err(wrong()),
        };
        let host = parsed.host_str().ok_or_else(wrong)?.trim_matches(['[', ']']).to_owned();
        let port = parsed.port_or_known_default().ok_or_else(wrong)?;
        let away = |why: String| Trouble::Away(format!("{host}: {why}"));
        let tcp = door.connect(&host, port).await.map_err(|error| Trouble::Away(format!("{error:#}")))?;
        let opened = timeout(PATIENCE, async {
            let stream: Box<dyn Stream> = if is_open {
                Box::new(tcp)
            } else {
                let name =
                    rustls::pki_types::ServerName::try_from(host.clone()).map_err(|e| away(e.to_string()))?;
                let tls = tokio_rustls::TlsConnector::from(door.tls()).connect(name, tcp).await;
                Box::new(tls.map_err(|error| away(error.to_string()))?)
            };
            let config = WebSocketConfig::default()
                .read_buffer_size(BUFFER_BYTES)
                .write_buffer_size(0)
                .max_message_size(Some(MESSAGE_BYTES))
                .max_frame_size(Some(MESSAGE_BYTES));
            tokio_tungstenite::client_async_with_config(parsed.as_str(), stream, Some(config))
                .await
                .map_err(|error| away(error.to_string()))
        });
        let (socket, _) = opened.await.map_err(|_| away("no answer".to_owned()))??;
        Ok(Self(socket))
    }

    /// Waits for the next frame. Nothing is lost where the wait is given up.
    pub async fn next(&mut self) -> Frame {
        match self.0.next().await {
            Some(Ok(Message::Text(text))) => Frame::Json(serde_json::from_str(&text).unwrap_or_default()),
            Some(Ok(Message::Close(frame))) => Frame::Closed(frame.map(|frame| frame.code.into())),
            Some(Ok(Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {
                Frame::Alive
            }
            Some(Err(_)) | None => Frame::Closed(None),
        }
    }

    pub async fn send(&mut self, value: &Value) -> Result<(), ()> {
        self.give(Message::text(value.to_string())).await
    }

    pub async fn ping(&mut self) -> Result<(), ()> {
        self.give(Message::Ping(bytes::Bytes::new())).await
    }

    async fn give(&mut self, message: Message) -> Result<(), ()> {
        match timeout(PATIENCE, self.0.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(()),
        }
    }

    /// Says why it closes, and closes.
    pub async fn close(mut self, code: u16) {
        let frame = CloseFrame { code: code.into(), reason: "".into() };
        let _ = timeout(Duration::from_secs(1), self.0.close(Some(frame))).await;
    }
}
