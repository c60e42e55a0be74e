#![allow(unused)]
use differentiation_interface_macros::differentiable;
use std::fmt::Write;

#[differentiable(crate = "differentiation_interface_core")]
fn named_in_the_text(x: &[f64]) -> f64 {
    let y = x[0];
    format!("{y}").parse::<f64>().unwrap()
}

#[differentiable(crate = "differentiation_interface_core")]
fn written(x: &[f64]) -> f64 {
    let mut line = String::new();
    write!(line, "{:.3} {}", 1.0, x[0]).unwrap();
    let numbers: Vec<f64> = line.split(' ').map(|word| word.parse().unwrap()).collect();
    numbers[1]
}

#[differentiable(crate = "differentiation_interface_core")]
fn digits(x: &[f64]) -> f64 {
    let text: String = x.iter().map(|v| v.to_string()).collect();
    let mut sum = 0.0;
    for digit in text.chars() {
        sum += digit.to_digit(10).unwrap_or(0) as f64;
    }
    sum
}

#[differentiable(crate = "differentiation_interface_core")]
mod across_functions {
    use std::str::FromStr;

    pub struct Line {
        at: f64,
        text: String,
    }

    fn show(value: f64) -> String {
        format!("{value}")
    }

    fn read(text: &str) -> f64 {
        text.trim().parse().unwrap()
    }

    fn first(text: &str) -> f64 {
        f64::from_str(text.split(',').next().unwrap()).unwrap()
    }

    fn put(text: &mut String, value: f64) {
        text.push_str(&value.to_string());
    }

    impl Line {
        fn number(&self) -> f64 {
            self.text.parse::<f64>().unwrap_or(self.at)
        }
    }

    pub fn energy(x: &[f64]) -> f64 {
        let mut row = String::from("1,");
        put(&mut row, x[1]);
        let line = Line { at: x[0], text: vec![show(x[0]), show(x[1])].join(" ") };
        read(&show(x[0])) + first(&row) + line.number()
    }
}

fn main() {}
