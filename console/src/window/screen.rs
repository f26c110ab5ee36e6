//! The terminal's lower end: finished lines go above into the scrollback, the few live ones are redrawn below them.

use crate::window::view::Live;
use anyhow::{Context, Result};
use house::terminal;
use ratatui_core::backend::{Backend, ClearType, WindowSize};
use ratatui_core::buffer::Cell;
use ratatui_core::layout::{Position, Rect, Size};
use ratatui_core::terminal::{Terminal, TerminalOptions, Viewport};
use ratatui_core::text::Line;
use ratatui_crossterm::CrosstermBackend;
use ratatui_crossterm::crossterm::cursor::{MoveTo, Show, position};
use ratatui_crossterm::crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use ratatui_crossterm::crossterm::execute;
use ratatui_crossterm::crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, EndSynchronizedUpdate, disable_raw_mode, enable_raw_mode,
};
use std::fs::File;
use std::io::{self, BufWriter};
use std::ops::Range;

/// Lines that are inserted at once.
const AT_ONCE: usize = 100;

/// The terminal while the window has it; its former state comes back when this is dropped.
pub struct Screen {
    out: File,
    terminal: Terminal<Placed>,
    size: Size,
    height: u16,
    /// Blank lines before the live ones, where there were more: the next finished lines take their place, so that the
    /// prompt stays where it is and nothing stands under it.
    spare: u16,
    /// The live lines as they stand there, and the cursor among them.
    lines: Vec<Line<'static>>,
    cursor: (usize, usize),
}

impl Screen {
    pub fn open() -> Result<Self> {
        let mut out = terminal::shared().context("failed to share the terminal")?;
        let (columns, rows) = terminal::size().context("the terminal does not say how large it is")?;
        let size = Size::new(columns, rows);
        match taken(&mut out, size) {
            Ok(terminal) => {
                Ok(Self { out, terminal, size, height: 1, spare: 0, lines: vec![], cursor: (0, 0) })
            }
            Err(error) => {
                let _ = disable_raw_mode();
                Err(error)
            }
        }
    }

    /// Leaves the terminal as it was, for another process that has it meanwhile.
    pub fn leave(&mut self) {
        let top = self.top();
        let _ = execute!(
            self.out,
            MoveTo(0, top),
            Clear(ratatui_crossterm::crossterm::terminal::ClearType::FromCursorDown),
            DisableBracketedPaste,
            Show
        );
        let _ = disable_raw_mode();
    }

    /// Takes the terminal again, whatever became of its modes and its text.
    pub fn come_back(&mut self) -> Result<()> {
        let _ = disable_raw_mode();
        if let Some((columns, rows)) = terminal::size() {
            self.size = Size::new(columns, rows);
        }
        self.terminal = taken(&mut self.out, self.size)?;
        (self.height, self.spare, self.cursor) = (1, 0, (0, 0));
        self.lines.clear();
        Ok(())
    }

    /// Columns and rows.
    pub fn size(&self) -> (usize, usize) {
        (self.size.width.into(), self.size.height.into())
    }

    /// Finished lines, above the live ones.
    pub fn insert(&mut self, lines: &[Line]) -> Result<()> {
        execute!(self.out, BeginSynchronizedUpdate)?;
        let spare = std::mem::take(&mut self.spare);
        if spare > 0 {
            let top = self.top();
            self.stand(top, self.height.saturating_sub(spare).max(1))?;
        }
        for part in lines.chunks(AT_ONCE) {
            let height = u16::try_from(part.len()).unwrap_or(u16::MAX);
            self.terminal.insert_before(height, |buffer| {
                for (y, line) in (0..height).zip(part) {
                    buffer.set_line(0, y, line, buffer.area.width);
                }
            })?;
        }
        let left = spare.saturating_sub(u16::try_from(lines.len()).unwrap_or(u16::MAX));
        if left > 0 {
            let top = self.top();
            self.stand(top, self.height + left)?;
            self.spare = left;
        }
        // The cursor is where the last line was drawn.
        self.place_cursor()?;
        execute!(self.out, EndSynchronizedUpdate)?;
        Ok(())
    }

    /// The live lines, where they have changed.
    pub fn draw(&mut self, mut live: Live) -> Result<()> {
        let most = self.size.height.saturating_sub(1).max(1);
        let height = u16::try_from(live.lines.len()).unwrap_or(u16::MAX).clamp(1, most);
        let spare = self.height.saturating_sub(height);
        drop(live.lines.splice(0..0, (0..spare).map(|_| Line::default())));
        live.cursor.1 += usize::from(spare);
        if live.lines == self.lines && live.cursor == self.cursor {
            return Ok(());
        }
        execute!(self.out, BeginSynchronizedUpdate)?;
        self.spare = spare;
        if height > self.height {
            let top = self.top();
            self.stand(top, height)?;
        }
        let height = self.height;
        // Where there is no room for all, the last ones show: the prompt is among them.
        let left_out = live.lines.len().saturating_sub(height.into());
        (self.lines, self.cursor) = (live.lines, live.cursor);
        self.cursor.1 = self.cursor.1.saturating_sub(left_out);
        self.lines.drain(..left_out);
        let (lines, cursor) = (&self.lines, self.cursor);
        self.terminal.draw(|frame| {
            let area = frame.area();
            for (y, line) in (area.y..area.bottom()).zip(lines) {
                frame.buffer_mut().set_line(area.x, y, line, area.width);
            }
            frame.set_cursor_position(place(cursor, area));
        })?;
        execute!(self.out, EndSynchronizedUpdate)?;
        Ok(())
    }

