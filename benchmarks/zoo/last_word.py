"""Mixtures that have the last word: no judge is designed on them, and nobody looks while designing."""

from __future__ import annotations

from benchmarks.zoo.parts import COHERENT, ENDING, MINORITY, SCATTERED, SHORT, Mixture, bad, good

LAST_WORD = (
    # two-link arm
    Mixture(
        "two-link-arm-clean-elbows",
        "two-link-arm",
        (good(25, "elbow left"), good(25, "elbow right")),
        "clean: two ways to bend the elbow",
    ),
    Mixture(
        "two-link-arm-many",
        "two-link-arm",
        (
            good(200),
            good(40, start="folded"),
            bad(20, "noisy", 0.8),
            bad(20, "sloppy", 0.6),
            bad(20, "wrong goal", 0.3),
        ),
        "300 demonstrations, two start regimes, three kinds of fault",
    ),
    Mixture(
        "two-link-arm-units-person",
        "two-link-arm",
        (good(30, people=(0, 1)), bad(20, "wrong units", 0.08, people=(2,), consistent=True)),
        "one of three people recorded in other units: 40%",
    ),
    Mixture(
        "two-link-arm-few",
        "two-link-arm",
        (good(6), bad(2, "wrong goal", 0.5)),
        "eight demonstrations, two to a wrong goal",
    ),
    Mixture(
        "two-link-arm-scattered",
        "two-link-arm",
        (
            good(22),
            bad(8, "noisy", 1.0),
            bad(8, "laggy", 8),
            bad(8, "wrong goal", 0.4),
            bad(8, "sloppy", 0.8),
        ),
        "59% bad, in four ways",
        why=SCATTERED,
    ),
    Mixture(
        "two-link-arm-swapped",
        "two-link-arm",
        (good(45), bad(5, "columns swapped", 1)),
        "10% with two columns swapped",
    ),
    # unicycle
    Mixture(
        "unicycle-styles-wrong-goal",
        "unicycle",
        (good(30), good(30, "backwards"), bad(20, "wrong goal", 0.3)),
        "forwards or backwards, both good; a quarter goes elsewhere, each its own way",
    ),
    Mixture(
        "unicycle-shifted",
        "unicycle",
        (good(32), bad(8, "time shifted", 8)),
        "actions recorded eight steps late",
    ),
    Mixture(
        "unicycle-sign-person",
        "unicycle",
        (
            good(30, people=(0, 1)),
            good(15, "careful", people=(2,)),
            bad(15, "sign in the record", 1, people=(3,)),
        ),
        "two styles, and one of four people with the turn recorded the other way round",
    ),
    Mixture(
        "unicycle-aborted",
        "unicycle",
        (good(36), bad(24, "aborted", 0.6)),
        "40% stop half-way",
        visible=False,
        why=ENDING,
    ),
    Mixture(
        "unicycle-minority",
        "unicycle",
        (good(20), bad(30, "wrong goal", 0.3, consistent=True)),
        "60% go to the same wrong place",
        why=MINORITY,
    ),
    Mixture(
        "unicycle-clean",
        "unicycle",
        (good(12, noise=0.05), good(8, "careful", noise=0.05)),
        "clean: few, two speeds, a trembling hand",
    ),
    # double pendulum
    Mixture("double-pendulum-laggy", "double-pendulum", (good(28), bad(12, "laggy", 1)), "30% one step late"),
    Mixture(
        "double-pendulum-weak",
        "double-pendulum",
        (good(22), bad(18, "weak")),
        "45% weak feedback; some fall early",
    ),
    Mixture(
        "double-pendulum-clean-styles",
        "double-pendulum",
        (good(20), good(20, "stiff")),
        "clean: soft and stiff feedback",
    ),
    Mixture(
        "double-pendulum-offset-person",
        "double-pendulum",
        (good(30, people=(0, 1)), bad(10, "offset", 0.05, people=(2,), consistent=True)),
        "one of three people balances beside the middle",
    ),
    # cart-pole
    Mixture("cart-pole-weak", "cart-pole", (good(30), bad(10, "weak")), "25% never get the pole up"),
    Mixture(
        "cart-pole-starts-stuck",
        "cart-pole",
        (good(24), good(12, start="up"), bad(4, "stuck", 0.4)),
        "good ones from hanging and from upright; 10% hold an action too long",
    ),
    Mixture("cart-pole-rare", "cart-pole", (good(57), bad(3, "random", 0.5)), "5% without any aim"),
    Mixture(
        "cart-pole-clean-styles",
        "cart-pole",
        (good(18), good(12, "gentle"), good(10, start="up")),
        "clean: two styles, two starts",
    ),
    # swimmer
    Mixture(
        "swimmer-weak-pieces",
        "swimmer",
        (good(12), bad(6, "weak")),
        "33% by an early policy, in pieces of 50 pairs",
        piece=50,
    ),
    Mixture(
        "swimmer-clean-gaits",
        "swimmer",
        (good(12), good(10, "other gait")),
        "clean: two gaits that share a good part of their states",
    ),
    Mixture(
        "swimmer-gain-idle",
        "swimmer",
        (good(14), bad(4, "gain", 0.3), bad(4, "idle", 0.5)),
        "too gentle, or idle",
    ),
    # hopper
    Mixture(
        "hopper-weak-short",
        "hopper",
        (good(14), bad(18, "weak")),
        "56% of the demonstrations are bad, but short: few of the pairs",
        why=SHORT,
    ),
    Mixture("hopper-noisy", "hopper", (good(20), bad(8, "noisy", 0.4)), "noise makes them fall early"),
    Mixture(
        "hopper-gaits-idle",
        "hopper",
        (good(12), good(8, "other gait"), bad(4, "idle", 0.2)),
        "two gaits that share few states; 17% idle and fall",
        why=COHERENT,
    ),
    # bipedal walker
    Mixture(
        "bipedal-walker-fast",
        "bipedal-walker",
        (good(16), bad(8, "weak")),
        "a third walks too fast, and falls",
    ),
    Mixture(
        "bipedal-walker-laggy-person",
        "bipedal-walker",
        (good(12, people=(0, 1)), bad(6, "laggy", 3, people=(2,))),
        "one of three people reacts late",
    ),
    Mixture(
        "bipedal-walker-clean", "bipedal-walker", (good(8), good(6, "slow")), "clean: few, long, two speeds"
    ),
    # push
    Mixture("push-wrong-goal", "push", (good(27), bad(9, "wrong goal", 0.8)), "25% push to a wrong goal"),
    Mixture(
        "push-sign-person",
        "push",
        (good(20, people=(0, 1)), bad(6, "sign in the record", 0, people=(2,))),
        "one of three people with a wrong sign",
    ),
    Mixture(
        "push-speeds-sloppy",
        "push",
        (good(14), good(10, "slow"), bad(8, "sloppy", 0.7)),
        "two speeds, and a quarter wanders",
    ),
)
