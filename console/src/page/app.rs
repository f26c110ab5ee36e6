//! The page as an app of a phone's home screen: its manifest and its icons, which say nothing of the house.

use crate::page::frame::{SVG, asset};
use axum::Router;
use axum::routing::get;
use maud::{Markup, html};

const ICON: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 32 32\"><rect width=\"32\" height=\"32\" \
    fill=\"#2f6f4f\"/><path d=\"M11 25V8h11M11 16h8\" stroke=\"#fff\" stroke-width=\"4\" fill=\"none\"/></svg>";
const MANIFEST: &str = include_str!("app.webmanifest");
const PNG: &str = "image/png";
const ICON_180: &[u8] = include_bytes!("icons/icon-180.png");
const ICON_192: &[u8] = include_bytes!("icons/icon-192.png");
const ICON_512: &[u8] = include_bytes!("icons/icon-512.png");

pub fn routes() -> Router {
    Router::new()
        .route("/app.webmanifest", get(|| async { asset("application/manifest+json", MANIFEST) }))
        .route("/icon.svg", get(|| async { asset(SVG, ICON) }))
        .route("/icon-180.png", get(|| async { asset(PNG, ICON_180) }))
        .route("/icon-192.png", get(|| async { asset(PNG, ICON_192) }))
        .route("/icon-512.png", get(|| async { asset(PNG, ICON_512) }))
}

/// The part of a page's `<head>` by which a phone puts it on its home screen.
pub fn head() -> Markup {
    html! {
        link rel="manifest" href="/app.webmanifest";
        link rel="apple-touch-icon" href="/icon-180.png";
        meta name="apple-mobile-web-app-title" content="Feral";
        meta name="mobile-web-app-capable" content="yes";
        meta name="theme-color" content="#2f6f4f";
    }
}
