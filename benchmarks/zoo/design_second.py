"""More mixtures that judges are designed on: those of the second last word, which is spent."""

from __future__ import annotations

from benchmarks.zoo.parts import COHERENT, ENDING, GROUPS, MINORITY, SCATTERED, SHORT, Mixture, bad, good

# fmt: off
SECOND = (
    # crane
    Mixture("crane-units-person", "crane",
        (good(36, people=(0, 1, 2)), bad(16, "wrong units", 0.2, people=(3,), consistent=True)),
        "one of four people recorded in other units"),
    Mixture("crane-clean-styles", "crane", (good(18), good(14, "careful"), good(8, "brisk")),
        "clean: three tempers"),
    Mixture("crane-laggy", "crane", (good(20), good(10, start="swinging"), bad(12, "laggy", 10)),
        "two start regimes; 29% react late"),
    Mixture("crane-few-shifted", "crane", (good(8), bad(2, "time shifted", 12)),
        "ten demonstrations, two with actions recorded late"),
    # quadrotor
    Mixture("quadrotor-many", "quadrotor",
        (good(180), good(60, "climb first"), bad(15, "noisy", 1.0), bad(15, "idle", 0.5),
         bad(15, "wrong goal", 0.3), bad(15, "stuck", 0.5)),
        "300 demonstrations, two styles, four kinds of fault"),
    Mixture("quadrotor-offset-person", "quadrotor",
        (good(24, people=(0, 1)), good(10, start="thrown", people=(0, 1)),
         bad(10, "offset", 0.12, people=(2,), consistent=True)),
        "good ones from rest and thrown; one person flies lopsided"),
    Mixture("quadrotor-swapped", "quadrotor", (good(45), bad(5, "columns swapped", 1)),
        "10% with the two thrusts swapped"),
    Mixture("quadrotor-minority", "quadrotor", (good(20), bad(30, "wrong goal", 0.25, consistent=True)),
        "60% fly to the same wrong place", why=MINORITY),
    # rooms
    Mixture("rooms-clean-ways", "rooms", (good(24, "above"), good(24, "below")),
        "clean: two ways round the wall"),
    Mixture("rooms-aborted", "rooms", (good(42), bad(18, "aborted", 0.6)), "30% stop on the way",
        visible=False, why=ENDING),
    Mixture("rooms-ways-wrong-goal", "rooms",
        (good(20, "above"), good(20, "below"), bad(12, "wrong goal", 0.35)),
        "two ways round the wall; 23% go elsewhere, each its own way"),
    Mixture("rooms-straight", "rooms",
        (good(26), good(12, start="right"), bad(12, "weak")),
        "good ones go both directions; 24% run straight into the wall"),
    # ball on a plate
    Mixture("ball-on-plate-weak", "ball-on-plate",
        (good(22, start="rolling"), bad(18, "weak", start="rolling")), "45% weak feedback, from hard starts"),
    Mixture("ball-on-plate-clean-starts", "ball-on-plate", (good(26), good(10, start="rolling")),
        "clean: some balls are already rolling"),
    Mixture("ball-on-plate-sloppy-person", "ball-on-plate",
        (good(18, people=(0,)), good(12, "stiff", people=(1,)), bad(10, "sloppy", 0.6, people=(2,))),
        "two good styles, and one person who wanders"),
    Mixture("ball-on-plate-rare-sign", "ball-on-plate", (good(57), bad(3, "sign in the record", 1)),
        "5% with a wrong sign in one column"),
    # acrobot
    Mixture("acrobot-noisy", "acrobot", (good(27), bad(9, "noisy", 1.0)), "a quarter trembles"),
    Mixture("acrobot-starts-stuck", "acrobot", (good(20), good(10, start="bent"), bad(6, "stuck", 0.5)),
        "two start regimes; 17% hold an action too long"),
    Mixture("acrobot-weak", "acrobot", (good(20), good(12, "shoulder"), bad(10, "weak")),
        "two styles; 24% are too weak to get up"),
    # bowl
    Mixture("bowl-gain", "bowl", (good(30), bad(14, "gain", 0.5)), "32% push half as much"),
    Mixture("bowl-clean", "bowl", (good(20, noise=0.04), good(12, "gentle", noise=0.04),
         good(8, start="aside", noise=0.04)), "clean: two styles, two starts, a trembling hand"),
    Mixture("bowl-scattered", "bowl",
        (good(20), bad(8, "noisy", 1.5), bad(7, "laggy", 10), bad(8, "wrong goal", 0.5),
         bad(7, "sloppy", 1.0)),
        "60% bad, in four ways", why=SCATTERED),
    Mixture("bowl-few-wrong-goal", "bowl", (good(6), bad(2, "wrong goal", 0.5)),
        "eight demonstrations, two to a wrong place of the rim"),
    # disc push
    Mixture("disc-push-wrong-goal-person", "disc-push",
        (good(45, people=(0, 1, 2)), bad(12, "wrong goal", 0.25, people=(3,), consistent=True)),
        "one of four people pushes beside the goal, always the same way"),
    Mixture("disc-push-idle-laggy", "disc-push",
        (good(20), good(16, "careful"), bad(6, "idle", 0.5), bad(6, "laggy", 5)),
        "two speeds; some rest on the way, others react late"),
    Mixture("disc-push-clean-speeds", "disc-push", (good(24), good(16, "careful")), "clean: two speeds"),
    # walker
    Mixture("walker2d-weak-pieces", "walker2d", (good(14), bad(8, "weak")),
        "an earlier stage of the same policy, in pieces of 50 pairs", piece=50),
    Mixture("walker2d-gaits-sloppy", "walker2d",
        (good(12), good(9, "other gait"), bad(6, "sloppy", 0.25)),
        "two gaits, and sloppy ones of one of them", why=COHERENT),
    Mixture("walker2d-clean-gaits", "walker2d", (good(14), good(10, "other gait")), "clean: two gaits",
        visible=False, why=GROUPS),
    Mixture("walker2d-weak-short", "walker2d", (good(14), bad(18, "weak first")),
        "56% of the demonstrations are bad, but short: few of the pairs", why=SHORT),
    # window
    Mixture("window-close-offset", "window-close", (good(16), good(8, "slow"), bad(8, "offset", 0.7)),
        "two speeds; a quarter pulls to a side"),
    Mixture("window-close-rare", "window-close", (good(38), bad(2, "random", 0.8)), "5% without any aim"),
    # pick and place
    Mixture("pick-place-wrong-goal", "pick-place", (good(27), bad(9, "wrong goal", 0.8)),
        "25% bring it to a wrong goal"),
    Mixture("pick-place-sign-person", "pick-place",
        (good(12, people=(0,)), good(10, "slow", people=(1,)), bad(8, "sign in the record", 1, people=(2,))),
        "two speeds, and one of three people with a wrong sign"),
)
