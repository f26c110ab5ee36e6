//! Connections: accepted at once, none held without sending; the guard stands before every route.

use crate::page::door::{self, Door, Place};
use crate::page::guard::{Judged, Refusal, judge};
use crate::page::{Server, form, frame, routes};
use anyhow::{Context, Result};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::Response;
use http::{HeaderValue, Method, StatusCode, header};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;
use tower::ServiceExt;

/// Longest time for a request's head and for a form.
const HEAD: Duration = Duration::from_secs(10);
const FORM: Duration = Duration::from_secs(20);
/// Most bytes held of a connection; no head is longer.
const MOST_HELD_BYTES: usize = 32 << 10;

/// Serves until a signal; `begun` is called once it listens.
pub async fn run(server: Arc<Server>, listener: TcpListener, begun: impl FnOnce()) -> Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener).context("failed to listen")?;
    let mut terminated = signal(SignalKind::terminate()).context("failed to listen for signals")?;
    let mut interrupted = signal(SignalKind::interrupt()).context("failed to listen for signals")?;
    let mut hung_up = signal(SignalKind::hangup()).context("failed to listen for signals")?;
    let door = Door::default();
    let router = router(server.clone());
    begun();
    loop {
        let accepted = tokio::select! {
            _ = terminated.recv() => break,
            _ = interrupted.recv() => break,
            _ = hung_up.recv() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                let (place, ended) = door.admit();
                tokio::spawn(converse(stream, router.clone(), place, ended));
                // Read before the next one comes: what has sent its token already is known at once.
                tokio::task::yield_now().await;
            }
            // Too many files are open: some will be closed.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
    Ok(())
}

async fn converse(stream: TcpStream, router: Router, place: Arc<Place>, mut ended: oneshot::Receiver<()>) {
    let _ = stream.set_nodelay(true);
    let asking = place.clone();
    let service = TowerToHyperService::new(router.map_request(move |request: http::Request<_>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(asking.clone());
        request
    }));
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(MOST_HELD_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    let outstays = async {
        tokio::time::sleep(door::STRANGER).await;
        if place.is_kept() {
            tokio::time::sleep(door::LONGEST).await;
        }
    };
    // One that broke is of no weight: a browser begins another.
    tokio::select! {
        _ = served => {}
        _ = &mut ended => {}
        () = outstays => {}
    }
}

fn router(server: Arc<Server>) -> Router {
    let guarded = middleware::from_fn_with_state(server.clone(), guarded);
    routes::all(&server).layer(guarded).with_state(server)
}

/// Lets a request in, or refuses it and ends its connection; every answer says that it is closed to other sites.
async fn guarded(State(server): State<Arc<Server>>, request: Request, next: Next) -> Response {
    let (asked, body) = request.into_parts();
    let token = server.link.token();
    let judged = judge(&asked, &token, &server.cookie());
    if let (Judged::Passes | Judged::Enters { .. }, Some(place)) =
        (&judged, asked.extensions.get::<Arc<Place>>())
    {
        place.keep();
    }
    let mut response = match judged {
        Judged::Refused(refusal) => {
            let mut response = frame::refuse(&refusal);
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            response
        }
        Judged::Enters { from_elsewhere } => {
            server.admitted(&token, if from_elsewhere { frame::entry() } else { frame::see("/") })
        }
        Judged::Passes if asked.method == Method::POST => {
            match tokio::time::timeout(FORM, axum::body::to_bytes(body, form::MOST_BYTES)).await {
                Ok(Ok(bytes)) => {
                    let fields = form::Fields::read(&bytes);
                    let mut request = Request::from_parts(asked, Body::empty());
                    request.extensions_mut().insert(fields);
                    next.run(request).await
                }
                Ok(Err(_)) => unread(StatusCode::PAYLOAD_TOO_LARGE, "The form is too long."),
                Err(_) => unread(StatusCode::REQUEST_TIMEOUT, "The form did not arrive within its time."),
            }
        }
        Judged::Passes | Judged::Open => next.run(Request::from_parts(asked, body)).await,
    };
    frame::close(response.headers_mut());
    response
}

fn unread(status: StatusCode, why: &'static str) -> Response {
    frame::refuse(&Refusal { status, why, what_to_do: "Nothing was done. Go back and send less at once." })
}
