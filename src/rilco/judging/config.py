"""Every number that the offline judges use."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class JudgingConfig:
    """How demonstrations are judged without a simulator."""

    min_pairs: int = 5
    """A demonstration of fewer pairs is too short to be judged, and stays unsure."""
    min_demonstrations: int = 4
    """So many that are long enough make a majority thinkable; with fewer, all stay unsure."""
    max_demonstrations: int = 50_000
    """More that are long enough are refused: families need a place for each of them in memory."""

    clip: float = 10.0
    """Standardised values are cut at so many robust standard deviations, so that one absurd value costs one pair."""
    same_dimension: float = 1e-5
    """Two dimensions with a squared correlation nearer to 1 than this are one; the second is left out."""

    most_choices: int = 32
    """So many of the values of a choice are told apart, the commonest."""

    sample_pairs: int = 8_000
    """Pairs that are compared with each other, spread evenly over all demonstrations."""
    sample_least: int = 8
    """Of every demonstration at least so many are among them, where it has them."""
    neighbours: int = 30
    """Nearest pairs of *other* demonstrations that are looked at for each pair."""

    given: float = 1e-3
    """A dimension with less than this share of its variance within demonstrations is given, not chosen."""
    noisy_actions: tuple[tuple[float, float], tuple[float, float]] = ((0.2, 0.4), (1.0, 0.3))
    """Noise of actions, as a share of their variance, and the weight that they have beside observations."""
    noisy: float = 0.45
    """From this noise on, in the mean, and without goals, actions are noisy ..."""
    noisy_share: float = 0.1
    """... and this is the share that counts as a visit: by chance, there are more of them."""
    resolution: float = 1.0
    """Of the Louvain method: higher makes more and smaller families, before those that visit each other are joined."""
    visit_share: float = 0.02
    """A demonstration visits a family if at least this share of its pairs has mutual neighbours there ..."""
    visit_pairs: int = 3
    """... and at least so many pairs."""
    visitors: float = 0.5
    """Two families are one if at least this share of the smaller one's demonstrations visit the larger one."""

    fit_pairs: int = 10_000
    """Pairs that the regression of actions on observations learns from."""
    error_pairs: int = 100
    """Pairs of each demonstration that its error is measured on."""
    features: int = 300
    """Random Fourier features of the regression."""
    quadratic_up_to: int = 16
    """Products of observation dimensions are features as well, where there are no more dimensions than this."""
    length_scales: tuple[float, ...] = (0.5, 1.0, 2.0)
    """Widths of these features, in units of the square root of the number of observation dimensions."""
    places: int = 250
    """States that the local model compares a state with."""
    local_scales: tuple[float, ...] = (0.3, 0.6, 1.5)
    """Widths of its kernel, in units of the median distance of two states."""
    ridge: tuple[float, ...] = (1e-7, 1e-5, 1e-3)
    """Strengths of regularisation; the one with the least error on held-out demonstrations is used."""
    local_ridge: tuple[float, ...] = (1e-6, 1e-4, 1e-2)
    """The same for the local model."""
    least_error: float = 0.05
    """Errors are not told apart below this, in standard deviations of the actions."""
    state_neighbours: int = 5
    """Nearest states of other demonstrations that say how far a demonstration is from the others."""
    folds: int = 4
    """A demonstration is predicted from the other folds' demonstrations only."""
    rounds: int = 4
    """Fits, each with demonstrations weighted by how well the one before predicted them."""

    least_width: float = 0.1
    """The core of logarithms of errors is not taken to be narrower than this."""
    proof_gain: float = 8.0
    """Two groups must be this much likelier than one, in natural logarithms, to be clear ..."""
    proof_distance: float = 3.5
    """... their means so many spreads apart ..."""
    proof_reach: float = 2.5
    """... the nearest odd one so many spreads of the usual ones from their mean ..."""
    proof_gap: float = 0.45
    """... and so far above the last usual one."""
    lower_gap: float = 0.75
    """The lowest gap that is clear, and this much as clear as the clearest, is taken: what lies between two is odd, too."""
    large_group: float = 0.2
    """A larger share of demonstrations that differ may be another good style: never odd beyond doubt."""
    just_clear: float = 0.05
    """Where odd ones are just clear, the probability is this far from 0.5: a doubt, and more from there on."""
    nothing_seen: float = 0.3
    """How far above 0.5 the probability of good is where a judge that could see something sees nothing ..."""
    proven: float = 0.38
    """... how far from 0.5 it goes where the odd ones are as clear as can be ..."""
    beyond_doubt: float = 0.47
    """... and where all three numbers are twice that."""
    core_width: tuple[float, float] = (0.2, 0.4)
    """With usual ones this much alike, a clear group of odd ones clears the rest; from the second number on it does not."""
    power: tuple[tuple[float, ...], tuple[float, ...]] = ((0.15, 0.3, 0.65, 1.0), (1.0, 0.8, 0.52, 0.0))
    """Typical errors, in standard deviations of the actions, and the weight that a consensus so loose has."""
    alike: tuple[tuple[float, float], tuple[float, float]] = ((0.2, 0.4), (0.7, 1.4))
    """Odd ones may be another style if they foretell each other with an error of no more than this above the usual, as a
    logarithm: the first of the second pair up to the first share of demonstrations, more for a larger one."""
    agreeing_minority: float = 0.2
    """Where this share of demonstrations, or of pairs, agrees much better than the majority, the majority is in doubt."""
    slope_margin: float = 0.3
    """A scale of its own is a charge where the logarithm of the error is this far above the usual; else it is a doubt."""
    nobody_there: float = 0.5
    """Where errors are larger by this logarithm because few others were there, the scale of actions cannot be compared."""

    end_demonstrations: int = 12
    """Ends are compared from so many demonstrations on."""
    end_proof: float = 0.8
    """How clear a group of other ends must be to be doubted; `gaps.Gap` says what the number means."""
    end_few: float = 2.0
    """The same where there are few demonstrations for the dimensions, and many end elsewhere: two ways to end well look alike."""
    end_doubt: float = 0.3
    """The weight of ending elsewhere: with it alone nothing is dropped, because a good one may run out of time."""
    end_part: float = 0.1
    """The last part of a demonstration, whose mean state is its end, beside its very last state."""
    end_rounds: int = 15
    """Estimates of the usual ends, each with demonstrations weighted by how near the one before found them."""
    end_least: float = 0.01
    """Usual ends are not taken to be narrower than this, as a share of the variance of all states."""
    end_floor: float = 0.02
    """Squared distances of ends are not told apart below this, in units of their spread."""
    narrow_end: float = 0.1
    """Ends are compared in the directions in which they vary by less than this share of the variance of all states, if any."""
    goes_on: tuple[float, float] = (1.5, 3.0)
    """One goes on where another begins within so many of its last steps, and in each dimension within so many usual ones."""
    sharp_end: float = 0.05
    """Ends narrower than this, as a share of the variance of all states, are a goal that the demonstrators share ..."""
    at_home: float = 1.0
    """... and who ends within this logarithm of the usual distance has reached it."""

    gap: tuple[float, float] = (4.7, 6.0)
    """A demonstration so many times farther from the good family than is usual in it may live apart; from the second on it does."""
    noisy_gap: tuple[float, float] = (2.2, 3.0)
    """The same where actions are noisy: then all are far from each other."""
    gap_spreads: tuple[float, float] = (5.5, 7.0)
    """The same in spreads of what is usual in the good family."""
    beside: float = 0.25
    """How far apart others count at least where the good family is the largest by pairs only: they are doubted."""
    families_trust: float = 0.36
    """How far from 0.5 the probability of good goes by a demonstration's family alone."""
    rival: tuple[float, float] = (0.35, 0.7)
    """A family this much smaller than the majority is a group of odd ones; near the second number it may be another style."""

    record_pairs: int = 6_000
    """Pairs that the actions are told from what happened next with."""
    record_clip: float = 8.0
    """Steps of the state are cut at so many standard deviations."""
    record_trust: tuple[float, float] = (0.5, 2.0)
    """Records that are a smaller or larger multiple of what happened hardly count in the next fit."""
    record_agree: float = 0.95
    """Where this share of the records agrees with the first fit, no other is tried."""
    record_starts: int = 8
    """Fits of the actions that explain what happened: one from all demonstrations, the others from a few each."""
    record_part: int = 8
    """Demonstrations that such a fit starts from; half of them where there are fewer."""
    record_fits: tuple[float, float] = (0.85, 0.97)
    """A dimension of the actions is looked at where its typical correlation with what happened is at least this; from the second
    number on also for actions that fit badly."""
    record_moves: float = 0.2
    """A demonstration's own actions must vary as much as this, as a share of the usual, to be compared."""
    record_match: float = 0.8
    """From this correlation on a wrong multiple is a fault of the record; below it, it is a doubt."""
    record_slope: tuple[float, float] = (0.35, 2.5)
    """Actions that are a smaller or larger multiple of what happened are a fault of the record; so is the wrong sign ..."""
    record_doubt: tuple[float, float] = (0.75, 1.4)
    """... and beyond these numbers a doubt ..."""
    record_worse: float = 1.7
    """... of those that fit so many times worse than is usual ..."""
    record_near: float = 0.2
    """... though they are where the others are: the logarithm of what remoteness adds to an error is below this."""
    record_steps: int = 16
    """Records that are late, or early, by up to so many steps are found ..."""
    record_late: tuple[float, float] = (0.2, 0.5)
    """... where that makes the logarithm of the error smaller by this much, which is a doubt, or by the second number, a fault ..."""
    record_sign: float = 2.8
    """... and the error is smaller in so many more pairs, in units of what chance makes."""

    held_alike: float = 0.004
    """Two actions are the same if they differ by no more than this, in standard deviations."""
    held_usual: float = 0.1
    """Where a typical demonstration repeats its action in more of its steps than this, it is no fault ..."""
    held: tuple[float, float] = (0.2, 0.3)
    """... else from this share on it is a doubt, and from the second number on a charge ..."""
    held_least: int = 5
    """... if there are so many such steps."""

    manner_demonstrations: int = 8
    """Small things are compared from so many demonstrations on."""
    manner_far: float = 0.4
    """Those that live farther apart than this, from 0 to 1, are not compared in small things."""
    manner_few: float = 4.0
    """With this many demonstrations spreads are taken to be twice as large; with more, by less."""
    manner_most: float = 30.0
    """No trait counts for more than so many spreads."""
    manner: tuple[tuple[str, float], ...] = (
        ("long", 1.25),
        ("rests", 1.24),
        ("stops", 1.21),
        ("still", 0.98),
        ("roundabout", 0.95),
        ("unlike", 0.93),
        ("weak", 0.93),
        ("vigour", 0.84),
        ("unfinished", 0.82),
        ("elsewhere", 0.45),
        ("restless", 0.39),
    )
    """The weight of each trait in the log-odds of being bad, fitted by `benchmarks/zoo/fit_manner.py` ..."""
    manner_start: float = -3.27
    """... and the log-odds where all is usual."""
    manner_cut: tuple[float, float] = (-1.0, 1.5)
    """The odd ones begin in the widest gap of an S-shaped function of the log-odds: its middle, and its width."""
    manner_tells: float = 0.3
    """Traits that add this much to the log-odds are named."""
    manner_praise: tuple[tuple[float, float], tuple[float, float]] = ((-2.5, -1.0), (0.85, 0.77))
    """The log-odds of being bad, and the probability of being good of what is not odd."""
    plain_margin: float = 1.4
    """Who is this far from what the others do, or from where they end, as a logarithm, stays in doubt, however usual in sum ..."""
    plain_end: float = 2.0
    """... of ends where the group of odd ones is this clear."""

    majority_trust: tuple[tuple[float, ...], tuple[float, ...]] = ((0.48, 0.5, 0.6), (0.3, 0.8, 1.0))
    """The share of the pairs that do not live apart from the largest family, and how likely the good ones are among them: less
    than half are no majority, and then nothing is kept ..."""
    outnumbered_trust: float = 0.75
    """... times this, where another family has more demonstrations."""
    company: float = 2 / 3
    """Where this share of a demonstrator's demonstrations is charged, the rest is doubted, too ..."""
    company_rank: float = 0.85
    """... and where others' score higher with at least this chance, ..."""
    company_chance: float = 0.01
    """... which among all demonstrators happens so seldom by itself, ..."""
    company_least: int = 3
    """... if there are at least so many."""
    same_end: float = 0.4
    """What is left of the charge against another family than the named one, if it ends as that one does."""
    alone: float = 0.4
    """Probability of good of what is odd and goes where nobody else goes."""
    style: float = 1 / 3
    """More than this share of the demonstrations and of the pairs, in one family, is never dropped for its places or actions alone."""
    doubts: int = 3
    """So many judges that doubt a demonstration are a charge against it."""

    unsure_from: float = 0.3
    """A probability of being good above this is not dropped ..."""
    unsure_to: float = 0.65
    """... and from this on it is kept; between the two it is unsure."""
    sure: float = 0.9
    """A verdict is called sure from this probability on."""
