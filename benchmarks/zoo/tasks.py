"""The tasks: their simulator, how long a recording may be, who acts in them, and what counts as good."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from benchmarks.zoo import chores as b
from benchmarks.zoo import controllers as c
from benchmarks.zoo import crafts as f
from benchmarks.zoo import crew as k
from benchmarks.zoo import drivers as d
from benchmarks.zoo import environments as e
from benchmarks.zoo import hands as h
from benchmarks.zoo import machines as m
from benchmarks.zoo import movers as n
from benchmarks.zoo import operators as o
from benchmarks.zoo import pilots as p
from benchmarks.zoo import rigs as r
from benchmarks.zoo import suites as s
from benchmarks.zoo import vehicles as v
from benchmarks.zoo import works as w
from benchmarks.zoo.simulators import CartPole, PointMass, Simulator, TwoLinkArm, Unicycle

Half = Literal["design", "last-word"]


@dataclass(frozen=True)
class Task:
    """One kind of task. All mixtures of a task are in the same half."""

    name: str
    half: Half
    kind: str
    simulator: Callable[[], Simulator]
    steps: int
    """Longest recording."""
    passes: float
    """The score that a good demonstration has at least.

    The score is the mean merit over `steps`; the last merit counts on when the recording ends before.
    """
    margin: float
    """How much lower a bad one's score is at least than without the fault, from the same start."""
    controllers: Mapping[str, c.Factory]
    goal: tuple[int, ...] = ()
    """Observation dimensions of the goal, or of what is to be reached."""
    goal_span: float = 1.0
    starts: tuple[str, ...] = ()
    """Start regimes besides the usual one, of which new last words are drawn."""
    extra: bool = True
    """Whether it needs more than rilco itself does."""


_CHEETAH = "HalfCheetah-v5"
_DM = (0, 3, 1, 2, 4)
"""Where dm_control has what the cart-pole's controller expects."""
_REACHER, _ARM = (0.1, 0.11), (0.5, 0.5)


def _metaworld(
    name: str,
    half: Half,
    steps: int,
    passes: float,
    goal: tuple[int, ...] = (4, 5, 6),
    slow: float | None = 0.6,
) -> Task:
    """A task of Metaworld's, by its own script, and by the same with a slower hand."""
    script = f"Sawyer{name.title().replace('-', '')}V3Policy"
    styles = {"expert": c.metaworld(script)} | ({"slow": c.metaworld(script, slow)} if slow else {})
    return Task(
        name, half, "manipulation", lambda: e.MetaworldSimulator(name), steps, passes, 0.08, styles, goal, 0.2
    )


