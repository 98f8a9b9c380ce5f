"""More mixtures that judges are designed on: those of the third last word, which is spent."""

from __future__ import annotations

from benchmarks.zoo.parts import COHERENT, ENDING, GROUPS, MINORITY, SCATTERED, Mixture, bad, good

# fmt: off
THIRD = (
    # Fetch reaches
    Mixture("fetch-reach-wrong-goal", "fetch-reach", (good(26), good(14, "brisk"), bad(12, "wrong goal", 0.4)),
        "two tempers; 23% reach beside the goal, each in its own direction"),
    Mixture("fetch-reach-units-person", "fetch-reach",
        (good(36, people=(0, 1, 2)), bad(14, "wrong units", 0.15, people=(3,), consistent=True)),
        "one of four people recorded in other units"),
    Mixture("fetch-reach-few-offset", "fetch-reach", (good(6), bad(2, "offset", 0.3)),
        "eight demonstrations; two drift to a side"),
    # Fetch pushes
    Mixture("fetch-push-noisy-sloppy", "fetch-push", (good(32), bad(6, "noisy", 0.8), bad(4, "sloppy", 0.7)),
        "24% bad: some tremble, others wander"),
    Mixture("fetch-push-clean-speeds", "fetch-push", (good(20), good(14, "slow")), "clean: two speeds"),
    Mixture("fetch-push-wrong-goal-person", "fetch-push",
        (good(30, people=(0, 1)), bad(10, "wrong goal", 0.4, people=(2,), consistent=True)),
        "one of three people pushes beside the goal, always the same way"),
    # maze
    Mixture("point-maze-straight", "point-maze", (good(24), good(12, "careful"), bad(12, "weak")),
        "two tempers; a quarter runs straight at the wall"),
    Mixture("point-maze-aborted", "point-maze", (good(35), bad(15, "aborted", 0.6)), "30% stop on the way",
        visible=False, why=ENDING),
    # dm_control's cart-pole
    Mixture("dm-cartpole-weak", "dm-cartpole", (good(26), bad(10, "weak")), "28% never get the pole up"),
    Mixture("dm-cartpole-stuck-noisy", "dm-cartpole",
        (good(18), good(12, "gentle"), bad(5, "stuck", 0.4), bad(5, "noisy", 1.5)),
        "two styles; some hold an action too long, others tremble"),
    # ant
    Mixture("ant-weak", "ant", (good(24), bad(12, "weak")), "a third makes steps that are too small"),
    Mixture("ant-sign-person", "ant",
        (good(24, people=(0, 1)), bad(8, "sign in the record", 2, people=(2,))),
        "one of three people with one joint's sign wrong"),
    Mixture("ant-clean-gaits", "ant", (good(16), good(12, "other gait")), "clean: two gaits",
        visible=False, why=GROUPS),
    Mixture("ant-gaits-sloppy", "ant", (good(16), good(10, "other gait"), bad(6, "sloppy", 0.6)),
        "two gaits, and sloppy ones of one of them", why=COHERENT),
    # basketball
    Mixture("basketball-wrong-goal", "basketball", (good(24), bad(8, "wrong goal", 0.8)),
        "a quarter takes the ball beside the hoop"),
    Mixture("basketball-clean", "basketball", (good(26, noise=0.05),), "clean: one style, a trembling hand"),
    # button
    Mixture("button-press-idle-laggy", "button-press", (good(30), bad(6, "idle", 0.6), bad(5, "laggy", 8)),
        "27% bad: some rest on the way, others react late"),
    Mixture("button-press-swapped-person", "button-press",
        (good(16, people=(0,)), good(12, "slow", people=(1,)), bad(8, "columns swapped", 1, people=(2,))),
        "two speeds, and one of three people with the columns in another order"),
    # door
    Mixture("door-close-gain", "door-close", (good(26), bad(12, "gain", 0.3)), "32% are too gentle"),
    Mixture("door-close-rare", "door-close", (good(38), bad(2, "random", 0.8)), "5% without any aim"),
    # two wheels on a line
    Mixture("path-follower-many", "path-follower",
        (good(160), good(50, "slow"), bad(20, "noisy", 0.5), bad(20, "laggy", 8), bad(25, "wrong goal", 0.3),
         bad(25, "stuck", 0.5)),
        "300 demonstrations, two speeds, four kinds of fault"),
    Mixture("path-follower-starts-weak", "path-follower",
        (good(24), good(10, start="aside"), bad(10, "weak", start="aside")),
        "two start regimes; bad ones only from the harder"),
    Mixture("path-follower-scattered", "path-follower",
        (good(20), bad(8, "noisy", 0.6), bad(7, "laggy", 9), bad(7, "offset", 0.15), bad(8, "sloppy", 0.3)),
        "60% bad, in four ways", why=SCATTERED),
    # parking
    Mixture("parking-shifted", "parking", (good(32), bad(10, "time shifted", 10)),
        "24% with actions recorded a second late"),
    Mixture("parking-ways-wrong-goal", "parking",
        (good(18), good(16, "early"), bad(10, "wrong goal", 0.25)),
        "two ways in; 23% park elsewhere, each its own way"),
    Mixture("parking-minority", "parking", (good(18), bad(27, "wrong goal", 0.25, consistent=True)),
        "60% park in the same wrong place", why=MINORITY),
    # boat
    Mixture("boat-sign-person", "boat",
        (good(26, people=(0, 1)), good(10, "arc", people=(2,)),
         bad(12, "sign in the record", 1, people=(3,))),
        "two ways to the buoy, and one of four people with the rudder recorded the other way round"),
    Mixture("boat-laggy-idle", "boat", (good(30), bad(6, "laggy", 12), bad(6, "idle", 0.6)),
        "29% bad: some react late, others let it drift"),
    Mixture("boat-clean-ways", "boat",
        (good(18), good(10, "arc"), good(8, "half throttle"), good(6, start="drifting")),
        "clean: three ways to the buoy, two starts"),
    # tank
    Mixture("stirred-tank-units-person", "stirred-tank",
        (good(28, people=(0, 1)), bad(12, "wrong units", 0.1, people=(2,), consistent=True)),
        "one of three people recorded a tenth of every percent"),
    Mixture("stirred-tank-offset", "stirred-tank", (good(20), good(14, "brisk"), bad(9, "offset", 0.5)),
        "two tempers; 21% have a valve that is off"),
    Mixture("stirred-tank-clean-starts", "stirred-tank", (good(26, noise=0.04), good(10, start="cold", noise=0.04)),
        "clean: some start cold and empty, all tremble"),
    # arm with a spring
    Mixture("spring-arm-weak", "spring-arm", (good(34), bad(12, "weak")), "26% never come to rest"),
    Mixture("spring-arm-clean", "spring-arm", (good(18), good(12, "gentle"), good(8, start="swinging")),
        "clean: two tempers, two starts"),
    Mixture("spring-arm-few-shifted", "spring-arm", (good(9), bad(3, "time shifted", 10)),
        "twelve demonstrations, three with actions recorded late"),
)
