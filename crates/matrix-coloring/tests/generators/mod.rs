//! The matrices of `tests/data/colouring.json`, made by formula.
//!
//! Used by the golden tests and by the benchmark, so that every benchmarked matrix is a checked one.

use matrix_coloring::Pattern;

type Entries = Vec<(usize, usize)>;

/// The generator of the golden data.
pub(crate) struct Lcg(pub(crate) u64);

impl Lcg {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) % bound as u64) as usize
    }
}

/// FNV-1a over `u32` little endian.
pub(crate) fn fnv(values: impl IntoIterator<Item = u32>) -> String {
    let mut hash = 1469598103934665603u64;
    for byte in values.into_iter().flat_map(u32::to_le_bytes) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(1099511628211);
    }
    format!("{hash:016x}")
}

/// Hash of a pattern: m, n, then the entries row by row.
pub(crate) fn pattern_fnv(p: &Pattern) -> String {
    let entries = p.entries().flat_map(|(i, j)| [i as u32, j as u32]);
    fnv([p.nrows() as u32, p.ncols() as u32].into_iter().chain(entries))
}

fn build(m: usize, n: usize, entries: impl IntoIterator<Item = (usize, usize)>) -> Pattern {
    Pattern::from_triplets(m, n, entries).unwrap()
}

fn graph(n: usize, edges: impl IntoIterator<Item = (usize, usize)>, diagonal: bool) -> Pattern {
    let mut entries: Entries = edges.into_iter().flat_map(|(i, j)| [(i, j), (j, i)]).collect();
    if diagonal {
        entries.extend((0..n).map(|i| (i, i)));
    }
    build(n, n, entries)
}

pub(crate) fn grid2d(nx: usize, ny: usize, points: usize, periodic: bool) -> Pattern {
    let mut entries = Vec::with_capacity(nx * ny * points);
    for (y, x) in (0..ny).flat_map(|y| (0..nx).map(move |x| (y, x))) {
        for (dy, dx) in (-1i64..2).flat_map(|dy| (-1i64..2).map(move |dx| (dy, dx))) {
            if points == 5 && dx != 0 && dy != 0 {
                continue;
            }
            let (mut a, mut b) = (x as i64 + dx, y as i64 + dy);
            if periodic {
                (a, b) = (a.rem_euclid(nx as i64), b.rem_euclid(ny as i64));
            }
            if (0..nx as i64).contains(&a) && (0..ny as i64).contains(&b) {
                entries.push((x + nx * y, a as usize + nx * b as usize));
            }
        }
    }
    build(nx * ny, nx * ny, entries)
}

pub(crate) fn grid3d(nx: usize, ny: usize, nz: usize, points: usize) -> Pattern {
    let mut entries = Vec::new();
    let size = [nx as i64, ny as i64, nz as i64];
    let index = |p: [i64; 3]| (p[0] + size[0] * (p[1] + size[1] * p[2])) as usize;
    for z in 0..size[2] {
        for (y, x) in (0..size[1]).flat_map(|y| (0..size[0]).map(move |x| (y, x))) {
            for d in 0..27 {
                let d = [d % 3 - 1, d / 3 % 3 - 1, d / 9 - 1];
                let q = [x + d[0], y + d[1], z + d[2]];
                let near = points == 27 || d.iter().map(|c| c.abs()).sum::<i64>() <= 1;
                if near && (0..3).all(|k| (0..size[k]).contains(&q[k])) {
                    entries.push((index([x, y, z]), index(q)));
                }
            }
        }
    }
    let n = nx * ny * nz;
    build(n, n, entries)
}

pub(crate) fn brusselator(n: usize) -> Pattern {
    let k = n * n;
    let mut entries = Vec::with_capacity(12 * k);
    for cell in 0..k {
        let (i, j) = (cell % n, cell / n);
        let near =
            [cell, (i + 1) % n + n * j, (i + n - 1) % n + n * j, i + n * ((j + 1) % n), i + n * ((j + n - 1) % n)];
        entries.extend(near.iter().flat_map(|&c| [(cell, c), (k + cell, k + c)]));
        entries.extend([(cell, k + cell), (k + cell, cell)]);
    }
    build(2 * k, 2 * k, entries)
}

pub(crate) fn gnm_sym(n: usize, m: usize, seed: u64, diagonal: bool) -> Pattern {
    let mut random = Lcg(seed);
    let edges = (0..m).map(|_| (random.below(n), random.below(n))).filter(|(i, j)| i != j);
    graph(n, edges, diagonal)
}

pub(crate) fn powerlaw(n: usize, d: usize, seed: u64, diagonal: bool) -> Pattern {
    let mut random = Lcg(seed);
    let (mut ends, mut edges): (Vec<usize>, Entries) = (Vec::new(), Vec::new());
    for v in 1..n {
        let targets: Vec<usize> =
            (0..d).map(|_| if ends.is_empty() { 0 } else { ends[random.below(ends.len())] }).collect();
        for u in targets {
            edges.push((v, u));
            ends.extend([v, u]);
        }
    }
    graph(n, edges, diagonal)
}

fn block_diagonal(blocks: usize, k: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..blocks).flat_map(move |b| (0..k * k).map(move |e| (b * k + e / k, b * k + e % k)))
}