    fn place_cursor(&mut self) -> Result<()> {
        let area = self.terminal.get_frame().area();
        let at = place(self.cursor, area);
        execute!(self.out, MoveTo(at.x, at.y), Show)?;
        Ok(())
    }

    /// The row that the live lines begin at.
    fn top(&mut self) -> u16 {
        self.terminal.get_frame().area().y
    }

    /// Clears the screen from a row on, and has so many live lines stand there.
    fn stand(&mut self, top: u16, height: u16) -> Result<()> {
        execute!(
            self.out,
            MoveTo(0, top),
            Clear(ratatui_crossterm::crossterm::terminal::ClearType::FromCursorDown)
        )?;
        self.terminal = placed(self.size, top, height)?;
        self.height = height;
        self.lines.clear();
        Ok(())
    }

    /// Adapts to another size: finds the live lines by the cursor, and draws them anew.
    pub fn resized(&mut self) -> Result<()> {
        let Some((columns, rows)) = terminal::size() else { return Ok(()) };
        let size = Size::new(columns, rows);
        if size == self.size {
            return Ok(());
        }
        self.size = size;
        let (_, y) = asked_place(size);
        let top = y.saturating_sub(u16::try_from(self.cursor.1).unwrap_or(0));
        let height = self.height.min(rows.saturating_sub(1).max(1));
        self.stand(top, height)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Keys come one by one, pastes whole, and the live lines begin where the cursor is.
fn taken(out: &mut File, size: Size) -> Result<Terminal<Placed>> {
    enable_raw_mode().context("failed to take the terminal over")?;
    execute!(out, EnableBracketedPaste)?;
    let (x, y) = asked_place(size);
    // A line that something stands on is left as it is.
    let y = if x > 0 { begin_line(out, y, size)? } else { y };
    placed(size, y, 1)
}

/// A column and line of the live lines as a place on the screen.
fn place((column, line): (usize, usize), area: Rect) -> Position {
    let x = u16::try_from(column).unwrap_or(0).min(area.width.saturating_sub(1));
    let y = u16::try_from(line).unwrap_or(0).min(area.height.saturating_sub(1));
    Position::new(area.x + x, area.y + y)
}

/// Asks the terminal for the cursor's place; the lower end where it does not answer.
fn asked_place(size: Size) -> (u16, u16) {
    let (x, y) = position().unwrap_or((1, size.height.saturating_sub(1)));
    (x, y.min(size.height.saturating_sub(1)))
}

/// Begins a line below this one; returns its row.
fn begin_line(out: &mut File, y: u16, size: Size) -> Result<u16> {
    io::Write::write_all(out, b"\r\n")?;
    Ok((y + 1).min(size.height.saturating_sub(1)))
}

fn placed(size: Size, top: u16, height: u16) -> Result<Terminal<Placed>> {
    let out = terminal::shared().context("failed to share the terminal")?;
    let mut backend =
        Placed { inner: CrosstermBackend::new(BufWriter::new(out)), size, at: Position::new(0, top) };
    backend.set_cursor_position(Position::new(0, top))?;
    Terminal::with_options(backend, TerminalOptions { viewport: Viewport::Inline(height) })
        .context("failed to draw at the terminal")
}

/// A terminal that is not asked where its cursor is, nor how large it is: both are known.
struct Placed {
    inner: CrosstermBackend<BufWriter<File>>,
    size: Size,
    at: Position,
}

impl Backend for Placed {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        self.inner.draw(content)
    }

    fn append_lines(&mut self, lines: u16) -> io::Result<()> {
        self.inner.append_lines(lines)
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.inner.hide_cursor()
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        self.inner.show_cursor()
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        Ok(self.at)
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        self.at = position.into();
        self.inner.set_cursor_position(self.at)
    }

    fn clear(&mut self) -> io::Result<()> {
        self.inner.clear()
    }

    fn clear_region(&mut self, region: ClearType) -> io::Result<()> {
        self.inner.clear_region(region)
    }

    fn size(&self) -> io::Result<Size> {
        Ok(self.size)
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        Ok(WindowSize { columns_rows: self.size, pixels: Size::new(0, 0) })
    }

    fn flush(&mut self) -> io::Result<()> {
        Backend::flush(&mut self.inner)
    }

    fn scroll_region_up(&mut self, region: Range<u16>, lines: u16) -> io::Result<()> {
        self.inner.scroll_region_up(region, lines)
    }

    fn scroll_region_down(&mut self, region: Range<u16>, lines: u16) -> io::Result<()> {
        self.inner.scroll_region_down(region, lines)
    }
}
