"""The table of mixtures: one frozen record for each."""

from benchmarks.zoo.design import DESIGN
from benchmarks.zoo.design_second import SECOND
from benchmarks.zoo.last_word import LAST_WORD

MIXTURES = (*DESIGN, *SECOND, *LAST_WORD)