fn conv2d(h: usize, w: usize, inputs: usize, outputs: usize, k: usize) -> Pattern {
    let (oh, ow) = (h - k + 1, w - k + 1);
    let mut entries = Vec::new();
    for (o, y) in (0..outputs).flat_map(|o| (0..ow).map(move |y| (o, y))) {
        for (x, e) in (0..oh).flat_map(|x| (0..inputs * k * k).map(move |e| (x, e))) {
            let (q, a, b) = (e / (k * k), e % k, e / k % k);
            entries.push((x + oh * (y + ow * o), (x + a) + h * ((y + b) + w * q)));
        }
    }
    build(oh * ow * outputs, h * w * inputs, entries)
}

fn kkt(n: usize, m: usize, k: usize, seed: u64) -> Pattern {
    let mut random = Lcg(seed);
    let mut entries: Entries =
        (0..n).flat_map(|i| [(i, i), (i, (i + 1).min(n - 1)), ((i + 1).min(n - 1), i)]).collect();
    for r in n..n + m {
        for _ in 0..k {
            let j = random.below(n);
            entries.extend([(r, j), (j, r)]);
        }
    }
    build(n + m, n + m, entries)
}

/// The matrix of a generator string such as `grid2d(40,30,5)`.
pub(crate) fn generate(text: &str) -> Pattern {
    let (name, arguments) = text.trim_end_matches(')').split_once('(').unwrap();
    let a: Vec<usize> = arguments.split([',', ';']).filter(|s| !s.is_empty()).map(|s| s.parse().unwrap()).collect();
    let (base, diagonal) = match name.strip_suffix("_nodiag") {
        Some(base) => (base, false),
        None => (name, true),
    };
    let square = |test: &dyn Fn(usize, usize) -> bool| Pattern::from_fn(a[0], a[0], test).unwrap();
    match base {
        "banded" => Pattern::banded(a[0], a[1]).unwrap(),
        "diagonal" => square(&|i, j| i == j),
        "arrowhead" => square(&|i, j| i == 0 || j == 0 || i == j),
        "antidiagonal" => square(&|i, j| j == a[0] - 1 - i),
        "upper_triangular" => square(&|i, j| j >= i),
        "hessenberg" => square(&|i, j| j + 1 >= i),
        "dense_row_diag" => square(&|i, j| i == 0 || i == j),
        "dense_col_diag" => square(&|i, j| j == 0 || i == j),
        "circulant" => square(&|i, j| a[1..].iter().any(|o| (i + o) % a[0] == j)),
        "frame" => {
            let test = |i, j| i == 0 || j == 0 || i == a[0] - 1 || j == a[1] - 1;
            Pattern::from_fn(a[0], a[1], test).unwrap()
        }
        "toeplitz_rect" => Pattern::from_fn(a[0], a[0] + a[1] - 1, |i, j| j >= i && j < i + a[1]).unwrap(),
        "grid2d" => grid2d(a[0], a[1], a[2], false),
        "grid2d_periodic" => grid2d(a[0], a[1], a[2], true),
        "grid3d" => grid3d(a[0], a[1], a[2], a[3]),
        "brusselator" => brusselator(a[0]),
        "block_diag" => build(a[0] * a[1], a[0] * a[1], block_diagonal(a[0], a[1])),
        "bordered" => {
            let (inner, n) = (a[0] * a[1], a[0] * a[1] + a[2]);
            let border = (inner..n).flat_map(|i| (0..n).flat_map(move |j| [(i, j), (j, i)]));
            build(n, n, block_diagonal(a[0], a[1]).chain(border))
        }
        "gnm_sym" => gnm_sym(a[0], a[1], a[2] as u64, diagonal),
        "powerlaw" => powerlaw(a[0], a[1], a[2] as u64, diagonal),
        "rand_rows" => {
            let mut random = Lcg(a[3] as u64);
            let entries: Entries = (0..a[0] * a[2]).map(|e| (e / a[2], random.below(a[1]))).collect();
            build(a[0], a[1], entries)
        }
        "cycle" => graph(a[0], (0..a[0]).map(|i| (i, (i + 1) % a[0])), diagonal),
        "complete" => graph(a[0], (0..a[0]).flat_map(|i| (0..i).map(move |j| (i, j))), diagonal),
        "complete_bipartite" => {
            let edges = (0..a[0]).flat_map(|i| (0..a[1]).map(move |j| (i, j)));
            graph(a[0] + a[1], edges.map(|(i, j)| (i, a[0] + j)), diagonal)
        }
        "hypercube" => {
            let n = 1 << a[0];
            graph(n, (0..n).flat_map(|i| (0..a[0]).map(move |b| (i, i ^ (1 << b)))), diagonal)
        }
        "petersen" => {
            let edges = (0..5).flat_map(|i| [(i, (i + 1) % 5), (i, i + 5), (i + 5, (i + 2) % 5 + 5)]);
            graph(10, edges, diagonal)
        }
        "binary_tree" => graph(a[0], (1..a[0]).map(|i| (i, (i - 1) / 2)), diagonal),
        "wheel" => {
            let rim = a[0] - 1;
            let edges = (0..rim).flat_map(|i| [(0, i + 1), (i + 1, (i + 1) % rim + 1)]);
            graph(a[0], edges, diagonal)
        }
        "conv2d" => conv2d(a[0], a[1], a[2], a[3], a[4]),
        "kkt" => kkt(a[0], a[1], a[2], a[3] as u64),
        "staircase" => {
            let (blocks, r, c, over) = (a[0], a[1], a[2], a[3]);
            let entries = (0..blocks).flat_map(|b| (0..r).map(move |i| (b, b * r + i)));
            let entries = entries.flat_map(|(b, i)| (b * c..b * c + c + over).map(move |j| (i, j)));
            build(blocks * r, blocks * c + over, entries)
        }
        _ => panic!("no generator {text}"),
    }
}
