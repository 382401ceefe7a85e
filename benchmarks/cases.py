"""The cases of the optimal search, with what ARX needs for them on a machine like ours."""

from dataclasses import dataclass
from typing import Any

from benchmarks import adult
from manyveils import Policy
from manyveils.datasets import hospital_policy

K = 5
HALF = 0.5


@dataclass(frozen=True)
class Case:
    """One search; ARX's warm seconds are from its authors' program on another machine, for orientation."""

    name: str
    policy: Policy
    arx: float | None = None
    arx_million: float | None = None
    arx_share: float | None = None
    beside_polars: bool = True

    @property
    def objective(self) -> str:
        """What the search makes small."""
        return str(self.policy.publish.options.get("objective", "loss"))


def adult_cases() -> list[Case]:
    """The cases for which ARX's times are known, and nine attributes by loss as well."""
    eight = adult.policy(adult.EIGHT, {"k": K}, _publish("discernibility", suppression=0.02))
    nine = [
        adult.policy(adult.NINE, {"k": K}, _publish(objective)) for objective in ("loss", "discernibility")
    ]
    return [
        Case("8 attributes, 2 % suppression, discernibility", eight, 0.40, 5.8, HALF),
        Case("9 attributes, no suppression, loss", nine[0], 0.03, 1.4, HALF),
        Case("9 attributes, no suppression, discernibility", nine[1]),
        *sensitive_cases(),
    ]


def sensitive_cases() -> list[Case]:
    """Two sensitive attributes with distinct l, and with t."""
    diverse = adult.policy(
        adult.SEVEN,
        {"k": K, "l": 3},
        _publish("loss", suppression=0.02),
        {"occupation": {}, "salary-class": {"l": 2}},
    )
    close = adult.policy(
        adult.SEVEN,
        {"k": K, "t": 0.4},
        _publish("loss", suppression=0.02),
        {"occupation": {}, "salary-class": {}},
    )
    return [
        Case("7 attributes, distinct l = 3 and 2 on two SAs, 2 %", diverse, 0.15, 0.8, beside_polars=False),
        Case("7 attributes, t = 0.4 on two SAs, 2 %", close, 0.22, 1.9, beside_polars=False),
    ]


def _publish(objective: str, suppression: float = 0.0) -> dict[str, Any]:
    return {"method": "generalize", "objective": objective, "suppression": suppression}


def hospital_case() -> Case:
    """The generated hospital table, for when Adult is not here."""
    policy = hospital_policy(guarantee={"k": K}, publish=_publish("discernibility", suppression=0.02))
    return Case("hospital, 4 attributes, 2 % suppression, discernibility", policy)
