//! Connections: accepted within a bound, none held without sending; the guard stands before every route.

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
use tokio::sync::Semaphore;
use tower::ServiceExt;

/// Longest time for a request's head and for a form; how long a connection may last, and how many there may be.
const HEAD: Duration = Duration::from_secs(10);
const FORM: Duration = Duration::from_secs(20);
const LONGEST: Duration = Duration::from_secs(60 * 60);
const MOST_CONNECTIONS: usize = 64;
/// Most bytes held of a connection; no head is longer.
const MOST_HELD_BYTES: usize = 32 << 10;

/// Serves until a signal; `begun` is called once it listens.
pub async fn run(server: Arc<Server>, listener: TcpListener, begun: impl FnOnce()) -> Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener).context("failed to listen")?;
    let mut terminated = signal(SignalKind::terminate()).context("failed to listen for signals")?;
    let mut interrupted = signal(SignalKind::interrupt()).context("failed to listen for signals")?;
    let mut hung_up = signal(SignalKind::hangup()).context("failed to listen for signals")?;
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let router = router(server.clone());
    begun();
    loop {
        let accepted = async {
            let place = places.clone().acquire_owned().await;
            (listener.accept().await, place)
        };
        let (accepted, place) = tokio::select! {
            _ = terminated.recv() => break,
            _ = interrupted.recv() => break,
            _ = hung_up.recv() => break,
            accepted = accepted => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                let router = router.clone();
                tokio::spawn(async move {
                    converse(stream, router).await;
                    drop(place);
                });
            }
            // Too many files are open: some will be closed.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
    Ok(())
}

async fn converse(stream: TcpStream, router: Router) {
    let _ = stream.set_nodelay(true);
    let service =
        TowerToHyperService::new(router.map_request(|request: http::Request<_>| request.map(Body::new)));
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(MOST_HELD_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    // One that broke is of no weight: a browser begins another.
    let _ = tokio::time::timeout(LONGEST, served).await;
}

fn router(server: Arc<Server>) -> Router {
    let guarded = middleware::from_fn_with_state(server.clone(), guarded);
    routes::all().layer(guarded).with_state(server)
}

/// Lets a request in, or refuses it; whatever is answered says that it is closed to others.
async fn guarded(State(server): State<Arc<Server>>, request: Request, next: Next) -> Response {
    let (asked, body) = request.into_parts();
    let (token, cookie) = (server.link.token(), server.cookie());
    let mut response = match judge(&asked, &token, &cookie) {
        Judged::Refused(refusal) => frame::refuse(&refusal),
        Judged::Enters { from_elsewhere } => {
            let mut response = if from_elsewhere { frame::entry() } else { frame::see("/") };
            let set = format!("{cookie}={token}; HttpOnly; SameSite=Strict; Path=/");
            if let Ok(set) = HeaderValue::from_str(&set) {
                response.headers_mut().insert(header::SET_COOKIE, set);
            }
            response
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
        Judged::Passes => next.run(Request::from_parts(asked, body)).await,
    };
    frame::close(response.headers_mut());
    response
}

fn unread(status: StatusCode, why: &'static str) -> Response {
    frame::refuse(&Refusal { status, why, what_to_do: "Nothing was done. Go back and send less at once." })
}
