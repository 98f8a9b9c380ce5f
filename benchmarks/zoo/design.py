"""Mixtures that judges are designed on."""

from __future__ import annotations

from benchmarks.zoo.parts import COHERENT, ENDING, GROUPS, LONG, MINORITY, SCATTERED, Mixture, bad, good

DESIGN = (
    # point mass
    Mixture("point-mass-noisy", "point-mass", (good(30), bad(10, "noisy", 1.0)), "easy; a first check"),
    Mixture(
        "point-mass-wrong-goal-person",
        "point-mass",
        (good(48, people=(0, 1, 2)), bad(12, "wrong goal", 0.25, people=(3,), consistent=True)),
        "one of four people aims beside the goal, always the same way; the motions look perfect",
    ),
    Mixture(
        "point-mass-clean-styles",
        "point-mass",
        (good(36), good(24, "by axis")),
        "clean: two ways to the goal",
    ),
    Mixture(
        "point-mass-clean-starts",
        "point-mass",
        (good(40, people=(0, 1)), good(10, start="far", people=(0, 1))),
        "clean: a fifth starts far outside of where the others do",
    ),
    Mixture(
        "point-mass-many",
        "point-mass",
        (
            good(240),
            bad(15, "noisy", 0.8),
            bad(15, "idle", 0.7),
            bad(15, "laggy", 8),
            bad(15, "wrong goal", 0.3),
        ),
        "300 demonstrations, four kinds of fault, 5% each",
    ),
    Mixture(
        "point-mass-few",
        "point-mass",
        (good(6), bad(2, "sign in the record", 0)),
        "eight demonstrations; two with a wrong sign in one column",
    ),
    Mixture(
        "point-mass-scattered",
        "point-mass",
        (
            good(20),
            bad(6, "noisy", 1.0),
            bad(6, "sloppy", 0.8),
            bad(6, "laggy", 9),
            bad(6, "wrong goal", 0.4),
            bad(6, "random", 0.6),
        ),
        "60% bad, in five ways",
        why=SCATTERED,
    ),
    # reacher
    Mixture(
        "reacher-elbows-wrong-goal",
        "reacher",
        (good(30, "elbow left"), good(30, "elbow right"), bad(15, "wrong goal", 0.4)),
        "two good styles; the bad ones reach beside the goal, each in its own direction",
    ),
    Mixture(
        "reacher-units-person",
        "reacher",
        (good(70, people=(0, 1, 2, 3)), bad(30, "wrong units", 0.1, people=(4,), consistent=True)),
        "one of five people recorded a tenth of every torque",
    ),
    Mixture("reacher-clean", "reacher", (good(40, noise=0.03),), "clean: one style, a trembling hand"),
    Mixture(
        "reacher-idle",
        "reacher",
        (good(54), bad(6, "idle", 0.6)),
        "10% bad; idle stretches are also expert-like",
    ),
    # inverted pendulum
    Mixture(
        "inverted-pendulum-few-sign",
        "inverted-pendulum",
        (good(9), bad(1, "sign in the record", 0)),
        "ten demonstrations, one with a wrong sign",
    ),
    Mixture(
        "inverted-pendulum-laggy",
        "inverted-pendulum",
        (good(24), bad(16, "laggy", 2)),
        "40% bad; lag makes them swing through the same states",
    ),
    Mixture(
        "inverted-pendulum-clean-starts",
        "inverted-pendulum",
        (good(30), good(12, start="tilted")),
        "clean: some start far from the middle and need big moves",
    ),
    Mixture(
        "inverted-pendulum-offset-person",
        "inverted-pendulum",
        (
            good(20, people=(0,)),
            good(12, "stiff", people=(1,)),
            bad(8, "offset", 0.08, people=(2,), consistent=True),
        ),
        "two good styles, and one person who balances beside the middle",
    ),
    Mixture(
        "inverted-pendulum-weak",
        "inverted-pendulum",
        (good(22, start="tilted"), bad(18, "weak", start="tilted")),
        "45% weak feedback, from hard starts",
    ),
    # pendulum
    Mixture("pendulum-weak", "pendulum", (good(39), bad(21, "weak")), "35% bad: too weak to swing up soon"),
    Mixture(
        "pendulum-starts-noisy",
        "pendulum",
        (good(25, start="bottom"), good(10, start="top"), bad(15, "noisy", 1.0, start="bottom")),
        "good ones from easy and from hard starts; bad ones only from hard starts",
    ),
    Mixture(
        "pendulum-shifted",
        "pendulum",
        (good(32), bad(8, "time shifted", 5)),
        "actions recorded five steps late",
    ),
    Mixture(
        "pendulum-clean-styles",
        "pendulum",
        (good(20), good(20, "gentle", start="bottom")),
        "clean: two styles from two start regimes",
    ),
    Mixture(
        "pendulum-minority",
        "pendulum",
        (good(20, start="bottom"), bad(30, "weak", start="bottom")),
        "60% bad, all in the same way",
        why=MINORITY,
    ),
    # mountain car
    Mixture("mountain-car-weak-long", "mountain-car", (good(28), bad(12, "weak")), LONG, why=LONG),
    Mixture(
        "mountain-car-aborted",
        "mountain-car",
        (good(42), bad(18, "aborted", 0.6)),
        "30% aborted on the way",
        visible=False,
        why=ENDING,
    ),
    Mixture(
        "mountain-car-styles-rare",
        "mountain-car",
        (good(60), good(35, "gentle"), bad(5, "random", 0.8)),
        "two styles, and 5% without any aim",
    ),
    # half-cheetah
    Mixture(
        "half-cheetah-weak",
        "half-cheetah",
        (good(21), bad(9, "weak")),
        "30% by an earlier stage of the same policy",
    ),
    Mixture(
        "half-cheetah-pieces",
        "half-cheetah",
        (good(12), bad(4, "weak first"), bad(4, "noisy", 0.5)),
        "40% bad, all in pieces of 50 pairs: length says nothing",
        piece=50,
    ),
    Mixture(
        "half-cheetah-gaits-sloppy",
        "half-cheetah",
        (good(12), good(10, "other gait"), bad(6, "sloppy", 0.4)),
        "two gaits that share few states, and sloppy ones of one of them",
        why=COHERENT,
    ),
    Mixture(
        "half-cheetah-clean-gaits",
        "half-cheetah",
        (good(14), good(10, "other gait")),
        "clean: two gaits that share few states",
        visible=False,
        why=GROUPS,
    ),
    # lunar lander
    Mixture("lunar-lander-sloppy", "lunar-lander", (good(30), bad(10, "sloppy", 0.8)), "25% wander"),
    Mixture(
        "lunar-lander-swapped-person",
        "lunar-lander",
        (good(16, people=(0,)), good(14, "slow", people=(1,)), bad(10, "columns swapped", 1, people=(2,))),
        "two speeds of descent, and one person with two columns swapped",
    ),
    Mixture(
        "lunar-lander-idle-aborted",
        "lunar-lander",
        (good(24), bad(10, "idle", 0.3), bad(6, "aborted", 0.5)),
        "40% bad, in two ways; the aborted ones are expert-like to the last pair",
        visible=False,
        why="Of the aborted ones every pair is an expert's; the idle ones show.",
    ),
    Mixture(
        "lunar-lander-stuck",
        "lunar-lander",
        (good(30), bad(5, "stuck", 0.4), bad(5, "gain", 0.4)),
        "some hold an action too long, others are too gentle",
    ),
    # drawer
    Mixture(
        "drawer-open-wrong-goal",
        "drawer-open",
        (good(24), bad(8, "wrong goal", 0.5)),
        "25% grasp beside the handle",
    ),
    Mixture(
        "drawer-open-speeds",
        "drawer-open",
        (
            good(14, people=(0, 1)),
            good(10, "slow", people=(0, 1)),
            bad(4, "noisy", 1.0, people=(0, 1)),
            bad(4, "offset", 0.5, people=(0, 1)),
        ),
        "two speeds; both people give good ones and bad ones, so names say nothing",
    ),
)
