//! Programs of separable recordings beside those of the usual passes: the same results, bit for bit.

use crate::program::{Program, Space};
use crate::{Graph, Limits, Recorded, compile, record};
use differentiation_interface_core::error::ErrorKind;
use num_traits::Float;

fn numbers(n: usize) -> Vec<f64> {
    (0..n).map(|i| 0.5 + ((i * 7919) % 1009) as f64 / 1009.0).collect()
}

const PARAMETERS: [f64; 2] = [1.25, 0.75];

fn recorded(inputs: usize, f: impl FnOnce(&[Recorded], &[Recorded], &mut Vec<Recorded>)) -> Graph {
    record(&numbers(inputs), &PARAMETERS, Limits::default(), f).unwrap()
}

/// The pattern of a recording, as compressed rows.
fn pattern(graph: &Graph) -> (Vec<u32>, Vec<u32>) {
    let first = graph.first_node();
    let mut sets: Vec<Vec<u32>> = Vec::new();
    let set = |sets: &[Vec<u32>], operand: u32| match operand as usize {
        _ if operand & crate::CONSTANT != 0 => Vec::new(),
        i if i >= first => sets[i - first].clone(),
        i if i < graph.inputs => vec![operand],
        _ => Vec::new(),
    };
    for node in &graph.nodes {
        let mut all = set(&sets, node.a);
        if !matches!(node.op, crate::Op::Unary(_)) {
            all.extend(set(&sets, node.b));
        }
        all.sort_unstable();
        all.dedup();
        sets.push(all);
    }
    let (mut starts, mut columns) = (vec![0], Vec::new());
    for output in &graph.outputs {
        columns.extend(set(&sets, *output));
        starts.push(columns.len() as u32);
    }
    (starts, columns)
}

fn run(program: &Program, x: &[f64]) -> Option<Vec<u64>> {
    let executable = program.clone().executable();
    let mut y = vec![f64::NAN; program.outputs[0]];
    executable.run(&mut executable.workspace(), &[x, &PARAMETERS], &mut [&mut y]).ok()?;
    // The sign of NaN depends on the processor's instruction.
    Some(y.into_iter().map(|v| if v.is_nan() { f64::NAN } else { v }.to_bits()).collect())
}

/// Both programs, after a comparison of their results with those of the usual ones at some points.
fn compared(graph: &Graph) -> Option<(Program, Program)> {
    let (starts, columns) = pattern(graph);
    let most = 1 << 20;
    let (value, entries) = graph.separable_programs(&starts, &columns, most).unwrap()?;
    let whole =
        [compile(graph).unwrap(), compile(&graph.jacobian_entries(&starts, &columns, most).unwrap().unwrap()).unwrap()];
    let x = numbers(graph.inputs);
    let mut last = x.clone();
    for (i, special) in last.iter_mut().zip([0.0, -0.0, f64::INFINITY, f64::NAN, 1e300, -1e-310].iter().cycle()) {
        *i = *special;
    }
    for point in [x.clone(), x.iter().map(|v| v + 0.125).collect(), last] {
        for (own, whole) in [&value, &entries].into_iter().zip(&whole) {
            assert_eq!((&own.inputs, &own.outputs), (&whole.inputs, &whole.outputs));
            let (found, expected) = (run(own, &point), run(whole, &point));
            assert_eq!(found.is_some(), expected.is_some(), "{own}\n{whole}");
            let both = found.unwrap_or_default().into_iter().zip(expected.unwrap_or_default());
            let mut other = both.enumerate().filter(|(_, (found, expected))| found != expected);
            let first = other.next().map(|(i, (a, b))| (i, f64::from_bits(a), f64::from_bits(b)));
            assert_eq!(first, None, "{own}\n{whole}");
        }
    }
    // Derivatives of the program of the values.
    let seed = numbers(graph.outputs.len());
    let pulled = [&value, &whole[0]].map(|program| {
        let executable = program.adjoint(1).unwrap().executable();
        let (mut y, mut grad) = (vec![0.0; seed.len()], vec![f64::NAN; x.len()]);
        executable.run(&mut executable.workspace(), &[&x, &PARAMETERS, &seed], &mut [&mut y, &mut grad]).unwrap();
        grad
    });
    for (own, whole) in pulled[0].iter().zip(&pulled[1]) {
        assert!((own - whole).abs() <= 1e-12 * whole.abs().max(1.0), "{own} {whole}");
    }
    assert_eq!(entries.absence, whole[1].absence);
    Some((value, entries))
}

