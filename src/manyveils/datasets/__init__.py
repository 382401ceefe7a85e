"""Embedded and generated tables: some to try things on, and the papers' own examples."""

from manyveils.datasets.inpatients import discharges
from manyveils.datasets.papers import (
    alpha_beta_k_group,
    codip_patients,
    slicing_patients,
    versatile_patients,
    versatile_rules,
)
from manyveils.datasets.patients import hospital, hospital_policy, hospital_sections, write_hospital
from manyveils.datasets.registry import tumour_policy, tumour_sections, tumours

__all__ = [
    "alpha_beta_k_group",
    "codip_patients",
    "discharges",
    "hospital",
    "hospital_policy",
    "hospital_sections",
    "slicing_patients",
    "tumour_policy",
    "tumour_sections",
    "tumours",
    "versatile_patients",
    "versatile_rules",
    "write_hospital",
]
