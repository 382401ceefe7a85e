"""Embedded and generated tables: a hospital to try things on, and the papers' own examples."""

from manyveils.datasets.generate import hospital
from manyveils.datasets.inpatients import discharges
from manyveils.datasets.papers import (
    alpha_beta_k_group,
    codip_patients,
    slicing_patients,
    versatile_patients,
    versatile_rules,
)
from manyveils.datasets.rules import protectable, random_rules
from manyveils.datasets.trial import hospital_policy, hospital_sections, write_hospital

__all__ = [
    "alpha_beta_k_group",
    "codip_patients",
    "discharges",
    "hospital",
    "hospital_policy",
    "hospital_sections",
    "protectable",
    "random_rules",
    "slicing_patients",
    "versatile_patients",
    "versatile_rules",
    "write_hospital",
]
