"""Embedded and generated tables: some to try things on, and the papers' own examples."""

from manyveils.datasets.codes import code_tree, encounter_policy, encounters, histories, history_policy
from manyveils.datasets.inpatients import discharges
from manyveils.datasets.insured import insured, insured_policy, write_insured
from manyveils.datasets.papers import (
    alpha_beta_k_group,
    codip_patients,
    grading_patients,
    grading_three_anonymous,
    grading_two_diverse,
    slicing_patients,
    versatile_patients,
    versatile_rules,
)
from manyveils.datasets.patients import hospital, hospital_policy, hospital_sections, write_hospital
from manyveils.datasets.registry import tumour_policy, tumour_sections, tumours
from manyveils.datasets.survey import survey, survey_policy
from manyveils.datasets.visits import visit_policy, visits, write_visits

__all__ = [
    "alpha_beta_k_group",
    "code_tree",
    "codip_patients",
    "discharges",
    "encounter_policy",
    "encounters",
    "grading_patients",
    "grading_three_anonymous",
    "grading_two_diverse",
    "histories",
    "history_policy",
    "hospital",
    "hospital_policy",
    "hospital_sections",
    "insured",
    "insured_policy",
    "slicing_patients",
    "survey",
    "survey_policy",
    "tumour_policy",
    "tumour_sections",
    "tumours",
    "versatile_patients",
    "versatile_rules",
    "visit_policy",
    "visits",
    "write_hospital",
    "write_insured",
    "write_visits",
]
