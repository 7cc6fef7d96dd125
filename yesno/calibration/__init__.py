"""How far a model's probabilities can be trusted, measured on labels: cards that correct them."""

from yesno.calibration.applying import calibrated
from yesno.calibration.calibrators import CALIBRATORS, Calibrator
from yesno.calibration.cards import Calibration, Candidate, Evidence, Gap
from yesno.calibration.files import load_calibration, load_calibrations, save_calibration
from yesno.calibration.fitting import Fit, fit
from yesno.calibration.subjects import AskedQuestion, Subject, band_of

__all__ = [
    "CALIBRATORS",
    "AskedQuestion",
    "Calibration",
    "Calibrator",
    "Candidate",
    "Evidence",
    "Fit",
    "Gap",
    "Subject",
    "band_of",
    "calibrated",
    "fit",
    "load_calibration",
    "load_calibrations",
    "save_calibration",
]
