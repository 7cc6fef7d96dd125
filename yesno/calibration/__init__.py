"""How far a probability can be trusted, what it is worth once calibrated, and where to put a threshold.

| module | holds |
|---|---|
| `calibrators` | one map from probabilities as read to calibrated ones per file |
| `fitting` | which calibrator labels speak for, if any |
| `cards`, `files`, `subjects` | the result as a JSON card, and which answers it is for |
| `applying` | a reading with a calibrator applied |
| `scores` | log loss, Brier score, ranked probability score, accuracy |
| `ranking` | AUROC, average precision |
| `ece` | smooth and debiased calibration errors, and what chance alone makes of them |
| `curves` | reliability diagrams, risk over coverage |
| `options` | choices: one option at a time, and the answer on top |
| `intervals`, `resampling` | bootstrap intervals and paired differences, by group |
| `thresholds`, `bands` | thresholds that keep a promise on rows to come |
| `costs` | the threshold that costs least |
| `monitor` | watching live answers for drift |

`monitor` and what is imported from here need no package; `fit` and the scores need numpy and scipy:
`pip install 'yesno[bench]'`.
"""

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
