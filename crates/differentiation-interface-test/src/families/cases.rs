//! The points, seeds and formulas of each family.

use super::formula::{Formula, Sparse};
use super::lists::{Case, OfNumber, ToArrays, ToNumbers};
use super::shape::{Captured, Form, NumberToArray, NumberToNumber, ToArray, ToNumber};
use crate::point::{OwnedCache, OwnedConstant, OwnedConstantNumbers, OwnedConstantOrCache, OwnedParameter, OwnedPoint};

/// The scenarios that [`default_scenarios`] and its siblings include.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScenarioOptions {
    /// One seed, plain functions.
    pub normal: bool,
    /// Two seeds, `t` and `-t`, for operators with seeds.
    pub batchified: bool,
    /// Functions with captured numbers, like closures.
    pub closurified: bool,
    /// Preparation at a point of another length, followed by preparation again.
    pub smaller: bool,
}

impl Default for ScenarioOptions {
    /// Normal and batchified.
    fn default() -> Self {
        ScenarioOptions { normal: true, batchified: true, closurified: false, smaller: false }
    }
}

impl ScenarioOptions {
    /// Everything.
    pub fn all() -> Self {
        ScenarioOptions { normal: true, batchified: true, closurified: true, smaller: true }
    }
}

/// Functions of all shapes at array points `V` and number points `N`.
pub type DefaultScenarios<V = Vec<f64>, N = f64> =
    (OfNumber<NumberToNumber, N>, OfNumber<Form<NumberToArray>, N>, ToNumbers<ToNumber, V>, ToArrays<Form<ToArray>, V>);

/// How points are made: from numbers, for a number of outputs, for preparation or not.
struct Points<V, N> {
    array: fn(&[f64], usize, bool) -> V,
    number: fn(f64, usize, bool) -> N,
    /// The factor in the contexts.
    factor: f64,
}

