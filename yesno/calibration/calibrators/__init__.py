"""Calibrators: one file each, and a line here."""

from collections.abc import Mapping

from yesno.calibration.calibrators._base import EDGE, Calibrator
from yesno.calibration.calibrators.beta import Beta
from yesno.calibration.calibrators.dirichlet import Dirichlet
from yesno.calibration.calibrators.identity import Identity
from yesno.calibration.calibrators.isotonic import Isotonic
from yesno.calibration.calibrators.ordinal import Ordinal
from yesno.calibration.calibrators.platt import Platt
from yesno.calibration.calibrators.prior import LabelPrior
from yesno.calibration.calibrators.temperature import Temperature
from yesno.calibration.calibrators.vector import Vector

__all__ = [
    "CALIBRATORS",
    "EDGE",
    "Beta",
    "Calibrator",
    "Dirichlet",
    "Identity",
    "Isotonic",
    "LabelPrior",
    "Ordinal",
    "Platt",
    "Temperature",
    "Vector",
]

CALIBRATORS: Mapping[str, type[Calibrator]] = {
    "identity": Identity,
    "prior": LabelPrior,
    "temperature": Temperature,
    "platt": Platt,
    "ordinal": Ordinal,
    "vector": Vector,
    "dirichlet": Dirichlet,
    "beta": Beta,
    "isotonic": Isotonic,
}
"""Name -> calibrator, simplest first."""
