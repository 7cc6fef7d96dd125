"""How far a probability can be trusted, and where to put a threshold.

| module | holds |
|---|---|
| `scores` | log loss, Brier score, ranked probability score, accuracy |
| `ranking` | AUROC, average precision |
| `ece` | smooth and debiased calibration errors, and what chance alone makes of them |
| `curves` | reliability diagrams, risk over coverage |
| `options` | choices: one option at a time, and the answer on top |
| `intervals` | bootstrap intervals and paired differences, by group |

These need numpy and scipy: `pip install 'yesno[bench]'`.
"""