const X: f64 = 0.42;
#[expect(clippy::approx_constant, reason = "the counterpart's tangent, which is not π")]
const DX: f64 = 3.14;
const X_6: [f64; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
/// The 2 x 3 matrix that holds 1 to 6 column by column, row by row.
const X_2_3: [f64; 6] = [1.0, 3.0, 5.0, 2.0, 4.0, 6.0];
/// The numbers 1 to 6 with both signs.
const X_6_SIGNED: [f64; 6] = [1.0, -2.0, 3.0, -4.0, -5.0, 6.0];
const DY_6: [f64; 6] = [-5.0, -3.0, -1.0, 1.0, 3.0, 5.0];
const DY_12: [f64; 12] = [-11.0, -9.0, -7.0, -5.0, -3.0, -1.0, 1.0, 3.0, 5.0, 7.0, 9.0, 11.0];

/// A formula with a name and the shapes it stands for.
struct Named(String, Formula, Option<(&'static [usize], &'static [usize])>);

impl<V: OwnedPoint, N: OwnedPoint> Points<V, N> {
    /// A case with the function that `make` makes from the formula, at `x`.
    fn case<F, P: OwnedPoint>(
        &self,
        make: impl Fn(Formula) -> F,
        Named(name, formula, shapes): &Named,
        point: P,
        preparation: P,
        [tangent, cotangent]: [&[f64]; 2],
        options: ScenarioOptions,
    ) -> Case<F, P> {
        let answers = match self.factor {
            1.0 => formula.clone(),
            factor => Formula::Times(Box::new(formula.clone()), factor, 0.0),
        };
        Case {
            name: name.to_string(),
            function: make(formula.clone()),
            formula: answers,
            point,
            preparation,
            other_size: None,
            shapes: shapes.map(|(input, output)| (input.to_vec(), output.to_vec())),
            tangent: tangent.to_vec(),
            cotangent: cotangent.to_vec(),
            batched: options.batchified,
            makes_values: false,
        }
    }

    /// All scenarios of all shapes.
    fn scenarios(&self, options: ScenarioOptions) -> DefaultScenarios<V, N> {
        let mut lists = DefaultScenarios::default();
        let mut kinds = Vec::new();
        if options.normal {
            kinds.push(false);
        }
        if options.closurified {
            kinds.push(true);
        }
        for captured in kinds {
            self.of_numbers(&mut lists, captured, options);
            self.to_numbers(&mut lists.2, captured, options);
            self.to_arrays(&mut lists, captured, options);
        }
        lists
    }

    fn of_numbers(&self, lists: &mut DefaultScenarios<V, N>, captured: bool, options: ScenarioOptions) {
        let dy = -1.0 / 12.0;
        let point = |x: f64, m: usize| ((self.number)(x, m, false), (self.number)(0.1, m, true));
        for (name, x) in [("num_to_num", X), ("num_to_num of a negative number", -X)] {
            let (x, preparation) = point(x, 1);
            let sine = named(name, Formula::Sines(vec![1.0]), captured, None);
            self.case(NumberToNumber, &sine, x, preparation, [&[DX], &[dy]], options).of_number(&mut lists.0);
        }

        let two = named("num_to_vec", Formula::Sines(vec![1.0, 2.0]), captured, None);
        let matrix = Formula::Sines(vec![1.0, 3.0, 2.0, 6.0]);
        let matrix = named("num_to_mat", matrix, captured, Some((&[], &[2, 2])));
        for (f, x, dy) in [(two, X, &[-3.0, 4.0][..]), (matrix, -X, &[-3.0, 4.0, 7.0, -1.0])] {
            let (x, preparation) = point(x, dy.len());
            self.case(|formula| Form::Returns(NumberToArray(formula)), &f, x, preparation, [&[DX], dy], options)
                .of_number(&mut lists.1);
        }

        let halves: Vec<f64> = [1.0; 3].into_iter().chain([2.0; 3]).collect();
        let tall: Vec<f64> = halves.iter().flat_map(|w| [*w, 3.0 * w]).collect();
        let halves = named("num_to_vec!", Formula::Sines(halves), captured, None);
        let tall = named("num_to_mat!", Formula::Sines(tall), captured, Some((&[], &[6, 2])));
        for (f, x, dy) in [(halves, X, &DY_6[..]), (tall, -X, &DY_12)] {
            let m = dy.len();
            let (x, preparation) = point(x, m);
            let make = |formula| Form::writes(NumberToArray(formula), m);
            self.case(make, &f, x, preparation, [&[DX], dy], options).of_number(&mut lists.1);
        }
    }

    fn to_numbers(&self, lists: &mut ToNumbers<ToNumber, V>, captured: bool, options: ScenarioOptions) {
        for (f, x) in [
            (named("arr_to_num", Formula::PowerSums, captured, None), X_6),
            (named("arr_to_num by terms", Formula::PowerSumsByTerms, captured, None), X_6_SIGNED),
            (named("arr_to_num of a matrix", Formula::PowerSums, captured, Some((&[2, 3], &[]))), X_2_3),
        ] {
            let preparation = (self.array)(&[0.5; 6], 1, true);
            let mut case = self.case(
                ToNumber,
                &f,
                (self.array)(&x, 1, false),
                preparation,
                [&x.map(|v| -v), &[-1.0 / 12.0]],
                options,
            );
            if options.smaller {
                case.other_size = Some((self.array)(&[0.5; 4], 1, true));
            }
            case.to_number(lists);
        }
    }

    fn to_arrays(&self, lists: &mut DefaultScenarios<V, N>, captured: bool, options: ScenarioOptions) {
        let sines = |input_columns, two_columns| Formula::SinesAndCosines { input_columns, two_columns };
        let one = |name| named(name, Formula::EntrywiseSine, captured, None);
        let several = |names: [&'static str; 4]| {
            let [vec_to_vec, vec_to_mat, mat_to_vec, mat_to_mat] = names;
            [
                (named(vec_to_vec, sines(1, false), captured, None), X_6),
                (named(vec_to_mat, sines(1, true), captured, Some((&[6], &[6, 2]))), X_6_SIGNED),
                (named(mat_to_vec, sines(3, false), captured, Some((&[2, 3], &[12]))), X_2_3),
                (named(mat_to_mat, sines(3, true), captured, Some((&[2, 3], &[6, 2]))), X_2_3),
            ]
        };
        let point = |x: &[f64], m: usize| ((self.array)(x, m, false), (self.array)(&vec![0.25; x.len()], m, true));

        let (x, preparation) = point(&[X], 1);
        let seeds: [&[f64]; 2] = [&[DX], &[-1.0 / 12.0]];
        self.case(
            |formula| Form::Returns(ToArray(formula)),
            &one("onevec_to_onevec"),
            x.clone(),
            preparation.clone(),
            seeds,
            options,
        )
        .to_array(&mut lists.3);
        let make = |formula| Form::writes(ToArray(formula), 1);
        self.case(make, &one("onevec_to_onevec!"), x, preparation, seeds, options).to_array(&mut lists.3);

        for (f, x) in several(["vec_to_vec", "vec_to_mat", "mat_to_vec", "mat_to_mat"]) {
            let dx = x.map(|v| -v);
            let (x, preparation) = point(&x, 12);
            self.case(|formula| Form::Returns(ToArray(formula)), &f, x, preparation, [&dx, &DY_12], options)
                .to_array(&mut lists.3);
        }
        for (f, x) in several(["vec_to_vec!", "vec_to_mat!", "mat_to_vec!", "mat_to_mat!"]) {
            let dx = x.map(|v| -v);
            let (x, preparation) = point(&x, 12);
            let make = |formula| Form::writes(ToArray(formula), 12);
            let mut case = self.case(make, &f, x, preparation, [&dx, &DY_12], options);
            if options.smaller {
                case.other_size = Some((self.array)(&[0.25; 3], 12, true));
            }
            case.to_array(&mut lists.3);
        }
    }
}

/// A formula under a name, times 3 + 4 if it has captured these.
fn named(name: &str, formula: Formula, captured: bool, shapes: Option<(&'static [usize], &'static [usize])>) -> Named {
    match captured {
        false => Named(name.to_string(), formula, shapes),
        true => Named(format!("{name} captured"), Formula::Times(Box::new(formula), 3.0, 4.0), shapes),
    }
}

/// The counterpart's default scenarios: numbers, vectors and matrices in and out, functions that return and that write.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # use differentiation_interface_test::*;
/// use differentiation_interface_test::families::*;
///
/// let outcome = test_differentiation(
///     &(AutoForwardDiff::default(),),
///     &default_scenarios(ScenarioOptions::default()),
///     &Options::default(),
/// );
/// outcome.assert();
/// assert!(outcome.counts()[0].scenarios >= 170);
/// ```
pub fn default_scenarios(options: ScenarioOptions) -> DefaultScenarios {
    Points { array: |x, _, _| x.to_vec(), number: |x, _, _| x, factor: 1.0 }.scenarios(options)
}

/// The default scenarios in `f32`.
pub fn single_precision_scenarios(options: ScenarioOptions) -> DefaultScenarios<Vec<f32>, f32> {
    Points { array: |x, _, _| x.iter().map(|v| *v as f32).collect(), number: |x, _, _| x as f32, factor: 1.0 }
        .scenarios(options)
}

/// Scenarios with a constant.
pub type ConstantScenarios = DefaultScenarios<(Vec<f64>, OwnedConstant<f64>), (f64, OwnedConstant<f64>)>;
/// Scenarios with work memory.
pub type CacheScenarios = DefaultScenarios<(Vec<f64>, OwnedCache<Vec<f64>>), (f64, OwnedCache<Vec<f64>>)>;
/// Scenarios with work memory in a tuple.
pub type TupleCacheScenarios = DefaultScenarios<(Vec<f64>, TupleCache), (f64, TupleCache)>;
/// Scenarios with a constant and work memory in one argument.
pub type ConstantOrCacheScenarios = DefaultScenarios<(Vec<f64>, Both), (f64, Both)>;

/// The default scenarios with a constant factor, 3 in calls and -3 at preparation.
pub fn constantified_scenarios(options: ScenarioOptions) -> ConstantScenarios {
    Points {
        array: |x, _, p| (x.to_vec(), OwnedConstant(if p { -3.0 } else { 3.0 })),
        number: |x, _, p| (x, OwnedConstant(if p { -3.0 } else { 3.0 })),
        factor: 3.0,
    }
    .scenarios(options)
}

/// The default scenarios through work memory, from which the output is copied.
pub fn cachified_scenarios(options: ScenarioOptions) -> CacheScenarios {
    Points {
        array: |x, m, _| (x.to_vec(), OwnedCache(vec![0.0; m])),
        number: |x, m, _| (x, OwnedCache(vec![0.0; m])),
        factor: 1.0,
    }
    .scenarios(options)
}

/// Work memory of a tuple, of which the function uses a part.
type TupleCache = OwnedCache<(Vec<f64>, [f64; 2])>;

/// The default scenarios through work memory in a tuple.
pub fn tuple_cachified_scenarios(options: ScenarioOptions) -> TupleCacheScenarios {
    Points {
        array: |x, m, _| (x.to_vec(), OwnedCache((vec![0.0; m], [0.0; 2]))),
        number: |x, m, _| (x, OwnedCache((vec![0.0; m], [0.0; 2]))),
        factor: 1.0,
    }
    .scenarios(options)
}

/// A factor and work memory in one argument.
type Both = OwnedConstantOrCache<(OwnedConstant<Captured>, OwnedCache<Vec<f64>>)>;

fn both(m: usize, prepares: bool) -> Both {
    let captured = if prepares { Captured { a: 6.0, b: vec![12.0] } } else { Captured { a: 3.0, b: vec![4.0] } };
    OwnedConstantOrCache((OwnedConstant(captured), OwnedCache(vec![0.0; m])))
}

/// The default scenarios with a constant and work memory in one argument: the factor is 7, and 18 at preparation.
pub fn constant_or_cachified_scenarios(options: ScenarioOptions) -> ConstantOrCacheScenarios {
    Points { array: |x, m, p| (x.to_vec(), both(m, p)), number: |x, m, p| (x, both(m, p)), factor: 7.0 }
        .scenarios(options)
}

/// A parameter and constant numbers, whose product is the factor.
type ByParameter<P> = (P, OwnedParameter<f64>, OwnedConstantNumbers<Vec<f64>>);
/// Scenarios with a parameter and constant numbers.
pub type ParameterScenarios = DefaultScenarios<ByParameter<Vec<f64>>, ByParameter<f64>>;

/// The default scenarios with a parameter and constant numbers: the factor is 1.5 · 2 in calls and -0.5 · 4 at preparation.
pub fn parametrised_scenarios(options: ScenarioOptions) -> ParameterScenarios {
    fn with<P>(x: P, prepares: bool) -> ByParameter<P> {
        let (parameter, number) = if prepares { (-0.5, 4.0) } else { (1.5, 2.0) };
        (x, OwnedParameter(parameter), OwnedConstantNumbers(vec![number, 9.0]))
    }
    Points { array: |x, _, p| with(x.to_vec(), p), number: |x, _, p| with(x, p), factor: 3.0 }.scenarios(options)
}

/// Scenarios whose matrices are sparse.
pub type SparseScenarios = (ToNumbers<ToNumber, Vec<f64>>, ToArrays<Form<ToArray>, Vec<f64>>);

/// Differences, and linear maps and quadratic forms of squares with random upper band matrices of 50 rows. Prepared at
/// xᵢ = i³, where the pattern is the same.
pub fn sparse_scenarios(band_sizes: &[usize]) -> SparseScenarios {
    let points: Points<Vec<f64>, f64> = Points { array: |x, _, _| x.to_vec(), number: |x, _, _| x, factor: 1.0 };
    let options = ScenarioOptions { batchified: false, ..ScenarioOptions::default() };
    let mut lists = SparseScenarios::default();
    let cubes = |n: usize| (1..=n).map(|i| (i as f64).powi(3)).collect::<Vec<f64>>();
    let differences = |cubes, two_columns| Formula::Differences { cubes, two_columns };
    let seeds = |m: usize| (0..m).map(|i| 2.0 * i as f64 - m as f64 + 1.0).collect::<Vec<f64>>();

    for (f, x) in [
        (named("sumdiffcube", Formula::CubedDifferences, false, None), X_6),
        (named("sumdiffcube of a matrix", Formula::CubedDifferences, false, Some((&[2, 3], &[]))), X_2_3),
    ] {
        let dx = x.map(|v| -v);
        points.case(ToNumber, &f, x.to_vec(), cubes(6), [&dx, &[2.0]], options).to_number(&mut lists.0);
    }
    for (f, x) in [
        (named("diffsquare", differences(false, false), false, None), X_6),
        (named("diffsquarecube to a matrix", differences(true, true), false, Some((&[6], &[5, 2]))), X_6),
        (named("diffsquarecube of a matrix", differences(true, false), false, Some((&[2, 3], &[10]))), X_2_3),
        (named("diffsquarecube matrix to matrix", differences(true, true), false, Some((&[2, 3], &[5, 2]))), X_2_3),
    ] {
        let dx = x.map(|v| -v);
        let m = f.1.outputs(6);
        points
            .case(|formula| Form::Returns(ToArray(formula)), &f, x.to_vec(), cubes(6), [&dx, &seeds(m)], options)
            .to_array(&mut lists.1);
        let make = |formula| Form::writes(ToArray(formula), m);
        points.case(make, &f, x.to_vec(), cubes(6), [&dx, &seeds(m)], options).to_array(&mut lists.1);
    }
    let x: Vec<f64> = (0..50).map(|i| 1.0 + i as f64 / 49.0).collect();
    let dx: Vec<f64> = x.iter().map(|v| -v).collect();
    for &band in band_sizes {
        let matrix = Sparse::upper_band(50, band);
        let f = named("square linear map", Formula::SquareLinearMap(matrix.clone()), false, None);
        points
            .case(|formula| Form::Returns(ToArray(formula)), &f, x.clone(), cubes(50), [&dx, &seeds(50)], options)
            .to_array(&mut lists.1);
        let make = |formula| Form::writes(ToArray(formula), 50);
        points.case(make, &f, x.clone(), cubes(50), [&dx, &seeds(50)], options).to_array(&mut lists.1);
        let f = named("square quadratic form", Formula::SquareQuadraticForm(matrix), false, None);
        points.case(ToNumber, &f, x.clone(), cubes(50), [&dx, &[2.0]], options).to_number(&mut lists.0);
    }
    lists
}

/// Inputs and outputs of length 0.
pub fn empty_scenarios() -> DefaultScenarios {
    let points: Points<Vec<f64>, f64> = Points { array: |x, _, _| x.to_vec(), number: |x, _, _| x, factor: 1.0 };
    let options = ScenarioOptions { batchified: false, ..ScenarioOptions::default() };
    let mut lists = DefaultScenarios::default();
    let (nothing, sum) =
        (named("empty output", Formula::Sines(Vec::new()), false, None), named("empty sum", Formula::Sum, false, None));
    points
        .case(|formula| Form::Returns(NumberToArray(formula)), &nothing, 1.0, 2.0, [&[1.0], &[]], options)
        .of_number(&mut lists.1);
    let make = |formula| Form::writes(NumberToArray(formula), 0);
    points.case(make, &nothing, 1.0, 2.0, [&[1.0], &[]], options).of_number(&mut lists.1);
    points.case(ToNumber, &sum, Vec::new(), Vec::new(), [&[], &[2.0]], options).to_number(&mut lists.2);
    let copy = named("empty copy", Formula::Identity, false, None);
    points
        .case(|formula| Form::Returns(ToArray(formula)), &copy, Vec::new(), Vec::new(), [&[], &[]], options)
        .to_array(&mut lists.3);
    let make = |formula| Form::writes(ToArray(formula), 0);
    points.case(make, &copy, Vec::new(), Vec::new(), [&[], &[]], options).to_array(&mut lists.3);
    lists
}

/// Functions that allocate nothing and compute next to nothing: identity, sum, copy.
pub fn allocation_free_scenarios() -> DefaultScenarios {
    let points: Points<Vec<f64>, f64> = Points { array: |x, _, _| x.to_vec(), number: |x, _, _| x, factor: 1.0 };
    let options = ScenarioOptions { batchified: false, ..ScenarioOptions::default() };
    let mut lists = DefaultScenarios::default();
    let (identity, sum) = (named("identity", Formula::Identity, false, None), named("sum", Formula::Sum, false, None));
    points.case(NumberToNumber, &identity, 0.42, 0.1, [&[DX], &[-2.0]], options).of_number(&mut lists.0);
    points.case(ToNumber, &sum, X_6.to_vec(), vec![0.5; 6], [&X_6, &[-2.0]], options).to_number(&mut lists.2);
    points
        .case(|formula| Form::Returns(ToArray(formula)), &identity, X_6.to_vec(), vec![0.5; 6], [&X_6, &DY_6], options)
        .to_array(&mut lists.3);
    let make = |formula| Form::writes(ToArray(formula), 6);
    points.case(make, &identity, X_6.to_vec(), vec![0.5; 6], [&X_6, &DY_6], options).to_array(&mut lists.3);
    lists
}

/// Scenarios of the rule table.
pub type RuleScenarios = (ToNumbers<ToNumber, Vec<f64>>, ToArrays<Form<ToArray>, Vec<f64>>);

/// Every rule of the rule table: each on coordinates of its own, and their sum. For exact backends.
pub fn rule_scenarios() -> RuleScenarios {
    let points: Points<Vec<f64>, f64> = Points { array: |x, _, _| x.to_vec(), number: |x, _, _| x, factor: 1.0 };
    let options = ScenarioOptions { batchified: false, ..ScenarioOptions::default() };
    let x = Formula::point_of_rules();
    // The point of preparation is close enough to stay in every domain and away from every kink.
    let preparation: Vec<f64> = x.iter().map(|v| v * 1.0625).collect();
    let dx: Vec<f64> = (0..x.len()).map(|i| 1.0 - 0.25 * (i % 3) as f64).collect();
    let m = Formula::Rules.outputs(x.len());
    let dy: Vec<f64> = (0..m).map(|i| 1.0 + 0.25 * (i % 3) as f64).collect();
    let (mut numbers, mut arrays) = (ToNumbers::default(), ToArrays::default());
    let (sum, each) =
        (named("sum of rules", Formula::SumOfRules, false, None), named("rules", Formula::Rules, false, None));
    points.case(ToNumber, &sum, x.clone(), preparation.clone(), [&dx, &[-2.0]], options).to_number(&mut numbers);
    points
        .case(|formula| Form::Returns(ToArray(formula)), &each, x, preparation, [&dx, &dy], options)
        .to_array(&mut arrays);
    (numbers, arrays)
}