/// Two fields on a periodic square.
fn grid(side: usize) -> Graph {
    recorded(2 * side * side, |x, p, y| {
        let (u, v) = x.split_at(side * side);
        y.resize(2 * side * side, x[0]);
        for j in 0..side {
            for i in 0..side {
                let at = |i: usize, j: usize| i % side + side * (j % side);
                let c = at(i, j);
                let around = [at(i + side - 1, j), at(i + 1, j), at(i, j + side - 1), at(i, j + 1)];
                let sum = |w: &[Recorded]| w[around[0]] + w[around[1]] + w[around[2]] + w[around[3]] - 4.0 * w[c];
                let reaction = u[c] * u[c] * v[c];
                y[c] = 7.0 * sum(u) + 1.0 + reaction - p[0] * u[c];
                y[side * side + c] = 7.0 * sum(v) + 3.4 * u[c] - reaction;
            }
        }
    })
}

#[test]
fn grids_are_boxes() {
    let sizes = [12, 24].map(|side| {
        let (value, entries) = compared(&grid(side)).expect("cells are independent");
        // The inner cells, four edges, and the rest.
        assert!(value.statement_count() <= 8, "{value}");
        // One operation per entry at most, besides those of the values.
        assert!(entries.instruction_count() < 8 * 60, "{entries}");
        entries.instruction_count()
    });
    assert_eq!(sizes[0], sizes[1]);
}

#[test]
fn observations_with_gathered_inputs_and_data() {
    let (cameras, points, observations) = (7, 31, 400);
    let graph = recorded(2 * cameras + points + observations, |x, _, y| {
        let (camera, rest) = x.split_at(2 * cameras);
        let (point, weight) = rest.split_at(points);
        y.resize(2 * observations, x[0]);
        for i in 0..observations {
            let camera = &camera[2 * (i % cameras)..];
            let image = (camera[0] * point[i % points]).sin() / camera[1] - 0.1 * (i as f64);
            y[i] = weight[i] * image;
            y[observations + i] = 1.0 - weight[i] * weight[i];
        }
    });
    let (value, entries) = compared(&graph).expect("observations are independent");
    assert!(value.instruction_count() + entries.instruction_count() < 1000, "{value}\n{entries}");
}

#[test]
fn inputs_in_no_order_are_in_tables() {
    let graph = recorded(100, |x, _, y| {
        y.extend((0..200).map(|i| x[(i * i * 37 + i) % 100].exp() * x[(i * i * 53 + 7) % 100]));
    });
    let Some((value, entries)) = compared(&graph) else { panic!("rows are independent") };
    let has_table = |program: &Program| {
        program.statements.iter().any(|statement| match statement {
            crate::program::Statement::Nest(nest) => {
                nest.addresses.iter().any(|a| a.space == Space::Input(0) && a.table.is_some())
            }
            _ => false,
        })
    };
    assert!(has_table(&value) && has_table(&entries), "{value}\n{entries}");
}

/// The same input twice in some rows, which then have one entry.
#[test]
fn rows_with_equal_inputs_are_another_class() {
    let graph = recorded(90, |x, _, y| y.extend((0..180).map(|i| x[i / 2] * x[i.div_ceil(2) % 90].sin())));
    let (value, _) = compared(&graph).expect("rows are independent");
    assert!(value.statement_count() >= 2, "{value}");
}