# fmt: off
TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        Task("point-mass", "design", "goal-conditioned", PointMass, 70, 0.5, 0.08,
            {"expert": c.point_mass(2.0, 2.0), "by axis": c.point_mass(2.0, 2.0, by_axis=True),
             "gentle": c.point_mass(1.2, 1.8), "weak": c.point_mass(1.0, 0.2)},
            goal=(4, 5), goal_span=2.0, extra=False),
        Task("reacher", "design", "goal-conditioned",
            lambda: e.GymSimulator("Reacher-v5", e.reached), 60, 0.3, 0.08,
            {"expert": c.arm(_REACHER, 0.4, 0.05, 6, 4, 0), "elbow left": c.arm(_REACHER, 0.4, 0.05, 6, 4, 1),
             "elbow right": c.arm(_REACHER, 0.4, 0.05, 6, 4, -1),
             "weak": c.arm(_REACHER, 0.1, 0.002, 6, 4, 0)}, goal=(4, 5), goal_span=0.2),
        Task("inverted-pendulum", "design", "balancing",
            lambda: e.GymSimulator("InvertedPendulum-v5", e.centred, 0.0, {"tilted": e.start_tilted}),
            200, 0.8, 0.1,
            {"expert": c.linear((-0.741, -6.023, -0.868, -1.012)),
             "stiff": c.linear((-1.6, -11.0, -1.9, -2.1)), "weak": c.linear((-0.05, -3.2, -0.03, -0.03))}),
        Task("pendulum", "design", "swing-up",
            lambda: e.GymSimulator("Pendulum-v1", e.upright, None,
                {"top": e.start_at_top, "bottom": e.start_at_bottom}), 200, 0.4, 0.08,
            {"expert": c.pendulum(1.0, 10.0, 2.0), "gentle": c.pendulum(0.25, 10.0, 2.0),
             "weak": c.pendulum(0.05, 6.0, 0.2)}),
        Task("mountain-car", "design", "hill climbing",
            lambda: e.GymSimulator("MountainCarContinuous-v0", e.over_the_hill, None, {"left": e.start_left}),
            300, 0.3, 0.08,
            {"expert": c.mountain_car(1.0, 0.003), "gentle": c.mountain_car(0.8, 0.02),
             "weak": c.mountain_car(0.25, 0.005)}),
        Task("half-cheetah", "design", "locomotion",
            lambda: e.GymSimulator(_CHEETAH, e.travelled), 300, 20.0, 8.0,
            {"expert": c.trained("half-cheetah 0"), "other gait": c.trained("half-cheetah 1"),
             "weak": c.trained("half-cheetah 0 early"), "weak first": c.trained("half-cheetah 0 first")}),
        Task("lunar-lander", "design", "Box2D",
            lambda: e.GymSimulator("LunarLanderContinuous-v3", e.landed, -1.0), 400, 0.35, 0.1,
            {"expert": c.lander(1.0, 20.0), "slow": c.lander(0.5, 20.0), "weak": c.lander(2.5, 3.0)}),
        _metaworld("drawer-open", "design", 200, 0.3, slow=0.5),
        Task("two-link-arm", "design", "goal-conditioned", TwoLinkArm, 80, 0.5, 0.08,
            {"expert": c.arm(_ARM, 1.5, 0.8, 4, 6, 0), "elbow left": c.arm(_ARM, 1.5, 0.8, 4, 6, 1),
             "elbow right": c.arm(_ARM, 1.5, 0.8, 4, 6, -1), "weak": c.arm(_ARM, 0.8, 0.02, 4, 6, 0)},
            goal=(6, 7), goal_span=1.0, extra=False),
        Task("unicycle", "design", "goal-conditioned", Unicycle, 70, 0.4, 0.08,
            {"expert": c.unicycle(1.0, 1.0), "backwards": c.unicycle(1.0, 1.0, reverse=True),
             "careful": c.unicycle(1.5, 0.7), "weak": c.unicycle(0.05, 0.5)},
            goal=(4, 5), goal_span=2.0, extra=False),
        Task("double-pendulum", "design", "balancing",
            lambda: e.GymSimulator("InvertedDoublePendulum-v5", e.tip_centred, 0.0), 200, 0.85, 0.1,
            {"expert": c.linear((0.162, 1.081, 4.134, 0.224, 0.616, 0.624), (0, 1, 2, 5, 6, 7)),
             "stiff": c.linear((0.3, 1.5, 5.5, 0.4, 0.85, 0.85), (0, 1, 2, 5, 6, 7)),
             "weak": c.linear((0.02, 0.8, 3.2, 0.05, 0.4, 0.45), (0, 1, 2, 5, 6, 7))}),
        Task("cart-pole", "design", "swing-up", CartPole, 300, 0.2, 0.1,
            {"expert": c.cart_pole(1.0, 0.3), "gentle": c.cart_pole(0.8, 0.25),
             "weak": c.cart_pole(0.15, 0.2)}, extra=False),
        Task("swimmer", "design", "locomotion",
            lambda: e.GymSimulator("Swimmer-v5", e.travelled), 500, 2.5, 0.8,
            {"expert": c.trained("swimmer 0"), "other gait": c.trained("swimmer 1"),
             "weak": c.trained("swimmer 0 early")}),
        Task("hopper", "design", "locomotion",
            lambda: e.GymSimulator("Hopper-v5", e.travelled, 0.0), 500, 2.0, 1.0,
            {"expert": c.trained("hopper 0"), "other gait": c.trained("hopper 1"),
             "weak": c.trained("hopper 0 early")}),
        Task("bipedal-walker", "design", "Box2D",
            lambda: e.GymSimulator("BipedalWalker-v3", e.walked, 0.0), 800, 13.0, 4.0,
            {"expert": c.walker(0.2), "slow": c.walker(0.1), "weak": c.walker(0.35)}),
        _metaworld("push", "design", 150, 0.3, goal=(36, 37)),
        Task("crane", "design", "goal-conditioned", m.Crane, 150, 0.6, 0.06,
            {"expert": c.linear((1.0, 1.6, -2.0, 0.3)), "careful": c.linear((0.5, 1.0, -1.5, 0.2)),
             "brisk": c.linear((2.0, 2.4, -3.0, 0.5)), "weak": c.linear((1.0, 0.2, 0.0, 0.0))},
            goal=(0,), goal_span=4.0, extra=False),
        Task("quadrotor", "design", "goal-conditioned", m.Quadrotor, 150, 0.5, 0.08,
            {"expert": d.quadrotor(1.2, 2.0, 0.5), "careful": d.quadrotor(1.0, 1.0, 0.5),
             "climb first": d.quadrotor(1.2, 2.0, 0.5, climb_first=True), "weak": d.quadrotor(1.2, 2.0, 0.1)},
            goal=(7, 8), goal_span=3.0, extra=False),
        Task("rooms", "design", "goal-conditioned", m.Rooms, 100, 0.4, 0.08,
            {"expert": d.rooms(4.0), "above": d.rooms(4.0, 1), "below": d.rooms(4.0, -1),
             "weak": c.point_mass(2.0, 1.0)}, goal=(4, 5), goal_span=1.5, extra=False),
        Task("ball-on-plate", "design", "balancing", m.BallOnPlate, 150, 0.5, 0.1,
            {"expert": c.linear((-3.0, -3.0, 15.0), axes=2), "stiff": c.linear((-8.0, -6.0, 20.0), axes=2),
             "weak": c.linear((-2.0, -0.6, 10.0), axes=2)}, extra=False),
        Task("acrobot", "design", "swing-up", m.Acrobot, 250, 0.0, 0.1,
            {"expert": d.acrobot(1.0, 0.0, 1.5), "shoulder": d.acrobot(1.0, 0.5, 1.5),
             "weak": d.acrobot(0.5, 0.0, 3.0)}, extra=False),
        Task("bowl", "design", "hill climbing", m.Bowl, 200, 0.35, 0.08,
            {"expert": d.bowl(1.0, 0.05, 2.0), "gentle": d.bowl(0.9, 0.15, 2.0),
             "weak": d.bowl(0.5, 0.3, 0.2)}, goal=(4, 5), goal_span=2.0, extra=False),
        Task("walker2d", "design", "locomotion",
            lambda: e.GymSimulator("Walker2d-v5", e.travelled, 0.0), 300, 1.5, 0.4,
            {"expert": c.trained("walker2d 1"), "other gait": c.trained("walker2d 0"),
             "weak": c.trained("walker2d 1 early"), "weak first": c.trained("walker2d 1 first")}),
        Task("disc-push", "design", "Box2D", m.DiscPush, 120, 0.3, 0.08,
            {"expert": d.disc_push(1.0, 0.15), "careful": d.disc_push(0.75, 0.15),
             "weak": d.disc_push(1.0, 0.6)}, goal=(4, 5), goal_span=4.0),
        _metaworld("window-close", "design", 200, 0.2),
        _metaworld("pick-place", "design", 120, 0.25, goal=(36, 37, 38), slow=0.5),
        Task("fetch-reach", "design", "goal-conditioned",
            lambda: s.GoalSimulator("FetchReach-v4", 0.02, s.straight), 50, 0.55, 0.08,
            {"expert": h.fetch_reach(3.0, 1.0), "brisk": h.fetch_reach(6.0, 0.4), "weak": h.fetch_reach(0.6, 1.0)},
            goal=(10, 11, 12), goal_span=0.3),
        Task("fetch-push", "design", "manipulation",
            lambda: s.GoalSimulator("FetchPush-v4", 0.04, s.straight), 60, 0.3, 0.1,
            {"expert": h.fetch_push(0.7), "slow": h.fetch_push(0.45)}, goal=(25, 26), goal_span=0.3),
        Task("point-maze", "design", "goal-conditioned",
            lambda: s.GoalSimulator("PointMaze_UMaze-v3", 0.15, s.along_the_maze), 300, 0.4, 0.1,
            {"expert": h.point_maze(4.0, 2.0), "careful": h.point_maze(8.0, 3.0, cautious=0.5),
             "weak": c.point_mass(4.0, 2.0)}, goal=(4, 5), goal_span=2.0),
        Task("dm-cartpole", "design", "swing-up",
            lambda: s.SuiteSimulator("cartpole", "swingup", s.pole_up), 500, 0.3, 0.1,
            {"expert": h.reordered(c.cart_pole(1.0, 0.3), _DM), "gentle": h.reordered(c.cart_pole(0.8, 0.25), _DM),
             "weak": h.reordered(c.cart_pole(0.15, 0.2), _DM)}),
        Task("ant", "design", "locomotion",
            lambda: e.GymSimulator("Ant-v5", e.travelled, 0.0), 300, 3.0, 3.0,
            {"expert": h.ant(2.84, 0.34, 0.27, -1.12, 0.94, 0.87),
             "other gait": h.ant(1.4, 0.54, 0.35, -0.68, 0.89, 1.7),
             "weak": h.ant(2.0, 0.08, 0.2, -1.12, 0.94, 0.87)}),
        _metaworld("basketball", "design", 150, 0.2, goal=(36,), slow=None),
        _metaworld("button-press", "design", 120, 0.2),
        _metaworld("door-close", "design", 120, 0.3),
        Task("path-follower", "design", "balancing", v.PathFollower, 200, 0.35, 0.06,
            {"expert": d.path_follower(0.6, 8.0, 4.0), "slow": d.path_follower(0.45, 8.0, 4.0),
             "weak": d.path_follower(0.6, 1.2, 0.3)}, goal=(0,), goal_span=0.5, extra=False),
        Task("parking", "design", "goal-conditioned", v.Parking, 120, 0.55, 0.05,
            {"expert": d.parking(3.0, 3.0, 1.0), "slow": d.parking(1.8, 3.0, 1.0),
             "early": d.parking(3.0, 1.8, 2.0), "weak": d.parking(3.0, 3.0, 0.08)},
            goal=(0, 1), goal_span=10.0, extra=False),
        Task("boat", "design", "goal-conditioned", v.Boat, 150, 0.4, 0.08,
            {"expert": d.boat(1.0, 1.5), "half throttle": d.boat(0.6, 1.5), "arc": d.boat(1.0, 1.5, aside=0.7),
             "weak": d.boat(1.0, 0.1)}, goal=(7, 8), goal_span=30.0, extra=False),
        Task("stirred-tank", "design", "balancing", v.StirredTank, 150, 0.6, 0.1,
            {"expert": d.stirred_tank(4.0, 4.0), "brisk": d.stirred_tank(12.0, 12.0),
             "weak": d.stirred_tank(1.0, 1.0, knows=0.3)}, goal=(3, 4), goal_span=30.0, extra=False),
        Task("spring-arm", "design", "goal-conditioned", v.SpringArm, 120, 0.7, 0.06,
            {"expert": d.spring_arm(40.0, 12.0, 5.0), "gentle": d.spring_arm(20.0, 6.0, 0.0),
             "weak": d.spring_arm(60.0, 1.0, 0.0)}, goal=(4,), goal_span=3.0, extra=False),
        Task("pusher", "design", "manipulation",
            lambda: e.GymSimulator("Pusher-v5", e.pushed), 200, 0.4, 0.1,
            {"expert": o.pusher(35.0, 2.0), "stiff": o.pusher(60.0, 3.2), "weak": o.pusher(6.0, 3.0)},
            goal=(20, 21), goal_span=0.3),
        _metaworld("plate-slide", "design", 120, 0.35, goal=(36, 37)),
        _metaworld("handle-press", "design", 120, 0.4),
        _metaworld("faucet-open", "design", 150, 0.35),
        Task("dm-chain", "design", "balancing",
            lambda: s.SuiteSimulator("lqr", "lqr_6_2", s.at_rest, 10.0), 300, 0.35, 0.08,
            {"expert": o.chain(4.0), "stiff": o.chain(12.0), "weak": o.chain(0.3)}),
        Task("dm-fish", "design", "locomotion",
            lambda: s.SuiteSimulator("fish", "swim", s.swum), 300, 0.5, 0.1,
            {"expert": o.fish(1.5, 1.5, 0.3), "slow beat": o.fish(1.0, 2.0, 0.3), "weak": o.fish(1.5, 0.6, 0.1)}),
        Task("racing", "design", "Box2D", s.Racing, 300, 1.0, 0.2,
            {"expert": o.racer(60.0, 0.03, 1.0), "careful": o.racer(42.0, 0.03, 1.0),
             "weak": o.racer(60.0, 0.003, 0.1)}, starts=("off the line",), goal=(0,), goal_span=20.0),
        Task("furuta", "design", "swing-up", r.Furuta, 400, 0.3, 0.1,
            {"expert": o.furuta(0.35, 0.06), "gentle": o.furuta(0.25, 0.03), "weak": o.furuta(0.12, 0.06)},
            starts=("up",), extra=False),
        Task("swing", "design", "hill climbing", r.Swing, 500, 0.35, 0.08,
            {"expert": o.swing(0.2, 8.0, 0.05), "low": o.swing(0.16, 8.0, 0.05), "weak": o.swing(0.06, 8.0, 0.05)},
            starts=("pushed",), extra=False),
        Task("trailer", "design", "goal-conditioned", r.Trailer, 120, 0.6, 0.06,
            {"expert": o.trailer(1.5, 4.0, 2.0), "slow": o.trailer(1.0, 4.0, 2.0),
             "weak": o.trailer(1.5, 4.0, 0.1)}, goal=(0, 1), goal_span=10.0, starts=("bent",), extra=False),
        Task("pouring", "design", "goal-conditioned", r.Pouring, 140, 0.4, 0.08,
            {"expert": o.pouring(4.0, 8.0, 2.0), "slow": o.pouring(4.0, 5.0, 2.0),
             "weak": o.pouring(1.0, 8.0, 0.2)}, goal=(4,), goal_span=120.0, starts=("tilted",), extra=False),
        Task("peg", "design", "manipulation", r.Peg, 150, 0.7, 0.06,
            {"expert": o.peg(3.0, 20.0), "high": o.peg(3.0, 20.0, height=20.0), "weak": o.peg(0.6, 5.0)},
            goal=(6, 7), goal_span=60.0, starts=("touching",), extra=False),
        Task("monopod", "design", "locomotion", r.Monopod, 300, 0.7, 0.1,
            {"expert": o.monopod(0.1, 0.5, 15.0), "low": o.monopod(0.1, 0.3, 15.0),
             "weak": o.monopod(0.02, 0.5, 15.0)}, goal=(5,), goal_span=2.0, starts=("moving",), extra=False),
        Task("house", "design", "balancing", f.House, 288, 0.7, 0.08,
            {"expert": p.house(8.0), "on and off": p.house(100.0), "weak": p.house(2.0, knows=0.9)},
            goal=(5, 6), goal_span=6.0, starts=("cold",), extra=False),
        Task("convoy", "design", "balancing", f.Convoy, 300, 0.6, 0.08,
            {"expert": p.convoy(0.5, 1.5), "gentle": p.convoy(0.2, 0.8), "weak": p.convoy(0.08, 0.3)},
            goal=(4,), goal_span=1.2, starts=("closing",), extra=False),
        Task("glider", "design", "goal-conditioned", f.Glider, 140, 0.45, 0.06,
            {"expert": p.glider(1.0, 0.3), "fast": p.glider(1.0, 0.3, speed=31.0), "weak": p.glider(0.1, 0.02)},
            goal=(5,), goal_span=600.0, starts=("diving",), extra=False),
        Task("satellite", "design", "goal-conditioned", f.Satellite, 120, 0.65, 0.06,
            {"expert": p.satellite(0.06, 0.22), "slow": p.satellite(0.025, 0.16), "weak": p.satellite(0.06, 0.02)},
            starts=("tumbling",), extra=False),
        Task("bicycle", "design", "balancing", f.Bicycle, 300, 0.45, 0.08,
            {"expert": p.bicycle(0.6, 25.0, 8.0), "stiff": p.bicycle(0.6, 50.0, 14.0),
             "weak": p.bicycle(0.1, 25.0, 8.0)}, goal=(4,), goal_span=2.0, starts=("leaning",), extra=False),
        Task("lift", "design", "goal-conditioned", w.Lift, 300, 0.6, 0.08,
            {"expert": p.lift(2.5, 0.7), "slow": p.lift(1.5, 0.5), "weak": p.lift(0.5, 0.1)},
            goal=(4,), goal_span=20.0, starts=("running",), extra=False),
        Task("digger", "design", "manipulation", w.Digger, 200, 0.65, 0.08,
            {"expert": p.digger(3.0, 2.2), "high": p.digger(3.0, 3.2), "weak": p.digger(0.5, 2.2)},
            goal=(7, 8), goal_span=2.0, starts=("stretched",), extra=False),
        Task("conveyor", "design", "manipulation", w.Conveyor, 250, 0.6, 0.08,
            {"expert": p.conveyor(5.0, 0.3, 12.0), "high": p.conveyor(5.0, 0.3, 22.0),
             "weak": p.conveyor(2.5, 0.0, 12.0)}, goal=(8, 9), goal_span=60.0, starts=("beside",), extra=False),
        Task("floating-ball", "design", "balancing", w.FloatingBall, 300, 0.7, 0.08,
            {"expert": p.floating_ball(0.004, 0.12), "soft": p.floating_ball(0.0015, 0.08),
             "weak": p.floating_ball(0.0001, 0.03)}, goal=(3,), goal_span=8.0, starts=("low",), extra=False),
        _metaworld("door-lock", "design", 150, 0.3, goal=(4, 5)),
        Task("mower", "last-word", "covering", b.Mower, 300, 0.45, 0.08,
            {"expert": k.mower(1.0, 4.0), "skips lanes": k.mower(1.0, 4.0, order=(0, 2, 1, 3)),
             "weak": k.mower(0.5, 1.0)}, starts=("within",), extra=False),
        Task("valve", "last-word", "manipulation", b.Valve, 200, 0.65, 0.08,
            {"expert": k.valve(5.0, 1.0), "short strokes": k.valve(5.0, 0.5), "weak": k.valve(0.3, 1.0)},
            goal=(4,), goal_span=4.0, starts=("gripped",), extra=False),
        Task("juggler", "last-word", "balancing", b.Juggler, 300, 0.55, 0.08,
            {"expert": k.juggler(0.4, 0.3), "high": k.juggler(0.4, 0.3, plane=0.15), "weak": k.juggler(0.05, 0.3)},
            goal=(7,), goal_span=0.4, starts=("thrown",), extra=False),
        Task("capsule", "last-word", "goal-conditioned", n.Capsule, 120, 0.55, 0.08,
            {"expert": k.capsule(0.5, 0.05), "slow": k.capsule(0.3, 0.05),
             "far round": k.capsule(0.5, 0.05, waits=5.0), "weak": k.capsule(0.5, 0.002)},
            goal=(4, 5), goal_span=20.0, starts=("drifting",), extra=False),
        Task("wheel-pendulum", "last-word", "swing-up", n.WheelPendulum, 400, 0.4, 0.1,
            {"expert": k.wheel_pendulum(0.3, 0.001), "gentle": k.wheel_pendulum(0.2, 0.001),
             "weak": k.wheel_pendulum(0.1, 0.001)}, starts=("up",), extra=False),
        Task("rower", "last-word", "locomotion", n.Rower, 250, 0.4, 0.08,
            {"expert": k.rower(1.8, 0.6, 1.0), "short strokes": k.rower(1.8, 0.35, 1.0),
             "weak": k.rower(1.0, 0.6, 0.3)}, goal=(10, 11), goal_span=20.0, starts=("turned",), extra=False),
        Task("dm-finger", "last-word", "manipulation",
            lambda: s.SuiteSimulator("finger", "spin", s.spun), 300, 0.35, 0.08,
            {"expert": k.finger(2.64, (-0.65, 1.16), (1.32, 0.63), -2.12, 5.3),
             "slow": k.finger(1.63, (0.73, 1.16), (-1.13, 0.87), 2.21, 2.35),
             "weak": k.finger(2.64, (-0.65, 1.0), (1.32, 0.5), -2.12, 2.0)}),
        _metaworld("coffee-push", "last-word", 150, 0.2, goal=(36, 37)),
        _metaworld("hand-insert", "last-word", 120, 0.4, goal=(36, 37)),
        _metaworld("peg-unplug-side", "last-word", 250, 0.15, goal=(4, 5)),
        _metaworld("sweep", "last-word", 250, 0.25, goal=(4, 5)),
    )
}
