"""Find the template that a model answers a question best with, and say how sure that is.

```python
items = load_set("labels.jsonl").items
plan = plan_for(model, items, calls=2100)
tuned = tune(plan, model)
save(tuned, model.asking.templates, Path("spam"))
```

Comparing templates needs numpy and scipy: `pip install 'yesno[bench]'`.
"""

from yesno.tuner.folders import check_place
from yesno.tuner.forecast import Forecast, forecast, plan_for
from yesno.tuner.plan import Plan
from yesno.tuner.proposing import PROPOSALS
from yesno.tuner.report import document, markdown
from yesno.tuner.saving import save
from yesno.tuner.tuning import HeldOut, Step, Tuned, tune

__all__ = [
    "PROPOSALS",
    "Forecast",
    "HeldOut",
    "Plan",
    "Step",
    "Tuned",
    "check_place",
    "document",
    "forecast",
    "markdown",
    "plan_for",
    "save",
    "tune",
]