#[test]
fn branches_are_classes_and_guards_stay() {
    let graph = recorded(128, |x, _, y| {
        y.extend(x.iter().map(|v| if *v > 1.0 { v.sin() * *v } else { v.exp() }));
    });
    let (value, entries) = compared(&graph).expect("rows are independent");
    let x = numbers(128);
    let mut other = x.clone();
    other[77] = 2.5 - other[77];
    for program in [&value, &entries] {
        assert!(run(program, &x).is_some());
        assert!((other[77] > 1.0) != (x[77] > 1.0) && run(program, &other).is_none());
    }
}

#[test]
fn outputs_may_be_inputs_constants_and_parameters_and_occur_twice() {
    let graph = recorded(80, |x, p, y| {
        for v in x {
            let square = *v * *v;
            y.extend([*v, square, Recorded::from(3.0), p[1], square]);
        }
    });
    compared(&graph).expect("rows are independent");
    // Rows without any operation.
    compared(&recorded(80, |x, _, y| y.extend_from_slice(x))).expect("rows are independent");
}

#[test]
fn constants_may_change_and_may_be_zero() {
    let graph = recorded(96, |x, _, y| {
        y.extend(x.iter().enumerate().map(|(i, v)| *v * (i % 5) as f64 + (i % 3) as f64 * v.cos()));
    });
    compared(&graph).expect("rows are independent");
}

#[test]
fn sums_inside_of_segments() {
    // Short sums are straight, long ones are loops, which are left to the usual passes.
    let sums = |length: usize| {
        recorded(64 * length, |x, _, y| {
            y.extend(x.chunks(length).map(|row| row.iter().map(|v| *v * *v).sum::<Recorded>().sqrt()));
        })
    };
    compared(&sums(3)).expect("rows are independent");
    let _ = compared(&sums(9));
    assert!(compared(&sums(40)).is_none());
}

#[test]
fn other_recordings_are_left_to_the_usual_passes() {
    let none = |graph: &Graph| {
        let (starts, columns) = pattern(graph);
        assert!(graph.separable_programs(&starts, &columns, 1 << 20).unwrap().is_none());
    };
    none(&recorded(0, |_, _, _| {}));
    none(&recorded(1, |x, _, y| y.push(x[0].sin())));
    none(&recorded(63, |x, _, y| y.extend(x.iter().map(|v| v.sin()))));
    // Each row uses the one before.
    none(&recorded(200, |x, _, y| {
        y.extend(x.iter().scan(x[0], |state, v| {
            *state = *state * 0.5 + v.sin();
            Some(*state)
        }))
    }));
    // Too many shapes.
    none(&recorded(200, |x, _, y| y.extend(x.iter().enumerate().map(|(i, v)| (0..i).fold(*v, |s, _| s.sin())))));
    // One sum of everything.
    none(&recorded(200, |x, _, y| y.push(x.iter().map(|v| v.sin()).sum())));
}

#[test]
fn absent_derivatives_are_tracked() {
    let graph = recorded(90, |x, _, y| y.extend(x.windows(2).map(|w| (w[0] - 1.0).abs().max(w[1] * w[0]).sqrt())));
    let (_, entries) = compared(&graph).expect("rows share no operation");
    let (_, tracked) = compared(&graph.tracking_absent()).expect("rows share no operation");
    assert_eq!((entries.absence, tracked.absence), (crate::Absence::Doubtful, crate::Absence::Tracked));
}

#[test]
fn limits_and_patterns_count() {
    let graph = recorded(100, |x, _, y| y.extend(x.iter().map(|v| v.sin() * 2.0)));
    let (starts, columns) = pattern(&graph);
    assert!(graph.separable_programs(&starts, &columns, 100).unwrap().is_none());
    assert!(graph.separable_programs(&starts, &columns, 1000).unwrap().is_some());
    // A column that the rows do not depend on.
    let wide: Vec<u32> = columns.iter().map(|column| (column + 1) % 100).collect();
    assert!(graph.separable_programs(&starts, &wide, 1000).unwrap().is_none());
    let error = graph.separable_programs(&starts[1..], &columns, 1000).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PatternSize { expected: (100, 100), found: (99, 100) });
}
