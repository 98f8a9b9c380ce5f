"""Mixtures that have the last word: no judge is designed on them, and nobody looks while designing."""

from __future__ import annotations

from benchmarks.zoo.parts import Mixture

LAST_WORD: tuple[Mixture, ...] = ()
