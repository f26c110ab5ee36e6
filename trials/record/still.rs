//! The picture of a life out of its exported page, as an SVG of its own on its own ground. Pure.

/// The first picture of the page with the page's style, which it needs.
pub fn svg(page: &str) -> String {
    let style = between(page, "<style>", "</style>");
    let picture = between(page, "<svg ", "</svg>");
    let (head, body) = picture.split_once('>').expect("the picture's head has an end");
    format!(
        "<svg {head}><style>{style}svg{{min-width:0;background:var(--paper)}}</style>\
         <rect width=\"100%\" height=\"100%\" style=\"fill:var(--paper)\"/>{body}</svg>\n"
    )
}

fn between<'a>(page: &'a str, begin: &str, end: &str) -> &'a str {
    let rest = page.split_once(begin).unwrap_or_else(|| panic!("the export has no {begin}")).1;
    rest.split_once(end).unwrap_or_else(|| panic!("the export has no {end}")).0
}
