//! Draws a pattern with its column colouring and its bicolouring: `cargo run --features plot --example picture -- FOLDER`.

use matrix_coloring::{Bidirectional, Column, Direct, GreedyColoring, Pattern, Picture, coloring};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::path::PathBuf::from(std::env::args().nth(1).ok_or("which folder?")?);
    let greedy = GreedyColoring::default();
    // A band with two dense rows and columns.
    let pattern = Pattern::from_fn(24, 24, |i, j| i.abs_diff(j) < 2 || i > 21 || j > 21)?;
    let column = coloring(&pattern, Column, &greedy)?;
    let both = coloring(&pattern, Bidirectional(Direct), &greedy)?;
    println!("{} column colours, {} colours for rows and columns", column.ncolors(), both.ncolors());
    Picture::new(&pattern).column_colors(column.column_colors())?.write_png(folder.join("column.png"))?;
    let picture = Picture::new(&pattern).column_colors(both.column_colors())?.row_colors(both.row_colors())?;
    picture.write_png(folder.join("bicoloring.png"))?;
    picture.write_svg(folder.join("bicoloring.svg"))?;
    Ok(())
}
