"""Small things add up: what is measured, what counts as usual, and where the odd ones begin."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.judging.probes import linear_demos

from rilco.data.record import Demonstrations
from rilco.judging.config import JudgingConfig
from rilco.judging.gaps import core
from rilco.judging.judges.consensus import judge_consensus
from rilco.judging.judges.manner import cut_score, excesses, judge_manner
from rilco.judging.material import Material, prepare
from rilco.judging.offline import judge_offline
from rilco.judging.traits import WORDS, measure

CONFIG = JudgingConfig()


def walks(odd: int, how: str, *, count: int = 24, seed: int = 0) -> Demonstrations:
    """Walks to the origin from all around, a = -x; the last `odd` ones have a manner of their own."""
    rng = np.random.default_rng(seed)
    obs: list[np.ndarray] = []
    action: list[np.ndarray] = []
    episode: list[int] = []
    for i in range(count):
        own = how if i >= count - odd else ""
        place = rng.standard_normal(2)
        place *= 3.0 / np.linalg.norm(place)
        for step in range({"long": 70, "unfinished": 8}.get(own, 30)):
            wanted = -place * {"weak": 0.6, "long": 0.5}.get(own, 1.0)
            if own == "roundabout":
                wanted = wanted + 1.5 * np.array([-place[1], place[0]])
            if own == "restless":
                wanted = wanted + 0.5 * (-1.0) ** step
            if own == "vigour":
                wanted = wanted + 15.0 * np.sin(0.5 * step)
            if own == "elsewhere":
                wanted = wanted + 1.0
            done = wanted + 0.02 * rng.standard_normal(2)
            if own == "still" and step % 10:
                done = action[-1]
            obs.append(place)
            action.append(done)
            episode.append(i)
            place = place + (0.0 if own == "rests" and step > 8 else 0.15) * done
    return Demonstrations(np.array(obs), np.array(action), episode=np.array(episode))


def material_of(demos: Demonstrations) -> Material:
    return prepare(demos, demos.index.place, np.arange(len(np.unique(demos.episode))), CONFIG)


def seen_of(material: Material) -> dict[str, np.ndarray]:
    return {**judge_consensus(material, CONFIG).evidence, "stops": np.zeros(material.count)}


def traits_of(material: Material) -> dict[str, np.ndarray]:
    return measure(material, seen_of(material), np.ones(material.count, bool), CONFIG)


@pytest.mark.parametrize(
    "how",
    [
        "long",
        "weak",
        "vigour",
        "roundabout",
        "restless",
        "elsewhere",
        "still",
        "rests",
        "unfinished",
    ],
)
def test_each_trait_is_largest_where_it_was_put(how: str) -> None:
    material = material_of(walks(4, how))
    trait = traits_of(material)[how]
    put = material.order >= 20
    assert trait[put].mean() > trait[~put].max()


def test_every_trait_has_a_weight_and_words() -> None:
    assert set(traits_of(material_of(walks(0, "")))) == {name for name, _ in CONFIG.manner} == set(WORDS)
    assert all(weight >= 0.0 for _, weight in CONFIG.manner), "odd is never good"


def test_the_usual_has_no_excess_and_few_need_more() -> None:
    values = np.concatenate([np.linspace(-1.0, 1.0, 39), [9.0]])
    heard, pairs = np.ones(40, bool), np.full(40, 30)
    excess = excesses({"long": values}, pairs, heard, CONFIG)["long"]
    assert (excess[10:30] == 0.0).all()
    assert excess[-1] > 1.5
    few = np.arange(40) % 4 == 3
    assert 0.0 < excesses({"long": values}, pairs, few, CONFIG)["long"][-1] < excess[-1]


def test_the_usual_is_the_densest_half_by_weight() -> None:
    values = np.concatenate([np.linspace(0.0, 0.1, 4), np.linspace(5.0, 5.1, 6)])
    assert core(values)[0] > 4.9
    assert core(values, np.repeat([3.0, 1.0], [4, 6]))[0] < 0.2


@pytest.mark.parametrize(
    ("score", "cut"),
    [
        ([-3.0] * 8 + [-0.2, 0.1, 0.3], (-3.0, -0.2)),  # below the gap's end
        ([-3.0] * 8 + [-1.0, -0.9, 1.2], (-0.9, 1.2)),
        ([-3.0] * 4 + [1.0] * 7, (1.0, 9.0)),  # most cannot be odd
        ([-3.0] * 8 + [-1.2, 1.4, 3.5, 9.0], (-1.2, 1.4)),  # those above are all odd, however far apart
        ([-3.0] * 8 + [-2.8, -2.6, -2.4], (-2.4, 9.0)),  # nobody
    ],
)
def test_the_odd_ones_begin_in_the_widest_gap(score: list[float], cut: tuple[float, float]) -> None:
    assert cut[0] < cut_score(np.array(score), np.ones(len(score)), CONFIG) < cut[1]


@pytest.mark.parametrize("how", ["roundabout", "weak", "restless", "long"])
def test_who_is_odd_in_sum_is_not_kept(how: str) -> None:
    verdict = judge_offline(walks(5, how))
    assert verdict.decisions.tolist()[:19] == ["keep"] * 19
    assert "keep" not in verdict.decisions[19:]


def test_the_reason_names_what_weighs_most() -> None:
    material = material_of(walks(5, "long"))
    seen = seen_of(material)
    opinion = judge_manner(material, CONFIG, seen=seen, heard=np.ones(24, bool))
    odd = int(np.flatnonzero(material.order >= 19)[0])
    assert opinion.reasons[odd].startswith("Odd in sum: it ")
    assert "takes long" in opinion.reasons[odd]
    assert opinion.good.min() > CONFIG.unsure_from, "nothing is dropped by manner alone"


def test_those_not_heard_have_no_say_and_get_none() -> None:
    material = material_of(walks(5, "long"))
    seen = seen_of(material)
    heard = material.order < 19
    opinion = judge_manner(material, CONFIG, seen=seen, heard=heard)
    assert (opinion.good[~heard] == 0.5).all()
    assert (opinion.good[heard] > 0.5).all()
    assert judge_manner(material, CONFIG, seen={}, heard=heard).standing == 0.0
    few = replace(CONFIG, manner_demonstrations=25)
    assert judge_manner(material, few, seen=seen, heard=heard).standing == 0.0


def test_a_clean_set_is_kept() -> None:
    assert judge_offline(linear_demos(24, seed=3)).decisions.tolist() == ["keep"] * 24
